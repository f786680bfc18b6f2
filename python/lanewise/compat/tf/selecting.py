"""Numbers by their places and values: ``tf.gather``, ``tf.where``, ``tf.sort`` and the like.

Indices below 0 count from the end, everywhere. What has as many results as values say
(``tf.unique``, ``tf.boolean_mask``) is there outside of maps only.
"""

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from ...errors import UsageError
from ...recorder import current
from ...source import at_line
from .arranging import sizes_of
from .dtypes import as_dtype
from .names import listed
from .ops import beside, composite, elementwise, held, moving, static_of
from .tensor import array_of, is_symbol


def _refuse_inside(call: str, instead: str) -> None:
    if current() is not None:
        raise UsageError(
            at_line(
                f"{call}: how many results there are depends on values; got a call for one "
                f"element, expected results of one shape. {instead}"
            )
        )


# --- by places ---


@moving
def gather(
    params: Any, indices: Any, validate_indices: Any = None, axis: Any = None, batch_dims: Any = 0
) -> Any:
    """Return the parts of a tensor that indices name along an axis.

    Examples
    --------
    >>> import lanewise.compat.tf as tf
    >>> tf.gather([10, 20, 30], [2, 0]).numpy()
    array([30, 10], dtype=int32)
    """
    indices = held(indices)
    params = beside(held(params), indices)
    shared = static_of(batch_dims)
    along = shared if axis is None else static_of(axis)
    shared = shared + np.ndim(indices) if shared < 0 else shared
    along = along + np.ndim(params) if along < 0 else along
    if shared == 0:
        return np.take(params, indices, along)
    if np.shape(params)[:shared] != np.shape(indices)[:shared]:
        raise UsageError(
            f"gather: other batches; got {np.shape(params)[:shared]} and "
            f"{np.shape(indices)[:shared]}, expected the same sizes."
        )
    found = np.moveaxis(params, along, shared)[(*_batches(indices, shared), indices)]
    rank, between = np.ndim(indices), along - shared
    return np.moveaxis(
        found, tuple(range(rank, rank + between)), tuple(range(shared, shared + between))
    )


def _batches(indices: Any, count: int) -> list[Any]:
    """Return indices of the first dimensions, each beside indices of one that comes later."""
    sizes = np.shape(indices)
    return [
        np.arange(sizes[d]).reshape([-1 if d == one else 1 for one in range(len(sizes))])
        for d in range(count)
    ]


@moving
def gather_nd(params: Any, indices: Any, batch_dims: Any = 0, bad_indices_policy: str = "") -> Any:
    """Return the parts of a tensor that indices name, which are in the last dimension of them."""
    indices = held(indices)
    params = beside(held(params), indices)
    shared, depth = static_of(batch_dims), np.shape(indices)[-1]
    if depth == 0:
        return np.broadcast_to(params, (*np.shape(indices)[:-1], *np.shape(params)))
    is_there = None
    if _ignores_others("gather_nd", bad_indices_policy):
        is_there = _are_inside(indices, np.shape(params)[shared:])
        indices = np.where(is_there[..., None], indices, 0)
    places = _places(indices)
    found = params[(*_batches(places[0], shared), *places)]
    if is_there is None:
        return found
    beside_rest = np.reshape(is_there, (*np.shape(is_there), *[1] * (found.ndim - is_there.ndim)))
    return np.where(beside_rest, found, params.dtype.type(0))


def _ignores_others(call: str, policy: str) -> bool:
    """Say whether indices that are outside are left out; else they are errors."""
    if policy not in ("", "DEFAULT", "ERROR", "IGNORE"):
        raise UsageError(
            f"{call}: no such bad_indices_policy; got {policy!r}, expected '', 'DEFAULT', 'ERROR' "
            "or 'IGNORE'."
        )
    return policy == "IGNORE"


def _are_inside(indices: Any, shape: tuple[int, ...]) -> Any:
    """Say for each index, which is in the last dimension, whether it is inside of a shape."""
    depth = np.shape(indices)[-1]
    return np.all((indices >= 0) & (indices < np.array(shape[:depth])), axis=-1)


def _places(indices: Any) -> tuple[Any, ...]:
    return tuple(indices[..., at] for at in range(np.shape(indices)[-1]))


@moving
def slice(input_: Any, begin: Any, size: Any) -> Any:
    """Return a part of a tensor: where it begins, and its sizes; -1 is all that is left."""
    part = beside(held(input_), begin)
    if len(_items(begin)) != np.ndim(part):
        raise UsageError(
            f"slice: not one for each axis; got {len(_items(begin))} begins, expected "
            f"{np.ndim(part)}."
        )
    for axis, (first, count) in enumerate(zip(_items(begin), _items(size), strict=True)):
        total = np.shape(part)[axis]
        if is_symbol(first):
            part = np.take(part, first + np.arange(count), axis)
            continue
        end = total if count == -1 else first + count
        if not 0 <= first <= end <= total:
            raise UsageError(
                f"slice: out of range; got {first} to {end} along axis {axis}, expected 0 to "
                f"{total}."
            )
        part = part[(*[np.s_[:]] * axis, np.s_[first:end])]
    return part


def _items(value: Any) -> list[Any]:
    return list(value) if is_symbol(value) else list(static_of(value))


@moving
def strided_slice(
    input_: Any,
    begin: Any,
    end: Any,
    strides: Any = None,
    begin_mask: int = 0,
    end_mask: int = 0,
    ellipsis_mask: int = 0,
    new_axis_mask: int = 0,
    shrink_axis_mask: int = 0,
    var: Any = None,
) -> Any:
    """Return what slices select: their begins, ends and steps, and masks that change them."""
    begins, ends = sizes_of(begin), sizes_of(end)
    steps = [1] * len(begins) if strides is None else sizes_of(strides)
    index: list[Any] = []
    for at, (first, last, step) in enumerate(zip(begins, ends, steps, strict=True)):
        bit = 1 << at
        if ellipsis_mask & bit:
            index.append(...)
        elif new_axis_mask & bit:
            index.append(None)
        elif shrink_axis_mask & bit:
            index.append(first)
        else:
            index.append(
                np.s_[None if begin_mask & bit else first : None if end_mask & bit else last : step]
            )
    return held(input_)[tuple(index)]


# --- assignments ---


def own_copy(tensor: Any) -> Any:
    """Return a copy that may be changed."""
    recorder = current()
    if recorder is None:
        return np.array(tensor)
    from ...tensors import as_tensor

    return as_tensor(recorder, tensor).copy()


def _scatter(
    call: str,
    result: Any,
    indices: Any,
    updates: Any,
    policy: str,
    put: Callable[[Any, Any, Any], None],
) -> None:
    """Change numbers of an array where indices say."""
    places, values = held(indices), held(updates)
    expected = (*np.shape(places)[:-1], *np.shape(result)[np.shape(places)[-1] :])
    if np.shape(values) != expected:
        raise UsageError(
            f"{call}: updates of another shape; got {np.shape(values)}, expected {expected}."
        )
    if _ignores_others(call, policy):
        if is_symbol(places):
            _refuse_inside(f"{call} with bad_indices_policy='IGNORE'", "Use indices inside.")
        is_there = _are_inside(places, np.shape(result))
        places, values = places[is_there], values[is_there]
    put(result, _places(places), values)


def _scattering(name: str, about: str, put: Callable[[Any, Any, Any], None]) -> Any:
    def scatter(tensor: Any, indices: Any, updates: Any, bad_indices_policy: str = "") -> Any:
        result = own_copy(held(tensor))
        _scatter(name, result, indices, updates, bad_indices_policy, put)
        return result

    scatter.__name__ = scatter.__qualname__ = name
    scatter.__doc__ = f"Return a tensor with numbers {about} where indices say."
    return moving(scatter)


def _put(tensor: Any, places: Any, values: Any) -> None:
    tensor[places] = values


tensor_scatter_nd_update = _scattering("tensor_scatter_nd_update", "replaced", _put)
tensor_scatter_nd_add = _scattering("tensor_scatter_nd_add", "added", np.add.at)
tensor_scatter_nd_sub = _scattering("tensor_scatter_nd_sub", "subtracted", np.subtract.at)
tensor_scatter_nd_max = _scattering("tensor_scatter_nd_max", "that are larger", np.maximum.at)
tensor_scatter_nd_min = _scattering("tensor_scatter_nd_min", "that are smaller", np.minimum.at)


@moving
def scatter_nd(indices: Any, updates: Any, shape: Any, bad_indices_policy: str = "") -> Any:
    """Return zeros of a shape with numbers added where indices say."""
    updates = held(updates)
    result = own_copy(np.zeros(sizes_of(shape), updates.dtype))
    _scatter("scatter_nd", result, indices, updates, bad_indices_policy, np.add.at)
    return result


# --- by values ---


@elementwise
def _choose(condition: Any, x: Any, y: Any) -> Any:
    return np.where(condition, x, y)


@moving
def _where(condition: Any) -> Any:
    _refuse_inside("where", "Use tf.where(condition, x, y), or sum with a mask.")
    return np.argwhere(held(condition))


@composite
def where(condition: Any, x: Any = None, y: Any = None) -> Any:
    """Return `x` where a condition holds and `y` elsewhere; without them, the places.

    Examples
    --------
    >>> import lanewise.compat.tf as tf
    >>> tf.where([True, False], [1, 2], 0).numpy()
    array([1, 0], dtype=int32)
    """
    if x is None and y is None:
        return _where(condition)
    if x is None or y is None:
        raise UsageError(
            "where: one of two; got x without y, or y without x, expected both, or none."
        )
    if all(type(value) in (bool, int, float) for value in (x, y)):
        x = array_of(x)
    return _choose(condition, x, y)


@moving
def boolean_mask(tensor: Any, mask: Any, axis: Any = None) -> Any:
    """Return the parts of a tensor for which a mask holds, along the axes of the mask."""
    if is_symbol(mask):
        _refuse_inside("boolean_mask", "Use tf.where(mask, tensor, 0).")
    first = static_of(axis) or 0
    return held(tensor)[(*[np.s_[:]] * first, held(mask))]


@moving
def one_hot(
    indices: Any,
    depth: Any,
    on_value: Any = None,
    off_value: Any = None,
    axis: Any = None,
    dtype: Any = None,
) -> Any:
    """Return for each index a vector with one number at its place and another elsewhere.

    Examples
    --------
    >>> import lanewise.compat.tf as tf
    >>> tf.one_hot([2, 0], 3).numpy()
    array([[0., 0., 1.],
           [1., 0., 0.]], dtype=float32)
    """
    on = 1 if on_value is None else on_value
    off = 0 if off_value is None else off_value
    if dtype is None:
        given = [value for value in (on_value, off_value) if value is not None]
        kind = np.result_type(*(held(value).dtype for value in given)) if given else np.float32
    else:
        kind = as_dtype(dtype).dtype
    indices = held(indices)
    along = -1 if axis is None else static_of(axis)
    places = np.expand_dims(indices, along)
    shape = [1] * np.ndim(places)
    shape[along] = static_of(depth)
    chosen = np.where(places == np.arange(static_of(depth)).reshape(shape), on, off)
    return chosen.astype(kind)


@moving
def sequence_mask(lengths: Any, maxlen: Any = None, dtype: Any = "bool") -> Any:
    """Return for each length a row that begins with so many ones."""
    lengths = held(lengths)
    if maxlen is None:
        _refuse_inside("sequence_mask without maxlen", "Give maxlen=.")
        maxlen = np.max(lengths, initial=0)
    row = np.arange(static_of(maxlen))
    return (row < np.expand_dims(lengths, -1)).astype(as_dtype(dtype).dtype)


# --- order ---


def _is_descending(call: str, direction: str) -> bool:
    if direction not in ("ASCENDING", "DESCENDING"):
        raise UsageError(
            f"{call}: no such direction; got {direction!r}, expected 'ASCENDING' or 'DESCENDING'."
        )
    return direction == "DESCENDING"


@moving
def sort(values: Any, axis: Any = -1, direction: str = "ASCENDING") -> Any:
    """Return numbers in order; inside of maps up to 64 of them."""
    along = static_of(axis)
    ordered = np.sort(held(values), along)
    return np.flip(ordered, along) if _is_descending("sort", direction) else ordered


@moving
def argsort(values: Any, axis: Any = -1, direction: str = "ASCENDING", stable: bool = False) -> Any:
    """Return the places of numbers in order; equal ones stay as they stand."""
    along = static_of(axis)
    values = held(values)
    if not _is_descending("argsort", direction):
        return np.argsort(values, along, kind="stable").astype(np.int32)
    size = np.shape(values)[along]
    places = np.argsort(np.flip(values, along), along, kind="stable")
    return (size - 1 - np.flip(places, along)).astype(np.int32)


@moving
def searchsorted(
    sorted_sequence: Any, values: Any, side: str = "left", out_type: Any = "int32"
) -> Any:
    """Return where numbers would be put into sorted ones, along the last axis."""
    table, values = held(sorted_sequence), held(values)
    kind = as_dtype(out_type).dtype
    if np.ndim(table) == 1:
        return np.searchsorted(table, values, side).astype(kind)  # type: ignore[call-overload]
    rows = np.reshape(table, (-1, np.shape(table)[-1]))
    others = np.reshape(values, (-1, np.shape(values)[-1]))
    found = [
        np.searchsorted(rows[at], others[at], side)  # type: ignore[call-overload]
        for at in range(np.shape(rows)[0])
    ]
    return np.reshape(np.stack(found), np.shape(values)).astype(kind)


class Unique(NamedTuple):
    """What `unique` gives."""

    y: Any
    idx: Any


class UniqueWithCounts(NamedTuple):
    """What `unique_with_counts` gives."""

    y: Any
    idx: Any
    count: Any


def _distinct(call: str, x: Any, out_idx: Any) -> tuple[Any, Any, Any]:
    _refuse_inside(call, "Sort, and compare neighbours.")
    kind = as_dtype(out_idx).dtype
    found, first, places, counts = np.unique(
        held(x), return_index=True, return_inverse=True, return_counts=True
    )
    order = np.argsort(first, kind="stable")
    return found[order], np.argsort(order)[places].astype(kind), counts[order].astype(kind)


@moving
def unique(x: Any, out_idx: Any = "int32") -> Any:
    """Return the different numbers in the order in which they come, and which one each is."""
    return Unique(*_distinct("unique", x, out_idx)[:2])


@moving
def unique_with_counts(x: Any, out_idx: Any = "int32") -> Any:
    """Return what `unique` gives, and how often each number is there."""
    return UniqueWithCounts(*_distinct("unique_with_counts", x, out_idx))


# --- parts ---


@moving
def dynamic_partition(data: Any, partitions: Any, num_partitions: Any) -> Any:
    """Return so many parts of a tensor: which one each of its rows belongs to is given."""
    _refuse_inside("dynamic_partition", "Use tf.where.")
    data, which, count = held(data), held(partitions), static_of(num_partitions)
    if np.any(which < 0) or np.any(which >= count):
        raise UsageError(
            f"dynamic_partition: no such part; got {which.tolist()}, expected 0 to {count - 1}."
        )
    return [data[which == at] for at in range(count)]


@moving
def dynamic_stitch(indices: Any, data: Any) -> Any:
    """Return the rows of several tensors at the places that are given."""
    _refuse_inside("dynamic_stitch", "Use tf.concat.")
    places = [held(one) for one in indices]
    parts = [held(one) for one in data]
    rest = np.shape(parts[0])[np.ndim(places[0]) :]
    count = max((int(one.max()) + 1 for one in places if one.size), default=0)
    result = np.zeros((count, *rest), parts[0].dtype)
    for place, part in zip(places, parts, strict=True):
        result[np.ravel(place)] = np.reshape(part, (-1, *rest))
    return result


@moving
def unravel_index(indices: Any, dims: Any) -> Any:
    """Return the positions in a shape of places in it, a row for each dimension."""
    indices = held(indices)
    return np.stack(np.unravel_index(indices, sizes_of(dims))).astype(indices.dtype)


@moving
def invert_permutation(x: Any) -> Any:
    """Return where each number from 0 on stands."""
    x = held(x)
    result = own_copy(np.zeros(np.shape(x), x.dtype))
    result[x] = np.arange(np.shape(x)[0]).astype(x.dtype)
    return result


NAMES = {
    **listed("", [gather, gather_nd, slice, strided_slice, scatter_nd, where, boolean_mask]),
    **listed("", [tensor_scatter_nd_update, tensor_scatter_nd_add, tensor_scatter_nd_sub]),
    **listed("", [tensor_scatter_nd_max, tensor_scatter_nd_min, one_hot, sequence_mask, sort]),
    **listed("", [argsort, searchsorted, unique, unique_with_counts, dynamic_partition]),
    **listed("", [dynamic_stitch, unravel_index]),
    "math.invert_permutation": invert_permutation,
}
