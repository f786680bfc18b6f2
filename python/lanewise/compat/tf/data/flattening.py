"""Datasets of datasets, made one: flat_map and interleave."""

from collections.abc import Iterator
from typing import Any

from .. import sampling
from .blocks import Block, tensors
from .functions import Function, unpacked
from .specs import SAMPLES, in_common, map_specs, sample
from .stages import UNKNOWN, Changed, Run, Stage, Stream


class Interleave(Changed):
    """Elements of the datasets that a function makes of elements, in turns.

    Of `cycle` datasets at a time `length` elements each are taken; of one, it is `flat_map`.
    """

    def __init__(
        self, call: str, source: Stage, function: Function, cycle: int, length: int | None
    ) -> None:
        super().__init__(source)
        self._call = call
        self._function = function
        self._cycle = cycle
        self._length = length  # None: all of one dataset before the next

    def spec(self) -> Any:
        """Return what comes of a sample."""
        with sampling.on():
            specs = [
                self._made(element).spec()
                for at in SAMPLES
                for element in sample(self.source.spec(), at).rows(tensors)
            ]
        return map_specs(in_common, *specs)

    def cardinality(self) -> int:
        """Return that nobody knows, unless there is nothing."""
        return 0 if self.source.cardinality() == 0 else UNKNOWN

    def _made(self, element: Any) -> Stage:
        made = self._function(*unpacked(element))
        stage = getattr(made, "stage", None)
        if not isinstance(stage, Stage):
            raise TypeError(
                f"{self._call}: the function does not return a dataset; got "
                f"{type(made).__name__}, expected a tf.data.Dataset. Use Dataset.map."
            )
        return stage

    def open(self, run: Run) -> Stream:
        """Begin with the first dataset."""
        source = self.source.open(run)
        return _Interleaved(self._streams(source, run), self._cycle, self._length)

    def _streams(self, source: Stream, run: Run) -> Iterator[Stream]:
        while (block := source.pull(1)) is not None:
            for element in block.rows(tensors):
                yield self._made(element).open(run)


class _Interleaved(Stream):
    def __init__(self, streams: Iterator[Stream], cycle: int, length: int | None) -> None:
        self._streams = streams
        self._has_more = True
        self._open: list[Stream | None] = [None] * cycle
        self._at = 0
        self._length = length
        self._taken = 0  # in this turn

    def pull(self, most: int) -> Block | None:
        while self._has_more or any(self._open):
            stream = self._current()
            if stream is None:
                self._turn()
                continue
            left = most if self._length is None else min(most, self._length - self._taken)
            block = stream.pull(left)
            if block is None:
                self._open[self._at] = None
                self._turn()
                continue
            self._taken += block.size
            if self._taken == self._length:
                self._turn()
            return block
        return None

    def _current(self) -> Stream | None:
        """Return the dataset whose turn it is; an empty place gets the next one."""
        if self._open[self._at] is None and self._has_more:
            found = next(self._streams, None)
            self._has_more = found is not None
            self._open[self._at] = found
        return self._open[self._at]

    def _turn(self) -> None:
        self._taken = 0
        self._at = (self._at + 1) % len(self._open)
