"""Where the values of tensors are: a row, a table, or an array of the element.

Several tensors may look at one base. What is written through one of them is seen by all.
"""

from typing import Any

from .._core import DType, Value
from ..errors import UsageError
from ..flow.containers import Place
from ..recorder import Recorder
from ..source import at_line, user_line

ROW, TABLE, KEPT, ARRAY, NUMBER = "row", "table", "kept", "array", "number"
_MEMORY = "memory"


class Base:
    """The values that tensors look at.

    A row or table comes from outside, what is kept nobody changes, an array is changed in place; a
    number stands for as many values as there are.
    """

    __slots__ = ("_each", "_is_early", "has_views", "kind", "place", "recorder", "size", "value")

    def __init__(
        self, recorder: Recorder, kind: str, value: Value, size: int, is_early: bool = False
    ) -> None:
        self._is_early = is_early  # there before the scope in which it was recorded
        self.recorder = recorder
        self.kind = kind
        self.value = value
        self.size = size
        self.has_views = False
        self._each = recorder.eaches
        self.place = Place(recorder, (user_line(), "tensor"))
        if kind != ARRAY and self.place.mode is not None:
            self._to_array()

    @property
    def dtype(self) -> DType:
        """The type of the values."""
        return self.value.dtype

    @property
    def is_constant(self) -> bool:
        """Whether all values are one number."""
        return self.kind == NUMBER

    def read(self, index: Value, is_inside: bool = True) -> Value:
        """Record a read; `is_inside` vouches for the index."""
        self.require_here()
        if self.kind == NUMBER:
            return self.value
        self.recorder.locate()
        return self.recorder.recording.read_at(self.value, index, is_inside)

    def write(self, index: Value, value: Value) -> None:
        """Record an assignment to a place that is there; the base is writable."""
        self.recorder.locate()
        self.recorder.recording.write_at(self.value, index, value, True)

    def make_writable(self) -> None:
        """Let it be an array of the element's own from now on."""
        self.require_here()
        if self._each != self.recorder.eaches:
            raise UsageError(
                at_line(
                    "tensor: written by every position of an inner map; got an assignment to one "
                    "from outside of it, expected a result. Return the value from the inner "
                    "function, or write a loop."
                )
            )
        if self.kind == ARRAY:
            return
        if not self.place.is_for_all():
            self.place.require(_MEMORY)
        self._to_array()

    def _to_array(self) -> None:
        recorder = self.recorder
        recorder.locate()
        if self.kind in (ROW, TABLE):
            [self.value] = recorder.each(self.size, lambda at: [("keep", self.read(at))])
        self.value = recorder.recording.array(self.value, self.size)
        self.kind = ARRAY

    def require_here(self) -> None:
        """Refuse a use where it is not there."""
        if not self.recorder.is_open:
            raise UsageError(
                at_line(
                    "tensor: used after its function was recorded; got a symbolic value without a "
                    "program, expected an array. Return it from the function instead of keeping it."
                )
            )
        if not self._is_early and self.recorder.is_gone(self.value):
            raise UsageError(
                at_line(
                    "tensor: used outside of the loop or branch it was made in; got a value that "
                    "not every element has, expected one of the present scope. Assign it to a "
                    "variable, or return it."
                )
            )

    def __reduce__(self) -> Any:
        raise TypeError("a tensor of a function that is being recorded cannot be pickled")
