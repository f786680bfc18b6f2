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

import functools
from collections.abc import Callable
from typing import Any

import numpy as np

from ._core import DType, Value
from .dtypes import FLOATS, FROM_NUMPY, INTEGERS
from .element import Element, Whole, as_value, is_tensor
from .errors import UsageTypeError
from .recorder import current
from .source import at_line

Size = int | tuple[int, ...] | None


def _drawn(size: Size, dtype: DType, bounds: tuple[Any, ...], draw: Callable[..., Value]) -> Any:
    """Record draws of a shape: that of `size`, or what the bounds have in common.

    A tensor of them is filled by a loop, one after the other, so its numbers are draws of one
    place. `draw` gets the bounds of each as elements.
    """
    recorder = current()
    assert recorder is not None
    recorder.is_numbered = True
    shapes = [bound.shape if is_tensor(bound) else np.shape(bound) for bound in bounds]
    if size is None and not any(shapes):
        recorder.draws += 1
        recorder.locate()
        return Element(recorder, draw(recorder.recording, *bounds))
    from .tensors import as_tensor, making, spaces  # seldom needed, and long to import

    shape = spaces.broadcast_shapes("draw", *shapes) if size is None else _shape(size)
    wide = [as_tensor(recorder, bound).broadcast_to("size", shape) for bound in bounds]
    result = making.new_array(recorder, shape, dtype)

    def step(positions: list[Value]) -> None:
        recorder.draws += 1
        recorder.locate()
        given = (bound.at(positions) for bound in wide)
        result.write_at(positions, Element(recorder, draw(recorder.recording, *given)))

    if result.size:
        spaces.loops(recorder, shape, step)
    return result


def _shape(size: Any) -> tuple[int, ...]:
    return tuple(map(int, size)) if isinstance(size, (tuple, list)) else (int(size),)


def _float(what: str, dtype: Any) -> DType:
    """Return the type of a draw."""
    ours = FROM_NUMPY.get(np.dtype(dtype))
    if ours not in FLOATS or ours is DType.F16:
        raise UsageTypeError(
            at_line(
                f"{what}: unsupported type; got {np.dtype(dtype)}, expected float32 or float64."
            )
        )
    assert isinstance(ours, DType)
    return ours


def _plain(numbers: Any, dtype: Any) -> Any:
    """Return numbers of NumPy's as a type."""
    return np.asarray(numbers, dtype)[()]


def uniform(low: Any = 0.0, high: Any = 1.0, dtype: Any = np.float64, *, size: Size = None) -> Any:
    """Draw from `low` to below `high`, evenly; a tensor of draws with `size`, its shape.

    Examples
    --------
    >>> import lanewise as lw, numpy as np
    >>> y = lw.vectorize(lambda x: x + lw.random.uniform())(np.zeros(1000))
    >>> bool((y >= 0).all() and (y < 1).all())
    True
    >>> lw.map(lambda x: x + lw.random.uniform(size=(2, 3)), np.zeros(5)).shape
    (5, 2, 3)
    """
    ours = _float("uniform", dtype)
    if current() is None:
        return _plain(np.random.default_rng().uniform(low, high, size), dtype)
    drawn = _drawn(_of(size, low, high), ours, (), lambda to: to.draw("uniform", ours))
    is_plain = not any(isinstance(bound, (Element, Whole)) for bound in (low, high))
    if is_plain and np.all(low == 0) and np.all(high == 1):
        return drawn
    return low + (high - low) * drawn


def _of(size: Size, *parameters: Any) -> Size:
    """Return the shape of draws: that of their parameters, if there is none."""
    shapes = [p.shape if is_tensor(p) else np.shape(p) for p in parameters]
    return np.broadcast_shapes(*shapes) or None if size is None else size


def normal(
    mean: Any = 0.0, deviation: Any = 1.0, dtype: Any = np.float64, *, size: Size = None
) -> Any:
    """Draw from a normal distribution; a tensor of draws with `size`, its shape.

    Examples
    --------
    >>> import lanewise as lw, numpy as np
    >>> y = lw.vectorize(lambda x: x + lw.random.normal())(np.zeros(10000))
    >>> bool(abs(y.mean()) < 0.1 and abs(y.std() - 1) < 0.1)
    True
    """
    ours = _float("normal", dtype)
    if current() is None:
        return _plain(np.random.default_rng().normal(mean, deviation, size), dtype)
    drawn = _drawn(_of(size, mean, deviation), ours, (), lambda to: to.draw("normal", ours))
    return mean + deviation * drawn


def exponential(scale: Any = 1.0, dtype: Any = np.float64, *, size: Size = None) -> Any:
    """Draw from an exponential distribution with this mean; a tensor of draws with `size`.

    Examples
    --------
    >>> import lanewise as lw, numpy as np
    >>> y = lw.vectorize(lambda x: x + lw.random.exponential())(np.zeros(10000))
    >>> bool((y > 0).all() and abs(y.mean() - 1) < 0.1)
    True
    """
    ours = _float("exponential", dtype)
    if current() is None:
        return _plain(np.random.default_rng().exponential(scale, size), dtype)
    return scale * _drawn(_of(size, scale), ours, (), lambda to: to.draw("exponential", ours))


def bits(*, size: Size = None) -> Any:
    """Draw 32 bits: a uint32; a tensor of them with `size`, its shape.

    Examples
    --------
    >>> import lanewise as lw, numpy as np
    >>> y = lw.map(lambda: lw.random.bits() >> np.uint32(31), count=1000)
    >>> sorted(set(y.tolist()))
    [0, 1]
    """
    if current() is None:
        return np.random.default_rng().integers(2**32, size=size, dtype=np.uint32)
    return _drawn(size, DType.U32, (), lambda to: to.draw("bits", DType.U32))


def integers(low: Any, high: Any = None, dtype: Any = np.int64, *, size: Size = None) -> Any:
    """Draw an integer from `low` to below `high`, evenly; from 0 if only one is given.

    With `size`, a shape, it is a tensor of draws.

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
    assert isinstance(ours, DType)
    if recorder is None:
        return _plain(np.random.default_rng().integers(low, high, size), dtype)
    to_value = functools.partial(as_value, recorder, dtype=ours)
    return _drawn(
        size, ours, (low, high), lambda to, *bounds: to.draw_integer(*map(to_value, bounds))
    )
