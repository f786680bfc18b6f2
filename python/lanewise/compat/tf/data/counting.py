"""Which elements, how often and in which order: take, skip, repeat, shard, zip and the like."""

import functools
from typing import Any

import numpy as np

from ....trees import Node, Structure, unflatten
from ..specs import TensorSpec
from .blocks import Block, read_only
from .specs import in_common, map_specs, specs_of
from .stages import (
    INFINITE,
    UNKNOWN,
    Changed,
    Chopped,
    Empty,
    Run,
    Stage,
    Stream,
)


class Take(Changed):
    """The first elements; all of them where the count is -1."""

    def __init__(self, source: Stage, count: int) -> None:
        super().__init__(source)
        self._count = count

    def cardinality(self) -> int:
        """Return the smaller number."""
        size = self.source.cardinality()
        if self._count < 0 or size == UNKNOWN:
            return size
        return self._count if size == INFINITE else min(size, self._count)

    def open(self, run: Run) -> Stream:
        """Begin to count."""
        source = self.source.open(run)
        return source if self._count < 0 else _Taken(source, self._count)


class _Taken(Stream):
    def __init__(self, source: Stream, count: int) -> None:
        self._source = source
        self._left = count

    def pull(self, most: int) -> Block | None:
        if not self._left:
            return None
        block = self._source.pull(min(most, self._left))
        self._left -= 0 if block is None else block.size
        return block

    def skip(self, count: int) -> int:
        skipped = self._source.skip(min(count, self._left))
        self._left -= skipped
        return skipped


class Skip(Changed):
    """All elements but the first ones; none where the count is -1."""

    def __init__(self, source: Stage, count: int) -> None:
        super().__init__(source)
        self._count = count

    def cardinality(self) -> int:
        """Return what is left."""
        size = self.source.cardinality()
        if self._count < 0:
            return 0
        return size if size < 0 else max(size - self._count, 0)

    def open(self, run: Run) -> Stream:
        """Skip nothing before the first element is asked for."""
        return Empty() if self._count < 0 else _Skipped(self.source.open(run), self._count)


class _Skipped(Stream):
    def __init__(self, source: Stream, count: int) -> None:
        self._source = source
        self._first = count

    def pull(self, most: int) -> Block | None:
        first, self._first = self._first, 0
        self._source.skip(first)
        return self._source.pull(most)

    def skip(self, count: int) -> int:
        first, self._first = self._first, 0
        return max(self._source.skip(first + count) - first, 0)


class Repeat(Changed):
    """All elements several times; without end where the count is -1."""

    def __init__(self, source: Stage, count: int) -> None:
        super().__init__(source)
        self._count = count

    def cardinality(self) -> int:
        """Return the product."""
        size = self.source.cardinality()
        if self._count < 0:
            return INFINITE if size else 0
        if not self._count:
            return 0
        return size if size < 0 else size * self._count

    def open(self, run: Run) -> Stream:
        """Open the source as often as is needed."""
        return _Repeated(self.source, run, self._count)


class _Repeated(Stream):
    def __init__(self, source: Stage, run: Run, count: int) -> None:
        self._source = source
        self._run = run
        self._left = count
        self._stream: Stream | None = None

    def pull(self, most: int) -> Block | None:
        is_new = False
        while True:
            if self._stream is None:
                if not self._left or is_new:  # nothing came from a whole pass
                    return None
                self._left -= 1
                self._stream = self._source.open(self._run)
                is_new = True
            block = self._stream.pull(most)
            if block is not None:
                return block
            self._stream = None


class Shard(Changed):
    """Every n-th element."""

    def __init__(self, source: Stage, count: int, index: int) -> None:
        super().__init__(source)
        self._count = count
        self._index = index

    def cardinality(self) -> int:
        """Return how many of the numbers are ours."""
        size = self.source.cardinality()
        return size if size < 0 else len(range(self._index, size, self._count))

    def open(self, run: Run) -> Stream:
        """Begin with the first element."""
        return _Sharded(self.source.open(run), self._count, self._index)


class _Sharded(Stream):
    def __init__(self, source: Stream, count: int, index: int) -> None:
        self._source = source
        self._count = count
        self._next = index  # elements before the next one of ours

    def pull(self, most: int) -> Block | None:
        while True:
            block = self._source.pull(self._next + (most - 1) * self._count + 1)
            if block is None:
                return None
            first = self._next
            ours = len(range(first, block.size, self._count))
            self._next = first + ours * self._count - block.size
            if ours:
                return block.part(first, block.size, self._count)


class Concatenated(Stage):
    """The elements of one stage, and then those of another."""

    def __init__(self, first: Stage, second: Stage) -> None:
        self._parts = (first, second)

    def spec(self) -> Any:
        """Return what both have in common."""
        return map_specs(in_common, *(part.spec() for part in self._parts))

    def cardinality(self) -> int:
        """Return the sum."""
        sizes = [part.cardinality() for part in self._parts]
        if INFINITE in sizes:
            return INFINITE
        return UNKNOWN if UNKNOWN in sizes else sum(sizes)

    def gains(self) -> bool:
        """Say whether both say so."""
        return all(part.gains() for part in self._parts)

    def open(self, run: Run) -> Stream:
        """Open the second one when the first has ended."""
        return _Appended([*self._parts], run)


class _Appended(Stream):
    def __init__(self, stages: list[Stage], run: Run) -> None:
        self._left = stages
        self._run = run
        self._stream: Stream | None = None

    def pull(self, most: int) -> Block | None:
        while True:
            if self._stream is None:
                if not self._left:
                    return None
                self._stream = self._left.pop(0).open(self._run)
            block = self._stream.pull(most)
            if block is not None:
                return block
            self._stream = None


class Zip(Stage):
    """Elements of several stages side by side, as long as all have some."""

    def __init__(self, structure: Structure, stages: list[Stage]) -> None:
        self._structure = structure
        self._stages = stages

    def spec(self) -> Any:
        """Nest the specs."""
        return unflatten(self._structure, iter([stage.spec() for stage in self._stages]))

    def cardinality(self) -> int:
        """Return the smallest number."""
        sizes = [stage.cardinality() for stage in self._stages]
        finite = [size for size in sizes if size != INFINITE]
        if not finite:
            return INFINITE
        return UNKNOWN if UNKNOWN in finite else min(finite)

    def gains(self) -> bool:
        """Say whether all say so."""
        return all(stage.gains() for stage in self._stages)

    def open(self, run: Run) -> Stream:
        """Open all of them."""
        return _Zipped(self._structure, [_Kept(stage.open(run)) for stage in self._stages])


class _Kept(Chopped):
    """A stream of which elements are handed on in such parts as others have them."""

    def __init__(self, source: Stream) -> None:
        super().__init__()
        self._source = source

    def fresh(self, most: int) -> Block | None:
        return self._source.pull(most)

    def ready(self, most: int) -> int:
        """Return how many elements are at hand, `most` at most; 0 at the end."""
        if self._rest is None:
            self._rest = self.fresh(most)
        return 0 if self._rest is None else min(self._rest.size, most)

    def taken(self, count: int) -> Block:
        """Hand on so many of those at hand."""
        block = self.pull(count)
        assert block is not None
        return block


class _Zipped(Stream):
    def __init__(self, structure: Structure, streams: list[_Kept]) -> None:
        self._structure = structure
        self._streams = streams

    def pull(self, most: int) -> Block | None:
        for stream in self._streams:
            most = stream.ready(most)
            if not most:
                return None
        blocks = [stream.taken(most) for stream in self._streams]
        structure = _filled(self._structure, iter([block.structure for block in blocks]))
        return Block(structure, [one for block in blocks for one in block.columns], most)


def _filled(structure: Structure, inner: Any) -> Structure:
    """Return a structure with others in the place of its leaves."""
    if structure is None:
        return next(inner)  # type: ignore[no-any-return]
    parts = tuple(_filled(part, inner) for part in structure.parts)
    return Node(structure.type, structure.names, parts)


class Enumerated(Changed):
    """Elements with their numbers in front."""

    def __init__(self, source: Stage, start: int) -> None:
        super().__init__(source)
        self._start = start

    def spec(self) -> Any:
        """Return a number and the source's."""
        return TensorSpec((), "int64"), self.source.spec()

    def open(self, run: Run) -> Stream:
        """Begin to count."""
        return _Numbered(self.source.open(run), self._start)


class _Numbered(Stream):
    def __init__(self, source: Stream, start: int) -> None:
        self._source = source
        self._next = start

    def pull(self, most: int) -> Block | None:
        block = self._source.pull(most)
        if block is None:
            return None
        numbers = np.arange(self._next, self._next + block.size, dtype=np.int64)
        self._next += block.size
        structure = Node(tuple, (), (None, block.structure))
        return Block(structure, [numbers, *block.columns], block.size)

    def skip(self, count: int) -> int:
        skipped = self._source.skip(count)
        self._next += skipped
        return skipped


class Cache(Changed):
    """Elements that are kept, in memory, once they have all been there."""

    def __init__(self, source: Stage) -> None:
        super().__init__(source)
        self.blocks: list[Block] | None = None

    def open(self, run: Run) -> Stream:
        """Hand on what is kept, or keep it."""
        if self.blocks is None:
            return _Keeping(self, self.source.open(run))
        return Given(self.blocks)


class _Keeping(Stream):
    def __init__(self, cache: Cache, source: Stream) -> None:
        self._cache = cache
        self._source = source
        self._blocks: list[Block] = []

    def pull(self, most: int) -> Block | None:
        block = self._source.pull(most)
        if block is None:
            self._cache.blocks = self._blocks
            return None
        columns = [
            read_only(column) if isinstance(column, np.ndarray) else column
            for column in block.columns
        ]
        block = Block(block.structure, columns, block.size)
        self._blocks.append(block)
        return block


class Given(Chopped):
    """Blocks that are there."""

    def __init__(self, blocks: list[Block]) -> None:
        super().__init__()
        self._blocks = iter(blocks)

    def fresh(self, most: int) -> Block | None:
        """Return the next one."""
        return next(self._blocks, None)


class Blocks(Stage):
    """Elements that are there."""

    def __init__(self, blocks: list[Block]) -> None:
        self._blocks = blocks

    def spec(self) -> Any:
        """Return what all of them have in common."""
        specs = map(specs_of, self._blocks)
        return functools.reduce(lambda one, other: map_specs(in_common, one, other), specs)

    def cardinality(self) -> int:
        """Return how many there are."""
        return sum(block.size for block in self._blocks)

    def open(self, run: Run) -> Stream:
        """Begin with the first one."""
        return Given(self._blocks)
