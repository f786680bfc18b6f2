"""What a call returns that may end before all of its elements are finished."""

from collections.abc import Callable
from typing import Any

import numpy as np

from . import _core
from . import options as _options
from ._core import MapOptions
from .errors import UsageError
from .failures import Failures
from .options import CallOptions

_FOR_RESUME = ("timeout", "cancel", "progress", "watchdog", "on_silence", "threads", "compile")


class Partial:
    """What is finished of a call with ``on_timeout="partial"``, and the way to go on.

    Examples
    --------
    >>> import lanewise as lw, numpy as np
    >>> @lw.vectorize
    ... def steps(x):
    ...     n = 0
    ...     while x > 0:
    ...         x -= 1
    ...         n += 1
    ...     return n
    >>> x = np.arange(100_000.0)
    >>> some = steps(x, timeout=0.001, on_timeout="partial")
    >>> while not some.is_all:
    ...     some = some.resume(timeout=10)
    >>> some
    <all 100000 elements finished>
    >>> some.results[:5]
    array([0, 1, 2, 3, 4])
    """

    def __init__(
        self,
        shape: tuple[int, ...],
        options: CallOptions,
        results: Callable[[], Any],
    ) -> None:
        self._shape = shape
        self._options = options
        self._results = results
        self._finished = _core.Finished()
        self._run: Callable[[CallOptions], None] | None = None
        self._failed = 0
        self._rows: list[tuple[Any, ...]] = []

    @property
    def results(self) -> Any:
        """The results, with NaN, and 0 of integers, for elements that are not finished.

        In arrays that were given as ``out``, those that were not begun keep what they held.
        """
        return self._results()

    @property
    def finished(self) -> Any:
        """Which elements are, as an array of bool in the shape of the arguments."""
        mask = np.zeros(int(np.prod(self._shape)), bool)
        for first, last in self._finished.ranges():
            mask[first:last] = True
        return mask.reshape(self._shape)

    @property
    def count(self) -> int:
        """How many are."""
        return self._finished.count

    @property
    def is_all(self) -> bool:
        """Whether all are."""
        return self._finished.is_all

    @property
    def failures(self) -> Failures | None:
        """With ``on_error="collect"``, those of all finished elements."""
        if not self._options.collects:
            return None
        rows = sorted(self._rows, key=lambda row: row[0])
        return Failures(self._failed, rows[: self._options.map.max_failures])

    def resume(self, **options: Any) -> "Partial":
        """Run the elements that are not finished, with their own numbers, and return this.

        Parameters
        ----------
        timeout : float, optional
            Seconds that it may take; until all are finished, if not given.
        cancel, progress, watchdog, on_silence, threads, compile : optional
            As `vectorize` has them; a token is that of this call only.

        The arguments, and what the function takes from outside, are those of the first call; arrays
        among them must not have changed.
        """
        for name in options:
            if name not in _FOR_RESUME:
                raise UsageError(
                    f"resume: not an option of calls that go on; got {name}=, expected one of "
                    f"{', '.join(_FOR_RESUME)}."
                )
        given = _options.checked("resume", {"timeout": None, "cancel": None} | options)
        self.run(self._options.but(given))
        return self

    def run(self, options: CallOptions) -> None:
        """Run what is not finished, with these options."""
        own = options._replace(map=MapOptions(options.map))
        own.map.finish_into(self._finished)
        told = _core.Failures()
        own.map.collect_into(told)
        assert self._run is not None
        self._run(own)
        self._failed += told.count
        self._rows += told.rows()

    def begin(
        self, run: Callable[[CallOptions], None], outputs: tuple[Any, ...], is_new: bool
    ) -> "Partial":
        """Run for the first time; `outputs` hold anything before if they are new."""
        self._run = run
        self.run(self._options)
        if is_new and not self.is_all:
            mask = ~self.finished
            for output in outputs:
                output[mask] = _unknown(output.dtype)
        return self

    def __repr__(self) -> str:
        total = int(np.prod(self._shape))
        if self.is_all:
            return f"<all {total} elements finished>"
        return f"<{self.count} of {total} elements finished>"


def _unknown(dtype: Any) -> Any:
    if dtype.kind == "c":
        return complex(np.nan, np.nan)
    return np.nan if dtype.kind == "f" else 0


def refuse(call: str, recorded: Any, is_ragged: bool) -> None:
    """Refuse functions whose calls end as a whole."""
    what = None
    if is_ragged or recorded.ragged is not None:
        what = "rows of different lengths"
    elif recorded.folds is not None:
        what = "accumulators"
    elif recorded.prints is not None:
        what = "elements that print"
    if what is not None:
        raise UsageError(
            f"{call}: on_timeout with {what}; got 'partial', expected 'raise': such a call ends as "
            "a whole."
        )
