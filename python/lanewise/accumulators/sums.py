"""Sums, means and counts."""

from typing import Any

import numpy as np

from .._core import DType
from ..dtypes import (
    INTEGERS,
    PARTS,
    TO_NUMPY,
    Kind,
    Type,
    as_float,
    settled,
)
from ..element import as_value
from ..folds import Folded, Part
from .base import Accumulator, number_part, step, summed


class Sum(Accumulator):
    """The sum of what elements add: numbers, or rows and images of one shape.

    Integers are added as int64 or uint64, and wrap.

    Parameters
    ----------
    dtype : dtype_like, optional
        The type to add in; that of the first numbers that are added if not given, as `numpy.sum`
        has it. What is added is converted.

    Examples
    --------
    >>> import lanewise as lw, numpy as np
    >>> total = lw.Sum()
    >>> lw.map(lambda x: total.add(x * x), np.arange(4.0))
    >>> total.value
    np.float64(14.0)

    Rows:

    >>> total = lw.Sum()
    >>> lw.map(lambda row: total.add(row / row.sum()), np.array([[1.0, 3.0], [2.0, 2.0]]))
    >>> total.value
    array([0.75, 1.25])
    """

    _takes_rows = True

    @property
    def value(self) -> Any:
        """What has been added so far."""
        zero = TO_NUMPY[self._dtype or DType.F64].type(0)
        return zero if self._state is None else self._state

    def add(self, value: Any) -> None:
        """Add a number, or a tensor of them."""
        kind = self._operand(value)
        recorder = self._recorder()
        if recorder is None:
            return
        dtype = self._type(recorder, kind)
        parts = self._parts(
            recorder, dtype, lambda: self._value_parts(recorder, "sum", dtype, value)
        )
        self._combine(recorder, parts, "add", dtype, value)

    def _combined(self, kind: Kind) -> Type:
        return summed(settled(kind))

    def take(self, totals: list[Any], fold: Folded) -> None:
        """Add the totals of a call."""
        self._state = _plus(self._state, _value(totals, fold))


def _value(totals: list[Any], fold: Folded) -> Any:
    """Return a total as a scalar, or as an array; that of a complex number has two parts."""
    if fold.dtype in PARTS:
        return TO_NUMPY[fold.dtype].type(complex(totals[0][0], totals[1][0]))
    return totals[0].reshape(fold.parts[0].about)[()]


def _plus(state: Any, total: Any) -> Any:
    """Add a total to what there was; a sum begins with 0."""
    with np.errstate(all="ignore"):
        return total + (total.dtype.type(0) if state is None else state)


class Mean(Accumulator):
    """The mean of what elements add: their sum, divided by how many there were.

    Parameters
    ----------
    dtype : dtype_like, optional
        The type to add in: a float type. Integers are added as float64 if it is not given.

    Examples
    --------
    >>> import lanewise as lw, numpy as np
    >>> mean = lw.Mean()
    >>> lw.map(lambda x: mean.add(x), np.array([1, 2, 6]))
    >>> mean.value, mean.count
    (np.float64(3.0), np.int64(3))
    """

    _takes_rows = True
    _takes_text = "float32, float64 or a complex type"

    def _takes(self, dtype: Type) -> bool:
        return dtype in (DType.F32, DType.F64) or dtype in PARTS

    def reset(self) -> None:
        """Begin anew."""
        self._state = None
        self.count = np.int64(0)

    @property
    def value(self) -> Any:
        """The mean so far; NaN if nothing was added."""
        if self._state is None:
            return TO_NUMPY[self._dtype or DType.F64].type(np.nan)
        with np.errstate(all="ignore"):
            return (self._state / self.count).astype(self._state.dtype)

    def add(self, value: Any) -> None:
        """Add a number, or a tensor of them."""
        kind = self._operand(value)
        recorder = self._recorder()
        if recorder is None:
            return
        dtype = self._type(recorder, kind)

        def make() -> list[Part]:
            values = self._value_parts(recorder, "sum", dtype, value)
            return [*values, number_part(recorder, "sum", DType.I64)]

        parts = self._parts(recorder, dtype, make)
        self._combine(recorder, parts[:-1], "add", dtype, value)
        step(recorder, parts[-1], "add", recorder.constant(DType.I64, 1))

    def _combined(self, kind: Kind) -> Type:
        if kind.dtype in PARTS:
            return kind.dtype
        if kind.dtype is DType.Bool or kind.dtype in INTEGERS:
            return DType.F64
        return summed(as_float(kind).dtype)

    def take(self, totals: list[Any], fold: Folded) -> None:
        """Add the totals of a call."""
        self._state = _plus(self._state, _value(totals, fold))
        self.count = self.count + totals[-1][0]


class Count(Accumulator):
    """How many elements came somewhere, or for how many a condition held there.

    Examples
    --------
    >>> import lanewise as lw, numpy as np
    >>> inside = lw.Count()
    >>> lw.map(lambda x, y: inside.add(x * x + y * y < 1), np.zeros(3), np.arange(3.0))
    >>> inside.value
    np.int64(1)
    """

    def __init__(self) -> None:
        super().__init__()

    def reset(self) -> None:
        """Begin anew."""
        self._state = np.int64(0)

    @property
    def value(self) -> Any:
        """How many have been counted."""
        return self._state

    def add(self, condition: Any = True) -> None:
        """Count one more, where the condition holds."""
        if self._operand(condition).dtype is not DType.Bool:
            self._refuse(condition, "a bool", "Compare it, or use lw.Sum.")
        recorder = self._recorder()
        if recorder is None:
            return
        parts = self._parts(recorder, None, lambda: [number_part(recorder, "sum", DType.I64)])
        one = recorder.convert(as_value(recorder, condition, DType.Bool), DType.I64)
        step(recorder, parts[0], "add", one)

    def take(self, totals: list[Any], fold: Folded) -> None:
        """Add the totals of a call."""
        self._state = self._state + totals[0][0]
