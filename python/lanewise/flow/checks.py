"""`assert` and ``lw.check``: what has to hold for every element."""

from collections.abc import Callable
from typing import Any

from ..element import Element
from ..errors import ElementError
from ..source import user_line
from ..texts import readable
from .branches import not_, truth


def assert_(test: Any, message: Callable[[], Any] | None = None) -> None:
    """Do `assert`: on elements, those fail for which it does not hold."""
    test = truth(test)
    if isinstance(test, Element):
        if message is not None and (line := user_line()) is not None:
            ElementError.messages[f"{line.file}:{line.number}"] = readable(message())
        _record(test)
    elif not test:
        raise AssertionError(*(() if message is None else (message(),)))


def check(condition: Any, message: str = "") -> None:
    """Let the elements fail for which a condition does not hold.

    A failing element ends the call with an `ElementError` that names it. On plain values it raises
    an ``AssertionError``, as ``assert`` does.

    Parameters
    ----------
    condition : Element or bool
        What has to hold.
    message : str, optional
        Said when it does not hold.

    Examples
    --------
    >>> import lanewise as lw, numpy as np
    >>> @lw.vectorize
    ... def root(x):
    ...     lw.check(x >= 0)
    ...     return np.sqrt(x)
    >>> root(np.array([4.0, 9.0]))
    array([2., 3.])
    """
    assert_(condition, (lambda: message) if message else None)


def _record(test: Element) -> None:
    recorder = test.recorder
    failed = not_(test).value
    recorder.locate()
    recorder.recording.fail_if(failed)
