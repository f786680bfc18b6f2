"""An array that all elements read by index, while their function is recorded."""

from collections.abc import Callable, Iterator
from typing import Any, NoReturn

import numpy as np

from ._core import DType, Value
from .complex_element import of_values
from .dtypes import INTEGERS, PARTS, TO_NUMPY, Kind
from .element import Element, as_value, kind_of, record
from .errors import UsageError, UsageTypeError
from .recorder import Recorder
from .source import at_line

_NARROW = frozenset({DType.I8, DType.I16, DType.I32, DType.U8, DType.U16})
_MOST = 2**31 - 1


class Table:
    """A captured array, or one that is not mapped: read as NumPy does, ``table[i, j]``.

    Its size is not recorded; where Python asks for it (``len``, iteration) a change of it records
    the function again.
    """

    __slots__ = ("_ask_size", "_kind", "_offset", "_recorder", "_row", "_table")
    __array_ufunc__ = None

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
    def ndim(self) -> int:
        """The number of dimensions."""
        return 1 + len(self._row)

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
        indices = index if isinstance(index, tuple) else (index,)
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
        values = tuple(recording.read_at(self._table, place.value) for place in places)
        return of_values(self._recorder, values, self._kind)

    def _checked(self, index: Any) -> Any:
        """Return an index from 0 on; what is out of range of a known size becomes negative."""
        if isinstance(index, slice) or index is None or index is Ellipsis:
            raise UsageTypeError(
                at_line(
                    f"table: not an index; got {index!r}, expected a whole number for each "
                    "dimension. Read the values one by one."
                )
            )
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
        is_narrow = kind.dtype in _NARROW and not is_wide
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

    def _refuse(self, *_: Any) -> NoReturn:
        raise UsageTypeError(
            at_line(
                "table: a whole array met an element; got an array from outside, expected one of "
                "its values. Read it by index, table[i], or pass it as an argument to map over it."
            )
        )

    __add__ = __radd__ = __sub__ = __rsub__ = __mul__ = __rmul__ = _refuse
    __truediv__ = __rtruediv__ = __pow__ = __rpow__ = __neg__ = __matmul__ = __rmatmul__ = _refuse
    __lt__ = __le__ = __gt__ = __ge__ = _refuse
    __array__ = __array_function__ = _refuse

    def __getattr__(self, name: str) -> NoReturn:
        raise AttributeError(
            at_line(
                f"table: {name} of an array from outside is not recorded; got a use of the whole "
                "array, expected its values by index, its size, shape or dtype. Compute it outside "
                "of the function, and capture that."
            )
        )

    def __setitem__(self, index: Any, value: Any) -> NoReturn:
        raise UsageTypeError(
            at_line(
                "table: cannot be written; got an assignment to an array from outside, expected "
                "values that are returned. Copy what changes into an array of the element."
            )
        )

    def __repr__(self) -> str:
        return f"<table {self.dtype}>"
