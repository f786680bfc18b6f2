"""How values are divided into rows, as arrays of NumPy: splits, lengths, and places of values."""

from typing import Any

import numpy as np

from ....errors import UsageError
from .. import sampling
from ..tensor import array_of

Array = Any


def whole_numbers(values: Any) -> Array:
    """Return whole numbers as an array: of int32 where they are that already, else of int64."""
    array = np.asarray(array_of(values))
    is_narrow = array.dtype == np.int32 and hasattr(values, "dtype")
    return array if is_narrow else array.astype(np.int64)


def splits_of_lengths(lengths: Array) -> Array:
    """Return where rows of some lengths begin, and where the last one ends."""
    kind = lengths.dtype if lengths.dtype == np.int32 else np.int64
    splits = np.zeros(len(lengths) + 1, kind)
    np.cumsum(lengths, out=splits[1:])
    return splits


def checked_splits(call: str, splits: Array, size: int) -> Array:
    """Return splits of so many values, if they are such."""
    if sampling.is_on():
        return splits
    if splits.ndim != 1 or not len(splits):
        raise UsageError(
            f"{call}: splits are not one row of numbers; got the shape {splits.shape}, expected "
            "one more than there are rows."
        )
    if splits[0] != 0 or splits[-1] != size:
        raise UsageError(
            f"{call}: splits do not have all values; got {splits[0]} to {splits[-1]}, expected 0 "
            f"to {size}, the number of values."
        )
    if (np.diff(splits) < 0).any():
        raise UsageError(
            f"{call}: splits do not ascend; got {splits.tolist()}, expected ascending numbers."
        )
    return splits


def splits_of_row_ids(call: str, ids: Array, rows: int | None) -> Array:
    """Return the splits of values that have the number of their row."""
    count = (int(ids[-1]) + 1 if len(ids) else 0) if rows is None else rows
    if len(ids) and not sampling.is_on() and ((np.diff(ids) < 0).any() or ids[-1] >= count):
        raise UsageError(
            f"{call}: numbers of rows do not ascend, or there are too few rows; got "
            f"{ids.tolist()} for {count} rows, expected ascending numbers below {count}."
        )
    return splits_of_lengths(np.bincount(ids, minlength=count)[:count].astype(ids.dtype))


def row_ids(splits: Array) -> Array:
    """Return the number of its row for each value."""
    return np.repeat(np.arange(len(splits) - 1, dtype=splits.dtype), np.diff(splits))


def columns(splits: Array) -> Array:
    """Return the place of each value in its row."""
    lengths = np.diff(splits)
    return np.arange(splits[-1] - splits[0], dtype=splits.dtype) - np.repeat(
        splits[:-1] - splits[0], lengths
    )


def places(starts: Array, lengths: Array, step: int = 1) -> Array:
    """Return where values of rows are that begin somewhere and have some length."""
    within = columns(splits_of_lengths(lengths))
    return np.repeat(starts, lengths) + step * within


def part_of_rows(splits: Array, part: slice) -> tuple[Array, Array]:
    """Return where the values of a slice of each row are, and the splits of what is left."""
    lengths, which = np.unique(np.diff(splits), return_inverse=True)
    bounds = [part.indices(int(length)) for length in lengths]
    first = np.array([start for start, _, _ in bounds], np.int64)[which]
    counts = np.array([len(range(*one)) for one in bounds], splits.dtype)[which]
    step = 1 if part.step is None else part.step
    return places(splits[:-1] + first, counts, step), splits_of_lengths(counts)


def lengths_without_padding(array: Array, padding: Array) -> Array:
    """Return the lengths of rows without what is padding at their ends."""
    is_padding = array == padding
    if array.ndim > 2:
        is_padding = is_padding.all(axis=tuple(range(2, array.ndim)))
    behind = np.argmax(~is_padding[:, ::-1], axis=1)
    lengths = np.where(is_padding.all(axis=1), 0, array.shape[1] - behind)
    return lengths.astype(np.int64)
