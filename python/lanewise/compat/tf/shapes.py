"""Static shapes: sizes of dimensions, of which some, or all, may not be known yet."""

import operator
from collections.abc import Iterable, Iterator
from typing import Any


class TensorShape:
    """The sizes of dimensions; None for one that is not known, and no list where none is."""

    __slots__ = ("_dims",)

    def __init__(self, dims: Any) -> None:
        if isinstance(dims, TensorShape):
            dims = dims._dims
        elif isinstance(dims, int):
            dims = (dims,)
        elif dims is not None:
            dims = tuple(None if size in (None, -1) else operator.index(size) for size in dims)
            if any(size is not None and size < 0 for size in dims):
                raise ValueError(f"shape: a size below 0; got {dims}, expected at least 0.")
        self._dims: tuple[int | None, ...] | None = dims

    @property
    def rank(self) -> int | None:
        """The number of dimensions; None if that is not known."""
        return None if self._dims is None else len(self._dims)

    ndims = rank

    @property
    def dims(self) -> list[int | None] | None:
        """The sizes."""
        return None if self._dims is None else list(self._dims)

    def as_list(self) -> list[int | None]:
        """Return the sizes as a list."""
        return list(self._known())

    def num_elements(self) -> int | None:
        """Return how many numbers there are; None if that is not known."""
        if not self.is_fully_defined():
            return None
        count = 1
        for size in self._known():
            count *= size or 0
        return count

    def is_fully_defined(self) -> bool:
        """Say whether all sizes are known."""
        return self._dims is not None and None not in self._dims

    def assert_is_fully_defined(self) -> None:
        """Raise an error if a size is not known."""
        if not self.is_fully_defined():
            raise ValueError(f"shape: not fully defined; got {self}, expected all sizes.")

    def is_compatible_with(self, other: Any) -> bool:
        """Say whether there is a tensor that has both shapes."""
        mine, its = self._dims, TensorShape(other)._dims
        if mine is None or its is None:
            return True
        if len(mine) != len(its):
            return False
        return all(a is None or b is None or a == b for a, b in zip(mine, its, strict=True))

    def assert_is_compatible_with(self, other: Any) -> None:
        """Raise an error if no tensor has both shapes."""
        if not self.is_compatible_with(other):
            raise ValueError(
                f"shape: shapes do not fit; got {self} and {TensorShape(other)}, expected "
                "compatible ones."
            )

    def merge_with(self, other: Any) -> "TensorShape":
        """Return what is known from both shapes."""
        self.assert_is_compatible_with(other)
        mine, its = self._dims, TensorShape(other)._dims
        if mine is None or its is None:
            return TensorShape(its if mine is None else mine)
        return TensorShape([b if a is None else a for a, b in zip(mine, its, strict=True)])

    def concatenate(self, other: Any) -> "TensorShape":
        """Return the dimensions of this shape, and then those of another."""
        its = TensorShape(other)._dims
        if self._dims is None or its is None:
            return TensorShape(None)
        return TensorShape(self._dims + its)

    def with_rank(self, rank: int) -> "TensorShape":
        """Return this shape, which must be able to have so many dimensions."""
        return self.merge_with([None] * rank)

    def with_rank_at_least(self, rank: int) -> "TensorShape":
        """Return this shape, which must be able to have so many dimensions or more."""
        return self._of_rank(self.rank is None or self.rank >= rank, f"at least {rank}")

    def with_rank_at_most(self, rank: int) -> "TensorShape":
        """Return this shape, which must be able to have so many dimensions or fewer."""
        return self._of_rank(self.rank is None or self.rank <= rank, f"at most {rank}")

    def assert_has_rank(self, rank: int) -> None:
        """Raise an error if there are other than so many dimensions."""
        self._of_rank(self.rank in (None, rank), str(rank))

    def assert_same_rank(self, other: Any) -> None:
        """Raise an error if another shape has another number of dimensions."""
        rank = TensorShape(other).rank
        self._of_rank(None in (self.rank, rank) or self.rank == rank, str(rank))

    def _of_rank(self, is_it: bool, rule: str) -> "TensorShape":
        if not is_it:
            raise ValueError(
                f"shape: another number of dimensions; got {self}, expected {rule} of them."
            )
        return self

    def most_specific_compatible_shape(self, other: Any) -> "TensorShape":
        """Return the shape that says what both say."""
        mine, its = self._dims, TensorShape(other)._dims
        return TensorShape(None if mine is None or its is None else joined((mine, its)))

    def is_subtype_of(self, other: Any) -> bool:
        """Say whether all tensors of this shape have another one, too."""
        return self.most_specific_compatible_shape(other) == TensorShape(other)

    def _known(self) -> tuple[int | None, ...]:
        if self._dims is None:
            raise ValueError("shape: the rank is not known; got <unknown>, expected dimensions.")
        return self._dims

    def __getitem__(self, index: Any) -> Any:
        if self._dims is None:
            return TensorShape(None) if isinstance(index, slice) else None
        found = self._dims[index]
        return TensorShape(found) if isinstance(index, slice) else found

    def __len__(self) -> int:
        return len(self._known())

    def __iter__(self) -> Iterator[int | None]:
        return iter(self._known())

    def __bool__(self) -> bool:
        return self._dims is not None

    def __eq__(self, other: object) -> bool:
        try:
            return self._dims == TensorShape(other)._dims
        except TypeError:
            return False

    def __hash__(self) -> int:
        return hash(self._dims)

    def __add__(self, other: Any) -> "TensorShape":
        return self.concatenate(other)

    def __radd__(self, other: Any) -> "TensorShape":
        return TensorShape(other).concatenate(self)

    def __str__(self) -> str:
        if self._dims is None:
            return "<unknown>"
        if len(self._dims) == 1:
            return f"({self._dims[0]},)"
        return f"({', '.join(map(str, self._dims))})"

    def __repr__(self) -> str:
        return f"TensorShape({None if self._dims is None else self.as_list()})"

    def __reduce__(self) -> Any:
        return TensorShape, (self._dims,)


def joined(shapes: Iterable[tuple[int | None, ...]]) -> tuple[int | None, ...] | None:
    """Return the shape that tensors have in common: None where sizes, or ranks, differ."""
    first, *others = shapes
    if any(len(shape) != len(first) for shape in others):
        return None
    return tuple(
        sizes[0] if len(set(sizes)) == 1 else None for sizes in zip(first, *others, strict=True)
    )
