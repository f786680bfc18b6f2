"""What holds inside of a function that is being recorded for TensorFlow's calls.

Tensors are changed by nobody but an assignment to items: ``x += y`` makes another one. Shapes have
the methods of `TensorShape`. Numbers of Python that are returned are float32 and int32. Quotients
are TensorFlow's.
"""

from typing import Any

import numpy as np

from ... import flow
from ...element import Element, Whole, record
from ...trees import flatten, split_result, unflatten
from .elementwise import wide_enough
from .ops import like_others, plain
from .seeds import next_seed
from .tensor import array_of


class Sizes(tuple[int, ...]):
    """The shape of a tensor that is being recorded: all sizes are known."""

    __slots__ = ()

    @property
    def rank(self) -> int:
        """The number of dimensions."""
        return len(self)

    ndims = rank

    @property
    def dims(self) -> list[int]:
        """The sizes."""
        return list(self)

    def as_list(self) -> list[int]:
        """Return the sizes as a list."""
        return list(self)

    def num_elements(self) -> int:
        """Return how many numbers there are."""
        return int(np.prod(self))

    def is_fully_defined(self) -> bool:
        """Say that all sizes are known."""
        return True


class _Dialect:
    """What `Vectorized` asks."""

    def call(self, function: Any, arguments: list[Any]) -> Any:
        """Call the function; return its results as elements."""
        result = flow.call(function, *arguments)
        is_settled = type(result) is Element and not result.kind.weak  # what most functions return
        return result if is_settled else settled(result)

    def shape(self, shape: tuple[int, ...]) -> tuple[int, ...]:
        """Return a shape with TensorFlow's methods."""
        return Sizes(shape)

    def operands(self, operands: tuple[Any, ...]) -> list[Any]:
        """Return the operands of a function of numbers: lists have the type of the others."""
        return like_others(operands)

    def divide(self, a: Any, b: Any) -> Any:
        """Return ``a / b``; integers of at most 16 bits give float32."""
        return record("divide", *wide_enough(a, b))

    def floor_divide(self, a: Any, b: Any) -> Any:
        """Return ``a // b`` of floats: the quotient is rounded twice."""
        return record("floor", record("divide", a, b))

    def seed(self, noted: tuple[Any, ...]) -> int:
        """Return the seed of a call whose elements draw."""
        return next_seed(noted or None)


TENSORFLOW = _Dialect()


def settled(result: Any) -> Any:
    """Return results with a type of their own: those of Python's numbers are TensorFlow's."""
    leaves: list[Any] = []
    structure = flatten(result, leaves, split_result)
    return unflatten(structure, iter([_settled(leaf) for leaf in leaves]))


def _settled(leaf: Any) -> Any:
    leaf = plain(leaf)
    if isinstance(leaf, Element):
        if not leaf.kind.weak:
            return leaf
        kind = leaf.dtype.kind
        narrow = {"f": np.float32, "i": np.int32, "c": np.complex64}.get(kind)
        return leaf if narrow is None else leaf.astype(narrow)
    if isinstance(leaf, Whole) or leaf is None:
        return leaf
    if isinstance(leaf, (bool, int, float)):
        return array_of(leaf)[()]
    return leaf
