"""``lw.element``: the number of the element that the function is called for."""

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np

from ._core import DType
from .dtypes import FROM_NUMPY, INTEGERS
from .element import Element
from .errors import UsageError, UsageTypeError
from .intervals import Interval
from .recorder import current
from .source import at_line

_running = threading.local()  # the number of an element whose plain function runs


def element(dtype: Any = np.int64) -> Any:
    """Return the number of the element: its place in C order, from ``first_element`` of the call.

    Parameters
    ----------
    dtype : dtype_like, optional
        An integer type. One of 32 bits makes indices cheaper, for maps of so many elements.

    Examples
    --------
    >>> import lanewise as lw, numpy as np
    >>> lw.map(lambda: lw.element() ** 2, count=5)
    array([ 0,  1,  4,  9, 16])

    A row of a table for each element:

    >>> rows = np.arange(6.0).reshape(3, 2)
    >>> lw.map(lambda: rows[lw.element(), 0] + rows[lw.element(), 1], count=3)
    array([1., 5., 9.])
    """
    ours = FROM_NUMPY.get(np.dtype(dtype))
    if ours not in INTEGERS:
        raise UsageTypeError(
            at_line(f"element: unsupported type; got {np.dtype(dtype)}, expected an integer type.")
        )
    assert ours is not None
    recorder = current()
    if recorder is not None:
        recorder.locate()
        recorder.is_numbered = True
        value = recorder.recording.element(ours)
        if ours is DType.I64:
            recorder.intervals[value.id] = Interval(0, 2**63 - 1)
        return Element(recorder, value)
    number = getattr(_running, "number", None)
    if number is None:
        raise UsageError(
            at_line(
                "element: no element has a number here; got a call outside of a vectorized "
                "function, expected one inside."
            )
        )
    return np.int64(number).astype(dtype)


def is_running() -> bool:
    """Say whether a plain function runs on one element."""
    return getattr(_running, "number", None) is not None


@contextmanager
def running(number: int) -> Iterator[None]:
    """Let `element` give this number to a plain function."""
    before = getattr(_running, "number", None)
    _running.number = number
    try:
        yield
    finally:
        _running.number = before
