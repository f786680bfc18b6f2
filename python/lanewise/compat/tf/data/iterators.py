"""Iterators over datasets: blocks of elements, handed out one by one.

The first block has one element, so that it is there soon; the next ones have more, as long as a
block does not take long.
"""

import itertools
from collections.abc import Iterator as Elements
from time import perf_counter
from typing import Any

from ..errors import OutOfRangeError
from .blocks import Rows
from .stages import MOST, Run, Stage

_GROWTH = 8
_SHORT = 0.005  # seconds for a block after which the next one may be larger
_LONG = 0.05  # and after which it is smaller


class Iterator(itertools.chain[Any]):
    """The elements of a dataset, one after the other."""

    _stage: Stage

    @property
    def element_spec(self) -> Any:
        """Specs, nested as elements are."""
        return self._stage.spec()

    def get_next(self, name: Any = None) -> Any:
        """Return the next element; at the end raise `tf.errors.OutOfRangeError`."""
        for element in self:
            return element
        raise OutOfRangeError("get_next: there is nothing more; got the end, expected an element.")


def elements(stage: Stage, run: Run, hand_out: Rows) -> Iterator:
    """Return what iterates over a stage."""
    iterator = Iterator.from_iterable(_handed_out(stage, run, hand_out))
    assert isinstance(iterator, Iterator)
    iterator._stage = stage
    return iterator


def _handed_out(stage: Stage, run: Run, hand_out: Rows) -> Elements[Elements[Any]]:
    stream = stage.open(run)
    most = 1
    while True:
        begin = perf_counter()
        block = stream.pull(most)
        if block is None:
            return
        took = perf_counter() - begin
        yield block.rows(hand_out)
        del block
        if took > _LONG:
            most = max(most // _GROWTH, 1)
        elif took < _SHORT:
            most = min(most * _GROWTH, MOST) if stage.gains() else 1
