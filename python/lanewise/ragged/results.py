"""Rows that a function returns.

Those as long as the rows of an argument are written by the program of the rows itself, where they
begin in the result. Of others it is not known where that is: a second program, over all their
values, computes them. The program of the rows gives what a row has one of (a maximum, a sum, its
length). The second one has that for each value, as it has the numbers of arguments.
"""

from collections.abc import Callable
from typing import Any, NamedTuple

from .. import _core
from .._core import DType, ParamKind, Program, Value
from ..dtypes import settled
from ..element import Element, Varying, as_value
from ..errors import UsageError, UsageTypeError
from ..recorder import Recorder, record_function
from .reading import EXPRESSIONS, Applied, Expression, Positions, Reading, Source, stand_in
from .reductions import write_numbers
from .rows import Row

MOST_RESULTS = 16  # of a program


class Use(NamedTuple):
    """What a parameter of the second program is.

    Numbers of an argument in the order of the results (``view``) or all of them (``table``), where
    the row begins (``begin``), or what a row has one of (``number``).
    """

    what: str
    number: int = 0  # of an argument, or of a result of the first program


class ValueProgram(NamedTuple):
    """How the values of one result are computed."""

    program: Program
    dtype: DType
    uses: tuple[Use, ...]
    argument: int | None  # which has the same offsets
    length: int | None  # else the result of the first program that has the lengths
    index_type: DType


class WrittenRows(NamedTuple):
    """Rows that the program of the rows writes: it has their starts and their memory."""

    dtype: DType
    argument: int  # which has the same lengths
    place: int  # of those two, among the values that the function takes from outside
    index_type: DType

    def recorded(self, name: str) -> "WrittenRows":
        """Return itself: it is recorded."""
        return self


Leaf = int | ValueProgram | WrittenRows


class RaggedResults(NamedTuple):
    """What becomes of the results of the program of the rows."""

    leaves: tuple[Leaf, ...]  # the number of a result, or rows


class Split(NamedTuple):
    """The results of the program of the rows, and what becomes of them."""

    name: str
    results: list[Any]
    leaves: list["int | _Values | WrittenRows"]

    def recorded(self) -> RaggedResults:
        """Record the programs of values; that of the rows is done."""
        return RaggedResults(
            tuple(
                leaf if isinstance(leaf, int) else leaf.recorded(self.name) for leaf in self.leaves
            )
        )


def split(
    request: Any, results: list[Any], new_parameter: Callable[..., Value], captures: Any
) -> Split:
    """Say what the program of the rows has to give for such results."""
    if request.otypes is not None:
        raise UsageError(
            f"{request.name}: otypes with results that are rows; got types for them, expected "
            "none. Convert the row in the function, row.astype(...)."
        )
    plain = [result for result in results if not isinstance(result, Varying)]
    exports = _Exports(len(plain))
    leaves: list[int | _Values | WrittenRows] = []
    place = 0
    for result in results:
        if isinstance(result, Row) and _is_written(result):
            leaves.append(_write(result, new_parameter, captures))
        elif isinstance(result, Row):
            leaves.append(_Values(result, exports))
        elif isinstance(result, Varying):
            raise UsageTypeError(
                f"{request.name}: returns rows of rows; got more than one row of an element, "
                "expected numbers and rows of numbers. Return one of the rows, row[i]."
            )
        else:
            leaves.append(place)
            place += 1
    if not plain and not exports.elements:  # a program gives something
        exports.place(next(result.length for result in results))
    if len(plain) + len(exports.elements) > MOST_RESULTS:
        raise UsageError(
            f"{request.name}: rows are made of too many numbers that a row has one of; got "
            f"{len(plain) + len(exports.elements)} with those that are returned, expected at most "
            f"{MOST_RESULTS}. Combine them before, row * (a + b)."
        )
    return Split(request.name, [*plain, *exports.elements], leaves)


def _is_written(row: Row) -> bool:
    """Say whether the program of the rows can write this one.

    What prints or adds up is run by others, who know of plain results only.
    """
    recorder = row.recorder
    return row.space.argument is not None and recorder.prints is None and not recorder.accumulated


def _write(row: Row, new_parameter: Callable[..., Value], captures: Any) -> WrittenRows:
    """Record that a row is written to its place in the result."""
    dtype, index_type = settled(row.kind), row.index_type
    assert isinstance(dtype, DType)
    assert row.space.argument is not None
    place = captures.count_values()
    first = new_parameter(index_type, ParamKind.Mapped)
    target = new_parameter(dtype, ParamKind.Target)
    write_numbers(row, dtype, target, first)
    return WrittenRows(dtype, row.space.argument, place, index_type)


class _Exports:
    """Numbers that the program of the rows gives to the second one."""

    def __init__(self, first: int) -> None:
        self._first = first
        self._places: dict[int, int] = {}
        self.elements: list[Element] = []

    def place(self, element: Element) -> int:
        """Return the number of the result that this is."""
        key = element.value.id
        if key not in self._places:
            self._places[key] = self._first + len(self.elements)
            # A weak one would become wider.
            self.elements.append(Element(element.recorder, element.value))
        return self._places[key]


def _leaves(expression: Expression, found: dict[int, Any]) -> None:
    """Collect what an expression is made of."""
    if not isinstance(expression, Applied):
        found.setdefault(id(expression), expression)
        return
    if id(expression) in found:
        return
    if expression.reads_table:
        raise UsageTypeError(
            "Ragged: rows that are returned cannot be read from a table; got table[row] in a "
            "result, expected it in a reduction or a loop. Return the row of indices, and index "
            "its values outside, table[result.values]."
        )
    found[id(expression)] = expression
    for operand in expression.operands:
        if isinstance(operand, EXPRESSIONS):
            _leaves(operand, found)
        elif isinstance(operand, Element):
            found.setdefault(id(operand), operand)


class _Values:
    """A row that is returned: what its values are made of."""

    def __init__(self, row: Row, exports: _Exports) -> None:
        found: dict[int, Any] = {}
        _leaves(row.expression, found)
        self._row = row
        self._argument = row.space.argument
        self._index_type = row.index_type
        self._length = None if self._argument is not None else exports.place(row.length)
        self._plan = _Plan(row, list(found.values()), exports)

    def recorded(self, name: str) -> ValueProgram:
        """Record the program of the values."""
        return record_function(f"{name}_values", lambda recorder: self._record(name, recorder))

    def _record(self, name: str, recorder: Recorder) -> ValueProgram:
        dtype = settled(self._row.kind)
        assert isinstance(dtype, DType)
        uses = tuple(self._plan.parameters)
        reading = self._plan.reading(recorder)
        recorder.locate()
        value = as_value(recorder, reading.of(self._row.expression), dtype)
        program = _core.finish(
            recorder.recording,
            [value],
            f"{name}_values",
            None,
            [False],
            [()] * len(uses),
            [()],
        )
        return ValueProgram(program, dtype, uses, self._argument, self._length, self._index_type)


class _Plan:
    """The parameters of the second program."""

    def __init__(self, row: Row, leaves: list[Any], exports: _Exports) -> None:
        self._space = row.space
        self._index_type = row.index_type
        self._exports = exports
        self.parameters: dict[Use, tuple[DType, ParamKind]] = {}
        for leaf in leaves:
            if isinstance(leaf, Source):
                self._add_source(leaf)
            elif isinstance(leaf, Positions):
                self._add_position(leaf.start)
            elif isinstance(leaf, Element):
                self._add_number(leaf)

    def is_view(self, source: Source) -> bool:
        """Say whether the result has these numbers as they stand in the argument."""
        start = self._space.start.value.id
        is_argument = self._space.argument is not None
        return is_argument and source.step == 1 and source.start.value.id == start

    def number(self, element: Element) -> Use:
        """Return the parameter of a number of the row."""
        return Use("number", self._exports.place(element))

    def _add_source(self, source: Source) -> None:
        number, dtype = source.values.number, source.values.kind.dtype
        assert isinstance(dtype, DType)
        if self.is_view(source):
            self.parameters[Use("view", number)] = dtype, ParamKind.Mapped
            return
        self._add_position(source.start)
        self.parameters[Use("table", number)] = dtype, ParamKind.Table

    def _add_position(self, start: Element) -> None:
        self.parameters[Use("begin")] = self._index_type, ParamKind.Mapped
        self._add_number(start)

    def _add_number(self, element: Element) -> None:
        self.parameters[self.number(element)] = element.value.dtype, ParamKind.Mapped

    def reading(self, recorder: Recorder) -> "_Reading":
        """Record the parameters, which come before everything else, and the position."""
        recording = recorder.recording
        values = {
            use: _core.parameter(recording, "p", dtype, kind, 0)
            for use, (dtype, kind) in self.parameters.items()
        }
        position = recorder.constant(self._index_type, 0)
        begin = values.get(Use("begin"))
        if begin is not None:
            position = recorder.op("sub", [recording.element(self._index_type), begin])
        return _Reading(recorder, position, values, self)


class _Reading(Reading):
    """Expressions in the second program."""

    def __init__(
        self, recorder: Recorder, position: Value, values: dict[Use, Value], plan: _Plan
    ) -> None:
        super().__init__(recorder, position)
        self._values = values
        self._plan = plan
        self._stand_ins: dict[int, Element] = {}

    def read(self, source: Source) -> Element:
        """Record a read of an argument."""
        number = source.values.number
        recorder = self.recorder
        if self._plan.is_view(source):
            return Element(recorder, self._values[Use("view", number)])
        index = self.index(source.start, source.step)
        table = self._values[Use("table", number)]
        return Element(recorder, recorder.recording.read_at(table, index, True))

    def number(self, operand: Any) -> Any:
        """Return a number of the row."""
        if not isinstance(operand, Element):
            return operand
        key = operand.value.id
        if key not in self._stand_ins:
            value = self._values[self._plan.number(operand)]
            self._stand_ins[key] = stand_in(self.recorder, value, operand)
        return self._stand_ins[key]
