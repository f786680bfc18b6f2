"""The ways to make a ragged tensor."""

import functools
from collections.abc import Callable
from typing import Any

import numpy as np

from .. import graph
from ..dtypes import as_dtype
from ..tensor import Tensor, array_of, blank, has_graph
from . import partitions
from .partitions import Array

Function = Callable[..., Any]


def noted(function: Function) -> Function:
    """Let a function, if it meets nodes of a graph, make another one."""

    @functools.wraps(function)
    def call(*args: Any, name: Any = None, **kwargs: Any) -> Any:
        if has_graph(args) or has_graph(kwargs):
            return graph.record(call, args, kwargs)
        return function(*args, **kwargs)

    return call


def is_ragged(value: Any) -> bool:
    """Say whether a value is a ragged tensor."""
    return isinstance(value, Factories)


def values_of(values: Any) -> Any:
    """Return what can be the values of rows as a tensor, or ragged as it is."""
    if is_ragged(values) or has_graph(values):
        return values
    return values if type(values) is Tensor else Tensor(np.asarray(array_of(values)))


def count_of(values: Any) -> int:
    """Return how many values there are."""
    return values.count_rows() if is_ragged(values) else len(array_of(values))


class Factories:
    """The ways to make a ragged tensor; each is a node of a graph if its arguments are."""

    def __init__(self, values: Any, row_splits: Any) -> None:
        raise NotImplementedError

    @classmethod
    def _checked(cls, call: str, values: Any, splits: Array, validate: bool) -> Any:
        values = values_of(values)
        if validate:
            partitions.checked_splits(f"RaggedTensor.{call}", splits, count_of(values))
        return cls(values, Tensor(splits))

    @classmethod
    def from_row_splits(
        cls, values: Any, row_splits: Any, name: Any = None, validate: bool = True
    ) -> Any:
        """Make one of values, and where rows begin and the last one ends."""
        if has_graph((values, row_splits)):
            return cls(values_of(values), row_splits)
        splits = partitions.whole_numbers(row_splits)
        return cls._checked("from_row_splits", values, splits, validate)

    @classmethod
    @noted
    def from_row_lengths(cls, values: Any, row_lengths: Any, validate: bool = True) -> Any:
        """Make one of values, and the lengths of rows."""
        splits = partitions.splits_of_lengths(partitions.whole_numbers(row_lengths))
        return cls._checked("from_row_lengths", values, splits, validate)

    @classmethod
    @noted
    def from_value_rowids(
        cls, values: Any, value_rowids: Any, nrows: Any = None, validate: bool = True
    ) -> Any:
        """Make one of values, and the number of the row of each."""
        rows = None if nrows is None else int(nrows)
        ids = partitions.whole_numbers(value_rowids)
        splits = partitions.splits_of_row_ids("RaggedTensor.from_value_rowids", ids, rows)
        return cls._checked("from_value_rowids", values, splits, validate)

    @classmethod
    @noted
    def from_row_starts(cls, values: Any, row_starts: Any, validate: bool = True) -> Any:
        """Make one of values, and where rows begin."""
        starts = partitions.whole_numbers(row_starts)
        values = values_of(values)
        splits = np.append(starts, starts.dtype.type(count_of(values)))
        return cls._checked("from_row_starts", values, splits, validate)

    @classmethod
    @noted
    def from_row_limits(cls, values: Any, row_limits: Any, validate: bool = True) -> Any:
        """Make one of values, and where rows end."""
        splits = np.insert(partitions.whole_numbers(row_limits), 0, 0)
        return cls._checked("from_row_limits", values, splits, validate)

    @classmethod
    @noted
    def from_uniform_row_length(
        cls, values: Any, uniform_row_length: Any, nrows: Any = None, validate: bool = True
    ) -> Any:
        """Make one of values, in rows of one length."""
        length = int(uniform_row_length)
        values = values_of(values)
        rows = count_of(values) // max(length, 1) if nrows is None else int(nrows)
        splits = np.arange(rows + 1, dtype=np.int64) * length
        return cls._checked("from_uniform_row_length", values, splits, validate)

    @classmethod
    def from_nested_row_splits(
        cls, flat_values: Any, nested_row_splits: Any, name: Any = None, validate: bool = True
    ) -> Any:
        """Make one of numbers, and the splits of its ragged dimensions, outermost first."""
        made = flat_values
        for splits in reversed(list(nested_row_splits)):
            made = cls.from_row_splits(made, splits, validate=validate)
        return made

    @classmethod
    def from_nested_row_lengths(
        cls, flat_values: Any, nested_row_lengths: Any, name: Any = None, validate: bool = True
    ) -> Any:
        """Make one of numbers, and the lengths of rows of its dimensions, outermost first."""
        made = flat_values
        for lengths in reversed(list(nested_row_lengths)):
            made = cls.from_row_lengths(made, lengths, validate=validate)
        return made

    @classmethod
    @noted
    def from_tensor(
        cls,
        tensor: Any,
        lengths: Any = None,
        padding: Any = None,
        ragged_rank: int = 1,
        row_splits_dtype: Any = "int64",
    ) -> Any:
        """Make one of a tensor: rows end at their length, or where only padding follows."""
        from .shaping import of_tensor

        kind = as_dtype(row_splits_dtype).dtype
        return of_tensor(np.asarray(array_of(tensor)), lengths, padding, ragged_rank, kind)

    @classmethod
    @noted
    def from_sparse(cls, st_input: Any, row_splits_dtype: Any = "int64") -> Any:
        """Make one of a matrix of which some numbers are there, in rows from the left on."""
        kind = as_dtype(row_splits_dtype).dtype
        places, size = array_of(st_input.indices), int(array_of(st_input.dense_shape)[0])
        ids = places[:, 0].astype(kind)
        splits = partitions.splits_of_row_ids("RaggedTensor.from_sparse", ids, size)
        if not np.array_equal(places[:, 1], partitions.columns(splits)):
            raise ValueError(
                "RaggedTensor.from_sparse: rows have gaps; got numbers that are not side by side "
                "from the left on, expected those."
            )
        return cls(values_of(st_input.values), Tensor(splits))

    @classmethod
    def empty(cls, ragged_rank: int, inner: Any, dtype: Any) -> Any:
        """Make one without rows."""
        sizes = [size or 0 for size in inner]
        made: Any = Tensor(blank((0, *sizes), as_dtype(dtype).dtype))
        for _ in range(ragged_rank):
            made = cls(made, Tensor(np.zeros(1, np.int64)))
        return made

    @classmethod
    def sample(cls, rows: int, inner: Any, dtype: Any) -> Any:
        """Make one of zeros, whose rows have one value or two."""
        lengths = 1 + np.arange(rows) % 2
        values = blank((int(lengths.sum()), *inner), as_dtype(dtype).dtype)
        return cls(Tensor(values), Tensor(partitions.splits_of_lengths(lengths)))

    @classmethod
    def stacked(cls, parts: list[Any], ragged_rank: int = 1) -> Any:
        """Return tensors, or ragged ones, as the rows of one, with so many ragged dimensions."""
        from .shaping import stacked

        return stacked(parts, ragged_rank)
