"""``tf.SparseTensor``: the numbers of a tensor that are there, and where."""

from dataclasses import dataclass
from typing import Any, ClassVar, Self

import numpy as np

from ...errors import UsageError
from . import graph
from .dtypes import DType, as_dtype
from .shapes import TensorShape
from .tensor import Tensor, array_of, has_graph


def _tensor(value: Any, dtype: Any = None) -> Any:
    if has_graph(value):
        return value
    return Tensor(np.asarray(array_of(value, dtype)))


@dataclass(eq=False, repr=False)
class SparseTensor:
    """Numbers at some places of a tensor; elsewhere there is 0.

    Examples
    --------
    >>> import lanewise.compat.tf as tf
    >>> some = tf.SparseTensor([[0, 1], [1, 0]], [5.0, 7.0], [2, 3])
    >>> tf.sparse.to_dense(some).numpy()
    array([[0., 5., 0.],
           [7., 0., 0.]], dtype=float32)
    """

    indices: Any
    values: Any
    dense_shape: Any

    is_composite: ClassVar[bool] = True
    is_tensor_like: ClassVar[bool] = True

    def __post_init__(self) -> None:
        self.indices = _tensor(self.indices, "int64")
        self.values = _tensor(self.values)
        self.dense_shape = _tensor(self.dense_shape, "int64")

    @classmethod
    def from_dense(cls, tensor: Any) -> Self:
        """Return the numbers of a tensor that are not 0."""
        made: Self = from_dense(tensor)
        return made

    @property
    def has_nodes(self) -> bool:
        """Whether it will be there when a graph runs."""
        return has_graph((self.indices, self.values, self.dense_shape))

    def graph_parts(self) -> list[Any]:
        """Return what of it may be nodes of a graph."""
        return [self.indices, self.values, self.dense_shape]

    def with_graph_parts(self, parts: Any) -> "SparseTensor":
        """Return the same of other parts."""
        return SparseTensor(*parts)

    @property
    def dtype(self) -> DType:
        """The type of its numbers."""
        return as_dtype(self.values.dtype)

    @property
    def shape(self) -> TensorShape:
        """The sizes of its dimensions."""
        if has_graph(self.dense_shape):
            rank = self.dense_shape.shape[0]
            return TensorShape(None if rank is None else [None] * rank)
        return TensorShape(array_of(self.dense_shape).tolist())

    get_shape = property(lambda self: lambda: self.shape)

    # --- what maps ask ---

    def count_rows(self) -> int:
        """Return the size of the first dimension."""
        return int(array_of(self.dense_shape)[0])

    def row_at(self, at: int) -> "SparseTensor":
        """Return what is at a place of the first dimension."""
        places, shape = array_of(self.indices), array_of(self.dense_shape)
        here = places[:, 0] == at
        return SparseTensor(places[here, 1:], array_of(self.values)[here], shape[1:])

    def sampled(self) -> "SparseTensor":
        """Return itself, as a sample."""
        return self

    def __getitem__(self, part: slice) -> "SparseTensor":
        """Return some rows."""
        rows = [self.row_at(at) for at in range(self.count_rows())[part]]
        return self.stacked(rows) if rows else self.without_rows()

    def sample_row(self, length: int = 0) -> "SparseTensor":
        """Return a row as it would be, without numbers."""
        return self.row_at(-1)

    def for_program(self) -> None:
        """Return None: programs take no such rows."""

    def without_rows(self) -> "SparseTensor":
        """Return one of size 0 along the first dimension."""
        places, shape = array_of(self.indices), array_of(self.dense_shape)
        return SparseTensor(places[:0], array_of(self.values)[:0], [0, *shape[1:].tolist()])

    @classmethod
    def stacked(cls, parts: list[Any]) -> "SparseTensor":
        """Return sparse tensors along a new first dimension; others are as large as the largest."""
        places = [np.insert(array_of(part.indices), 0, at, axis=1) for at, part in enumerate(parts)]
        sizes = np.max([array_of(part.dense_shape) for part in parts], axis=0)
        values = np.concatenate([array_of(part.values) for part in parts])
        return cls(np.concatenate(places), values, np.array([len(parts), *sizes]))

    def __repr__(self) -> str:
        return (
            f"SparseTensor(indices={self.indices!r}, values={self.values!r}, "
            f"dense_shape={self.dense_shape!r})"
        )


def from_dense(tensor: Any, name: Any = None) -> Any:
    """Return the numbers of a tensor that are not 0."""
    if has_graph(tensor):
        return graph.record(from_dense, (tensor,), {})
    array = np.asarray(array_of(tensor))
    is_there = array != (b"" if array.dtype == object else 0)
    return SparseTensor(np.argwhere(is_there), array[is_there], np.array(array.shape))


def to_dense(
    sp_input: Any, default_value: Any = None, validate_indices: bool = True, name: Any = None
) -> Any:
    """Return a tensor with the numbers that are there, and a default elsewhere."""
    if has_graph((sp_input, default_value)):
        return graph.record(to_dense, (sp_input, default_value), {})
    values = array_of(sp_input.values)
    made = np.empty(array_of(sp_input.dense_shape).tolist(), values.dtype)
    filling = b"" if values.dtype == object else 0
    made[...] = filling if default_value is None else array_of(default_value)
    try:
        made[tuple(array_of(sp_input.indices).T)] = values
    except IndexError as error:
        sizes = ", ".join(map(str, made.shape))
        raise UsageError(
            f"to_dense: an index is outside; got {sizes} as the shape, expected indices below."
        ) from error
    return Tensor(made)


NAMES = {
    "SparseTensor": SparseTensor,
    "sparse.SparseTensor": SparseTensor,
    "sparse.from_dense": from_dense,
    "sparse.to_dense": to_dense,
}
