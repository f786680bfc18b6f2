"""``tf.ragged``: new ragged tensors, and functions of their numbers."""

import builtins
from collections.abc import Callable
from typing import Any

import numpy as np

from .. import graph
from ..dtypes import as_dtype
from ..names import listed
from ..session import placeholder as fed
from ..tensor import Tensor, array_of, plain_index
from . import partitions
from .factories import noted
from .operations import number_by_number
from .shaping import as_ragged, expand_dims, side_by_side, stacked, take
from .tensor import RaggedTensor


def constant(
    pylist: Any,
    dtype: Any = None,
    ragged_rank: int | None = None,
    inner_shape: Any = None,
    name: Any = None,
    row_splits_dtype: Any = "int64",
) -> Any:
    """Return nested lists as a ragged tensor.

    Examples
    --------
    >>> import lanewise.compat.tf as tf
    >>> tf.ragged.constant([[1.0], [2.0, 3.0]])
    <tf.RaggedTensor [[1.0], [2.0, 3.0]]>
    """
    made = constant_value(pylist, dtype, ragged_rank, inner_shape, row_splits_dtype)
    return graph.constant(made) if graph.keeps_constants() else made


def constant_value(
    pylist: Any,
    dtype: Any = None,
    ragged_rank: int | None = None,
    inner_shape: Any = None,
    row_splits_dtype: Any = "int64",
) -> Any:
    """Return nested lists as a ragged tensor that is there, also while a graph is built."""
    lists = _lists(pylist)
    depth = _depth(lists)
    inner = None if inner_shape is None else tuple(map(int, inner_shape))
    if ragged_rank is None:
        ragged_rank = max(0, depth - 1) if inner is None else max(0, depth - 1 - len(inner))
    elif not 0 <= ragged_rank < max(depth, 1) + (inner is not None):
        raise ValueError(
            f"ragged.constant: no such ragged_rank; got {ragged_rank} for lists of depth {depth}, "
            f"expected less than {depth}."
        )
    kind = as_dtype(row_splits_dtype).dtype
    return _made(lists, ragged_rank, dtype, inner, kind)


def _lists(value: Any) -> Any:
    """Return lists in place of arrays and tensors."""
    if isinstance(value, (list, tuple)):
        return [_lists(part) for part in value]
    value = plain_index(value)
    return value.tolist() if isinstance(value, np.ndarray) else value


def _depth(value: Any) -> int:
    if not isinstance(value, list):
        return 0
    depths = {_depth(part) for part in value if not isinstance(part, list) or part}
    if 0 in depths and len(depths) > 1:
        raise ValueError(
            f"ragged.constant: numbers beside lists; got {value!r}, expected all numbers at one "
            "depth."
        )
    inside = max((_depth(part) for part in value), default=0)
    return 1 + inside


def _made(lists: Any, rank: int, dtype: Any, inner: Any, kind: Any) -> Any:
    if rank == 0:
        return Tensor(_numbers(lists, dtype, inner))
    lengths = np.array([len(part) for part in lists], kind)
    flat = [item for part in lists for item in part]
    splits = Tensor(partitions.splits_of_lengths(lengths).astype(kind))
    return RaggedTensor(_made(flat, rank - 1, dtype, inner, kind), splits)


def _numbers(lists: Any, dtype: Any, inner: Any) -> Any:
    if isinstance(lists, list) and not lists:
        return np.zeros((0, *(inner or ())), as_dtype("float32" if dtype is None else dtype).dtype)
    try:
        array = np.asarray(array_of(lists, dtype))
    except ValueError as error:
        raise ValueError(
            "ragged.constant: values of different shapes behind the ragged dimensions; got "
            f"{lists!r}, expected one shape. Give a larger ragged_rank."
        ) from error
    if inner is not None and array.shape[1:] != inner:
        array = array.reshape(-1, *inner)
    return array


@noted
def range(
    starts: Any,
    limits: Any = None,
    deltas: Any = 1,
    dtype: Any = None,
    name: Any = None,
    row_splits_dtype: Any = "int64",
) -> Any:
    """Return a row of ascending, or descending, numbers for each bound.

    Examples
    --------
    >>> import lanewise.compat.tf as tf
    >>> tf.ragged.range([2, 0, 3])
    <tf.RaggedTensor [[0, 1], [], [0, 1, 2]]>
    """
    if limits is None:
        starts, limits = 0, starts
    bounds = [np.asarray(array_of(bound)) for bound in (starts, limits, deltas)]
    wanted = np.result_type(*bounds) if dtype is None else as_dtype(dtype).dtype
    first, last, step = np.broadcast_arrays(*(np.atleast_1d(bound) for bound in bounds))
    if (step == 0).any():
        raise ValueError("ragged.range: a step is 0; got 0 among deltas, expected other numbers.")
    first, last, step = (bound.astype(wanted) for bound in (first, last, step))
    lengths = np.maximum(np.ceil((last - first) / step), 0).astype(np.int64)
    splits = partitions.splits_of_lengths(lengths)
    within = partitions.columns(splits).astype(wanted)
    values = np.repeat(first, lengths) + within * np.repeat(step, lengths)
    splits = splits.astype(as_dtype(row_splits_dtype).dtype)
    return RaggedTensor(Tensor(values.astype(wanted)), Tensor(splits))


@noted
def stack(values: Any, axis: int = 0) -> Any:
    """Return tensors of one rank, or ragged ones, as rows; with ``axis=1`` as parts of rows."""
    parts = list(values)
    if axis == 0:
        return stacked(parts)
    return side_by_side([expand_dims(as_ragged(part), 1) for part in parts])


def map_flat_values(op: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
    """Call a function on the numbers of ragged tensors, which keep their rows.

    Examples
    --------
    >>> import lanewise.compat.tf as tf
    >>> tf.ragged.map_flat_values(lambda x: x * 2, tf.ragged.constant([[1], [2, 3]]))
    <tf.RaggedTensor [[2], [4, 6]]>
    """
    if not any(isinstance(arg, RaggedTensor) for arg in (*args, *kwargs.values())):
        return op(*args, **kwargs)
    return _map_flat_values(op, *args, **kwargs)


@noted
def _map_flat_values(op: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
    return number_by_number("map_flat_values", op, args, kwargs)


@noted
def boolean_mask(data: Any, mask: Any) -> Any:
    """Return what is selected by truth values, in rows as long as what is left of them."""
    chosen = mask if isinstance(mask, RaggedTensor) else np.asarray(array_of(mask))
    if isinstance(chosen, RaggedTensor) or chosen.ndim > 1:
        chosen = as_ragged(chosen)
        rows = as_ragged(data)
        if not np.array_equal(chosen.splits, rows.splits):
            raise ValueError(
                "ragged.boolean_mask: rows of different lengths; got "
                f"{np.diff(rows.splits).tolist()} and a mask of {np.diff(chosen.splits).tolist()}, "
                "expected the same."
            )
        if isinstance(chosen.values, RaggedTensor):
            return rows.with_values(boolean_mask(rows.values, chosen.values))
        flags = np.asarray(array_of(chosen.values)).astype(bool)
        ids = partitions.row_ids(rows.splits)[flags]
        splits = partitions.splits_of_row_ids("ragged.boolean_mask", ids, rows.count_rows())
        return RaggedTensor(take(rows.values, np.flatnonzero(flags)), Tensor(splits))
    return take(data, np.flatnonzero(chosen))


@noted
def row_splits_to_segment_ids(splits: Any, out_type: Any = None) -> Any:
    """Return the number of its row for each value."""
    ids = partitions.row_ids(partitions.whole_numbers(splits))
    return Tensor(ids if out_type is None else ids.astype(as_dtype(out_type).dtype))


@noted
def segment_ids_to_row_splits(
    segment_ids: Any, num_segments: Any = None, out_type: Any = None
) -> Any:
    """Return splits of values that have the number of their row."""
    ids = partitions.whole_numbers(segment_ids)
    rows = None if num_segments is None else int(num_segments)
    splits = partitions.splits_of_row_ids("ragged.segment_ids_to_row_splits", ids, rows)
    return Tensor(splits if out_type is None else splits.astype(as_dtype(out_type).dtype))


def placeholder(dtype: Any, ragged_rank: int, value_shape: Any = None, name: Any = None) -> Any:
    """Return a ragged tensor that is fed when a session runs."""
    made: Any = fed(dtype, [None, *(value_shape or ())])
    for _ in builtins.range(ragged_rank):
        made = RaggedTensor(made, fed("int64", [None]))
    return made


NAMES = {
    "compat.v1.ragged.placeholder": placeholder,
    "compat.v1.ragged.constant_value": constant_value,
    **listed("ragged", [constant, range, stack, map_flat_values, boolean_mask], False),
    **listed("ragged", [row_splits_to_segment_ids, segment_ids_to_row_splits], False),
    "RaggedTensor": RaggedTensor,
    "compat.v1.ragged.RaggedTensorValue": RaggedTensor,
}
