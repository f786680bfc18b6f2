"""Functions that put the numbers of tensors in another order or place."""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from .._core import DType, Value
from ..element import Element, Whole, record
from ..errors import UsageError
from ..number_types import type_of
from ..recorder import Recorder
from ..source import at_line
from . import indexing, spaces
from .calls import FUNCTIONS, unsupported_tensor
from .making import build, common_type, new_array, stacked
from .spaces import Shape
from .tensor import Tensor, apply, as_tensor, nothing, recorder_of


def _tensors(arrays: Any) -> tuple[Recorder, list[Tensor]]:
    parts = list(arrays)
    recorder = recorder_of(parts)
    return recorder, [as_tensor(recorder, part) for part in parts]


def _one(a: Any) -> Tensor:
    return as_tensor(recorder_of([a]), a)


def concatenate(arrays: Any, axis: Any = 0, dtype: Any = None) -> Tensor:
    """Put tensors one behind the other along an axis."""
    recorder, tensors = _tensors(arrays)
    if axis is None:
        tensors, axis = [tensor.reshape(-1) for tensor in tensors], 0
    first = tensors[0].shape
    if not first:
        raise UsageError(
            at_line("concatenate: numbers have no axis; got (), expected tensors. Use np.stack.")
        )
    at = spaces.normal_axis("concatenate", axis, len(first))
    for tensor in tensors:
        if _without(tensor.shape, at) != _without(first, at):
            raise UsageError(
                at_line(
                    f"concatenate: shapes differ; got {first} and {tensor.shape}, expected equal "
                    f"sizes but along axis {at}."
                )
            )
    ours = common_type(tensors) if dtype is None else type_of("concatenate", dtype)
    total = sum(tensor.shape[at] for tensor in tensors)
    result = new_array(recorder, (*first[:at], total, *first[at + 1 :]), ours)
    begin = 0
    for tensor in tensors:
        end = begin + tensor.shape[at]
        result[(*[slice(None)] * at, slice(begin, end))] = tensor
        begin = end
    return result


def _without(shape: Shape, axis: int) -> Shape:
    return shape[:axis] + shape[axis + 1 :]


def stack(arrays: Any, axis: int = 0) -> Tensor:
    """Put tensors or elements along a new axis."""
    parts = list(arrays)
    return stacked(recorder_of(parts), parts, axis)


def _at_least(rank: int) -> Callable[[Any], Tensor]:
    """Give a tensor as many dimensions, as np.atleast_1d and its kind do."""

    def one(a: Any) -> Tensor:
        tensor = _one(a)
        if tensor.ndim >= rank:
            return tensor
        if rank == 3 and tensor.ndim == 2:
            return tensor.reshape(*tensor.shape, 1)
        if rank == 3:
            return tensor.reshape(1, -1, 1)
        return tensor.reshape(*[1] * (rank - tensor.ndim), *tensor.shape)

    def function(*arrays: Any) -> Any:
        return one(arrays[0]) if len(arrays) == 1 else tuple(one(a) for a in arrays)

    return function


def vstack(tup: Any) -> Tensor:
    """Put tensors one below the other."""
    _, tensors = _tensors(tup)
    return concatenate([_at_least(2)(tensor) for tensor in tensors], 0)


def hstack(tup: Any) -> Tensor:
    """Put tensors beside one another."""
    _, tensors = _tensors(tup)
    parts = [_at_least(1)(tensor) for tensor in tensors]
    return concatenate(parts, 0 if parts[0].ndim == 1 else 1)


def dstack(tup: Any) -> Tensor:
    """Put tensors behind one another along the third axis."""
    _, tensors = _tensors(tup)
    return concatenate([_at_least(3)(tensor) for tensor in tensors], 2)


def column_stack(tup: Any) -> Tensor:
    """Put vectors as columns beside one another."""
    _, tensors = _tensors(tup)
    return concatenate(
        [tensor.reshape(-1, 1) if tensor.ndim < 2 else tensor for tensor in tensors], 1
    )


def repeat(a: Any, repeats: Any, axis: Any = None) -> Tensor:
    """Repeat every number, or every part along an axis; of one number without a copy."""
    tensor = _one(a)
    repeats = spaces.known(repeats)
    if isinstance(repeats, (Element, Whole)):
        raise unsupported_tensor("np.repeat with a number of times that elements compute")
    times = np.asarray(repeats)
    if axis is None:
        tensor, axis = tensor.reshape(-1), 0
    at = spaces.normal_axis("repeat", axis, tensor.ndim)
    if times.size != 1:
        return take(tensor, np.repeat(np.arange(tensor.shape[at]), times), at)  # type: ignore[no-any-return]
    count = int(times.reshape(-1)[0])
    shape = tensor.shape
    wide = (*shape[: at + 1], count, *shape[at + 1 :])
    spread = tensor.reshape(*shape[: at + 1], 1, *shape[at + 1 :]).broadcast_to("repeat", wide)
    return spread.reshape(*shape[:at], shape[at] * count, *shape[at + 1 :])


def tile(A: Any, reps: Any) -> Tensor:  # noqa: N803  # NumPy's name
    """Repeat a tensor as a whole along each axis."""
    tensor = _one(A)
    times = tuple(reps) if isinstance(reps, (tuple, list)) else (int(reps),)
    rank = max(len(times), tensor.ndim)
    times = (1,) * (rank - len(times)) + times
    shape = (1,) * (rank - tensor.ndim) + tensor.shape
    split = [size for n in shape for size in (1, n)]
    wide = tuple(size for n, t in zip(shape, times, strict=True) for size in (t, n))
    spread = tensor.reshape(split).broadcast_to("tile", wide)
    return spread.reshape([n * t for n, t in zip(shape, times, strict=True)])


def pad(array: Any, pad_width: Any, mode: str = "constant", constant_values: Any = 0) -> Tensor:
    """Put numbers around a tensor."""
    tensor = _one(array)
    widths = np.broadcast_to(np.asarray(spaces.known(pad_width)), (tensor.ndim, 2)).tolist()
    if mode not in ("constant", "edge", "reflect", "symmetric", "wrap"):
        raise unsupported_tensor(f"np.pad with mode={mode!r}")
    if mode != "constant":
        for axis, (before, after) in enumerate(widths):
            if before or after:
                plain: Any = np.pad
                places = plain(np.arange(tensor.shape[axis]), (before, after), mode)
                tensor = take(tensor, places, axis)
        return tensor
    several = isinstance(constant_values, (tuple, list, np.ndarray))
    shape = tuple(
        before + size + after for size, (before, after) in zip(tensor.shape, widths, strict=True)
    )
    fill = 0 if several else constant_values
    result = new_array(tensor.recorder, shape, tensor.element_type, fill)
    if several:
        fills = np.broadcast_to(np.asarray(constant_values), (tensor.ndim, 2)).tolist()
        for axis, ((before, after), (first, last)) in enumerate(zip(widths, fills, strict=True)):
            front = (slice(None),) * axis
            result[(*front, slice(0, before))] = first
            result[(*front, slice(shape[axis] - after, None))] = last
    inside = tuple(
        slice(before, before + size) for size, (before, _) in zip(tensor.shape, widths, strict=True)
    )
    result[inside] = tensor
    return result


def flip(m: Any, axis: Any = None) -> Tensor:
    """Turn axes round."""
    tensor = _one(m)
    axes = spaces.normal_axes("flip", axis, tensor.ndim)
    index = tuple(slice(None, None, -1 if d in axes else 1) for d in range(tensor.ndim))
    return tensor[index]  # type: ignore[no-any-return]


def rot90(m: Any, k: int = 1, axes: Any = (0, 1)) -> Tensor:
    """Turn a matrix by 90 degrees, k times."""
    tensor = _one(m)
    a, b = (spaces.normal_axis("rot90", axis, tensor.ndim) for axis in axes)
    for _ in range(k % 4):
        tensor = flip(swapaxes(tensor, a, b), a)
    return tensor


def roll(a: Any, shift: Any, axis: Any = None) -> Tensor:
    """Move the numbers along axes; those that leave at the end come in at the beginning."""
    tensor = _one(a)
    if axis is None:
        return roll(tensor.reshape(-1), shift, 0).reshape(tensor.shape)
    axes = axis if isinstance(axis, (tuple, list)) else (axis,)
    shifts = shift if isinstance(shift, (tuple, list)) else (shift,) * len(axes)
    for one, by in zip(axes, shifts, strict=True):
        at = spaces.normal_axis("roll", one, tensor.ndim)
        size = tensor.shape[at]
        if isinstance(by, Element):
            places = np.mod(np.arange(size) - by, size)
            tensor = take(tensor, places, at)
        elif by % size:
            cut = size - by % size
            whole = (slice(None),) * at
            parts = [tensor[(*whole, slice(cut, None))], tensor[(*whole, slice(None, cut))]]
            tensor = concatenate(parts, at)
    return tensor


class Selection:
    """What tensors of indices select of some axes, as NumPy's advanced indexing does."""

    def __init__(self, found: Tensor, gathered: Sequence[tuple[int, Any]]) -> None:
        self._found = found
        self._axes = axes = [axis for axis, _ in gathered]
        self._indices = [_index(found.recorder, part, found.shape[axis]) for axis, part in gathered]
        shapes = [tensor.shape for tensor, _ in self._indices]
        self._shape = spaces.broadcast_shapes("index", *shapes)  # of the indices
        self._rest = [d for d in range(found.ndim) if d not in axes]
        is_together = bool(axes) and axes == list(range(axes[0], axes[0] + len(axes)))
        self._front = front = axes[0] if is_together else 0
        rest = tuple(found.shape[d] for d in self._rest)
        self.shape = (*rest[:front], *self._shape, *rest[front:])

    def places(self, positions: list[Value]) -> list[Value]:
        """Return where in the tensor the number at positions of the selection is."""
        found, recorder = self._found, self._found.recorder
        end = self._front + len(self._shape)
        of_index = positions[self._front : end]
        of_rest = positions[: self._front] + positions[end:]
        places: list[Value] = [None] * found.ndim  # type: ignore[list-item]
        for d, position in zip(self._rest, of_rest, strict=True):
            places[d] = position
        for axis, (tensor, is_plain) in zip(self._axes, self._indices, strict=True):
            at = tensor.broadcast_to("index", self._shape).at(of_index)
            if is_plain:
                places[axis] = recorder.convert(at.value, DType.I32)
            else:
                places[axis] = indexing.checked_index(recorder, at, found.shape[axis])
        return places


def gather(found: Tensor, gathered: Sequence[tuple[int, Any]]) -> Tensor:
    """Read axes of a tensor by tensors of indices."""
    selection = Selection(found, gathered)

    def read(positions: list[Value]) -> Element:
        return found.at(selection.places(positions), found.strides_in_base)

    return build(found.recorder, selection.shape, read)


def _index(recorder: Recorder, part: Any, size: int) -> tuple[Tensor, bool]:
    """Return indices as a tensor, and whether they are known to be from 0 to below a size."""
    if isinstance(part, np.ndarray) or (
        isinstance(part, list) and not any(isinstance(p, (Element, Whole)) for p in part)
    ):
        plain = np.asarray(part, dtype=None if len(part) else np.int32)
        if plain.dtype == np.bool_ or plain.dtype.kind not in "iu":
            if plain.dtype == np.bool_ and plain.ndim == 1 and plain.size == size:
                plain = np.flatnonzero(plain)
            else:
                indexing.require_integers(type_of("index", plain.dtype))
        if plain.size and not (plain.min() >= -size and plain.max() < size):
            raise IndexError(
                at_line(
                    f"index: out of range; got {plain.min()} to {plain.max()}, expected {-size} to "
                    f"{size - 1}."
                )
            )
        return as_tensor(recorder, np.where(plain < 0, plain + size, plain).astype(np.int32)), True
    tensor = as_tensor(recorder, part)
    indexing.require_integers(tensor.element_type)
    return tensor, False


def append(arr: Any, values: Any, axis: Any = None) -> Any:
    """Put values behind others."""
    _, parts = _tensors([arr, values])
    if axis is None:
        return concatenate([part.reshape(-1) for part in parts])
    return concatenate(parts, axis)


def delete(arr: Any, obj: Any, axis: Any = None) -> Any:
    """Leave places out, which are plain numbers."""
    tensor, at = _along("delete", arr, axis)
    left = np.delete(np.arange(tensor.shape[at]), obj)
    return take(tensor, left, at)


def insert(arr: Any, obj: Any, values: Any, axis: Any = None) -> Any:
    """Put values before a place, which is a plain number."""
    tensor, at = _along("insert", arr, axis)
    place = int(obj) + (tensor.shape[at] if obj < 0 else 0)
    if not 0 <= place <= tensor.shape[at]:
        raise IndexError(
            at_line(f"insert: out of range; got {obj}, expected 0 to {tensor.shape[at]}.")
        )
    new = as_tensor(tensor.recorder, values)
    if new.ndim < tensor.ndim and tensor.ndim > 1:
        new = new.broadcast_to("insert", tensor.shape[:at] + tensor.shape[at + 1 :])
        new = new.reshape(*new.shape[:at], 1, *new.shape[at:])
    new = (new.reshape(-1) if tensor.ndim == 1 else new).astype(tensor.dtype)
    front = [slice(None)] * at
    parts = [new]
    if place > 0:
        parts.insert(0, tensor[(*front, slice(place))])
    if place < tensor.shape[at]:
        parts.append(tensor[(*front, slice(place, None))])
    return concatenate(parts, at)


def _along(call: str, a: Any, axis: Any) -> tuple[Tensor, int]:
    """Return a tensor and one of its axes; in one dimension, if there is none."""
    tensor = _one(a)
    if axis is None:
        return tensor.reshape(-1), 0
    return tensor, spaces.normal_axis(call, axis, tensor.ndim)


def take(a: Any, indices: Any, axis: Any = None, mode: str = "raise") -> Any:
    """Read along an axis by indices."""
    tensor, at = _along("take", a, axis)
    indices = in_range("np.take", indices, tensor.shape[at], mode)
    return tensor[(*[slice(None)] * at, indices)]


def in_range(call: str, indices: Any, size: int, mode: str) -> Any:
    """Return indices of which those out of range are what a mode says."""
    if mode == "wrap":
        return np.mod(indices, size)
    if mode == "clip":
        return np.clip(indices, 0, size - 1)
    if mode != "raise":
        raise unsupported_tensor(f"{call} with mode={mode!r}")
    return indices


def take_along_axis(arr: Any, indices: Any, axis: Any = -1) -> Tensor:
    """Read along an axis by indices of the other axes' own."""
    tensor = as_tensor(recorder_of([arr, indices]), arr)
    shape, places = along_axis("take_along_axis", tensor, indices, axis)

    def read(positions: list[Value]) -> Element:
        return tensor.at(places(positions), tensor.strides_in_base)

    return build(tensor.recorder, shape, read)


def along_axis(
    call: str, tensor: Tensor, indices: Any, axis: Any
) -> tuple[Shape, Callable[[list[Value]], list[Value]]]:
    """Return the shape of what indices of the other axes' own select, and where its numbers are."""
    recorder = tensor.recorder
    given = as_tensor(recorder, indices)
    at = spaces.normal_axis(call, axis, tensor.ndim)
    shape = (*tensor.shape[:at], given.shape[at], *tensor.shape[at + 1 :])
    given = given.broadcast_to(call, shape)
    indexing.require_integers(given.element_type)

    def places(positions: list[Value]) -> list[Value]:
        place = indexing.checked_index(recorder, given.at(positions), tensor.shape[at])
        return [*positions[:at], place, *positions[at + 1 :]]

    return shape, places


def squeeze(a: Any, axis: Any = None) -> Any:
    """Leave axes of size 1 out."""
    tensor = _one(a)
    if axis is None:
        axes = tuple(d for d, size in enumerate(tensor.shape) if size == 1)
    else:
        axes = spaces.normal_axes("squeeze", axis, tensor.ndim)
    if any(tensor.shape[d] != 1 for d in axes):
        raise UsageError(
            at_line(
                f"squeeze: an axis has another size; got {tensor.shape}, expected 1 along {axes}."
            )
        )
    return tensor[tuple(0 if d in axes else slice(None) for d in range(tensor.ndim))]


def expand_dims(a: Any, axis: Any) -> Tensor:
    """Put axes of size 1 in."""
    tensor = _one(a)
    given = axis if isinstance(axis, (tuple, list)) else (axis,)
    axes = spaces.normal_axes("expand_dims", tuple(given), tensor.ndim + len(given))
    sizes = iter(tensor.shape)
    rank = tensor.ndim + len(given)
    return tensor.reshape([1 if d in axes else next(sizes) for d in range(rank)])


def transpose(a: Any, axes: Any = None) -> Tensor:
    """Put the axes in another order."""
    return _one(a).transpose(axes)  # type: ignore[no-any-return]


def swapaxes(a: Any, axis1: int, axis2: int) -> Tensor:
    """Exchange two axes."""
    tensor = _one(a)
    order = list(range(tensor.ndim))
    i, j = (spaces.normal_axis("swapaxes", axis, tensor.ndim) for axis in (axis1, axis2))
    order[i], order[j] = order[j], order[i]
    return tensor.transposed(order)


def moveaxis(a: Any, source: Any, destination: Any) -> Tensor:
    """Move axes to other places."""
    tensor = _one(a)
    given = source if isinstance(source, (tuple, list)) else (source,)
    wanted = destination if isinstance(destination, (tuple, list)) else (destination,)
    moved = [spaces.normal_axis("moveaxis", axis, tensor.ndim) for axis in given]
    places = [spaces.normal_axis("moveaxis", axis, tensor.ndim) for axis in wanted]
    rest = [d for d in range(tensor.ndim) if d not in moved]
    for place, axis in sorted(zip(places, moved, strict=True)):
        rest.insert(place, axis)
    return tensor.transposed(rest)


def broadcast_arrays(*args: Any) -> Any:
    """Give tensors the shape they have in common."""
    _, tensors = _tensors(args)
    shape = spaces.broadcast_shapes("broadcast_arrays", *(t.shape for t in tensors))
    return tuple(tensor.broadcast_to("broadcast_arrays", shape) for tensor in tensors)


def diagonal(a: Any, offset: int = 0, axis1: int = 0, axis2: int = 1) -> Tensor:
    """Return the diagonals along two axes, a view."""
    tensor = moveaxis(a, (axis1, axis2), (-2, -1))
    *front, n, m = tensor.shape
    size = min(n, m - offset) if offset >= 0 else min(n + offset, m)
    if size <= 0:
        return nothing(tensor.recorder, (*front, 0), tensor.element_type)
    begin = tensor[..., max(-offset, 0) :, max(offset, 0) :]
    *outer, i, j = begin.strides_in_base
    return begin.view((*front, size), (*outer, i + j))  # type: ignore[no-any-return]


def diag(v: Any, k: int = 0) -> Tensor:
    """Return the diagonal of a matrix, or the matrix with this diagonal."""
    tensor = _one(v)
    if tensor.ndim == 2:
        return diagonal(tensor, k)
    n = tensor.size + abs(k)
    result = new_array(tensor.recorder, (n, n), tensor.element_type)
    diagonal(result, k).write(tensor)
    return result


def trace(a: Any, offset: int = 0, axis1: int = 0, axis2: int = 1) -> Any:
    """Return the sum of the diagonal."""
    return np.sum(diagonal(a, offset, axis1, axis2), axis=-1)


def _triangle(is_lower: bool) -> Callable[..., Any]:
    def function(m: Any, k: int = 0) -> Any:
        tensor = _one(m)
        rows, columns = tensor.shape[-2:] * (3 - min(tensor.ndim, 2))
        kept = np.tri(rows, columns, k if is_lower else k - 1, dtype=bool)
        zero = tensor.dtype.type(0)
        return np.where(kept if is_lower else ~kept, tensor, zero)

    return function


def split(ary: Any, indices_or_sections: Any, axis: int = 0) -> list[Any]:
    """Cut a tensor along an axis."""
    tensor = _one(ary)
    at = spaces.normal_axis("split", axis, tensor.ndim)
    return _cut(tensor, np.split(np.arange(tensor.shape[at]), indices_or_sections), at)


def _cut(tensor: Tensor, pieces: list[Any], axis: int) -> list[Any]:
    begins = [int(piece[0]) if piece.size else 0 for piece in pieces]
    return [
        tensor[(*[slice(None)] * axis, slice(begin, begin + piece.size))]
        for begin, piece in zip(begins, pieces, strict=True)
    ]


def array_split(ary: Any, indices_or_sections: Any, axis: int = 0) -> list[Any]:
    """Cut a tensor along an axis, where sizes may differ by one."""
    tensor = _one(ary)
    at = spaces.normal_axis("array_split", axis, tensor.ndim)
    return _cut(tensor, np.array_split(np.arange(tensor.shape[at]), indices_or_sections), at)


def diff(a: Any, n: int = 1, axis: int = -1, prepend: Any = None, append: Any = None) -> Any:
    """Return the differences of neighbours along an axis."""
    tensor = _one(a)
    at = spaces.normal_axis("diff", axis, tensor.ndim)
    if prepend is not None or append is not None:
        parts = [
            tensor if part is a else _beside(tensor, part, at)
            for part in (prepend, a, append)
            if part is not None
        ]
        tensor = concatenate(parts, at)
    whole = (slice(None),) * at
    for _ in range(n):
        later, earlier = tensor[(*whole, slice(1, None))], tensor[(*whole, slice(None, -1))]
        if tensor.element_type is DType.Bool:
            tensor = apply(lambda x, y: record("not_equal", x, y), later, earlier)
        else:
            tensor = later - earlier
    return tensor


def _beside(tensor: Tensor, part: Any, axis: int) -> Tensor:
    """Return what is put beside a tensor along an axis; a number is one for all others."""
    found = as_tensor(tensor.recorder, part)
    if found.ndim:
        return found
    shape = tuple(1 if d == axis else size for d, size in enumerate(tensor.shape))
    return found.broadcast_to("diff", shape)


def meshgrid(*xi: Any, indexing: str = "xy", sparse: bool = False) -> tuple[Any, ...]:
    """Return vectors as grids."""
    _, tensors = _tensors(xi)
    rank = len(tensors)
    order = [1, 0, *range(2, rank)] if indexing == "xy" and rank > 1 else list(range(rank))
    parts = [
        tensor.reshape([-1 if d == order[place] else 1 for d in range(rank)])
        for place, tensor in enumerate(tensors)
    ]
    return tuple(parts) if sparse else broadcast_arrays(*parts)


FUNCTIONS.update(
    {
        "gather": gather,
        "moveaxis": moveaxis,
        np.concatenate: concatenate,
        np.stack: stack,
        np.vstack: vstack,
        np.hstack: hstack,
        np.dstack: dstack,
        np.column_stack: column_stack,
        np.repeat: repeat,
        np.tile: tile,
        np.pad: pad,
        np.flip: flip,
        np.fliplr: lambda m: flip(m, 1),
        np.flipud: lambda m: flip(m, 0),
        np.rot90: rot90,
        np.roll: roll,
        np.append: append,
        np.delete: delete,
        np.insert: insert,
        np.take: take,
        np.take_along_axis: take_along_axis,
        np.squeeze: squeeze,
        np.expand_dims: expand_dims,
        np.transpose: transpose,
        np.swapaxes: swapaxes,
        np.moveaxis: moveaxis,
        np.reshape: lambda a, shape, order="C": _one(a).reshape(shape, order=order),
        np.ravel: lambda a, order="C": _one(a).ravel(order),
        np.broadcast_to: lambda array, shape: _one(array).broadcast_to(
            "broadcast_to", tuple(shape) if isinstance(shape, (tuple, list)) else (int(shape),)
        ),
        np.broadcast_arrays: broadcast_arrays,
        np.diagonal: diagonal,
        np.diag: diag,
        np.trace: trace,
        np.tril: _triangle(True),
        np.triu: _triangle(False),
        np.split: split,
        np.array_split: array_split,
        np.diff: diff,
        np.meshgrid: meshgrid,
        np.atleast_1d: _at_least(1),
        np.atleast_2d: _at_least(2),
        np.atleast_3d: _at_least(3),
    }
)
