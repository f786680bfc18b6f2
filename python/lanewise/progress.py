"""Telling how far a map has come."""

import math
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from time import perf_counter
from typing import Any, NamedTuple

_Tell = Callable[[int, float], None]  # elements done, and how many in a second


class Progress(NamedTuple):
    """How far a call has come, as functions are told that are given as ``progress``.

    Attributes
    ----------
    done, total : int
        Elements.
    seconds : float
        Since the call began.
    rate : float
        Elements in a second, of this call.
    left : float
        Seconds that the others take at this rate; infinity, if nothing is known yet.

    Examples
    --------
    >>> import lanewise as lw, numpy as np
    >>> told = []
    >>> y = lw.map(lambda x: x + 1, np.zeros(1000), progress=told.append)
    >>> told[-1].done, told[-1].total, told[-1].left
    (1000, 1000, 0.0)
    """

    done: int
    total: int
    seconds: float
    rate: float
    left: float

    def __str__(self) -> str:
        """Return it as a line."""
        text = f"{self.done / self.total if self.total else 1.0:6.1%}"
        if self.rate > 0:
            text += f", {self.rate:.3g} elements/s"
        if self.done < self.total and math.isfinite(self.left):
            text += f", {math.ceil(self.left)} s left"
        return text


@contextmanager
def shown(progress: Any, name: str, total: int) -> Iterator[_Tell | None]:
    """Give a function that is told how many elements are done, to the last of them.

    A function of the user's is told the progress; True shows a bar, by tqdm if that is there.
    """
    if progress is None:
        yield None
    elif callable(progress):
        yield _with_estimate(progress, total)
    else:
        with _bar(name, total) as tell:
            yield tell


def _with_estimate(progress: Callable[[Progress], object], total: int) -> _Tell:
    start = perf_counter()

    def tell(done: int, rate: float) -> None:
        left = 0.0 if done == total else (total - done) / rate if rate > 0 else math.inf
        progress(Progress(done, total, perf_counter() - start, rate, left))

    return tell


@contextmanager
def _bar(name: str, total: int) -> Iterator[_Tell]:
    try:
        from tqdm.auto import tqdm
    except ImportError:
        yield _with_estimate(lambda told: _print(name, told), total)
        print(file=sys.stderr)
        return
    with tqdm(total=total, desc=name, unit="el", unit_scale=True) as bar:
        yield lambda done, _: bar.update(done - bar.n)


def _print(name: str, told: Progress) -> None:
    print(f"\r{name}: {told!s:<50}", end="", file=sys.stderr, flush=True)
