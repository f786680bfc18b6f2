"""Stages of a dataset, and the streams of blocks that come from them.

A stage says what its elements are, and how many there are; opened, it gives a stream. Streams are
pulled: who needs elements says how many at most, and gets some of them in a block, so nothing is
computed that nobody has asked for. None is the end. A stream that fails has handed on all elements
before, and is at its end.
"""

from collections.abc import Iterator
from time import perf_counter
from typing import Any, NamedTuple

from .blocks import Block, joined

INFINITE = -1
UNKNOWN = -2
MOST = 1024  # elements that are asked for at once, where somebody wants all
PATIENCE = 0.002  # seconds for which somebody else's code is asked for more


class Run(NamedTuple):
    """How a dataset is iterated over."""

    memory: int = 4 << 20  # bytes of results that are computed at once
    threads: int | None = None  # None: all


class Stage:
    """Where elements come from, or what becomes of them."""

    def spec(self) -> Any:
        """Return specs, nested as elements are."""
        raise NotImplementedError

    def cardinality(self) -> int:
        """Return how many elements there are; or `INFINITE`, or `UNKNOWN`."""
        return UNKNOWN

    def gains(self) -> bool:
        """Say whether it is faster to ask for several elements at once."""
        return True

    def open(self, run: Run) -> "Stream":
        """Return its elements from the first one on."""
        raise NotImplementedError


class Stream:
    """Elements, one block after the other."""

    def pull(self, most: int) -> Block | None:
        """Return at least one element and `most` at most; None where there are no more."""
        raise NotImplementedError

    def skip(self, count: int) -> int:
        """Leave out some elements, and return how many: fewer where there are no more."""
        left = count
        while left:
            block = self.pull(min(left, MOST))
            if block is None:
                break
            left -= block.size
        return count - left


class Chopped(Stream):
    """A stream that may get more elements at a time than were asked for."""

    def __init__(self) -> None:
        self._rest: Block | None = None

    def fresh(self, most: int) -> Block | None:
        """Return at least one element; None where there are no more."""
        raise NotImplementedError

    def pull(self, most: int) -> Block | None:
        """Hand on what was asked for, and keep the rest."""
        block = self._rest if self._rest is not None else self.fresh(most)
        if block is None or block.size <= most:
            self._rest = None
            return block
        self._rest = block.part(most, block.size)
        return block.part(0, most)


class Singles(Stream):
    """Elements that come one after the other, each in a block of its own."""

    def __init__(self, blocks: Iterator[Block]) -> None:
        self._blocks = blocks
        self._next: Block | None = None  # the first one that is not like those before
        self._error: BaseException | None = None  # what comes after the elements at hand

    def pull(self, most: int) -> Block | None:
        """Return those that are alike, as far as they come without waiting."""
        if self._error is not None:
            error, self._error = self._error, None
            raise error
        group = [] if self._next is None else [self._next]
        self._next = None
        until = perf_counter() + PATIENCE
        while len(group) < most and not (group and perf_counter() > until):
            try:
                block = next(self._blocks, None)
            except Exception as error:
                self._blocks = iter(())
                if not group:
                    raise
                self._error = error
                break
            if block is None:
                break
            if group and not group[0].is_like(block):
                self._next = block
                break
            group.append(block)
        return joined(group) if group else None


class Empty(Stream):
    """No elements."""

    def pull(self, most: int) -> Block | None:
        """Return None."""
        return None


class Changed(Stage):
    """A stage whose elements come from another one, and are of the same kind."""

    def __init__(self, source: Stage) -> None:
        self.source = source

    def spec(self) -> Any:
        """Return the specs of the source."""
        return self.source.spec()

    def cardinality(self) -> int:
        """Return how many the source has."""
        return self.source.cardinality()

    def gains(self) -> bool:
        """Say what the source says."""
        return self.source.gains()
