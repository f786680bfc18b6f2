"""What rows are made of: expressions that give the number at a position.

An expression is evaluated where it is read, in the program that reads it: that of the rows or, for
rows that a function returns, one of all values (``results.py``). `Reading` says what its parts are
there.
"""

from collections.abc import Callable
from typing import Any, NamedTuple

from .._core import Value
from ..dtypes import Kind
from ..element import Element, as_value, kind_of
from ..recorder import Recorder
from ..source import user_line


class Values(NamedTuple):
    """The numbers of all rows of an argument."""

    number: int  # which one of the ragged arguments
    table: Value
    kind: Kind


class Source(NamedTuple):
    """Numbers of an argument, from a place on."""

    values: Values
    start: Element
    step: int

    def moved(self, by: Element, step: int) -> "Source":
        """Return the expression for other positions: ``by + step * position``."""
        start = by if self.step == 1 else by * self.step
        return Source(self.values, self.start + start, self.step * step)


class Positions(NamedTuple):
    """The positions themselves, from one on."""

    start: Element
    step: int

    def moved(self, by: Element, step: int) -> "Positions":
        """Return the expression for other positions: ``by + step * position``."""
        start = by if self.step == 1 else by * self.step
        return Positions(self.start + start, self.step * step)


class Applied:
    """A function of the numbers at a position, and of numbers that a row has one of."""

    __slots__ = ("function", "line", "operands", "part", "reads_table")

    def __init__(
        self,
        function: Callable[..., Any],
        operands: tuple[Any, ...],
        part: int | None = None,
        reads_table: bool = False,
        line: Any = None,
    ) -> None:
        self.function = function
        self.operands = operands
        self.part = part  # of several results
        self.line = user_line() if line is None else line  # where failures are
        self.reads_table = reads_table  # which only the program of the rows has

    def moved(self, by: Element, step: int) -> "Applied":
        """Return the expression for other positions."""
        operands = tuple(
            one.moved(by, step) if isinstance(one, EXPRESSIONS) else one for one in self.operands
        )
        return Applied(self.function, operands, self.part, self.reads_table, self.line)


EXPRESSIONS = (Source, Positions, Applied)
Expression = Source | Positions | Applied


class Reading:
    """The number that expressions have at one position of a program."""

    def __init__(self, recorder: Recorder, position: Value) -> None:
        self.recorder = recorder
        self.position = position
        self._known: dict[int, Any] = {}

    def of(self, expression: Expression) -> Any:
        """Record the number of an expression."""
        if isinstance(expression, Source):
            return self.read(expression)
        if isinstance(expression, Positions):
            return Element(self.recorder, self.index(expression.start, expression.step))
        key = id(expression)
        if key not in self._known:
            numbers = [
                self.of(one) if isinstance(one, EXPRESSIONS) else self.number(one)
                for one in expression.operands
            ]
            result = self._located(expression, numbers)
            self._known[key] = result if expression.part is None else result[expression.part]
        return self._known[key]

    def _located(self, expression: Applied, numbers: list[Any]) -> Any:
        """Record a function at the line where it was written."""
        recording, line = self.recorder.recording, expression.line
        if line is None:
            return expression.function(*numbers)
        recording.pin(line.file, line.number)
        try:
            return expression.function(*numbers)
        finally:
            recording.unpin()

    def read(self, source: Source) -> Element:
        """Record a read of an argument."""
        recorder = self.recorder
        index = self.index(source.start, source.step)
        return Element(recorder, recorder.recording.read_at(source.values.table, index, True))

    def index(self, start: Element, step: int) -> Value:
        """Record ``start + step * position``."""
        recorder, position = self.recorder, self.position
        if step != 1:
            factor = recorder.constant(position.dtype, step)
            position = recorder.op("mul", [position, factor])
        return recorder.op("add", [self.number(start).value, position])

    def number(self, operand: Any) -> Any:
        """Return a number of the row in this program."""
        return operand


class StandIn(Element):
    """An element of one program in another; a captured number can still be asked for."""

    __slots__ = ("_known",)

    def __init__(self, recorder: Recorder, value: Value, original: Any) -> None:
        super().__init__(recorder, value, original.kind.weak)
        self._known = original

    @property
    def number(self) -> Any:
        """The number as it is at present."""
        return self._known.number

    def known(self) -> Any:
        """Return the number, which is a guard from now on."""
        return self._known.known()


def stand_in(recorder: Recorder, value: Value, original: Element) -> Element:
    """Return what stands for an element in another program, as this value."""
    if original.value.id in original._recorder.integers:
        recorder.integers.add(value.id)
    if hasattr(original, "known"):
        return StandIn(recorder, value, original)
    return Element(recorder, value, original.kind.weak)


def kinds_of(
    recorder: Recorder, function: Callable[..., Any], operands: list[Any]
) -> Kind | tuple[Kind, ...]:
    """Return the kinds of what a function gives for such operands: elements, numbers or kinds.

    It is recorded for a literal of each kind, which nobody uses.
    """
    recorder.locate()
    numbers = [
        Element(recorder, as_value(recorder, 1, one.dtype), one.weak)
        if isinstance(one, Kind)
        else one
        for one in operands
    ]
    result = function(*numbers)
    return tuple(map(kind_of, result)) if isinstance(result, tuple) else kind_of(result)
