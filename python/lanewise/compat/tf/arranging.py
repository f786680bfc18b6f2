"""Shapes, and the order in which numbers stand: ``tf.reshape``, ``tf.concat`` and the like."""

from collections.abc import Iterator
from typing import Any

import numpy as np

from ...element import Varying
from ...errors import UsageError
from ...recorder import current
from . import sampling
from .dtypes import as_dtype
from .names import listed
from .ops import beside, composite, held, moving, plain, static_of
from .shapes import TensorShape
from .tensor import of_one_type

newaxis = None


@moving
def item(tensor: Any, index: Any) -> Any:
    """Return what an index selects."""
    return tensor[_index(index)]


def _index(index: Any) -> Any:
    if isinstance(index, tuple):
        return tuple(map(_index, index))
    if isinstance(index, slice):
        return slice(*(_number(part) for part in (index.start, index.stop, index.step)))
    return _number(index)


def _number(part: Any) -> Any:
    part = plain(part)
    if isinstance(part, np.ndarray) and part.ndim == 0:
        return part.item()
    return part.item() if isinstance(part, np.generic) else part


# --- shapes ---


class Sizes(np.ndarray):
    """A shape inside of a function that is being recorded: its items are numbers of Python."""

    def __getitem__(self, index: Any) -> Any:
        found = super().__getitem__(index)
        return found.item() if isinstance(found, np.generic) else found

    def __iter__(self) -> Iterator[Any]:
        return iter(self.tolist())


def sizes_of(shape: Any) -> tuple[int, ...]:
    """Return a shape that an argument gives."""
    sizes = static_of(plain(shape))
    return (sizes,) if isinstance(sizes, int) else tuple(sizes)


def _count(number: int, out_type: Any) -> Any:
    """Return a number that is known of a tensor; it is one of Python while one is recorded."""
    dtype = as_dtype(out_type)
    return number if current() is not None and dtype.name == "int32" else dtype.dtype.type(number)


@moving
def shape(input: Any, out_type: Any = "int32") -> Any:
    """Return the sizes of dimensions as a tensor.

    Examples
    --------
    >>> import lanewise.compat.tf as tf
    >>> tf.shape(tf.zeros([2, 3])).numpy()
    array([2, 3], dtype=int32)
    """
    if isinstance(input, Varying):
        return np.stack([size(input, out_type)])
    sizes = np.array(np.shape(held(input)), as_dtype(out_type).dtype)
    return sizes if current() is None else sizes.view(Sizes)


@moving
def size(input: Any, out_type: Any = "int32") -> Any:
    """Return how many numbers there are."""
    if isinstance(input, Varying):
        return input.size.astype(as_dtype(out_type).dtype)
    return _count(int(np.size(held(input))), out_type)


@moving
def rank(input: Any) -> Any:
    """Return the number of dimensions."""
    return _count(np.ndim(held(input)), "int32")


@moving
def reshape(tensor: Any, shape: Any) -> Any:
    """Return the numbers in another shape, of which one size may be -1.

    Examples
    --------
    >>> import lanewise.compat.tf as tf
    >>> tf.reshape([1, 2, 3, 4], [2, -1]).numpy()
    array([[1, 2],
           [3, 4]], dtype=int32)
    """
    return np.reshape(held(tensor), sizes_of(shape))


@moving
def ensure_shape(x: Any, shape: Any) -> Any:
    """Return a tensor as it is, which has to have a shape; sizes that are None may be any."""
    x = held(x)
    found, wanted = TensorShape(np.shape(x)), TensorShape(static_of(shape))
    if not found.is_compatible_with(wanted) and not sampling.is_on():
        raise UsageError(f"ensure_shape: another shape; got {found}, expected {wanted}.")
    return x


def _permuted(a: Any, perm: Any, conjugate: bool) -> Any:
    a = held(a)
    moved = np.transpose(a, None if perm is None else sizes_of(perm))
    return np.conjugate(moved) if conjugate and a.dtype.kind == "c" else moved


@moving
def transpose(a: Any, perm: Any = None, conjugate: bool = False) -> Any:
    """Return a tensor with its dimensions in another order; turned round if none is given."""
    return _permuted(a, perm, conjugate)


@moving
def expand_dims(input: Any, axis: Any) -> Any:
    """Return a tensor with a dimension of size 1 more."""
    return np.expand_dims(held(input), static_of(axis))


@moving
def squeeze(input: Any, axis: Any = None) -> Any:
    """Return a tensor without dimensions of size 1, all or some."""
    axes = static_of(axis)
    return np.squeeze(held(input), None if axes is None or axes == [] else _axes(axes))


def _axes(axes: Any) -> Any:
    return tuple(axes) if isinstance(axes, list) else axes


@moving
def broadcast_to(input: Any, shape: Any) -> Any:
    """Return a tensor repeated along dimensions that it does not have, or of which it has one."""
    return np.broadcast_to(held(input), sizes_of(shape))


@composite
def broadcast_static_shape(shape_x: Any, shape_y: Any) -> TensorShape:
    """Return the shape that two shapes have in common."""
    return TensorShape(np.broadcast_shapes(sizes_of(shape_x), sizes_of(shape_y)))


@moving
def broadcast_dynamic_shape(shape_x: Any, shape_y: Any) -> Any:
    """Return the shape that two shapes have in common, as a tensor."""
    return np.array(np.broadcast_shapes(sizes_of(shape_x), sizes_of(shape_y)), np.int32)


# --- tensors beside one another ---


def _parts(call: str, values: Any) -> list[Any]:
    """Return tensors that are put together; numbers of Python have the type of the others."""
    parts = [held(value) for value in values]
    if not parts:
        raise UsageError(f"{call}: nothing to put together; got no tensors, expected some.")
    return of_one_type(parts, values)


@moving
def stack(values: Any, axis: Any = 0) -> Any:
    """Return tensors of one shape along a new axis.

    Examples
    --------
    >>> import lanewise.compat.tf as tf
    >>> tf.stack([[1, 2], [3, 4]], axis=1).numpy()
    array([[1, 3],
           [2, 4]], dtype=int32)
    """
    return np.stack(_parts("stack", values), static_of(axis))


@moving
def parallel_stack(values: Any) -> Any:
    """Return tensors of one shape along a new first axis."""
    return np.stack(_parts("parallel_stack", values))


@moving
def unstack(value: Any, num: Any = None, axis: Any = 0) -> Any:
    """Return the parts of a tensor along an axis as a list."""
    moved = np.moveaxis(held(value), static_of(axis), 0)
    if num is not None and num != moved.shape[0]:
        raise UsageError(f"unstack: another number; got {num}, expected {moved.shape[0]}.")
    return [moved[at] for at in range(moved.shape[0])]


@moving
def concat(values: Any, axis: Any) -> Any:
    """Return tensors one behind the other along an axis.

    Examples
    --------
    >>> import lanewise.compat.tf as tf
    >>> tf.concat([[1, 2], [3]], 0).numpy()
    array([1, 2, 3], dtype=int32)
    """
    parts = _parts("concat", values if isinstance(values, (list, tuple)) else [values])
    return np.concatenate(parts, static_of(axis))


@moving
def split(value: Any, num_or_size_splits: Any, axis: Any = 0, num: Any = None) -> Any:
    """Return a tensor in so many equal parts, or in parts of sizes, of which one may be -1."""
    value = held(value)
    sections, along = static_of(num_or_size_splits), static_of(axis)
    if isinstance(sections, int):
        return list(np.split(value, sections, along))
    sizes = list(sections)
    if num is not None and num != len(sizes):
        raise UsageError(f"split: another number; got num={num}, expected {len(sizes)}.")
    total = value.shape[along]
    if -1 in sizes:
        sizes[sizes.index(-1)] = total - sum(sizes) - 1
    if sum(sizes) != total or min(sizes) < 0:
        raise UsageError(
            f"split: sizes do not add up; got {list(sections)}, expected {total} in all."
        )
    return list(np.split(value, np.cumsum(sizes)[:-1].tolist(), along))


@moving
def tile(input: Any, multiples: Any) -> Any:
    """Return a tensor repeated as a whole along its axes."""
    array, times = held(input), sizes_of(multiples)
    _require_one_for_each("tile", "multiples", times, array)
    return np.tile(array, times)


def _require_one_for_each(call: str, name: str, given: Any, array: Any) -> None:
    if len(given) != np.ndim(array):
        raise UsageError(
            f"{call}: not one for each axis; got {len(given)} {name}, expected {np.ndim(array)}."
        )


@moving
def repeat(input: Any, repeats: Any, axis: Any = None) -> Any:
    """Return a tensor whose parts are repeated, each so often; inside of a map without a copy.

    Examples
    --------
    >>> import lanewise.compat.tf as tf
    >>> tf.repeat([1, 2], 2).numpy()
    array([1, 1, 2, 2], dtype=int32)
    >>> tf.map_fn(lambda x: tf.reduce_sum(tf.repeat(x, 10000)), tf.constant([1.0, 2.0])).numpy()
    array([10000., 20000.], dtype=float32)
    """
    times = static_of(repeats)
    return np.repeat(held(input), list(times) if isinstance(times, tuple) else times, axis)


@moving
def pad(tensor: Any, paddings: Any, mode: str = "CONSTANT", constant_values: Any = 0) -> Any:
    """Return a tensor with numbers around it: a constant, or its own, mirrored."""
    array = held(tensor)
    widths = [tuple(pair) for pair in static_of(paddings)]
    _require_one_for_each("pad", "paddings", widths, array)
    how = mode.lower()
    if how == "constant":
        return np.pad(array, widths, "constant", constant_values=static_of(constant_values))
    if how not in ("reflect", "symmetric"):
        raise UsageError(
            f"pad: no such mode; got {mode!r}, expected 'CONSTANT', 'REFLECT' or 'SYMMETRIC'."
        )
    room = [size - (how == "reflect") for size in np.shape(array)]
    if any(max(pair) > most for pair, most in zip(widths, room, strict=True)):
        raise UsageError(f"pad: more than there is; got {widths}, expected at most {room}.")
    return np.pad(array, widths, how)  # type: ignore[call-overload]


@moving
def reverse(tensor: Any, axis: Any) -> Any:
    """Return a tensor with axes the other way round."""
    return np.flip(held(tensor), sizes_of(axis))


@moving
def roll(input: Any, shift: Any, axis: Any) -> Any:
    """Return a tensor whose numbers are moved along axes, and come in again where they leave."""
    return np.roll(held(input), static_of(shift), static_of(axis))


@moving
def meshgrid(*args: Any, indexing: str = "xy") -> Any:
    """Return the coordinates of a grid: a tensor for each of its axes."""
    grid: Any = np.meshgrid
    return list(grid(*map(held, args), indexing=indexing))


@moving
def reverse_sequence(
    input: Any, seq_lengths: Any, seq_axis: Any = None, batch_axis: Any = None
) -> Any:
    """Return a tensor with the first numbers of each row the other way round."""
    rows, across = static_of(batch_axis) or 0, static_of(seq_axis)
    lengths = held(seq_lengths)[:, None]
    moved = np.moveaxis(beside(held(input), lengths), (rows, across), (0, 1))
    at = np.arange(moved.shape[1])
    places = np.where(at < lengths, lengths - 1 - at, at)
    index = (np.arange(moved.shape[0])[:, None], places)
    return np.moveaxis(moved[index], (0, 1), (rows, across))


@moving
def bitcast(input: Any, type: Any) -> Any:
    """Return the bits of numbers as another type; of one of another size along a last axis."""
    array = held(input)
    wanted = as_dtype(type).dtype
    if current() is not None:
        raise UsageError(
            f"bitcast: only of whole tensors; got {array.dtype} and {wanted}, expected a call "
            "outside of maps."
        )
    shape, parts = np.shape(array), array.dtype.itemsize / wanted.itemsize
    if parts < 1 and shape[-1:] != (int(1 / parts),):
        raise UsageError(
            f"bitcast: a larger type; got the shape {shape}, expected a last size of "
            f"{int(1 / parts)}."
        )
    shape = shape[:-1] if parts < 1 else (*shape, int(parts)) if parts > 1 else shape
    return np.ascontiguousarray(array).view(wanted).reshape(shape)


@composite
def identity_n(input: Any) -> Any:
    """Return several tensors as they are."""
    from .making import identity

    return [identity(one) for one in input]


NAMES = {
    **listed("", [shape, size, rank, reshape, ensure_shape, transpose, expand_dims]),
    **listed("", [squeeze, broadcast_to, broadcast_static_shape, broadcast_dynamic_shape]),
    **listed("", [stack, parallel_stack, unstack, concat, split, tile, repeat, pad, reverse]),
    **listed("", [roll, meshgrid, reverse_sequence, bitcast, identity_n]),
    "newaxis": newaxis,
}
