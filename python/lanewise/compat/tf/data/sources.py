"""Where elements come from: arrays, and numbers that are computed."""

from collections.abc import Callable
from typing import Any

import numpy as np

from ....errors import UsageTypeError
from ....recorder import current
from ....source import at_line
from ....trees import Structure, flatten, leaf_names, unflatten
from ..graph import NeedsValueError
from ..specs import TensorSpec
from ..tensor import Tensor, array_of, has_graph
from .blocks import Block, Objects, block_of, is_object, read_only, split
from .specs import row_spec, specs_of
from .stages import INFINITE, Run, Singles, Stage, Stream

# --- arrays ---


def slices_of(call: str, tensors: Any) -> Stage:
    """Return what nested tensors have along their first axis."""
    leaves: list[Any] = []
    structure = flatten(tensors, leaves, split)
    columns = [_sliced(call, leaf) for leaf in leaves]
    sizes = [_size(column) for column in columns]
    if not columns:
        raise ValueError(f"{call}: no tensors; got {tensors!r}, expected at least one.")
    if len(set(sizes)) > 1:
        named = zip(leaf_names(structure, "tensors"), sizes, strict=True)
        raise ValueError(
            f"{call}: tensors disagree on the first size; got "
            f"{', '.join(f'{size} ({name})' for name, size in named)}, expected one size."
        )
    if any(not isinstance(column, np.ndarray) for column in columns):
        return Rows(structure, columns, sizes[0])
    return Slices(Block(structure, [read_only(column) for column in columns], sizes[0]))


def whole_of(call: str, tensors: Any) -> Stage:
    """Return nested tensors as the only element."""
    leaves: list[Any] = []
    structure = flatten(tensors, leaves, split)
    columns: list[Any] = [
        Objects([leaf]) if is_object(leaf) else read_only(_array(call, leaf)[None])
        for leaf in leaves
    ]
    return Slices(Block(structure, columns, 1))


def _sliced(call: str, leaf: Any) -> Any:
    if hasattr(leaf, "row_at"):
        return leaf
    array = _array(call, leaf)
    if array.ndim == 0:
        raise ValueError(
            f"{call}: a scalar has no slices; got {leaf!r}, expected tensors of at least one "
            "dimension. Use from_tensors."
        )
    return array


def _array(call: str, leaf: Any) -> Any:
    if current() is not None:
        raise UsageTypeError(
            at_line(
                f"{call}: a dataset inside of a function that is recorded; got one, expected "
                "tensors. Use Dataset.flat_map or interleave, or make it outside."
            )
        )
    if has_graph(leaf):
        raise NeedsValueError(leaf, call)
    array = np.asarray(array_of(leaf))
    return array.copy() if hasattr(type(leaf), "read_inside") else array  # of a variable


def _size(column: Any) -> int:
    return len(column) if isinstance(column, np.ndarray) else int(column.count_rows())


class Slices(Stage):
    """Elements that stand side by side in arrays."""

    def __init__(self, block: Block) -> None:
        self._block = block

    def spec(self) -> Any:
        """Return what the arrays have in each place."""
        return specs_of(self._block)

    def cardinality(self) -> int:
        """Return the first size."""
        return self._block.size

    def open(self, run: Run) -> Stream:
        """Begin with the first one."""
        return _Sliced(self._block)


class _Sliced(Stream):
    def __init__(self, block: Block) -> None:
        self._block = block
        self._next = 0

    def pull(self, most: int) -> Block | None:
        first, size = self._next, self._block.size
        if first >= size:
            return None
        self._next = min(first + most, size)
        return self._block.part(first, self._next)

    def skip(self, count: int) -> int:
        first = self._next
        self._next = min(first + count, self._block.size)
        return self._next - first


class Rows(Stage):
    """The rows of ragged or sparse tensors, and what stands beside them in arrays."""

    def __init__(self, structure: Structure, columns: list[Any], size: int) -> None:
        self._structure = structure
        self._columns = columns
        self._count = size

    def spec(self) -> Any:
        """Return what rows are like."""
        specs = [
            TensorSpec(column.shape[1:], column.dtype)
            if isinstance(column, np.ndarray)
            else row_spec(column)
            for column in self._columns
        ]
        return unflatten(self._structure, iter(specs))

    def cardinality(self) -> int:
        """Return the number of rows."""
        return self._count

    def open(self, run: Run) -> Stream:
        """Begin with the first one."""
        return Singles(map(self._row, range(self._count)))

    def _row(self, at: int) -> Block:
        parts = [
            Tensor(column[at]) if isinstance(column, np.ndarray) else column.row_at(at)
            for column in self._columns
        ]
        return block_of(unflatten(self._structure, iter(parts)))


# --- numbers ---


class Numbers(Stage):
    """Numbers that are computed from their places: `make` gets the first one and how many."""

    def __init__(self, make: Callable[[int, int], Any], dtype: Any, size: int = INFINITE) -> None:
        self._make = make
        self._dtype = dtype
        self._count = size

    def spec(self) -> Any:
        """Return that of a number."""
        return TensorSpec((), self._dtype)

    def cardinality(self) -> int:
        """Return how many there are."""
        return self._count

    def open(self, run: Run) -> Stream:
        """Begin with the first one."""
        return _Made(self._make, self._count)


class _Made(Stream):
    def __init__(self, make: Callable[[int, int], Any], size: int) -> None:
        self._make = make
        self._left = size
        self._next = 0

    def pull(self, most: int) -> Block | None:
        count = self._count(most)
        if not count:
            return None
        first = self._next
        self.skip(count)
        return Block(None, [self._make(first, count)], count)

    def _count(self, most: int) -> int:
        return most if self._left == INFINITE else min(most, self._left)

    def skip(self, count: int) -> int:
        count = self._count(count)
        self._next += count
        if self._left != INFINITE:
            self._left -= count
        return count


class Drawn(Stage):
    """Random numbers of 32 bits without end; `seed` gives one for each pass."""

    def __init__(self, seed: Callable[[], int]) -> None:
        self._seed = seed

    def spec(self) -> Any:
        """Return that of a number."""
        return TensorSpec((), "int64")

    def cardinality(self) -> int:
        """Return that there is no end."""
        return INFINITE

    def open(self, run: Run) -> Stream:
        """Begin to draw."""
        draws = np.random.default_rng(self._seed())

        def make(first: int, count: int) -> Any:
            return (draws.random(count) * 2.0**32).astype(np.int64)

        return _Made(make, INFINITE)
