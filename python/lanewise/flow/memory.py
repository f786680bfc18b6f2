"""Values of an element's own that are read and written by index: an array of the program."""

from collections.abc import Iterator
from typing import Any, NoReturn

import numpy as np

from .._core import DType, Value
from ..complex_element import as_values, of_values
from ..dtypes import FROM_NUMPY, INTEGERS, Kind, promote
from ..element import Element, kind_of, record, unsupported
from ..errors import UsageError, UsageTypeError
from ..intervals import Interval
from ..recorder import Recorder, Retrace
from ..source import at_line
from .state import is_same_number

MOST_PLACES = 4096
_NARROW = (DType.I8, DType.I16, DType.I32, DType.U8, DType.U16)


def index_value(recorder: Recorder, index: Element, size: int) -> Value:
    """Record an index into something of this size; one below 0 counts from the end."""
    dtype = index.value.dtype
    if dtype not in INTEGERS:
        raise UsageTypeError(
            at_line(
                f"index: not a whole number; got an element of {index.dtype}, expected an integer. "
                "Convert it with int(...)."
            )
        )
    value = recorder.convert(index.value, DType.I32 if dtype in _NARROW else DType.I64)
    if dtype in (DType.U8, DType.U16, DType.U32) or recorder.is_never_negative(index.value):
        return value
    plain = Element(recorder, value)
    return record("select", plain < 0, plain + size, plain).value


class Memory:
    """An array of the program, of one type; two for complex numbers."""

    def __init__(self, recorder: Recorder, numbers: list[Any], kind: Kind, passage: Any) -> None:
        if not 1 <= len(numbers) <= MOST_PLACES:
            raise UsageError(
                at_line(
                    f"array: wrong size; got {len(numbers)} places, expected 1 to {MOST_PLACES}. "
                    "Pass larger ones as arguments, or capture them."
                )
            )
        self._recorder = recorder
        self._passage = passage
        self.kind = kind if passage is None else recorder.session.kind(passage, "items", kind)
        self._size = len(numbers)
        first = as_values(recorder, numbers[0], self.kind.dtype)
        recorder.locate()
        self._arrays = [recorder.recording.array(value, len(numbers)) for value in first]
        for place, number in enumerate(numbers[1:], 1):
            if isinstance(number, Element) or not is_same_number(number, numbers[0]):
                self.write(place, number)

    def _place(self, index: Any) -> Value:
        if isinstance(index, Element):
            return index_value(self._recorder, index, self._size)
        return self._recorder.constant(DType.I32, int(index))

    def read(self, index: Any) -> Element:
        """Read a place."""
        place = self._place(index)
        self._recorder.locate()
        recording = self._recorder.recording
        values = tuple(recording.read_at(array, place) for array in self._arrays)
        return of_values(self._recorder, values, self.kind)

    def write(self, index: Any, number: Any) -> None:
        """Write a place; that of a list may get a wider kind, when it is recorded again."""
        kind = kind_of(number)
        if self._passage is not None and promote(self.kind, kind) != self.kind:
            self._recorder.session.widen(self._passage, "items", promote(self.kind, kind))
            raise Retrace
        place = self._place(index)
        values = as_values(self._recorder, number, self.kind.dtype)
        self._recorder.locate()
        for array, value in zip(self._arrays, values, strict=True):
            self._recorder.recording.write_at(array, place, value)


class LocalArray:
    """A NumPy array that a function makes and writes into: an array of the program."""

    __array_priority__ = 1000

    def __init__(self, recorder: Recorder, values: Any, shape: tuple[int, ...], dtype: Any) -> None:
        self._recorder = recorder
        self.shape = shape
        self.dtype = np.dtype(dtype)
        self._memory = Memory(recorder, list(values), Kind(FROM_NUMPY[self.dtype]), None)

    @property
    def ndim(self) -> int:
        """How many dimensions it has."""
        return len(self.shape)

    @property
    def size(self) -> int:
        """How many places it has."""
        return int(np.prod(self.shape))

    def __len__(self) -> int:
        return self.shape[0]

    def _flat(self, index: Any) -> Any:
        """Return the place of an index, which has as many parts as there are dimensions."""
        parts = index if isinstance(index, tuple) else (index,)
        if len(parts) != self.ndim:
            raise unsupported(f"an index of {len(parts)} parts into {self.ndim} dimensions")
        if len(parts) == 1:
            return self._part(parts[0], 0)
        place: Any = 0
        for axis, part in enumerate(parts):
            checked = self._part(part, axis)
            if isinstance(checked, Element):
                value = index_value(self._recorder, checked, self.shape[axis])
                value = self._recorder.convert(value, DType.I32)
                self._recorder.recording.check_index(value, self.shape[axis])
                checked = Element(self._recorder, value)
            place = place * self.shape[axis] + checked
        if isinstance(place, Element):
            self._recorder.intervals[place.value.id] = Interval(0, self.size - 1)
        return place

    def _part(self, part: Any, axis: int) -> Any:
        if isinstance(part, Element):
            return part
        if isinstance(part, (int, np.integer)) and -self.shape[axis] <= part < self.shape[axis]:
            return int(part) % self.shape[axis]
        if isinstance(part, (int, np.integer)):
            raise IndexError(
                at_line(
                    f"index: out of range; got {part}, expected {-self.shape[axis]} to "
                    f"{self.shape[axis] - 1}."
                )
            )
        raise unsupported(f"an index of type {type(part).__name__} into a local array")

    def __getitem__(self, index: Any) -> Any:
        return self._memory.read(self._flat(index))

    def __setitem__(self, index: Any, value: Any) -> None:
        self._memory.write(self._flat(index), value)

    def __iter__(self) -> Iterator[Any]:
        if self.ndim != 1:
            raise unsupported("a loop over the rows of a local array")
        return self.items()

    def items(self) -> Iterator[Any]:
        """Return the values of all places."""
        return (self._memory.read(i) for i in range(self.size))

    def fill(self, value: Any) -> None:
        """Write a value everywhere."""
        for place in range(self.size):
            self._memory.write(place, value)

    def sum(self) -> Any:
        """Return the sum of all places, left to right."""
        return sum(self.items())

    def __array_ufunc__(self, ufunc: Any, *_: Any, **__: Any) -> NoReturn:
        raise unsupported(f"np.{ufunc.__name__} of a whole local array")

    def __array_function__(self, function: Any, *_: Any, **__: Any) -> NoReturn:
        raise unsupported(f"np.{function.__name__} of a whole local array")

    def __repr__(self) -> str:
        return f"<local array {self.shape} {self.dtype}>"
