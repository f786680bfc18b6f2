"""What a call tells of elements that fail, where the others go on."""

from collections.abc import Iterator
from typing import Any

import numpy as np

from . import _core
from ._core import MapOptions, OnError
from .dtypes import PARTS, TO_NUMPY
from .errors import ElementError, UsageError, UsageTypeError
from .options import CallOptions
from .outputs import split
from .ragged.results import RaggedResults, ValueProgram
from .specialization import Recorded
from .trees import flatten

_FIELDS = np.dtype(
    [
        ("element", np.int64),
        ("kind", "U16"),
        ("file", object),
        ("line", np.int32),
        ("message", object),
        ("values", object),
    ]
)


class Failures:
    """The elements that failed in a call with ``on_error="collect"``.

    Attributes
    ----------
    count : int
        How many there are in all.
    table : ndarray
        The first ones in the order of elements, ``max_failures`` at most, with the fields
        ``element`` (its number in C order), ``kind``, ``file``, ``line``, ``message`` and
        ``values``, a tuple of those the failing operation had.

    Examples
    --------
    >>> import lanewise as lw, numpy as np
    >>> @lw.vectorize
    ... def root(x):
    ...     assert x >= 0, "negative"
    ...     return np.sqrt(x)
    >>> results, failures = root(np.array([4.0, -1.0, 9.0]), on_error="collect")
    >>> results
    array([ 2., nan,  3.])
    >>> failures
    <1 element failed: 1>
    >>> failures.table["element"], failures.table["values"][0]
    (array([1]), (-1.0, 0.0))
    """

    __slots__ = ("count", "table")

    def __init__(self, count: int, rows: list[tuple[Any, ...]]) -> None:
        self.count = count
        self.table = np.empty(len(rows), _FIELDS)
        for at, row in enumerate(rows):
            self.table[at] = row

    def __len__(self) -> int:
        return self.count

    def __iter__(self) -> Iterator[Any]:
        return iter(self.table)

    def raise_first(self) -> None:
        """Raise the `ElementError` that the call would have ended with, if an element failed."""
        if self.count and len(self.table):
            first = self.table[0]
            raise ElementError(first["message"], int(first["element"]))

    def __repr__(self) -> str:
        what = f"{self.count} element{'' if self.count == 1 else 's'} failed"
        shown = [str(one) for one in self.table["element"][:5]]
        if self.count > len(shown) > 0:
            shown.append("...")
        return f"<{what}{': ' if shown else ''}{', '.join(shown)}>"


class Going:
    """A call in which elements may fail and the others go on."""

    def __init__(self, call: str, options: CallOptions, recorded: Recorded) -> None:
        self._told = _core.Failures()
        if recorded.ragged is not None:
            _refuse_second_programs(call, recorded.ragged)
        own = MapOptions(options.map)
        own.fill = _fill(call, options.fill_value, recorded)
        own.collect_into(self._told)
        self.options = options._replace(map=own)

    def with_failures(self, results: Any) -> Any:
        """Return what the call gives back: the results, with what failed if that is wanted."""
        if not self.options.collects:
            return results
        return results, Failures(self._told.count, self._told.rows())


def raising(options: CallOptions) -> CallOptions:
    """Return the options of a call that looks again at what has not failed."""
    own = MapOptions(options.map)
    own.on_error = OnError.Raise
    return options._replace(map=own)


def _refuse_second_programs(call: str, rows: RaggedResults) -> None:
    """Refuse elements that fail where others than they compute their rows."""
    if any(isinstance(leaf, ValueProgram) for leaf in rows.leaves):
        raise UsageError(
            f"{call}: on_error with rows whose lengths only the function knows, or that print or "
            "add up; got one that lets elements fail, expected 'raise'."
        )


def row_fills(call: str, value: Any, recorded: Recorded) -> dict[int, Any]:
    """Return what failed rows hold, by the number of the result."""
    fills: dict[int, Any] = {}
    for number, (place, dtype, one) in enumerate(_given(call, value, recorded)):
        if place is not None:
            continue
        numpy_type = TO_NUMPY[dtype]
        is_float = np.issubdtype(numpy_type, np.inexact)
        if one is None:
            one = np.nan if is_float else 0
        try:
            fits = is_float or numpy_type.type(int(one)) == one
        except (OverflowError, ValueError):
            fits = False
        if not fits:
            raise UsageError(
                f"{call}: fill_value does not fit result {number}; got {one!r}, expected a value "
                f"of {numpy_type}."
            )
        fills[number] = one
    return fills


def _fill(call: str, value: Any, recorded: Recorded) -> list[Any]:
    """Return a number for each result of the program, or none for NaN and 0."""
    if value is None:
        return []
    given = {place: one for place, _, one in _given(call, value, recorded)}
    fill: list[Any] = []
    for number, dtype in enumerate(recorded.dtypes):
        one = given.get(number, 0)  # nobody sees others
        if dtype not in PARTS:
            fill.append(one)
        elif recorded.shapes[number]:
            raise UsageError(
                f"{call}: fill_value of a tensor of complex numbers; got {one!r}, "
                "expected none, which is NaN."
            )
        else:
            fill += [complex(one).real, complex(one).imag]
    if recorded.prints is not None:
        fill.append(0)  # lines
    return fill


def _given(call: str, value: Any, recorded: Recorded) -> list[tuple[int | None, Any, Any]]:
    """Return the place in the program, None for rows, the type and the value of each result."""
    results: list[tuple[int | None, Any]] = list(enumerate(recorded.dtypes))
    if recorded.ragged is not None:
        results = [
            (leaf, recorded.dtypes[leaf]) if isinstance(leaf, int) else (None, leaf.dtype)
            for leaf in recorded.ragged.leaves
        ]
    given: list[Any] = []
    if value is None:
        given = [None]
    else:
        flatten(value, given, split)
    count = len(results)
    if len(given) not in (1, count):
        raise UsageError(
            f"{call}: fill_value does not fit the results; got {len(given)} values, expected 1"
            + (f", or {count}, one for each result." if count > 1 else ".")
        )
    found = []
    pairs = zip(given * count if len(given) == 1 else given, results, strict=True)
    for number, (one, (place, dtype)) in enumerate(pairs):
        one = one.item() if isinstance(one, np.generic) else one
        is_complex = isinstance(one, complex)
        is_number = value is None or isinstance(one, (bool, int, float, complex))
        if not is_number or (is_complex and dtype not in PARTS):
            raise UsageTypeError(
                f"{call}: fill_value is no value of result {number}; got {one!r}, expected a "
                "number."
            )
        found.append((place, dtype, one))
    return found
