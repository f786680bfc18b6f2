"""``tf.RaggedTensor``: rows of different lengths, one behind the other, without padding."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from .. import graph
from ..dtypes import DType, as_dtype
from ..shapes import TensorShape
from ..tensor import Tensor, array_of, blank, has_graph, plain_index
from . import partitions
from .factories import Factories, count_of, noted, values_of
from .partitions import Array

_MOST_SHOWN = 20  # rows


@dataclass(eq=False, repr=False)
class RaggedTensor(Factories):
    """Rows of different lengths: row ``i`` is ``values[row_splits[i]:row_splits[i + 1]]``.

    `values` is a tensor or, where rows are made of rows, another `RaggedTensor`.

    Examples
    --------
    >>> import lanewise.compat.tf as tf
    >>> rows = tf.ragged.constant([[1, 2, 3], [], [4]])
    >>> rows * 2
    <tf.RaggedTensor [[2, 4, 6], [], [8]]>
    >>> tf.map_fn(lambda row: tf.reduce_sum(row), rows).numpy()
    array([6, 0, 4], dtype=int32)
    """

    values: Any
    row_splits: Any

    is_composite: ClassVar[bool] = True
    is_tensor_like: ClassVar[bool] = True
    __array_priority__: ClassVar[int] = 150

    # --- what it is ---

    @property
    def has_nodes(self) -> bool:
        """Whether it will be there when a graph runs."""
        return has_graph((self.values, self.row_splits))

    def graph_parts(self) -> list[Any]:
        """Return what of it may be nodes of a graph."""
        inner = self.values
        return [
            inner.graph_parts() if isinstance(inner, RaggedTensor) else inner,
            self.row_splits,
        ]

    def with_graph_parts(self, parts: Any) -> "RaggedTensor":
        """Return the same of other parts."""
        inner, splits = parts
        if isinstance(self.values, RaggedTensor):
            inner = self.values.with_graph_parts(inner)
        return RaggedTensor(inner, splits)

    @property
    def flat_values(self) -> Any:
        """The numbers, without any ragged dimension."""
        inner = self.values
        return inner.flat_values if isinstance(inner, RaggedTensor) else inner

    @property
    def nested_row_splits(self) -> tuple[Any, ...]:
        """The splits of all ragged dimensions, outermost first."""
        inner = self.values
        return (
            self.row_splits,
            *(inner.nested_row_splits if isinstance(inner, RaggedTensor) else ()),
        )

    @property
    def ragged_rank(self) -> int:
        """The number of ragged dimensions."""
        return len(self.nested_row_splits)

    @property
    def dtype(self) -> DType:
        """The type of its numbers."""
        return as_dtype(self.flat_values.dtype)

    @property
    def shape(self) -> TensorShape:
        """The sizes of its dimensions: None for ragged ones."""
        rows = self.row_splits.shape[0]
        rank = self.ragged_rank
        inner = list(self.flat_values.shape)[1:]
        return TensorShape([None if rows is None else rows - 1, *[None] * rank, *inner])

    def get_shape(self) -> TensorShape:
        """Return the sizes of its dimensions: None for ragged ones."""
        return self.shape

    @property
    def uniform_row_length(self) -> None:
        """None: all dimensions of rows may be ragged."""
        return None

    @property
    def splits(self) -> Array:
        """The splits as an array."""
        return np.asarray(array_of(self.row_splits))

    def count_rows(self) -> int:
        """Return how many rows there are, as a plain number."""
        return len(self.splits) - 1

    def row_at(self, at: int) -> Any:
        """Return a row."""
        begin, end = self.splits[at : at + 2].tolist()
        if isinstance(self.values, RaggedTensor):
            return self.values[begin:end]
        return Tensor(np.asarray(array_of(self.values))[begin:end])

    def sample_row(self, length: int = 0) -> Any:
        """Return a row as it may be, of a length."""
        if isinstance(self.values, RaggedTensor):
            inner = [self.values.sample_row(length) for _ in range(length)]
            return self.stacked(inner) if inner else self.values[:0]
        array = np.asarray(array_of(self.values))
        return Tensor(blank((length, *array.shape[1:]), array.dtype))

    def sampled(self) -> "RaggedTensor":
        """Return as many rows as they may be: first a row of one value, then one of two."""
        rows = [self.sample_row(1 + at % 2) for at in range(self.count_rows())]
        made: RaggedTensor = self.stacked(rows) if rows else self[:0]
        return made

    def for_program(self) -> Any:
        """Return the rows as programs take them, if they do."""
        from .mapping import engine_rows

        return engine_rows(self)

    @noted
    def nrows(self, out_type: Any = None) -> Any:
        """Return how many rows there are."""
        kind = self.splits.dtype if out_type is None else as_dtype(out_type).dtype
        return Tensor(np.asarray(self.count_rows(), kind))

    @noted
    def nvals(self, out_type: Any = None) -> Any:
        """Return how many values all rows have."""
        kind = self.splits.dtype if out_type is None else as_dtype(out_type).dtype
        return Tensor(np.asarray(count_of(self.values), kind))

    @noted
    def row_lengths(self, axis: int = 1) -> Any:
        """Return how long the rows are."""
        if axis > 1:
            return self.with_values(self.values.row_lengths(axis - 1))
        return Tensor(np.diff(self.splits))

    @noted
    def nested_row_lengths(self) -> Any:
        """Return how long the rows of all ragged dimensions are, outermost first."""
        return tuple(Tensor(np.diff(array_of(splits))) for splits in self.nested_row_splits)

    @noted
    def row_starts(self) -> Any:
        """Return where rows begin."""
        return Tensor(self.splits[:-1])

    @noted
    def row_limits(self) -> Any:
        """Return where rows end."""
        return Tensor(self.splits[1:])

    @noted
    def value_rowids(self) -> Any:
        """Return the number of its row for each value."""
        return Tensor(partitions.row_ids(self.splits))

    @noted
    def bounding_shape(self, axis: Any = None, out_type: Any = None) -> Any:
        """Return the sizes of the smallest tensor that has all rows."""
        kind = self.splits.dtype if out_type is None else as_dtype(out_type).dtype
        sizes = np.array(_bounds(self), kind)
        return Tensor(sizes if axis is None else np.asarray(sizes[plain_index(axis)]))

    # --- what becomes of it ---

    def with_values(self, new_values: Any) -> "RaggedTensor":
        """Return other values in the same rows."""
        return RaggedTensor(values_of(new_values), self.row_splits)

    def with_flat_values(self, new_values: Any) -> "RaggedTensor":
        """Return other numbers in the same rows, also of inner ones."""
        if isinstance(self.values, RaggedTensor):
            return self.with_values(self.values.with_flat_values(new_values))
        return self.with_values(new_values)

    @noted
    def with_row_splits_dtype(self, dtype: Any) -> Any:
        """Return it with splits of another type."""
        inner = self.values
        if isinstance(inner, RaggedTensor):
            inner = inner.with_row_splits_dtype(dtype)
        return RaggedTensor(inner, Tensor(self.splits.astype(as_dtype(dtype).dtype)))

    @noted
    def merge_dims(self, outer_axis: int, inner_axis: int) -> Any:
        """Return it with dimensions from one to another as one."""
        from .shaping import merge_dims

        return merge_dims(self, outer_axis, inner_axis)

    @noted
    def to_tensor(self, default_value: Any = None, shape: Any = None) -> Any:
        """Return a tensor in which rows are filled up at their end."""
        from .shaping import padded

        return Tensor(padded(self, default_value, shape))

    @noted
    def to_sparse(self) -> Any:
        """Return a sparse tensor with these numbers."""
        from ..sparse import SparseTensor

        if self.ragged_rank > 1:
            raise ValueError(
                f"to_sparse: rows of rows; got {self.ragged_rank} ragged dimensions, expected one."
            )
        splits = self.splits
        indices = np.stack([partitions.row_ids(splits), partitions.columns(splits)], axis=1)
        shape = np.array(_bounds(self), np.int64)
        return SparseTensor(indices.astype(np.int64), self.values, shape)

    def to_list(self) -> list[Any]:
        """Return nested lists of numbers."""
        if isinstance(self.values, RaggedTensor):
            return [row.to_list() for row in self]
        flat, splits = np.asarray(array_of(self.values)).tolist(), self.splits.tolist()
        return [flat[splits[at] : splits[at + 1]] for at in range(len(splits) - 1)]

    def numpy(self) -> Any:
        """Return an array of arrays; one array where all rows have one length."""
        rows = [row.numpy() for row in self]
        if len({np.shape(row) for row in rows}) <= 1 and all(row.dtype != object for row in rows):
            return np.array(rows) if rows else np.zeros((0, 0), self.dtype.dtype)
        made = np.empty(len(rows), object)
        made[:] = rows
        return made

    def eval(self, feed_dict: Any = None, session: Any = None) -> Any:
        """Return its value, as `Session.run` does."""
        if not self.has_nodes:
            return self
        from ..session import default_session

        return (session or default_session("eval")).run(self, feed_dict)

    def __len__(self) -> int:
        if self.has_nodes:
            raise graph.NeedsValueError(self.row_splits, "len")
        return self.count_rows()

    def __iter__(self) -> Iterator[Any]:
        if self.has_nodes:
            raise graph.NeedsValueError(self.row_splits, "for")
        return map(self.row_at, range(self.count_rows()))

    def __bool__(self) -> bool:
        raise TypeError("bool: a RaggedTensor is neither true nor false; got one, expected a test.")

    @noted
    def __getitem__(self, index: Any) -> Any:
        from .shaping import item

        return item(self, plain_index(index))

    def __hash__(self) -> int:
        return id(self)

    def __repr__(self) -> str:
        if self.has_nodes:
            return f"<tf.RaggedTensor shape={self.shape} dtype={self.dtype.name}>"
        if self.count_rows() <= _MOST_SHOWN:
            return f"<tf.RaggedTensor {self.to_list()}>"
        first = ", ".join(map(str, self[:_MOST_SHOWN].to_list()))
        return f"<tf.RaggedTensor [{first}, ...]>"


def _bounds(rows: RaggedTensor) -> list[int]:
    """Return the sizes of the smallest tensor that has all rows."""
    lengths = np.diff(rows.splits)
    inner = rows.values
    sizes = _bounds(inner) if isinstance(inner, RaggedTensor) else list(array_of(inner).shape)
    return [len(lengths), int(lengths.max(initial=0)), *sizes[1:]]
