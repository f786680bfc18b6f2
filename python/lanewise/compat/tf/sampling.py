"""Whether operations run only to see what comes out: types, shapes and how results are nested.

A node of a graph knows these from a sample of its arguments. While one is computed no element
fails, nothing is printed, drawn or assigned, and loops end after a step.
"""

import threading
from collections.abc import Iterator
from contextlib import contextmanager

from ...recorder import current


class _State(threading.local):
    """Of a thread. What a class has is found sooner than what is nowhere."""

    depth = 0
    held = 0


_state = _State()


def is_on() -> bool:
    """Say whether a sample is being computed on this thread.

    A function that is recorded meanwhile is recorded as it is: its program runs later, too.
    """
    return _state.depth > 0 and current() is None


def holds_back() -> bool:
    """Say so before something is done, and let the call that is sampled count as one that does.

    A graph runs such calls in their order, whether their results are used or not.
    """
    if not is_on():
        return False
    _state.held += 1
    return True


def held() -> int:
    """Return how often something was held back on this thread."""
    return _state.held


@contextmanager
def on() -> Iterator[None]:
    """Compute samples."""
    _state.depth += 1
    try:
        yield
    finally:
        _state.depth -= 1
