"""Telling how far a map has come."""

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any


@contextmanager
def shown(progress: Any, name: str, total: int) -> Iterator[Callable[[int], None] | None]:
    """Give a function that is told how many elements are done.

    A function of the user's is told done and total; True shows a bar, by tqdm if that is there.
    """
    if progress is None:
        yield None
    elif callable(progress):
        yield lambda done: progress(done, total)
        progress(total, total)
    else:
        with _bar(name, total) as tell:
            yield tell
            tell(total)


@contextmanager
def _bar(name: str, total: int) -> Iterator[Callable[[int], None]]:
    try:
        from tqdm.auto import tqdm
    except ImportError:
        yield lambda done: _print(name, done, total)
        print(file=sys.stderr)
        return
    with tqdm(total=total, desc=name, unit="el", unit_scale=True) as bar:
        yield lambda done: bar.update(done - bar.n)


def _print(name: str, done: int, total: int) -> None:
    share = done / total if total else 1.0
    print(f"\r{name}: {share:6.1%}", end="", file=sys.stderr, flush=True)
