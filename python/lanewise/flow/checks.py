"""`assert` and ``lw.check``: what has to hold for every element."""

from collections.abc import Callable
from typing import Any

import numpy as np

from ..dtypes import FLOATS
from ..element import Element
from ..source import say
from ..texts import readable
from .branches import not_, truth


def assert_(test: Any, message: Callable[[], Any] | None = None) -> None:
    """Do `assert`: on elements, those fail for which it does not hold."""
    test = truth(test)
    if isinstance(test, Element):
        if message is not None:
            say(readable(message()))
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


def check_numerics(x: Any, message: str = "") -> Any:
    """Let the elements fail for which a value is infinite or not a number.

    On plain values that are not finite it raises an ``AssertionError``. A whole call is checked
    with its option ``check_numerics=True``.

    Parameters
    ----------
    x : Element, tensor or number
        What has to be finite.
    message : str, optional
        Said when it is not.

    Returns
    -------
    Element, tensor or number
        The same.

    Examples
    --------
    >>> import lanewise as lw, numpy as np
    >>> @lw.vectorize
    ... def entropy(p):
    ...     return -p * lw.check_numerics(np.log(p), "no probability")
    >>> entropy(np.array([1.0, 0.5])).round(3)
    array([-0.   ,  0.347])
    """
    if type(x) is Element:
        if x.value.dtype in FLOATS:
            x.recorder.locate()
            if message:
                say(message)
            x.recorder.recording.fail_if_not_finite(x.value)
    else:
        check(np.isfinite(x).all(), message)
    return x


def _record(test: Element) -> None:
    recorder = test.recorder
    failed = not_(test).value
    recorder.locate()
    recorder.recording.fail_if(failed)
