"""Something of a length that differs between elements, while its function is recorded.

What all such things have in common: their length, an index into them, and loops over them.
"""

from collections.abc import Iterator
from typing import Any, NamedTuple, NoReturn

import numpy as np

from .._core import DType, Value
from ..convert import reason
from ..dtypes import INTEGERS, TO_NUMPY
from ..element import Element, Varying, record
from ..errors import UsageTypeError
from ..intervals import Interval
from ..recorder import Recorder, Retrace
from ..source import at_line, say, user_code

_MOST = 2**31 - 2**16  # no row is as long, where indices have 32 bits


class Space(NamedTuple):
    """How long rows are; `argument` is the ragged argument that has these lengths, if there is."""

    start: Element
    length: Element
    argument: int | None

    @staticmethod
    def between(start: Element, stop: Element, argument: int | None) -> "Space":
        """Return that of a row with these bounds."""
        length = stop - start
        start.recorder.intervals[length.value.id] = Interval(0, limit(length.value.dtype))
        return Space(start, length, argument)


def fail_if(test: Element, message: str) -> None:
    """Let the elements fail for which a test holds, with this message."""
    say(message)
    recorder = test.recorder
    recorder.locate()
    recorder.recording.fail_if(test.value)


class Counted(Varying):
    """Something of a length that differs between elements, which is read by position."""

    __slots__ = ("_recorder", "length")
    __array_priority__ = 1000
    __hash__ = None  # type: ignore[assignment]  # equality is symbolic
    ndim = 1

    def __init__(self, recorder: Recorder, length: Element) -> None:
        self._recorder = recorder
        self.length = length  # of the type of indices

    @property
    def recorder(self) -> Recorder:
        """The recorder of its function."""
        return self.length.recorder

    @property
    def index_type(self) -> DType:
        """The type of positions."""
        return self.length.value.dtype

    @property
    def size(self) -> Element:
        """Its length, as Python's numbers are."""
        value = self.length.value
        self.recorder.intervals[value.id] = Interval(0, limit(value.dtype))
        return Element(self.recorder, value, weak=True)

    @property
    def shape(self) -> tuple[Element]:
        """Its length."""
        return (self.size,)

    def at(self, position: Value) -> Any:
        """Return what is at a position that is there."""
        raise NotImplementedError

    def index(self, index: Any) -> Element:
        """Record a position; those below 0 count from the end. Elements without it fail."""
        length = self.length
        if isinstance(index, Element):
            if index.kind.dtype not in INTEGERS:
                raise UsageTypeError(
                    at_line(
                        f"row: an index is not a whole number; got an element of {index.dtype}, "
                        "expected an integer. Convert it with int(...)."
                    )
                )
            is_wide = index.kind.dtype in (DType.I64, DType.U64, DType.U32)
            wide = Element(
                self.recorder,
                self.recorder.convert(index.value, DType.I64 if is_wide else self.index_type),
            )
            at = wide
            if not self.recorder.is_never_negative(index.value):
                at = record("select", wide < 0, wide + length, wide)
            is_out = (at < 0) | (at >= length)
        else:
            number = int(index)
            at = self.number(number) if number >= 0 else length + number
            is_out = at >= length if number >= 0 else at < 0
        fail_if(is_out, "row: index out of range; expected one from 0, or minus the length, on")
        return at.astype(TO_NUMPY[self.index_type])

    def number(self, number: int) -> Element:
        """Record a literal position."""
        bound = limit(self.index_type)
        number = min(max(number, -bound), bound)
        return Element(self.recorder, self.recorder.constant(self.index_type, number))

    def enumerated(self, start: Any = 0) -> "Zipped":
        """Do ``enumerate``."""
        return Zipped(self.length, (Counting(self.length, start), self))

    @staticmethod
    def zipped(items: tuple[Any, ...]) -> "Zipped":
        """Do ``zip``, with rows among the arguments."""
        rows = [item for item in items if isinstance(item, Counted)]
        length = rows[0].length
        for row in rows[1:]:
            require_same_length("zip", rows[0], row)
        parts = tuple(
            item if isinstance(item, Counted) else Counting.of_range(length, item) for item in items
        )
        return Zipped(length, parts)

    def _refuse(self, message: str) -> NoReturn:
        """Record the function again, rewritten, if it is not yet; else it is an error."""
        recorder = self.recorder
        if not recorder.converts:
            recorder.session.converts = True
            raise Retrace
        why = reason(user_code())
        hint = f" This function could not be rewritten: {why}. Put it into a file." if why else ""
        raise UsageTypeError(at_line(message + hint))

    def __len__(self) -> int:
        self._refuse(
            "len: the length of a row differs between elements; got a use as a Python integer, "
            "expected len(row) or row.size in the function itself."
        )

    def __iter__(self) -> Iterator[Any]:
        self._refuse(
            "row: all its values at once; got a container of a length that differs between "
            "elements, expected for v in row, or a reduction."
        )

    def __bool__(self) -> bool:
        self._refuse(
            "bool: a row is neither true nor false; got a condition on it, expected len(row) > 0, "
            "row.any() or row.all()."
        )

    def __array__(self, *_: Any, **__: Any) -> NoReturn:
        self._refuse(
            "array: a row has no values while its function is recorded; got a conversion to a "
            "NumPy array, expected operations on it."
        )

    def __setitem__(self, index: Any, value: Any) -> NoReturn:
        self._refuse(
            "row: cannot be written; got an assignment to values of a row, expected a new row. "
            "Use np.where(test, a, b), or return the value."
        )

    def whole(self) -> NoReturn:
        """Refuse a use as a tensor."""
        self._refuse(
            "row: not a tensor; got a row of a length that differs between elements, expected "
            "operators, slices and reductions of rows."
        )


def is_index(index: Any) -> bool:
    """Say whether this is a whole number, plain or an element's."""
    return isinstance(index, (Element, int, np.integer)) and not isinstance(index, bool)


def limit(dtype: DType) -> int:
    """Return more than any position is."""
    return _MOST if dtype is DType.I32 else 2**62


class Counting(Counted):
    """Whole numbers from one on, beside a row."""

    __slots__ = ("_start", "_step")

    def __init__(self, length: Element, start: Any = 0, step: int = 1) -> None:
        super().__init__(length.recorder, length)
        dtype = TO_NUMPY[self.index_type]
        self._start = start.astype(dtype) if isinstance(start, Element) else self.number(int(start))
        self._step = step

    @staticmethod
    def of_range(length: Element, item: Any) -> "Counting":
        """Return the numbers of a range, which has to be as long."""
        step = getattr(item, "step", None)
        if not hasattr(item, "start") or not isinstance(step, int):
            raise UsageTypeError(
                at_line(
                    f"zip: something else beside a row; got {type(item).__name__}, expected rows "
                    "and ranges."
                )
            )
        count = (item.stop - item.start + step - (1 if step > 0 else -1)) // step
        fail_if(
            record("not_equal", count, length), "zip: a range is not as long as the row beside it"
        )
        return Counting(length, item.start, step)

    def at(self, position: Value) -> Any:
        """Return the number at a position."""
        number = Element(self.recorder, position) * self._step + self._start
        return Element(self.recorder, number.value, weak=True)


def require_same_length(call: str, a: "Counted", b: "Counted") -> None:
    """Let elements fail whose rows differ in length."""
    if a.length.value.id != b.length.value.id:
        fail_if(a.length != b.length, f"{call}: rows of different lengths; expected the same")


class Zipped(Counted):
    """Several rows, step by step."""

    __slots__ = ("_parts",)

    def __init__(self, length: Element, parts: tuple[Any, ...]) -> None:
        super().__init__(length.recorder, length)
        self._parts = parts

    def at(self, position: Value) -> Any:
        """Return what is at a position of all."""
        return tuple(part.at(position) for part in self._parts)
