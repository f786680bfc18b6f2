"""Rows of a result whose values are computed together: where these come from, and where they go.

The values of the rows of a part have places from `bounds[0]` to below `bounds[-1]`.
"""

from typing import Any

import numpy as np

from .array import Array, Ragged


class Part:
    """Rows that follow one another; places are those in the result."""

    def __init__(self, result: Ragged, offsets: Array, block: slice, numbers: list[Any]) -> None:
        self.bounds = offsets[block.start : block.stop + 1]
        self._result = result
        self._first: int = block.start
        self._numbers = numbers

    def numbers(self, number: int, rows: slice) -> Array:
        """Return what some rows of the part have one of."""
        return self._numbers[number][rows]  # type: ignore[no-any-return]

    def values(self, argument: Ragged, low: int, high: int) -> Array:
        """Return the numbers of an argument with the same rows."""
        start = int(argument.offsets[0])
        return argument.values[start + low : start + high]  # type: ignore[no-any-return]

    def target(self, low: int, high: int) -> Array:
        """Return memory for values of the result."""
        start = int(self._result.offsets[0])
        return self._result.values[start + low : start + high]  # type: ignore[no-any-return]

    def store(self, low: int, values: Array) -> None:
        """Put computed values, which are in `target`, into the result."""

    def row(self, place: int) -> int:
        """Return the number of the row that a value is in."""
        return self._first + int(np.searchsorted(self.bounds, place, "right")) - 1


class ChosenPart(Part):
    """Some rows of a block; their values have places as if there were no others."""

    def __init__(
        self, result: Ragged, rows: Array, lengths: Array, first: int, numbers: list[Any]
    ) -> None:
        bounds = np.zeros(len(rows) + 1, np.int64)
        np.cumsum(lengths, out=bounds[1:])
        super().__init__(result, bounds, slice(0, len(rows)), numbers)
        self._rows = rows  # of the block
        self._first = first

    def numbers(self, number: int, rows: slice) -> Array:
        """Return what some rows of the part have one of."""
        return self._numbers[number][self._rows[rows]]  # type: ignore[no-any-return]

    def values(self, argument: Ragged, low: int, high: int) -> Array:
        """Return the numbers of an argument with the same rows."""
        return argument.values[self._places(argument, low, high)]  # type: ignore[no-any-return]

    def target(self, low: int, high: int) -> Array:
        """Return memory for values of the result."""
        return np.empty(high - low, self._result.dtype)

    def store(self, low: int, values: Array) -> None:
        """Put computed values, which are in `target`, into the result."""
        self._result.values[self._places(self._result, low, low + len(values))] = values

    def row(self, place: int) -> int:
        """Return the number of the row that a value is in."""
        at = int(np.searchsorted(self.bounds, place, "right")) - 1
        return self._first + int(self._rows[at])

    def _places(self, whole: Ragged, low: int, high: int) -> Array:
        """Return where values of the part are among those of all rows."""
        shifts = whole.offsets[self._first + self._rows] - self.bounds[:-1]
        lengths = np.diff(np.clip(self.bounds, low, high))
        places: Array = np.arange(low, high) + np.repeat(shifts, lengths)
        return places
