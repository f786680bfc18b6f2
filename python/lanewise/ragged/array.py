"""``lw.Ragged``: rows of different lengths, one behind the other, without padding."""

from collections.abc import Iterator
from typing import Any, Self, overload

import numpy as np

from ..dtypes import FROM_NUMPY, PARTS
from ..errors import UsageError, UsageTypeError

Array = np.ndarray[Any, np.dtype[Any]]
_MOST_NARROW = 2**31 - 2**16  # values that int32 can count, with room for steps beyond


class Ragged:
    """Rows of different lengths: row ``i`` is ``values[offsets[i]:offsets[i + 1]]``.

    Parameters
    ----------
    values : array_like or Ragged
        The numbers of all rows, one row behind the other. With a `Ragged` the rows are made of
        rows.
    offsets : array_like of int
        Where rows begin, and where the last one ends: one more than there are rows, ascending.

    Attributes
    ----------
    values : ndarray or Ragged
    offsets : ndarray
        Of int32 where that is enough, else int64. Arrays of the right type are not copied.

    Examples
    --------
    >>> import lanewise as lw, numpy as np
    >>> rows = lw.Ragged(np.array([1.0, 2.0, 3.0, 4.0]), [0, 3, 3, 4])
    >>> rows[0]
    array([1., 2., 3.])
    >>> rows.lengths
    array([3, 0, 1], dtype=int32)
    >>> lw.map(lambda row: row.sum(), rows)
    array([6., 0., 4.])
    >>> lw.map(lambda row: row * 2, rows).to_list()
    [[2.0, 4.0, 6.0], [], [8.0]]
    """

    __slots__ = ("offsets", "values")

    values: Any
    offsets: Array

    def __init__(self, values: Any, offsets: Any) -> None:
        self.values = values if isinstance(values, Ragged) else _numbers(values)
        found = np.asarray(offsets)
        if found.ndim != 1 or found.size == 0 or found.dtype.kind not in "iu":
            raise UsageTypeError(
                "Ragged: offsets are not whole numbers in one dimension; got "
                f"{found.dtype} in the shape {found.shape}, expected integers, one more than there "
                "are rows."
            )
        _check("Ragged", found, len(self.values))
        is_narrow = len(self.values) < _MOST_NARROW
        self.offsets = np.ascontiguousarray(found, np.int32 if is_narrow else np.int64)

    def check(self, call: str) -> None:
        """Refuse offsets that were changed since, so that rows are no longer there."""
        _check(call, self.offsets, len(self.values))
        if isinstance(self.values, Ragged):
            self.values.check(call)

    @property
    def lengths(self) -> Array:
        """How long the rows are."""
        return np.diff(self.offsets)

    @property
    def dtype(self) -> np.dtype[Any]:
        """The type of the numbers."""
        return self.values.dtype  # type: ignore[no-any-return]

    @property
    def depth(self) -> int:
        """1 for rows of numbers, 2 for rows of rows, and so on."""
        return 1 + (self.values.depth if isinstance(self.values, Ragged) else 0)

    def __len__(self) -> int:
        return self.offsets.size - 1

    @overload
    def __getitem__(self, index: int) -> Any: ...
    @overload
    def __getitem__(self, index: slice) -> "Ragged": ...
    def __getitem__(self, index: Any) -> Any:
        """Return a row, as a view; of a slice those rows, of the same values."""
        if isinstance(index, slice):
            begin, end, step = index.indices(len(self))
            if step != 1:
                raise UsageError(f"Ragged: a slice has a step; got {step}, expected 1.")
            return Ragged(self.values, self.offsets[begin : max(begin, end) + 1])
        number = range(len(self))[index]
        return self.values[int(self.offsets[number]) : int(self.offsets[number + 1])]

    def __iter__(self) -> Iterator[Any]:
        return (self[index] for index in range(len(self)))

    def __array__(self, *_: Any, **__: Any) -> Array:
        raise UsageTypeError(
            "Ragged: not one array; got a conversion of rows of different lengths, expected "
            "values, offsets, or a loop over the rows."
        )

    def __repr__(self) -> str:
        inner = self.values
        while isinstance(inner, Ragged):
            inner = inner.values
        return f"<Ragged of {len(self)} rows, {len(inner)} values, {inner.dtype}>"

    # --- conversions ---

    def to_list(self) -> list[Any]:
        """Return lists of Python numbers, nested as the rows are."""
        if isinstance(self.values, Ragged):
            return [row.to_list() for row in self]
        return [row.tolist() for row in self]

    @classmethod
    def from_lists(cls, rows: Any, dtype: Any = None) -> Self:
        """Put lists, or arrays of one dimension, behind one another.

        Examples
        --------
        >>> import lanewise as lw
        >>> lw.Ragged.from_lists([[1, 2], [], [3]])
        <Ragged of 3 rows, 3 values, int64>
        >>> lw.Ragged.from_lists([[[1.0], [2.0, 3.0]], []]).to_list()
        [[[1.0], [2.0, 3.0]], []]
        """
        rows = [list(row) if not isinstance(row, np.ndarray) else row for row in rows]
        offsets = np.zeros(len(rows) + 1, np.int64)
        np.cumsum([len(row) for row in rows], out=offsets[1:])
        if any(_is_list(item) for row in rows for item in row[:1]):
            return cls(cls.from_lists([item for row in rows for item in row], dtype), offsets)
        if not any(len(row) for row in rows):
            return cls(np.empty(0, np.float64 if dtype is None else dtype), offsets)
        parts = [np.asarray(row, dtype) for row in rows if len(row)]
        return cls(np.concatenate(parts), offsets)

    @classmethod
    def from_arrow(cls, array: Any) -> Self:
        """Take an Arrow list array, without a copy where its numbers are as NumPy has them.

        Examples
        --------
        ``lw.Ragged.from_arrow(pa.array([[1, 2], [], [3]]))``
        """
        if hasattr(array, "combine_chunks"):
            array = array.combine_chunks()
            if hasattr(array, "chunks"):
                array = array.chunk(0)
        if not (hasattr(array, "offsets") and hasattr(array, "values")):
            raise UsageTypeError(
                f"Ragged.from_arrow: not a list array; got {type(array).__name__}, expected "
                "ListArray or LargeListArray of numbers."
            )
        offsets, values = np.asarray(array.offsets), array.values
        if array.null_count or values.null_count:
            raise UsageError(
                "Ragged.from_arrow: some values are missing; got nulls, expected numbers. Fill "
                "them, or drop them."
            )
        if hasattr(values, "offsets"):
            return cls(cls.from_arrow(values), offsets)
        return cls(values.to_numpy(zero_copy_only=False), offsets)

    @classmethod
    def from_pair(cls, pair: Any) -> Self:
        """Take an object with ``values`` and ``row_splits``, as ``tf.RaggedTensor`` has them."""
        if not (hasattr(pair, "values") and hasattr(pair, "row_splits")):
            raise UsageTypeError(
                f"Ragged.from_pair: not a ragged tensor; got {type(pair).__name__}, expected an "
                "object with values and row_splits."
            )
        values = pair.values
        inner = cls.from_pair(values) if hasattr(values, "row_splits") else np.asarray(values)
        return cls(inner, np.asarray(pair.row_splits))


def _numbers(values: Any) -> Array:
    """Return values as an array that stands together."""
    array = np.asarray(values)
    if array.ndim != 1:
        raise UsageError(
            f"Ragged: values are not in one dimension; got the shape {array.shape}, expected all "
            "rows one behind the other."
        )
    native = array.dtype.newbyteorder("=")
    if FROM_NUMPY.get(native) is None or FROM_NUMPY[native] in PARTS:
        raise UsageTypeError(
            f"Ragged: unsupported type of values; got {array.dtype}, expected bool, int8 to int64, "
            "uint8 to uint64, float16, float32 or float64."
        )
    return np.ascontiguousarray(array, native).view(np.ndarray)


def _check(call: str, offsets: Array, size: int) -> None:
    if (offsets[1:] < offsets[:-1]).any():
        row = int(np.argmax(offsets[1:] < offsets[:-1]))
        raise UsageError(
            f"{call}: offsets do not ascend; got {offsets[row]} and then {offsets[row + 1]} (row "
            f"{row}), expected none less than the one before it."
        )
    if offsets[0] < 0 or offsets[-1] > size:
        raise UsageError(
            f"{call}: offsets leave the values; got {offsets[0]} to {offsets[-1]}, expected 0 to "
            f"{size}, the number of values."
        )


def _is_list(item: Any) -> bool:
    return isinstance(item, (list, tuple)) or (isinstance(item, np.ndarray) and item.ndim > 0)
