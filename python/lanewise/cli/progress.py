"""A progress bar on a terminal."""

import sys
from time import perf_counter
from types import TracebackType
from typing import Self

_WIDTH = 30
_INTERVAL = 0.1  # seconds between two pictures


class Progress:
    """Shows how much of a total is done, if the stream is a terminal; used with `with`."""

    def __init__(self, total: int) -> None:
        self._total = total
        self._stream = sys.stderr
        self._is_shown = self._stream.isatty() and total > 0
        self._start = perf_counter()
        self._next = 0.0

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, _: BaseException | None, __: TracebackType | None
    ) -> None:
        if self._is_shown:
            self._stream.write("\n" if kind is None else "\r\x1b[K")
            self._stream.flush()

    def show(self, done: int) -> None:
        """Show that so much is done."""
        seconds = perf_counter() - self._start
        if not self._is_shown or (seconds < self._next and done < self._total):
            return
        self._next = seconds + _INTERVAL
        share = done / self._total
        bar = "#" * round(share * _WIDTH)
        left = seconds / share - seconds if share > 0 else 0
        speed = done / seconds / 1e6 if seconds > 0 else 0
        self._stream.write(
            f"\r[{bar:<{_WIDTH}}] {share:4.0%}  {speed:.1f} M elements/s, {left:.0f} s left\x1b[K"
        )
        self._stream.flush()
