"""Values of an element's own that are read and written by index: an array of the program."""

from typing import Any

from .._core import DType, Value
from ..complex_element import as_values, of_values
from ..dtypes import INTEGERS, Kind, promote
from ..element import Element, kind_of, record
from ..errors import UsageError, UsageTypeError
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
