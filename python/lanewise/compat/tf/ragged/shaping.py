"""Parts of rows, and rows put together."""

from typing import Any

import numpy as np

from ..tensor import Tensor, array_of, plain_index
from . import partitions
from .partitions import Array
from .tensor import RaggedTensor

# --- parts ---


def take(values: Any, at: Array) -> Any:
    """Return some rows of a tensor or ragged tensor, or a row as often as it is named."""
    if not isinstance(values, RaggedTensor):
        return Tensor(np.asarray(array_of(values))[at])
    splits = values.splits
    lengths = np.diff(splits)[at]
    inner = take(values.values, partitions.places(splits[:-1][at], lengths))
    return RaggedTensor(inner, Tensor(partitions.splits_of_lengths(lengths)))


def item(rows: RaggedTensor, index: Any) -> Any:
    """Return what an index selects, which has no tensors in it."""
    index = _all_dimensions(rows, index if isinstance(index, tuple) else (index,))
    first, rest = index[0], index[1:]
    if first is None:
        raise ValueError(_NEW_AXIS)
    if isinstance(first, slice):
        return _inner_items(_rows(rows, first), rest)
    if not isinstance(first, (int, np.integer)):
        raise ValueError(
            f"RaggedTensor: not an index; got {type(first).__name__}, expected a whole number or a "
            "slice. Use tf.gather."
        )
    count = rows.count_rows()
    if not -count <= first < count:
        raise IndexError(
            f"RaggedTensor: no such row; got the index {first}, expected one of {count} rows."
        )
    row = rows.row_at(int(first) % count)
    return row[rest] if rest else row


_NEW_AXIS = "RaggedTensor: tf.newaxis in an index; got one, expected tf.expand_dims."


def _all_dimensions(rows: RaggedTensor, index: tuple[Any, ...]) -> tuple[Any, ...]:
    """Return an index with slices in place of ``...``."""
    dots = [at for at, one in enumerate(index) if one is Ellipsis]
    if not dots:
        return index
    missing = len(rows.shape) - (len(index) - 1)
    return (*index[: dots[0]], *[slice(None)] * missing, *index[dots[0] + 1 :])


def _rows(rows: RaggedTensor, part: slice) -> RaggedTensor:
    if part == slice(None):
        return rows
    if part.step in (None, 1):  # their values stand together
        begin, end, _ = part.indices(rows.count_rows())
        splits = rows.splits[begin : max(begin, end) + 1]
        low, high = int(splits[0]), int(splits[-1])
        values = rows.values[low:high]
        return RaggedTensor(values, Tensor(splits - splits[0]))
    at = np.arange(rows.count_rows())[part]
    taken: RaggedTensor = take(rows, at)
    return taken


def _inner_items(rows: RaggedTensor, rest: tuple[Any, ...]) -> RaggedTensor:
    """Return parts of all rows."""
    if not rest:
        return rows
    first, further = rest[0], rest[1:]
    if not isinstance(first, slice):
        raise ValueError(
            f"RaggedTensor: an index into rows of different lengths; got {first!r}, expected a "
            "slice, rows[:, a:b]. Use tf.map_fn for a number of each row."
        )
    if first != slice(None):
        at, splits = partitions.part_of_rows(rows.splits, first)
        rows = RaggedTensor(take(rows.values, at), Tensor(splits))
    if further:
        rows = rows.with_values(rows.values[(slice(None), *further)])
    return rows


# --- tensors ---


def of_tensor(array: Array, lengths: Any, padding: Any, ragged_rank: int, kind: Any) -> Any:
    """Return the rows of a tensor."""
    if not 1 <= ragged_rank < array.ndim:
        raise ValueError(
            f"RaggedTensor.from_tensor: no such ragged_rank; got {ragged_rank} for a tensor of "
            f"shape {array.shape}, expected 1 to {array.ndim - 1}."
        )
    if lengths is not None and padding is not None:
        raise ValueError(
            "RaggedTensor.from_tensor: two ways to say where rows end; got lengths and padding, "
            "expected one of them."
        )
    if isinstance(lengths, (tuple, list)) and lengths and np.ndim(plain_index(lengths[0])) > 0:
        return _of_nested_lengths(array, list(lengths), kind)
    if ragged_rank > 1:
        inner = of_tensor(_merged(array), lengths, padding, ragged_rank - 1, kind)
        return RaggedTensor(inner, Tensor(np.arange(len(array) + 1, dtype=kind) * array.shape[1]))
    if padding is not None:
        counts = partitions.lengths_without_padding(array, np.asarray(array_of(padding)))
    elif lengths is not None:
        counts = np.clip(partitions.whole_numbers(lengths), 0, array.shape[1])
    else:
        counts = np.full(len(array), array.shape[1])
    at = partitions.places(np.arange(len(array)) * array.shape[1], counts.astype(kind))
    splits = partitions.splits_of_lengths(counts.astype(kind)).astype(kind)
    return RaggedTensor(Tensor(_merged(array)[at]), Tensor(splits))


def _merged(array: Array) -> Array:
    return array.reshape(array.shape[0] * array.shape[1], *array.shape[2:])


def _of_nested_lengths(array: Array, lengths: list[Any], kind: Any) -> RaggedTensor:
    rows: RaggedTensor = of_tensor(array, lengths[0], None, 1, kind)
    if len(lengths) == 1:
        return rows
    return rows.with_values(_of_nested_lengths(array_of(rows.values), lengths[1:], kind))


def padded(rows: RaggedTensor, default: Any, shape: Any) -> Array:
    """Return an array in which rows are filled up at their end."""
    inner = rows.values
    sizes = _wanted_sizes(rows, shape)
    if isinstance(inner, RaggedTensor):
        dense = padded(inner, default, None if sizes is None else [None, *sizes[2:]])
    else:
        dense = np.asarray(array_of(inner))
    lengths = np.diff(rows.splits)
    made = np.empty((len(lengths), int(lengths.max(initial=0)), *dense.shape[1:]), dense.dtype)
    made[...] = _filling(dense.dtype, default)
    made[partitions.row_ids(rows.splits), partitions.columns(rows.splits)] = dense
    return made if sizes is None else _fitted(made, sizes, _filling(dense.dtype, default))


def _wanted_sizes(rows: RaggedTensor, shape: Any) -> list[Any] | None:
    if shape is None:
        return None
    sizes = list(plain_index(shape)) if not hasattr(shape, "as_list") else shape.as_list()
    if len(sizes) > len(rows.shape):
        raise ValueError(
            f"to_tensor: too many sizes; got {sizes}, expected at most {len(rows.shape)}, the "
            "number of dimensions."
        )
    return sizes + [None] * (len(rows.shape) - len(sizes))


def _filling(dtype: Any, default: Any) -> Any:
    if default is not None:
        return array_of(default)
    return b"" if dtype.kind == "O" else dtype.type(0)


def _fitted(array: Array, sizes: list[Any], filling: Any) -> Array:
    """Return an array cut, or filled up, to some sizes."""
    wanted = [
        have if size is None else int(size) for have, size in zip(array.shape, sizes, strict=True)
    ]
    if wanted == list(array.shape):
        return array
    made = np.empty(wanted, array.dtype)
    made[...] = filling
    common = tuple(slice(min(a, b)) for a, b in zip(array.shape, wanted, strict=True))
    made[common] = array[common]
    return made


# --- rows put together ---


def as_ragged(value: Any, ragged_rank: int = 1) -> Any:
    """Return a tensor as a ragged one with some ragged dimensions; others have more already."""
    if isinstance(value, RaggedTensor):
        missing = ragged_rank - value.ragged_rank
        return (
            value if missing <= 0 else value.with_values(as_ragged(value.values, ragged_rank - 1))
        )
    array = np.asarray(array_of(value))
    return of_tensor(array, None, None, ragged_rank, np.dtype(np.int64))


def stacked(parts: list[Any], ragged_rank: int = 1) -> Any:
    """Return tensors, or ragged ones, as the rows of one; `ragged_rank` is the least it has."""
    rank = max(ragged_rank - 1, *(_needed_rank(part, parts) for part in parts))
    parts = [as_ragged(part, rank) if rank else part for part in parts]
    lengths = np.array([_length(part) for part in parts], np.int64)
    return RaggedTensor(joined(parts), Tensor(partitions.splits_of_lengths(lengths)))


def _needed_rank(part: Any, parts: list[Any]) -> int:
    """Return how many dimensions of a part have to be ragged beside others."""
    if isinstance(part, RaggedTensor):
        return part.ragged_rank
    shape = np.shape(array_of(part))
    shapes = [np.shape(array_of(one)) for one in parts if not isinstance(one, RaggedTensor)]
    differing = [at for at, sizes in enumerate(zip(*shapes, strict=False)) if len(set(sizes)) > 1]
    return max(differing, default=0) if len(shape) > 1 else 0


def _length(part: Any) -> int:
    return part.count_rows() if isinstance(part, RaggedTensor) else len(array_of(part))


def joined(parts: list[Any]) -> Any:
    """Return the rows of several, one after the other."""
    if not any(isinstance(part, RaggedTensor) for part in parts):
        arrays = [np.asarray(array_of(part)) for part in parts]
        return Tensor(np.concatenate(_of_one_shape(arrays)))
    rank = max(part.ragged_rank for part in parts if isinstance(part, RaggedTensor))
    rows = [as_ragged(part, rank) for part in parts]
    lengths = np.concatenate([np.diff(part.splits) for part in rows])
    return RaggedTensor(
        joined([part.values for part in rows]), Tensor(partitions.splits_of_lengths(lengths))
    )


def _of_one_shape(arrays: list[Array]) -> list[Array]:
    """Return arrays of numbers, those of no rows in the shape of the others."""
    shapes = {array.shape[1:] for array in arrays if len(array)}
    if len(shapes) > 1:
        raise ValueError(
            "RaggedTensor: values of different shapes; got "
            f"{', '.join(str(list(shape)) for shape in sorted(shapes))} behind the rows, expected "
            "one shape."
        )
    shape = shapes.pop() if shapes else arrays[0].shape[1:]
    return [array if array.shape[1:] == shape else array.reshape(0, *shape) for array in arrays]


def side_by_side(parts: list[Any]) -> RaggedTensor:
    """Return the first rows of several as one row, the second ones, and so on."""
    rows = [as_ragged(part) for part in parts]
    count = rows[0].count_rows()
    if any(part.count_rows() != count for part in rows):
        raise ValueError(
            "concat: numbers of rows differ; got "
            f"{', '.join(str(part.count_rows()) for part in rows)}, expected one number."
        )
    order = np.arange(len(rows) * count).reshape(len(rows), count).T.reshape(-1)
    mixed = take(joined(rows), order)
    return RaggedTensor(mixed.values, Tensor(mixed.splits[:: len(rows)].copy()))


def merge_dims(rows: Any, outer: int, inner: int) -> Any:
    """Return it with dimensions from one to another as one."""
    rank = len(rows.shape)
    outer, inner = outer % rank, inner % rank
    if outer >= inner:
        raise ValueError(
            f"merge_dims: no dimensions to merge; got {outer} to {inner}, expected ascending ones."
        )
    for _ in range(inner - outer):
        rows = _merged_with_next(rows, outer)
    return rows


def _merged_with_next(rows: Any, axis: int) -> Any:
    if not isinstance(rows, RaggedTensor):
        array = np.asarray(array_of(rows))
        return Tensor(array.reshape(*array.shape[:axis], -1, *array.shape[axis + 2 :]))
    if axis == 0:
        return rows.values
    inner = rows.values
    if axis > 1:
        return rows.with_values(_merged_with_next(inner, axis - 1))
    if isinstance(inner, RaggedTensor):
        return RaggedTensor(inner.values, Tensor(inner.splits[rows.splits]))
    array = np.asarray(array_of(inner))
    return RaggedTensor(Tensor(_merged(array)), Tensor(rows.splits * array.shape[1]))


def expand_dims(rows: Any, axis: int) -> Any:
    """Return it with a new dimension of size 1."""
    rank = len(rows.shape) + 1
    axis = axis + rank if axis < 0 else axis
    if axis == 0:
        return RaggedTensor(rows, Tensor(np.array([0, rows.count_rows()], np.int64)))
    if axis == 1:
        return RaggedTensor(rows, Tensor(np.arange(rows.count_rows() + 1, dtype=np.int64)))
    inner = rows.values
    if isinstance(inner, RaggedTensor):
        return rows.with_values(expand_dims(inner, axis - 1))
    return rows.with_values(Tensor(np.expand_dims(array_of(inner), axis - 1)))
