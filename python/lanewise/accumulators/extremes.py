"""The least and the greatest value, and where they are."""

from typing import Any

import numpy as np

from .._core import DType
from ..dtypes import (
    FLOATS,
    INTEGERS,
    PARTS,
    TO_NUMPY,
    Type,
)
from ..element import as_value
from ..folds import Folded, Part
from ..recorder import Recorder
from .base import Accumulator, neutral, step


class _Extreme(Accumulator):
    """The least or the greatest value."""

    _kind: str

    @property
    def value(self) -> Any:
        """The value so far; infinity, or the last integer, if nothing was added."""
        if self._state is not None:
            return self._state
        dtype = self._dtype or DType.F64
        assert isinstance(dtype, DType)
        return TO_NUMPY[dtype].type(neutral(self._kind, dtype))

    _takes_text = "an integer or float type"

    def _takes(self, dtype: Type) -> bool:
        return dtype in INTEGERS or dtype in FLOATS

    def add(self, value: Any) -> None:
        """Take a number into account."""
        kind = self._operand(value)
        if kind.dtype in PARTS:
            self._refuse(value, "a real number", "Complex numbers have no order: add abs(z).")
        if kind.dtype is DType.Bool and self._dtype is None:
            self._refuse(value, "a number that is not a bool", "Use lw.Count.")
        recorder = self._recorder()
        if recorder is None:
            return
        dtype = self._type(recorder, kind)
        compared = DType.F32 if dtype is DType.F16 else dtype  # exactly
        parts = self._parts(
            recorder, dtype, lambda: self._value_parts(recorder, self._kind, compared, value)
        )
        self._combine(recorder, parts, self._kind.removeprefix("arg"), dtype, value)

    def take(self, totals: list[Any], fold: Folded) -> None:
        """Add the totals of a call."""
        total = totals[0].reshape(fold.parts[0].about).astype(TO_NUMPY[fold.dtype])
        state = self._state
        if state is not None:
            is_kept = state < total if self._kind == "min" else state > total
            total = np.where(is_kept | (state != state), state, total)
        self._state = total[()]


def _is_before(kind: str, a: Any, b: Any) -> bool:
    return bool(a < b if kind.endswith("min") else a > b)


class Min(_Extreme):
    """The least of what elements add; a NaN if there is one, as `numpy.min` has it.

    Parameters
    ----------
    dtype : dtype_like, optional
        The type to compare in; that of what is added if not given.

    Examples
    --------
    >>> import lanewise as lw, numpy as np
    >>> low, high = lw.Min(), lw.Max()
    >>> lw.map(lambda x: low.add(x) or high.add(x), np.array([3, -1, 2]))
    >>> low.value, high.value
    (np.int64(-1), np.int64(3))
    """

    _kind = "min"
    _takes_rows = True


class Max(_Extreme):
    """The greatest of what elements add; otherwise as `Min`."""

    _kind = "max"
    _takes_rows = True


class ArgMin(_Extreme):
    """Which element adds the least value: the first of several, or the first with a NaN.

    The number of an element is its place in C order, from ``first_element`` of the call on.

    Parameters
    ----------
    dtype : dtype_like, optional
        The type to compare in; that of what is added if not given.

    Examples
    --------
    >>> import lanewise as lw, numpy as np
    >>> nearest = lw.ArgMin()
    >>> lw.map(lambda x: nearest.add(abs(x - 5.0)), np.array([1.0, 4.5, 9.0]))
    >>> nearest.value, nearest.least
    (np.int64(1), np.float64(0.5))
    """

    _kind = "argmin"

    @property
    def value(self) -> Any:
        """The number of the element; -1 if nothing was added."""
        return np.int64(-1) if self._state is None else self._state[1]

    @property
    def least(self) -> Any:
        """What that element added; None if nothing was."""
        return None if self._state is None else self._state[0]

    def _value_parts(self, recorder: Recorder, kind: str, dtype: Type, value: Any) -> list[Part]:
        parts = super()._value_parts(recorder, kind, dtype, value)
        parts[0].slots.append(recorder.recording.first_slot(DType.Bool, False))
        parts[0].about = None  # what it holds is not of this shape
        recorder.is_numbered = True
        return parts

    def _combine(
        self, recorder: Recorder, parts: list[Part], op: str, dtype: Type, value: Any
    ) -> None:
        step(
            recorder,
            parts[0],
            op,
            recorder.convert(as_value(recorder, value, dtype), parts[0].dtype),
        )
        recorder.recording.write(parts[0].slots[1], recorder.constant(DType.Bool, True))

    def take(self, totals: list[Any], fold: Folded) -> None:
        """Add the totals of a call."""
        cells, place = totals[0], totals[0][1]
        if place < 0:
            return
        compared = TO_NUMPY[fold.parts[0].dtype]
        total = cells[:1].view(compared)[0].astype(TO_NUMPY[fold.dtype])
        state = None if self._state is None else self._state[0]
        if state is not None:
            if state != state:
                return
            if total == total and not _is_before(self._kind, total, state):
                return
        self._state = total, place


class ArgMax(ArgMin):
    """Which element adds the greatest value; otherwise as `ArgMin`."""

    _kind = "argmax"

    @property
    def greatest(self) -> Any:
        """What that element added; None if nothing was."""
        return super().least
