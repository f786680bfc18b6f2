"""Where the values of tensors are: a row, a table, or an array of the element.

Complex numbers are two arrays, one of each part; in a row or table the parts of one follow one
another, as they do in memory.

Several tensors may look at one base. What is written through one of them is seen by all.
"""

from typing import Any

from .._core import Value
from ..dtypes import OF_PARTS, PARTS, ComplexType, Type
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

    __slots__ = (
        *("_each", "_is_early", "dtype", "has_views", "kind", "place", "recorder", "size"),
        "values",
    )

    def __init__(
        self,
        recorder: Recorder,
        kind: str,
        values: tuple[Value, ...],
        size: int,
        dtype: Type | None = None,
        is_early: bool = False,
    ) -> None:
        self._is_early = is_early  # there before the scope in which it was recorded
        self.recorder = recorder
        self.kind = kind
        self.values = values  # of each part
        part = values[0].dtype
        self.dtype = dtype or (part if len(values) == 1 else OF_PARTS[part])
        self.size = size
        self.has_views = False
        self._each = recorder.eaches
        self.place = Place(recorder, (user_line(), "tensor"))
        if kind != ARRAY and size and self.place.mode is not None:
            self._to_array()

    @property
    def value(self) -> Value:
        """The array, row or table, or that of the first part."""
        return self.values[0]

    @property
    def _is_woven(self) -> bool:
        """Whether the parts of complex numbers follow one another."""
        return isinstance(self.dtype, ComplexType) and len(self.values) == 1

    @property
    def is_constant(self) -> bool:
        """Whether all values are one number."""
        return self.kind == NUMBER

    def read(self, index: Value, is_inside: bool = True) -> tuple[Value, ...]:
        """Record a read; `is_inside` vouches for the index."""
        self.require_here()
        if self.kind == NUMBER:
            return self.values
        recorder = self.recorder
        recorder.locate()
        read_at = recorder.recording.read_at
        if self._is_woven:
            first = recorder.op("mul", [index, recorder.constant(index.dtype, 2)])
            second = recorder.op("add", [first, recorder.constant(index.dtype, 1)])
            return tuple(read_at(self.value, place, is_inside) for place in (first, second))
        return tuple(read_at(value, index, is_inside) for value in self.values)

    def write(self, index: Value, values: tuple[Value, ...]) -> None:
        """Record an assignment to a place that is there; the base is writable."""
        self.recorder.locate()
        for array, value in zip(self.values, values, strict=True):
            self.recorder.recording.write_at(array, index, value, True)

    def part(self, number: int) -> "tuple[Base, int]":
        """Return where a part of complex numbers is, and the distance of two of them there."""
        distance = 2 if self._is_woven else 1
        values = self.values if self._is_woven else (self.values[number],)
        base = Base(
            *(self.recorder, self.kind, values, self.size * distance),
            PARTS[self.dtype],
            self._is_early,
        )
        base._each = self._each
        return base, distance

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
        if self.kind == ARRAY or not self.size:
            return
        if not self.place.is_for_all():
            self.place.require(_MEMORY)
        self._to_array()

    def _to_array(self) -> None:
        recorder = self.recorder
        recorder.locate()
        if self.kind in (ROW, TABLE):
            kept = recorder.each(self.size, lambda at: [("keep", value) for value in self.read(at)])
            self.values = tuple(kept)
        self.values = tuple(recorder.recording.array(one, self.size) for one in self.values)
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
