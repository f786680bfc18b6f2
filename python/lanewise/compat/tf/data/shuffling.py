"""``Dataset.shuffle``: elements in another order, through a buffer.

A random one of those in the buffer is next, and its place is taken by the next of the source; at
the end the last one of the buffer moves there. Which one it is depends on the seed and on how many
came before, not on how many are asked for at a time.
"""

from typing import Any

import numpy as np

from .blocks import Block, joined, runs
from .passes import Passes
from .stages import Changed, Chopped, Run, Stage, Stream

Places = list[int]


class Shuffle(Changed):
    """Elements in another order."""

    def __init__(self, source: Stage, size: int, passes: Passes) -> None:
        super().__init__(source)
        self._size = size
        self._passes = passes

    def open(self, run: Run) -> Stream:
        """Begin with an empty buffer."""
        return _Shuffled(self.source.open(run), self._size, run.memory, self._passes.next())


class _Shuffled(Chopped):
    def __init__(self, source: Stream, size: int, memory: int, seed: int) -> None:
        super().__init__()
        self._source = source
        self._memory = memory  # of elements that are moved at once
        self._draws = np.random.default_rng(seed)
        self._size = size
        self._buffer: _Buffer | None = None
        self._held = 0
        self._most = 1
        self._ready: list[Block] = []

    def fresh(self, most: int) -> Block | None:
        if self._ready:
            return self._ready.pop(0)
        if self._buffer is None:
            first = self._next(self._size)
            self._held = sum(block.size for block in first)
            self._buffer = _Buffer(first, self._held)
            self._most = max(self._memory // max([1, *(one.element_bytes for one in first)]), 1)
        if not self._held:
            return None
        most = min(most, self._most)
        new = self._next(most) if self._held == self._size else []
        count = sum(block.size for block in new)
        self._ready = self._buffer.swap(self._picked(min(most, self._held + count), count), new)
        return self._ready.pop(0)

    def _next(self, count: int) -> list[Block]:
        """Return so many elements of the source, or all that are left."""
        found: list[Block] = []
        while count:
            block = self._source.pull(count)
            if block is None:
                break
            found.append(block)
            count -= block.size
        return found

    def _picked(self, count: int, new: int) -> Places:
        """Return the places of the next elements; the first `new` of them are filled again."""
        picked: Places = []
        for at, draw in enumerate(self._draws.random(count).tolist()):
            picked.append(int(draw * self._held))
            if at >= new:
                self._held -= 1
        return picked


class _Buffer:
    """Elements by their places; alike ones are in one block."""

    def __init__(self, blocks: list[Block], size: int) -> None:
        groups = runs(blocks)
        self._is_own = len(blocks) > 1  # nobody else has its arrays
        self._block = groups[0] if len(groups) == 1 else None
        self._singles = [] if self._block else _apart(groups)
        self._at = list(range(size))  # for each place, where in the block its element is

    def swap(self, picked: Places, new: list[Block]) -> list[Block]:
        """Return the elements at some places, one after the other, and fill these with others."""
        if self._block is not None and all(self._block.is_like(block) for block in new):
            return [self._swap_alike(self._block, picked, new)]
        if self._block is not None:
            self._singles = _apart([self._block])
            self._block = None
        incoming = iter(_apart(new))
        found = []
        for place in picked:
            found.append(self._singles[self._at[place]])
            replacement = next(incoming, None)
            if replacement is None:
                self._at[place] = self._at[-1]
                self._at.pop()
            else:
                self._singles[self._at[place]] = replacement
        return runs(found)

    def _swap_alike(self, block: Block, picked: Places, new: list[Block]) -> Block:
        size, count = block.size, sum(one.size for one in new)
        at = self._at
        taken: Places = []
        for number, place in enumerate(picked):
            taken.append(at[place])
            if number < count:
                at[place] = size + number  # among those that come in
            else:
                at[place] = at[-1]
                at.pop()
        if not new:
            return block.at(np.array(taken))
        incoming = joined(new)
        result = _gathered(block, incoming, np.array(taken))
        stay = [place for place in set(picked) if place < len(at) and at[place] >= size]
        self._store(block, incoming, stay, [one for one in taken if one < size])
        return result

    def _store(self, block: Block, incoming: Block, stay: Places, free: Places) -> None:
        """Put what came in, and is still here, into places of the block that are free."""
        size = block.size
        if not self._is_own:
            self._block = block = block.at(np.arange(size))
            self._is_own = True
        places = free[: len(stay)]
        sources = np.array([self._at[place] - size for place in stay], np.int64)
        for column, others in zip(block.columns, incoming.columns, strict=True):
            if isinstance(column, np.ndarray):
                column[places] = others[sources]
            else:
                for where, source in zip(places, sources.tolist(), strict=True):
                    column[where] = others[source]
        for place, where in zip(stay, places, strict=True):
            self._at[place] = where


def _apart(blocks: list[Block]) -> list[Block]:
    return [block.part(at, at + 1) for block in blocks for at in range(block.size)]


def _gathered(block: Block, incoming: Block, taken: Any) -> Block:
    """Return elements of two blocks; numbers beyond the first are of the second."""
    size = block.size
    late = np.flatnonzero(taken >= size)
    result = block.at(np.where(taken < size, taken, 0))
    if len(late):
        for column, others in zip(result.columns, incoming.columns, strict=True):
            if isinstance(column, np.ndarray):
                column[late] = others[taken[late] - size]
            else:
                for where in late.tolist():
                    column[where] = others[int(taken[where]) - size]
    return result
