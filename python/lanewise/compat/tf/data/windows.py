"""``Dataset.window``: datasets of elements that follow one another."""

import math
from collections.abc import Callable
from typing import Any

from .blocks import Block, Objects, cut
from .specs import DatasetSpec, map_specs
from .stages import Run, Stage, Stream

_AHEAD = 256


class Windows(Stage):
    """Datasets of elements that follow one another; `wrap` makes one of a stage."""

    def __init__(
        self, source: Stage, sizes: tuple[int, int, int], drops: bool, wrap: Callable[..., Any]
    ) -> None:
        self.source = source
        self._size, self._shift, self._stride = sizes
        self._drops = drops
        self._wrap = wrap

    def spec(self) -> Any:
        """Return specs of datasets."""
        return map_specs(DatasetSpec, self.source.spec())

    def cardinality(self) -> int:
        """Return how many begin, or end, within the source."""
        size = self.source.cardinality()
        if size < 0:
            return size
        reach = (self._size - 1) * self._stride if self._drops else 0
        return max(math.ceil((size - reach) / self._shift), 0)

    def gains(self) -> bool:
        """Say no: each window is a dataset."""
        return False

    def open(self, run: Run) -> Stream:
        """Begin with the first window."""
        return _Windowed(self, self.source.open(run))

    def next_window(self, held: list[Block], size: int) -> Block | None:
        """Return the window at the beginning of the elements at hand; None: it is not full."""
        reach = (self._size - 1) * self._stride + 1
        if not size or (self._drops and size < reach):
            return None
        parts = cut(held, 0, min(reach, size), self._stride)
        columns = [
            Objects([self._wrap([Block(None, [part.columns[at]], part.size) for part in parts])])
            for at in range(len(parts[0].columns))
        ]
        return Block(parts[0].structure, columns, 1)

    @property
    def reach(self) -> int:
        """How many elements a window covers, or the step to the next one."""
        return max((self._size - 1) * self._stride + 1, self._shift)

    @property
    def ahead(self) -> int:
        """How many elements are asked for at once."""
        return _AHEAD if self.source.gains() else 1

    @property
    def shift(self) -> int:
        """The step from one window to the next."""
        return self._shift


class _Windowed(Stream):
    def __init__(self, windows: Windows, source: Stream) -> None:
        self._windows = windows
        self._source = source
        self._held: list[Block] = []
        self._size = 0

    def pull(self, most: int) -> Block | None:
        windows = self._windows
        while self._size < windows.reach:
            block = self._source.pull(max(windows.reach - self._size, windows.ahead))
            if block is None:
                break
            self._held.append(block)
            self._size += block.size
        window = windows.next_window(self._held, self._size)
        self._held = cut(self._held, windows.shift, self._size)
        self._size = max(self._size - windows.shift, 0)
        return window
