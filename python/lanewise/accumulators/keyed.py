"""A count or a sum for each of some keys."""

import math
from typing import Any

import numpy as np

from .._core import DType, Value
from ..dtypes import (
    BOUNDS,
    INTEGERS,
    PARTS,
    TO_NUMPY,
    Kind,
    Type,
    settled,
)
from ..element import Element, as_value
from ..errors import InternalError, UsageError, UsageTypeError
from ..flow.region_loops import RegionLoop
from ..folds import Folded, Part
from ..recorder import Recorder
from ..source import at_line, say
from .base import Accumulator, summed

_MOST_IN_LOOP = 256  # keys of a histogram that an element can have all for itself
_MOST_KEYS = 2**31 - 1


class _Keyed(Accumulator):
    """A value for each of some keys."""

    def __init__(self, keys: int, dtype: Any = None) -> None:
        self._keys = _size(type(self).__name__, keys)
        super().__init__(dtype)

    def _key(self, recorder: Recorder, key: Any) -> Value:
        """Record a key; where it is none, the element fails."""
        kind = self._operand(key)
        if kind.dtype not in INTEGERS and kind.dtype is not DType.Bool:
            self._refuse(key, "a whole number as the key", "Convert it with .astype(np.int32).")
        if not isinstance(key, Element) and not 0 <= int(key) < self._keys:
            raise UsageError(
                at_line(
                    f"{self._call}: no such key; got {int(key)}, expected 0 to {self._keys - 1}."
                )
            )
        dtype = settled(kind)
        is_narrow = TO_NUMPY[dtype].itemsize < 4 or dtype is DType.I32
        value = as_value(recorder, key, DType.I32 if is_narrow else DType.I64)
        if isinstance(key, Element) and not self._has_all(dtype):
            recorder.recording.check_index(value, self._keys)
        return recorder.convert(value, DType.I32)

    def _has_all(self, dtype: Type) -> bool:
        """Say whether all numbers of a type are keys."""
        if dtype is DType.Bool:
            return self._keys > 1
        assert isinstance(dtype, DType)
        return bool(BOUNDS[dtype].min == 0 and BOUNDS[dtype].max < self._keys)

    def _site(self, recorder: Recorder, part: Part, key: Value, value: Value | None) -> None:
        """Record an update that an element makes at most once."""
        recording = recorder.recording
        slot = recording.first_slot(DType.I32, -1)
        _unroll(recorder)
        if _in_loop(recorder):
            say(
                f"{self._call} is called a second time by the same element; expected once at each "
                "place. Collect in a list of the element, and add after the loop"
            )
            again = recorder.op("ge", [recording.read(slot), recorder.constant(DType.I32, 0)])
            recording.fail_if(again)
        recording.write(slot, key)
        part.slots.append(slot)
        if value is not None:
            number = recording.first_slot(part.dtype, 0)
            recording.write(number, value)
            part.slots.append(number)


def _size(what: str, keys: Any) -> int:
    if isinstance(keys, bool) or not isinstance(keys, (int, np.integer)):
        raise UsageTypeError(
            f"{what}: wrong number of keys; got {type(keys).__name__}, expected a whole number."
        )
    if not 1 <= keys <= _MOST_KEYS:
        raise UsageError(
            f"{what}: wrong number of keys; got {keys}, expected 1 to {_MOST_KEYS}: keys are the "
            "numbers below it."
        )
    return int(keys)


_MOST_STEPS = 7  # of loops whose updates are places of their own


def _unroll(recorder: Recorder) -> None:
    """Record the function again with the loops here step by step, where they have few steps."""
    loops = [region for region in recorder.regions if isinstance(region, RegionLoop)]
    if math.prod(loop.trips or _MOST_STEPS + 1 for loop in loops) <= _MOST_STEPS:
        for loop in reversed(loops):
            loop.unroll(InternalError("record: the steps of a range depend on an element."))


def _in_loop(recorder: Recorder) -> bool:
    return any(isinstance(region, RegionLoop) for region in recorder.regions)


class Histogram(_Keyed):
    """How often each number from 0 to below `bins` was added, as int64.

    A number outside is a failure of its element. Inside of loops there may be 256 bins.

    Parameters
    ----------
    bins : int
        How many there are.

    Examples
    --------
    >>> import lanewise as lw, numpy as np
    >>> h = lw.Histogram(4)
    >>> lw.map(lambda x: h.add((x * 4).astype(np.int32)), np.array([0.1, 0.3, 0.9, 0.35]))
    >>> h.value
    array([1, 2, 0, 1])
    """

    _MOST_SITES = 4

    def __init__(self, bins: int) -> None:
        super().__init__(bins)

    def reset(self) -> None:
        """Begin anew."""
        self._state = np.zeros(self._keys, np.int64)

    @property
    def value(self) -> Any:
        """The counts so far, a new array."""
        return self._state.copy()

    def __repr__(self) -> str:
        return f"<Histogram of {self._keys} bins, {self._state.sum()} values>"

    def add(self, key: Any) -> None:
        """Count one more in a bin."""
        recorder = self._recorder()
        if recorder is None:
            self._operand(key)
            return
        number = self._key(recorder, key)
        parts = self._parts(recorder, None, list)
        sites = next((p for p in parts if p.array is None), None)
        if _in_loop(recorder) and self._keys > _MOST_IN_LOOP:
            raise UsageTypeError(
                at_line(
                    f"Histogram.add: inside of a loop with many bins; got {self._keys}, expected "
                    f"at most {_MOST_IN_LOOP}, which an element has all for itself. Add after the "
                    "loop, or return the keys."
                )
            )
        is_many = sites is not None and len(sites.slots) >= self._MOST_SITES
        if _in_loop(recorder) or (is_many and self._keys <= _MOST_IN_LOOP):
            self._add_own(recorder, parts, number)
            return
        if sites is None:
            sites = Part("histogram", DType.I64, self._keys)
            parts.append(sites)
        self._site(recorder, sites, number, None)

    def _add_own(self, recorder: Recorder, parts: list[Part], key: Value) -> None:
        """Count in an array of the element's own."""
        recording = recorder.recording
        own = next((p for p in parts if p.array is not None), None)
        if own is None:
            own = Part("sum", DType.I64, self._keys)
            own.array = recording.first_array(DType.I64, 0, self._keys)
            parts.append(own)
        assert own.array is not None
        count = recording.read_at(own.array, key, is_inside=True)
        one = recorder.constant(DType.I64, 1)
        recording.write_at(own.array, key, recorder.op("add", [count, one]), is_inside=True)

    def take(self, totals: list[Any], fold: Folded) -> None:
        """Add the totals of a call."""
        for total in totals:
            self._state += total


class KeyedSum(_Keyed):
    """A sum for each key from 0 to below `keys`, added in the order of the elements.

    It is what `numpy.bincount` gives with weights, bit for bit. A key outside is a failure of its
    element; an element adds at most once at each place of the function.

    Parameters
    ----------
    keys : int
        How many there are.
    dtype : dtype_like, optional
        The type to add in; as for `Sum` if not given, but not complex.

    Examples
    --------
    >>> import lanewise as lw, numpy as np
    >>> sales = lw.KeyedSum(3)
    >>> lw.map(lambda shop, price: sales.add(shop, price), np.array([0, 2, 0]), np.arange(3.0))
    >>> sales.value
    array([2., 0., 1.])
    """

    _takes_text = "an integer type, float32 or float64"

    def _takes(self, dtype: Type) -> bool:
        return dtype in INTEGERS or dtype in (DType.F32, DType.F64)

    @property
    def value(self) -> Any:
        """The sums so far, a new array."""
        if self._state is None:
            return np.zeros(self._keys, TO_NUMPY[self._dtype or DType.F64])
        return self._state.copy()

    def __repr__(self) -> str:
        return f"<KeyedSum of {self._keys} keys>"

    def add(self, key: Any, value: Any) -> None:
        """Add a number to the sum of a key."""
        kind = self._operand(value)
        if kind.dtype in PARTS:
            self._refuse(value, "a real number", "Add both parts to sums of their own.")
        recorder = self._recorder()
        if recorder is None:
            self._operand(key)
            return
        dtype = self._type(recorder, kind)
        assert isinstance(dtype, DType)
        place = self._key(recorder, key)
        parts = self._parts(recorder, dtype, lambda: [Part("keyed_sum", dtype, self._keys)])
        self._site(recorder, parts[0], place, as_value(recorder, value, dtype))

    def _combined(self, kind: Kind) -> Type:
        return summed(settled(kind))

    def take(self, totals: list[Any], fold: Folded) -> None:
        """Add the totals of a call."""
        with np.errstate(all="ignore"):
            before = totals[0].dtype.type(0) if self._state is None else self._state
            self._state = totals[0] + before
