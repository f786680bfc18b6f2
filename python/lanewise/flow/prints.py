"""`print` inside a function: each element says its own lines, in its own order.

Nothing is printed while a function is recorded or runs. The program of a function that prints
counts the lines of every element. A second program, for the same arguments, a number of a line and
a number of a value in it, ends at that line and gives the place it comes from and the value;
``printing.py`` asks it for the lines that are shown.
"""

import builtins
import sys
from typing import Any, NamedTuple

import numpy as np

from .._core import DType, Value
from ..complex_element import as_values
from ..dtypes import FLOATS, FROM_NUMPY, Kind
from ..element import Element, Varying, Whole
from ..errors import UsageTypeError
from ..recorder import Recorder, Retrace, current
from ..source import at_line
from ..tables import Table
from ..texts import Later, Text, has_mark, without_marks
from .formats import own_text
from .state import Missing, has_element, take_apart


class Plain(NamedTuple):
    """A number in a line that was known when the function was recorded."""

    value: Any


class Site(NamedTuple):
    """A place of the program that prints."""

    shape: Any  # of what is printed, the separator and the end
    numbers: tuple[Kind | Plain, ...]
    file: Any
    flush: bool


class Grid(NamedTuple):
    """A local array in a line."""

    items: tuple[Any, ...]
    shape: tuple[int, ...]
    dtype: Any


class Counter:
    """Counts the lines of an element, as a further result of the program."""

    def __init__(self, recorder: Recorder) -> None:
        self._recorder = recorder
        self.sites: list[Site] = []
        self._count = recorder.recording.slot(recorder.constant(DType.I32, 0))

    def add(self, site: Site, numbers: list[Value]) -> None:
        """Record that a line is printed here."""
        del numbers
        self.sites.append(site)
        self._step()

    def _step(self) -> Value:
        """Count; return how many lines there were before."""
        recorder = self._recorder
        before = recorder.recording.read(self._count)
        one = recorder.constant(DType.I32, 1)
        recorder.recording.write(self._count, recorder.op("add", [before, one]))
        return before

    def result(self) -> Value:
        """Return how many lines there were."""
        return self._recorder.recording.read(self._count)


class Finder(Counter):
    """Finds one value of one line: the place that prints it, and the value in two types."""

    def __init__(self, recorder: Recorder, line: Value, place: Value) -> None:
        self._line, self._place = line, place
        super().__init__(recorder)
        slot, constant = recorder.recording.slot, recorder.constant
        self._site = slot(constant(DType.I32, -1))
        self._whole = slot(constant(DType.I64, 0))
        self._real = slot(constant(DType.F64, 0.0))
        self._scope = recorder.recording.begin_block()

    def add(self, site: Site, numbers: list[Value]) -> None:
        """Record that an element ends here, if this is its line."""
        recorder, recording = self._recorder, self._recorder.recording
        number = recorder.constant(DType.I32, len(self.sites))
        self.sites.append(site)
        recording.begin_branch(recorder.op("eq", [self._step(), self._line]))
        recording.write(self._site, number)
        for index, value in enumerate(numbers):
            here = recorder.op("eq", [self._place, recorder.constant(DType.I32, index)])
            recording.begin_branch(here)
            if value.dtype in FLOATS:
                recording.write(self._real, recorder.convert(value, DType.F64))
            else:
                recording.write(self._whole, recorder.convert(value, DType.I64))
            recording.end_branch()
        recording.leave_scope(self._scope)
        recording.end_branch()

    def results(self) -> list[Value]:
        """End the program; return what was found."""
        recording = self._recorder.recording
        recording.end_block(self._scope)
        return [recording.read(slot) for slot in (self._site, self._whole, self._real)]


def print_(
    *args: Any, sep: Any = " ", end: Any = "\n", file: Any = None, flush: Any = False
) -> None:
    """Do `print`: while a function is recorded, for each element that comes here."""
    recorder = current()
    if recorder is None:
        builtins.print(*args, sep=sep, end=end, file=file, flush=flush)
        return
    if recorder.prints is None:
        recorder.session.prints = True
        raise Retrace
    if has_element((file, flush)):
        raise UsageTypeError(
            at_line(
                "print: where to print is an element; got an element as file or flush, expected "
                "plain values. Print in the two branches of an if."
            )
        )
    said = (
        tuple(_expanded(recorder, arg) for arg in args),
        _expanded(recorder, " " if sep is None else sep),
        _expanded(recorder, "\n" if end is None else end),
    )
    shape, numbers = take_apart(said)
    known = tuple(n.kind if isinstance(n, Element) else Plain(n) for n in numbers)
    elements = [n for n in numbers if isinstance(n, Element)]
    values = [value for e in elements for value in as_values(recorder, e, e.kind.dtype)]
    recorder.locate()
    recorder.prints.add(Site(shape, known, _named(file), bool(flush)), values)


def _named(file: Any) -> Any:
    """Return a file; the streams of Python by name, as they may be others later."""
    for name in ("stdout", "stderr"):
        if file is getattr(sys, name):
            return name
    return file


def _expanded(recorder: Recorder, value: Any) -> Any:
    """Return something to print with all elements in sight."""
    kind = type(value)
    if isinstance(value, str):
        return _expanded(recorder, without_marks(recorder, value)) if has_mark(value) else value
    if isinstance(value, Text):
        return Text(_expanded(recorder, value.parts))
    if isinstance(value, Later):
        args, kwargs = _expanded(recorder, value.args), _expanded(recorder, value.kwargs)
        return Later(value.function, args, kwargs)
    if isinstance(value, Table):
        raise UsageTypeError(
            at_line(
                "print: a whole array from outside; got a table, expected its values. Print them "
                "by index, or print the array outside of the function."
            )
        )
    if isinstance(value, Varying):
        raise UsageTypeError(
            at_line(
                "print: a whole row; got values whose number differs between elements, expected "
                "single ones. Print them in a loop, for v in row."
            )
        )
    if isinstance(value, Whole):
        return Grid(tuple(value.reshape(-1)), value.shape, value.dtype)
    if isinstance(value, np.ndarray) and value.ndim and value.dtype in FROM_NUMPY:
        return Grid(tuple(value.ravel().tolist()), value.shape, value.dtype)
    if isinstance(value, Missing):
        value.refuse()
    if isinstance(value, dict):
        return {key: _expanded(recorder, item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        items = [_expanded(recorder, item) for item in value]
        if isinstance(value, list):
            return items
        return kind(*items) if hasattr(value, "_fields") else tuple(items)
    own = own_text(value)
    # An object without elements says what it is when it is printed.
    return _expanded(recorder, own) if has_mark(own) else value
