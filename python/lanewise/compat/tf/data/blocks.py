"""Some elements that follow one another and are alike: what stages of a dataset hand on.

A block has a column for each tensor of an element: an array whose first dimension counts elements,
or a list of objects where they are no arrays (datasets, ragged tensors). Elements of other shapes
or types, or nested differently, make another block.
"""

from collections.abc import Callable, Iterable, Iterator
from itertools import chain, repeat
from typing import Any

import numpy as np

from ....dtypes import FROM_NUMPY
from ....ragged import Ragged
from ....trees import Structure, flatten, parts_of, unflatten
from ..tensor import Tensor, array_of, is_tensor

Rows = Callable[[Any], Iterable[Any]]  # what a column hands out


class Objects(list[Any]):
    """A column of things that are no arrays."""


class Block:
    """Some elements."""

    __slots__ = ("columns", "size", "structure")

    def __init__(self, structure: Structure, columns: list[Any], size: int) -> None:
        self.structure = structure
        self.columns = columns
        self.size = size

    def part(self, start: int, stop: int, step: int = 1) -> "Block":
        """Return some of its elements, which are not copied."""
        columns = [
            Objects(column[start:stop:step]) if type(column) is Objects else column[start:stop:step]
            for column in self.columns
        ]
        return Block(self.structure, columns, len(range(start, min(stop, self.size), step)))

    def at(self, places: Any) -> "Block":
        """Return the elements at some places, as copies."""
        columns = [
            Objects([column[place] for place in places])
            if isinstance(column, Objects)
            else column[places]
            for column in self.columns
        ]
        return Block(self.structure, columns, len(places))

    def nested(self) -> Any:
        """Return its columns, nested as elements are."""
        return unflatten(self.structure, iter(self.columns))

    def rows(self, hand_out: Rows) -> Iterator[Any]:
        """Return its elements one after the other."""
        return _rows(self.structure, iter(self.columns), hand_out, self.size)

    def is_like(self, other: "Block") -> bool:
        """Say whether the elements of another block could be in this one."""
        if self.structure is not other.structure and self.structure != other.structure:
            return False
        return all(map(_are_alike, self.columns, other.columns))

    @property
    def has_objects(self) -> bool:
        """Whether some column is not an array."""
        return any(isinstance(column, Objects) for column in self.columns)

    @property
    def element_bytes(self) -> int:
        """How much memory the arrays of an element take."""
        sizes = [0 if isinstance(one, Objects) else one.nbytes for one in self.columns]
        return sum(sizes) // max(self.size, 1)


def _are_alike(one: Any, other: Any) -> bool:
    if isinstance(one, Objects) or isinstance(other, Objects):
        return type(one) is type(other)
    return bool(one.dtype == other.dtype and one.shape[1:] == other.shape[1:])


def _rows(structure: Structure, columns: Iterator[Any], hand_out: Rows, size: int) -> Iterator[Any]:
    if structure is None:
        return iter(hand_out(next(columns)))
    parts = [_rows(part, columns, hand_out, size) for part in structure.parts]
    kind, names = structure.type, structure.names
    rows: Iterator[Any] = zip(*parts, strict=True) if parts else repeat((), size)
    if issubclass(kind, dict):
        return (dict(zip(names, row, strict=True)) for row in rows)
    if names:
        return (kind(**dict(zip(names, row, strict=True))) for row in rows)
    return rows


def tensors(column: Any) -> Iterable[Any]:
    """Hand out what is in a column as tensors."""
    if isinstance(column, Objects):
        return column
    if isinstance(column, Ragged):
        return map(Tensor, column)
    if column.dtype == object and column.ndim == 1:  # texts
        return (Tensor(column[at : at + 1].reshape(())) for at in range(len(column)))
    return map(Tensor, column)


def arrays(column: Any) -> Iterable[Any]:
    """Hand out what is in a column as arrays and numbers of NumPy."""
    return column  # type: ignore[no-any-return]


# --- making them ---


def split(value: Any) -> tuple[type, tuple[Any, ...], list[Any]] | None:
    """Take an element apart: lists are tensors, and no structures."""
    if isinstance(value, list) or is_tensor(value) or hasattr(type(value), "is_composite"):
        return None
    found = parts_of(value)
    if found is None:
        return None
    return (dict if isinstance(value, dict) else type(value), *found)


def is_object(leaf: Any) -> bool:
    """Say whether a part of an element is no array."""
    kind = type(leaf)
    return leaf is None or hasattr(kind, "is_composite") or hasattr(kind, "is_dataset")


def block_of(element: Any) -> Block:
    """Return a block of one element."""
    leaves: list[Any] = []
    structure = flatten(element, leaves, split)
    return Block(structure, [_column_of(leaf) for leaf in leaves], 1)


def _column_of(leaf: Any) -> Any:
    return Objects([leaf]) if is_object(leaf) else np.asarray(array_of(leaf))[None]


def joined(blocks: list[Block]) -> Block:
    """Return the elements of blocks that are alike as one block."""
    if len(blocks) == 1:
        return blocks[0]
    first = blocks[0]
    columns = [
        Objects(chain.from_iterable(parts))
        if isinstance(parts[0], Objects)
        else np.concatenate(parts)
        for parts in zip(*(block.columns for block in blocks), strict=True)
    ]
    return Block(first.structure, columns, sum(block.size for block in blocks))


def _concatenated(parts: tuple[Any, ...]) -> Any:
    if isinstance(parts[0], Objects):
        return Objects(chain.from_iterable(parts))
    return np.concatenate(parts)


def runs(blocks: list[Block]) -> list[Block]:
    """Return blocks with those joined that follow one another and are alike."""
    groups: list[list[Block]] = []
    for block in blocks:
        if groups and groups[-1][0].is_like(block):
            groups[-1].append(block)
        else:
            groups.append([block])
    return [joined(group) for group in groups]


def cut(blocks: list[Block], start: int, stop: int, step: int = 1) -> list[Block]:
    """Return some elements of blocks that follow one another."""
    found: list[Block] = []
    for block in blocks:
        if start < min(block.size, stop):
            part = block.part(start, min(block.size, stop), step)
            found.append(part)
            start += part.size * step
        start -= block.size
        stop -= block.size
    return found


def as_rows(blocks: list[Block], varying: set[int]) -> Block | None:
    """Return blocks as one with rows of different lengths in some columns; None: it is none.

    Only programs take such a block.
    """
    first = blocks[0]
    if any(block.structure != first.structure or block.has_objects for block in blocks):
        return None
    together = zip(*(one.columns for one in blocks), strict=True)
    columns = [_row_column(parts, at in varying) for at, parts in enumerate(together)]
    if any(column is None for column in columns):
        return None
    return Block(first.structure, columns, sum(block.size for block in blocks))


def _row_column(parts: tuple[Any, ...], varies: bool) -> Any:
    dtype = parts[0].dtype
    if any(part.dtype != dtype for part in parts) or dtype not in FROM_NUMPY:
        return None
    if not varies and len({part.shape[1:] for part in parts}) == 1:
        return np.concatenate(parts) if parts[0].size else None
    if dtype.kind == "c" or any(part.ndim != 2 for part in parts):
        return None
    lengths = np.concatenate([np.full(len(part), part.shape[1]) for part in parts])
    offsets = np.zeros(len(lengths) + 1, np.int64)
    np.cumsum(lengths, out=offsets[1:])
    return Ragged(np.concatenate([part.ravel() for part in parts]), offsets)


def read_only(array: Any) -> Any:
    """Return an array through which nobody changes it."""
    view = array.view()
    view.flags.writeable = False
    return view
