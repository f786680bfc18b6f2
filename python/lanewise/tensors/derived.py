"""Functions of tensors that are made of others."""

from typing import Any

import numpy as np

from .._core import DType
from ..element import Element
from ..errors import UsageError
from ..source import at_line
from . import indexing, spaces
from .arranging import concatenate, diag, moveaxis, split, take, take_along_axis
from .calls import FUNCTIONS, unsupported_tensor
from .nested import map_tensors
from .reductions import operand
from .scans import argsort
from .tensor import Tensor, apply, as_tensor, recorder_of


def block(arrays: Any) -> Any:
    """Put tensors together as nested lists place them: the innermost along the last axis."""
    depth = _depth(arrays)
    recorder = recorder_of(_leaves(arrays))
    rank = max(depth, *(np.ndim(leaf) for leaf in _leaves(arrays)))

    def joined(part: Any, level: int) -> Tensor:
        if not isinstance(part, list):
            tensor = as_tensor(recorder, part)
            return tensor.reshape([1] * (rank - tensor.ndim) + list(tensor.shape))
        return concatenate([joined(one, level + 1) for one in part], level - depth)

    return joined(arrays, 0)


def _depth(arrays: Any) -> int:
    return 1 + _depth(arrays[0]) if isinstance(arrays, list) else 0


def _leaves(arrays: Any) -> list[Any]:
    if not isinstance(arrays, list):
        return [arrays]
    return [leaf for part in arrays for leaf in _leaves(part)]


def unstack(x: Any, /, *, axis: int = 0) -> tuple[Any, ...]:
    """Return the parts along an axis."""
    return tuple(moveaxis(operand(x), axis, 0))


def hsplit(ary: Any, indices_or_sections: Any) -> list[Any]:
    """Cut a tensor along its second axis, a vector along its only one."""
    return split(ary, indices_or_sections, 0 if operand(ary).ndim == 1 else 1)


def compress(condition: Any, a: Any, axis: Any = None) -> Any:
    """Read where plain conditions hold."""
    if isinstance(condition, (Element, Tensor)):
        raise unsupported_tensor("np.compress with conditions that elements compute")
    return take(a, np.flatnonzero(condition), axis)


def choose(a: Any, choices: Any, mode: str = "raise") -> Any:
    """Take every number from one of several tensors, by its index."""
    recorder = recorder_of([a, *choices])
    which, *parts = np.broadcast_arrays(*(as_tensor(recorder, one) for one in (a, *choices)))
    if mode != "raise":
        raise unsupported_tensor(f"np.choose with mode={mode!r}")
    found = take_along_axis(np.stack(parts), which[None], 0)[0]
    return found if which.shape else found[()]


def lexsort(keys: Any, axis: int = -1) -> Any:
    """Return the places that sort by several keys, the last one first."""
    keys = list(keys)
    places = argsort(keys[0], axis)
    for key in keys[1:]:
        places = take_along_axis(places, argsort(take_along_axis(key, places, axis), axis), axis)
    return places


def ediff1d(ary: Any, to_end: Any = None, to_begin: Any = None) -> Any:
    """Return the differences of neighbours, with others around them."""
    ends = [None if end is None else np.ravel(end) for end in (to_begin, to_end)]
    parts: list[Any] = [ends[0], np.diff(np.ravel(operand(ary))), ends[1]]
    return concatenate([part for part in parts if part is not None])


def apply_along_axis(func1d: Any, axis: int, arr: Any, *args: Any, **kwargs: Any) -> Any:
    """Call a function on every vector along an axis."""
    a = operand(arr)
    at = spaces.normal_axis("apply_along_axis", axis, a.ndim)
    if a.ndim == 1:
        return func1d(a, *args, **kwargs)
    moved = moveaxis(a, at, -1)
    front = moved.shape[:-1]
    rows = moved.reshape(-1, moved.shape[-1])
    found = map_tensors(lambda row: func1d(row, *args, **kwargs), (rows,), [0], 0)
    shaped = found.reshape(*front, *found.shape[1:])
    rank = found.ndim - 1
    return moveaxis(shaped, list(range(len(front), len(front) + rank)), list(range(at, at + rank)))


def apply_over_axes(func: Any, a: Any, axes: Any) -> Any:
    """Call a reduction along one axis after the other."""
    result: Any = operand(a)
    for axis in axes if isinstance(axes, (tuple, list)) else (axes,):
        at = spaces.normal_axis("apply_over_axes", axis, result.ndim)
        reduced = as_tensor(result.recorder, func(result, at))
        result = reduced if reduced.ndim == result.ndim else np.expand_dims(reduced, at)
    return result


def vander(x: Any, N: Any = None, increasing: bool = False) -> Any:  # noqa: N803  # NumPy's name
    """Return the powers of numbers, those of one in a row."""
    numbers = operand(x)
    numbers = numbers.astype(np.promote_types(numbers.dtype, int))
    count = numbers.size if N is None else int(N)
    columns: list[Any] = [np.ones_like(numbers)]
    for _ in range(count - 1):
        columns.append(columns[-1] * numbers)
    return np.stack(columns[:count] if increasing else columns[count - 1 :: -1], axis=1)


def piecewise(x: Any, condlist: Any, funclist: Any) -> Any:
    """Return what functions give where their conditions hold, of which the last one counts."""
    numbers = operand(x)
    conditions = list(condlist) if isinstance(condlist, (list, tuple)) else [condlist]
    functions = list(funclist)
    result: Any = 0
    if len(functions) == len(conditions) + 1:
        result = functions.pop()
        result = result(numbers) if callable(result) else result
    for condition, one in zip(conditions, functions, strict=True):
        result = np.where(condition, one(numbers) if callable(one) else one, result)
    return result.astype(numbers.dtype)


def sliding_window_view(x: Any, window_shape: Any, axis: Any = None) -> Tensor:
    """Return all windows of a size along axes, a view."""
    tensor = operand(x)
    sizes = window_shape if isinstance(window_shape, (tuple, list)) else (window_shape,)
    given = tuple(range(tensor.ndim)) if axis is None else axis
    axes = given if isinstance(given, (tuple, list)) else (given,)
    shape, strides = list(tensor.shape), list(tensor.strides_in_base)
    for one, size in zip(axes, sizes, strict=True):
        at = spaces.normal_axis("sliding_window_view", one, tensor.ndim)
        shape[at] -= int(size) - 1
        if shape[at] < 1:
            raise UsageError(
                at_line(
                    f"sliding_window_view: the window is larger than the tensor; got {size} of "
                    f"{tensor.shape[at]} along axis {at}, expected at most as many."
                )
            )
        shape.append(int(size))
        strides.append(tensor.strides_in_base[at])
    return tensor.view(tuple(shape), tuple(strides))


def unravel_index(indices: Any, shape: Any) -> tuple[Any, ...]:
    """Return the positions in a shape of places in C order; those outside fail their element."""
    sizes = shape if isinstance(shape, (tuple, list)) else (shape,)
    total = int(np.prod(sizes))
    recorder = recorder_of([indices])

    def positions(index: Any) -> tuple[Any, ...]:
        indexing.require_integers(index.value.dtype)
        at = Element(recorder, recorder.convert(index.value, DType.I64))
        indexing.checked_index(recorder, at, total)
        found = []
        for size in reversed(sizes):
            found.append(at % size)
            at = at // size
        return tuple(reversed(found))

    return apply(positions, as_tensor(recorder, indices))  # type: ignore[no-any-return]


def resize(a: Any, new_shape: Any) -> Tensor:
    """Return as many numbers as a shape has, from the beginning again where they end."""
    shape = new_shape if isinstance(new_shape, (tuple, list)) else (new_shape,)
    tensor = operand(a).reshape(-1)
    return tensor[np.resize(np.arange(tensor.size), shape)]  # type: ignore[no-any-return]


def rollaxis(a: Any, axis: int, start: int = 0) -> Tensor:
    """Move an axis in front of another."""
    tensor = operand(a)
    at = spaces.normal_axis("rollaxis", axis, tensor.ndim)
    before = start + tensor.ndim if start < 0 else start
    return moveaxis(tensor, at, before - 1 if at < before else before)


FUNCTIONS.update(
    {
        np.block: block,
        np.hsplit: hsplit,
        np.vsplit: lambda ary, indices_or_sections: split(ary, indices_or_sections, 0),
        np.dsplit: lambda ary, indices_or_sections: split(ary, indices_or_sections, 2),
        np.compress: compress,
        np.choose: choose,
        np.lexsort: lexsort,
        np.ediff1d: ediff1d,
        np.apply_along_axis: apply_along_axis,
        np.apply_over_axes: apply_over_axes,
        np.vander: vander,
        np.piecewise: piecewise,
        np.lib.stride_tricks.sliding_window_view: sliding_window_view,
        np.unravel_index: unravel_index,
        np.resize: resize,
        np.rollaxis: rollaxis,
        np.diagflat: lambda v, k=0: diag(operand(v).reshape(-1), k),
    }
)
if hasattr(np, "matrix_transpose"):  # NumPy 2
    FUNCTIONS[np.matrix_transpose] = FUNCTIONS[np.linalg.matrix_transpose] = lambda x: x.mT
    FUNCTIONS[np.linalg.diagonal] = lambda x, /, *, offset=0: np.diagonal(x, offset, -2, -1)
    FUNCTIONS[np.linalg.trace] = lambda x, /, *, offset=0, dtype=None: np.sum(
        np.diagonal(x, offset, -2, -1), axis=-1, dtype=dtype
    )
if hasattr(np, "unstack"):  # NumPy 2.1
    FUNCTIONS[np.unstack] = unstack
