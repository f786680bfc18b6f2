"""Random numbers inside an element function: ``lw.random``.

A draw is a function of the seed of the call, the place in the program that draws, the number of the
element, and how often the element has drawn there before. So the numbers depend neither on threads
nor on schedule. Outside of a vectorized function they come from NumPy.

>>> import lanewise as lw, numpy as np
>>> @lw.vectorize
... def days_until_six(x):
...     days = 1
...     while lw.random.integers(1, 7) != 6:
...         days += 1
...     return days + 0 * x
>>> bool(days_until_six(np.zeros(1000, int)).min() == 1)
True
"""

from typing import Any

import numpy as np

from ._core import DType
from .dtypes import FLOATS, FROM_NUMPY, INTEGERS, TO_NUMPY
from .element import Element, as_value
from .errors import UsageTypeError
from .recorder import current
from .source import at_line


def _draw(what: str, dtype: Any) -> Any:
    """Record a draw; None when nothing is being recorded."""
    recorder = current()
    ours = FROM_NUMPY.get(np.dtype(dtype))
    if ours not in FLOATS or ours is DType.F16:
        raise UsageTypeError(
            at_line(
                f"{what}: unsupported type; got {np.dtype(dtype)}, expected float32 or float64."
            )
        )
    if recorder is None:
        return None
    recorder.locate()
    recorder.is_numbered = True
    return Element(recorder, recorder.recording.draw(what, ours))


def uniform(low: Any = 0.0, high: Any = 1.0, dtype: Any = np.float64) -> Any:
    """Draw from `low` to below `high`, evenly.

    Examples
    --------
    >>> import lanewise as lw, numpy as np
    >>> y = lw.vectorize(lambda x: x + lw.random.uniform())(np.zeros(1000))
    >>> bool((y >= 0).all() and (y < 1).all())
    True
    """
    drawn = _draw("uniform", dtype)
    if drawn is None:
        return np.dtype(dtype).type(np.random.default_rng().uniform(low, high))
    is_unit = not isinstance(low, Element) and not isinstance(high, Element)
    if is_unit and low == 0 and high == 1:
        return drawn
    return low + (high - low) * drawn


def normal(mean: Any = 0.0, deviation: Any = 1.0, dtype: Any = np.float64) -> Any:
    """Draw from a normal distribution.

    Examples
    --------
    >>> import lanewise as lw, numpy as np
    >>> y = lw.vectorize(lambda x: x + lw.random.normal())(np.zeros(10000))
    >>> bool(abs(y.mean()) < 0.1 and abs(y.std() - 1) < 0.1)
    True
    """
    drawn = _draw("normal", dtype)
    if drawn is None:
        return np.dtype(dtype).type(np.random.default_rng().normal(mean, deviation))
    return mean + deviation * drawn


def exponential(scale: Any = 1.0, dtype: Any = np.float64) -> Any:
    """Draw from an exponential distribution with this mean.

    Examples
    --------
    >>> import lanewise as lw, numpy as np
    >>> y = lw.vectorize(lambda x: x + lw.random.exponential())(np.zeros(10000))
    >>> bool((y > 0).all() and abs(y.mean() - 1) < 0.1)
    True
    """
    drawn = _draw("exponential", dtype)
    if drawn is None:
        return np.dtype(dtype).type(np.random.default_rng().exponential(scale))
    return scale * drawn


def bits() -> Any:
    """Draw 32 bits: a uint32.

    Examples
    --------
    >>> import lanewise as lw, numpy as np
    >>> y = lw.map(lambda: lw.random.bits() >> np.uint32(31), count=1000)
    >>> sorted(set(y.tolist()))
    [0, 1]
    """
    recorder = current()
    if recorder is None:
        return np.random.default_rng().integers(2**32, dtype=np.uint32)
    recorder.locate()
    recorder.is_numbered = True
    return Element(recorder, recorder.recording.draw("bits", DType.U32))


def integers(low: Any, high: Any = None, dtype: Any = np.int64) -> Any:
    """Draw an integer from `low` to below `high`, evenly; from 0 if only one is given.

    Examples
    --------
    >>> import lanewise as lw, numpy as np
    >>> y = lw.vectorize(lambda x: x + lw.random.integers(1, 7))(np.zeros(1000, int))
    >>> sorted(set(y.tolist()))
    [1, 2, 3, 4, 5, 6]
    """
    if high is None:
        low, high = 0, low
    recorder = current()
    ours = FROM_NUMPY.get(np.dtype(dtype))
    if ours not in INTEGERS:
        raise UsageTypeError(
            at_line(f"integers: unsupported type; got {np.dtype(dtype)}, expected an integer type.")
        )
    assert ours is not None
    if recorder is None:
        return TO_NUMPY[ours].type(np.random.default_rng().integers(low, high))
    bounds = (as_value(recorder, bound, ours) for bound in (low, high))
    recorder.locate()
    recorder.is_numbered = True
    return Element(recorder, recorder.recording.draw_integer(*bounds))
