"""Printing what elements say: the lines of a map, in the order of elements and of their program.

The map itself has counted the lines of each element. Those that are shown are found by the second
program of the function (``flow/prints.py``), which runs again on their elements alone.
"""

import sys
from collections.abc import Iterator
from typing import Any

import numpy as np

from ._core import DType, MapOptions, ParamKind
from .arguments import Arguments
from .dtypes import FLOATS, PARTS, TO_NUMPY, Kind, parts_of
from .errors import ElementError
from .flow.prints import Grid, Plain, Site
from .flow.state import put_together
from .options import CallOptions
from .specialization import Found, Recorded
from .texts import Later, Text

_BLOCK = 1 << 16  # elements that are counted at a time, where a map has failed
_LINES = 1 << 12  # that are found at a time


class Lines:
    """What the elements of one map print."""

    def __init__(
        self,
        recorded: Recorded,
        values: tuple[Any, ...],
        described: Arguments,
        found: Found,
        shape: tuple[int, ...],
        options: CallOptions,
    ) -> None:
        self._recorded = recorded  # of the map, with its values
        self._values = values
        self._described = described
        self._shape = shape
        self._options = options
        self._finder = found.recorded.program
        self._captured = found.values
        assert found.recorded.prints is not None
        self._sites, self._is_numbered = found.recorded.prints
        self._widest = max(sum(map(_width, site.numbers)) for site in self._sites)

    def show(self, name: str, counts: Any, failed: int | None) -> None:
        """Print the lines; of a map that failed, those up to and of the failing element."""
        most = self._options.max_prints
        if most == 0:
            return
        counts = counts.reshape(-1)
        if failed is not None:
            counts = np.append(self._counts_before(failed), self._count_of(failed))
        total = int(counts.sum(dtype=np.int64))
        for elements, lines in _first_lines(counts, most):
            for line in self._find(elements, lines):
                line.print()
        if total > most:
            print(f"{name}: {total - most} more lines; max_prints is {most}.")

    # --- counting again, where a map has failed ---

    def _counts_before(self, end: int) -> Any:
        """Return the number of lines of each element below one, none of which fails."""
        options = MapOptions(self._options.map)
        dtypes = (*self._recorded.dtypes, DType.I32)
        parts = [np.zeros(0, np.int32)]
        for begin in range(0, end, _BLOCK):
            options.first_element = self._options.map.first_element + begin
            elements = np.arange(begin, min(begin + _BLOCK, end))
            if options.count is not None:
                options.count = len(elements)
            rows = [*self._recorded.shapes, ()]
            outputs = [
                np.zeros((len(elements), *row), TO_NUMPY[dtype])
                for dtype, row in zip(dtypes, rows, strict=True)
            ]
            values = self._gathered(self._values, elements)
            self._recorded.program.call_into(tuple(outputs), values, options, None)
            parts.append(outputs[-1])
        return np.concatenate(parts)

    def _count_of(self, element: int) -> int:
        """Return how many lines the failing element prints before it fails."""

        def has(line: int) -> bool:
            try:
                return bool(self._run(np.array([element]), np.array([line]), np.array([0]))[0] >= 0)
            except ElementError:
                return False

        high = 1
        while has(high - 1):
            high *= 2
        low = high // 2  # so many there are
        while low + 1 < high:
            middle = (low + high) // 2
            low, high = (middle, high) if has(middle - 1) else (low, middle)
        return low

    # --- finding lines ---

    def _find(self, elements: Any, lines: Any) -> Iterator["_Line"]:
        """Return some lines of some elements."""
        width = max(self._widest, 1)
        places = np.tile(np.arange(width), len(elements))
        found = self._run(np.repeat(elements, width), np.repeat(lines, width), places)
        sites, wholes, reals = (part.reshape(-1, width) for part in found)
        for site, whole, real in zip(sites, wholes, reals, strict=True):
            yield _Line(self._sites[site[0]], whole, real)

    def _run(self, elements: Any, lines: Any, places: Any) -> Any:
        """Run the second program for values at places in lines of elements."""
        own = (lines.astype(np.int32), places.astype(np.int32))
        if not self._is_numbered:
            return self._run_block(elements, own, 0)
        # Draws belong to the number of an element.
        parts = [
            self._run_block(elements[i : i + 1], tuple(o[i : i + 1] for o in own), int(elements[i]))
            for i in range(len(elements))
        ]
        return [np.concatenate(column) for column in zip(*parts, strict=True)]

    def _run_block(self, elements: Any, own: tuple[Any, ...], first: int) -> Any:
        options = MapOptions(self._options.map)
        options.mask, options.count = MapOptions().mask, None
        options.first_element += first
        arguments = tuple(self._described.values)
        values = (*self._gathered(arguments, elements), *own, *self._captured)
        return self._finder.call(values, options)

    def _gathered(self, values: tuple[Any, ...], elements: Any) -> tuple[Any, ...]:
        """Return the arguments of a map for some elements; captured values stay as they are."""
        signature = self._described.signature
        is_mapped = [one.role is ParamKind.Mapped for one in signature.values]
        rows = [one.row for one in signature.values]
        if self._options.map.mask == signature.parameters:
            is_mapped.append(True)
            rows.append(())
        at = np.unravel_index(elements, self._shape) if self._shape else ()
        gathered = [
            np.broadcast_to(value, self._shape + row)[at] if mapped else value
            for value, mapped, row in zip(values, is_mapped, rows, strict=False)
        ]
        return (*gathered, *values[len(is_mapped) :])


def _first_lines(counts: Any, most: int) -> Iterator[tuple[Any, Any]]:
    """Return the elements of the first lines, and the numbers of the lines in them, in parts."""
    talking = np.flatnonzero(counts)[:most]
    ends = np.cumsum(counts[talking], dtype=np.int64)
    total = min(int(ends[-1]), most) if len(ends) else 0
    for begin in range(0, total, _LINES):
        lines = np.arange(begin, min(begin + _LINES, total))
        at = np.searchsorted(ends, lines, "right")
        yield talking[at], lines - (ends - counts[talking])[at]


def _width(number: Kind | Plain) -> int:
    """Return how many values a number in a line has that have to be found."""
    return len(parts_of(number.dtype)) if isinstance(number, Kind) else 0


class _Line:
    """A line with its values."""

    def __init__(self, site: Site, wholes: Any, reals: Any) -> None:
        self._site = site
        values = iter(zip(wholes, reals, strict=True))
        numbers = [
            number.value if isinstance(number, Plain) else _number(number, values)
            for number in site.numbers
        ]
        self._said = put_together(site.shape, iter(numbers))

    def print(self) -> None:
        """Do what the function has written."""
        args, sep, end = _resolved(self._said)
        file = self._site.file
        stream = getattr(sys, file) if isinstance(file, str) else file
        print(*args, sep=sep, end=end, file=stream, flush=self._site.flush)


def _number(kind: Kind, values: Iterator[tuple[Any, Any]]) -> Any:
    """Return the next number, of this kind; those that give way to others are Python's."""
    dtype = TO_NUMPY[kind.dtype]
    whole, real = next(values)
    if kind.dtype in PARTS:
        value = dtype.type(complex(real, next(values)[1]))
    elif kind.dtype in FLOATS:
        value = dtype.type(real)
    else:
        value = whole.astype(dtype)
    return value.item() if kind.weak else value


def _resolved(value: Any) -> Any:
    """Return something to print with its texts made."""
    if isinstance(value, Text):
        return "".join(map(str, _resolved(value.parts)))
    if isinstance(value, Later):
        return value.function(*_resolved(value.args), **_resolved(value.kwargs))
    if isinstance(value, Grid):
        return np.array(value.items, value.dtype).reshape(value.shape)
    if isinstance(value, dict):
        return {key: _resolved(item) for key, item in value.items()}
    if type(value) in (list, tuple):
        return type(value)(_resolved(item) for item in value)
    return value
