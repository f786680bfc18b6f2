"""An array that all elements read by index, while their function is recorded."""

from collections.abc import Callable, Iterator
from typing import Any, NoReturn

import numpy as np

from ._core import DType, Value
from .complex_element import of_values
from .dtypes import INTEGERS, PARTS, TO_NUMPY, Kind
from .element import Element, Varying, Whole, as_value, interval_of, kind_of, record
from .errors import UsageError, UsageTypeError
from .recorder import Recorder
from .source import at_line

_NARROW = frozenset({DType.I8, DType.I16, DType.I32, DType.U8, DType.U16})
_MOST = 2**31 - 1
_FEW = 2**16  # places: it is worth a guard that a table has them


class Table(Whole):
    """A captured array, or one that is not mapped: read as NumPy does, ``table[i, j]``.

    Its size is not recorded; where Python asks for it (``len``, iteration, a use of the whole
    array) a change of it records the function again.
    """

    __slots__ = ("_ask_size", "_kind", "_offset", "_recorder", "_row", "_table")
    __hash__ = None  # type: ignore[assignment]

    def __init__(
        self,
        recorder: Recorder,
        table: Value,
        kind: Kind,
        row: tuple[int, ...],
        ask_size: Callable[[], int],
        offset: Element | None = None,
    ) -> None:
        self._recorder = recorder
        self._table = table
        self._kind = kind
        self._row = row  # the dimensions behind the first
        self._ask_size = ask_size
        self._offset = offset  # in values: of a row of a larger table

    @property
    def _is_complex(self) -> bool:
        """Whether the parts of complex numbers follow one another."""
        return self._kind.dtype in PARTS

    @property
    def dtype(self) -> np.dtype[Any]:
        """The NumPy type."""
        return TO_NUMPY[self._kind.dtype]

    @property
    def recorder(self) -> Recorder:
        """The recorder of its function."""
        return self._recorder

    @property
    def ndim(self) -> int:
        """The number of dimensions."""
        return 1 + len(self._row)

    def whole(self) -> Any:
        """Return it as a tensor."""
        from .tensors import table  # seldom needed, and long to import

        moving = None if self._offset is None else self._offset.value
        return table(self._recorder, self._table, self.shape, self._kind.dtype, moving)

    @property
    def shape(self) -> tuple[int, ...]:
        """The size of each dimension."""
        return (self._ask_size(), *self._row)

    @property
    def size(self) -> Any:
        """How many values there are."""
        if self._offset is not None:
            return int(np.prod(self.shape))
        self._recorder.locate()
        size = Element(self._recorder, self._recorder.recording.table_size(self._table), weak=True)
        return size // 2 if self._is_complex else size

    def __len__(self) -> int:
        return self._ask_size()

    def __iter__(self) -> Iterator[Any]:
        return (self[index] for index in range(len(self)))

    def __getitem__(self, index: Any) -> Any:
        if isinstance(index, Varying) and self.ndim == 1 and not self._is_complex:
            return index.of_table(self._part, self._kind)
        indices = index if isinstance(index, tuple) else (index,)
        if any(map(_is_of_whole, indices)):
            return self.whole()[index]
        if len(indices) > self.ndim:
            raise UsageError(
                at_line(
                    f"table: too many indices; got {len(indices)}, expected at most {self.ndim}, "
                    "the number of dimensions."
                )
            )
        found = self._part(indices[0])
        return found if len(indices) == 1 else found[indices[1:]]

    def _part(self, index: Any) -> Any:
        """Return the value at an index or, with more dimensions, the row."""
        width = int(np.prod(self._row))
        at = self._checked(index)
        if width != 1:
            at = at * width
        if self._offset is not None:
            # An index out of range is one of the whole table too, not of the row behind this one.
            at = record("select", at < 0, at, at + self._offset)
        if self._row:
            row, kind = self._row, self._kind
            return Table(self._recorder, self._table, kind, row[1:], lambda: row[0], at)
        places = (at * 2, at * 2 + 1) if self._is_complex else (at,)
        self._recorder.locate()
        recording = self._recorder.recording
        is_inside = self._has(index)
        values = tuple(recording.read_at(self._table, place.value, is_inside) for place in places)
        return of_values(self._recorder, values, self._kind)

    def _has(self, index: Any) -> bool:
        """Say whether an index of few places is surely inside."""
        is_plain = isinstance(index, Element) and self._offset is None and not self._is_complex
        interval = interval_of(index) if is_plain else None
        if interval is None or interval.low < 0 or interval.high >= _FEW:
            return False
        return bool(interval.high < self._ask_size())

    def _checked(self, index: Any) -> Any:
        """Return an index from 0 on; what is out of range of a known size becomes negative."""
        kind = kind_of(index)
        if kind.dtype not in INTEGERS:
            raise UsageTypeError(
                at_line(
                    f"table: an index is not a whole number; got {TO_NUMPY[kind.dtype]}, expected "
                    "an integer. Convert it with .astype(np.int64)."
                )
            )
        recorder = self._recorder
        # Elements of 32 bits stay so, where no row is counted: wider ones halve the lanes.
        is_wide = self._row or self._offset is not None or self._is_complex
        is_narrow = (kind.dtype in _NARROW or _fits(index)) and not is_wide
        at = Element(recorder, as_value(recorder, index, DType.I32 if is_narrow else DType.I64))
        is_never_negative = (
            recorder.is_never_negative(index.value)
            if isinstance(index, Element)
            else int(index) >= 0
        )
        if is_never_negative and self._offset is None:
            return at
        size = self._size()
        if is_narrow:  # in a larger table those below 0 lead nowhere
            size = record("select", size <= _MOST, size, 0).astype(np.int32)
        if TO_NUMPY[kind.dtype].kind != "u" and not is_never_negative:
            at = record("select", at < 0, at + size, at)
        if self._offset is not None:
            at = record("select", at >= size, -1, at)
        return at

    def _size(self) -> Any:
        """Return the size of the first dimension."""
        if self._offset is not None:
            return self._ask_size()
        width = int(np.prod(self._row))
        return self.size if width == 1 else self.size // width

    def __getattr__(self, name: str) -> Any:
        return getattr(self.whole(), name)

    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, **options: Any) -> Any:
        return self.whole().__array_ufunc__(ufunc, method, *inputs, **options)

    def __array_function__(self, function: Any, types: Any, inputs: Any, options: Any) -> Any:
        return self.whole().__array_function__(function, types, inputs, options)

    def __setitem__(self, index: Any, value: Any) -> NoReturn:
        raise UsageTypeError(
            at_line(
                "table: cannot be written; got an assignment to an array from outside, expected "
                "values that are returned. Copy what changes into an array of the element."
            )
        )

    def __repr__(self) -> str:
        return f"<table {self.dtype}>"


def _fits(index: Any) -> bool:
    """Say whether it is known of an element that it fits int32."""
    interval = interval_of(index) if isinstance(index, Element) else None
    return interval is not None and interval.fits(32)


def _is_of_whole(part: Any) -> bool:
    """Say whether a part of an index is one of tensors: no whole number."""
    if part is None or part is Ellipsis or isinstance(part, (slice, list, Whole)):
        return True
    return isinstance(part, np.ndarray) and part.ndim > 0


def _operator(name: str) -> Any:
    return lambda self, *others: getattr(self.whole(), name)(*others)


for _name in (
    *("add", "radd", "sub", "rsub", "mul", "rmul", "truediv", "rtruediv", "mod", "rmod"),
    *("floordiv", "rfloordiv", "pow", "rpow", "and", "rand", "or", "ror", "xor", "rxor"),
    *("lshift", "rlshift", "rshift", "rrshift", "matmul", "rmatmul", "divmod", "rdivmod"),
    *("lt", "le", "gt", "ge", "eq", "ne", "neg", "pos", "abs", "invert", "bool", "array"),
):
    setattr(Table, f"__{_name}__", _operator(f"__{_name}__"))
