"""`while` and `for`: loops of the program where elements take part, plain Python loops elsewhere.

A loop of the program has its variables in slots: they are read at the head of a step, and written
where the step ends or is left. In a plain loop every step is recorded by itself; elements that
leave it, or a step, early meet the others behind it (`Block`).

A loop over a short `range`, over a container, or one in which no element takes part is plain.
`range` and `while` else are loops of the program, until something in them needs a plain value that
they have not: then the function is recorded again with the loop plain.
"""

import operator
from collections.abc import Iterable, Iterator
from typing import Any, NoReturn

from .._core import DType, Value
from ..element import Element, as_value, is_narrow, kind_of
from ..errors import UsageError, UsageTypeError
from ..recorder import Passage, Recorder, Retrace
from ..source import at_line
from .branches import not_, truth
from .meeting import Block, Left, Meeting
from .state import Missing, has_element, take_apart

MOST_UNROLLED = 8  # steps of a range that are recorded one by one, in all loops together
MOST_PLAIN_STEPS = 10_000

_REGION, _PLAIN = "region", "plain"


class Loop:
    """What the two sorts of loop have in common: the order in which the statement tells its parts.

    ``while goes_on(): enter; (item | stops); with: body; repeat``, then ``done``, and with an
    `else` ``otherwise; with: else``, at last ``join``.
    """

    def __init__(
        self, recorder: Recorder, passage: Passage, names: tuple[str, ...], has_else: bool
    ) -> None:
        self._recorder = recorder
        self._passage = passage
        self._names = names
        self._has_else = has_else
        self._depth = len(recorder.regions)
        self._is_alive = True

    def __enter__(self) -> None:
        self._is_alive = True

    def __exit__(self, kind: Any, error: Any, trace: Any) -> bool:
        if kind is Left:
            self._is_alive = False
            return True
        return False

    def otherwise(self) -> bool:
        """Say whether the `else` part runs."""
        return self._is_alive


class Items:
    """Where the values of a `for` loop come from, for a plain loop."""

    def __init__(self, items: Iterable[Any]) -> None:
        self._iterator: Iterator[Any] = iter(items)
        self.item: Any = None

    def advance(self) -> bool:
        """Take the next item; false at the end."""
        for item in self._iterator:
            self.item = item
            return True
        return False


class PlainLoop(Loop):
    """A loop whose steps are recorded one by one."""

    def __init__(
        self,
        recorder: Recorder,
        passage: Passage,
        names: tuple[str, ...],
        has_else: bool,
        items: Items | None,
        trips: int,
    ) -> None:
        super().__init__(recorder, passage, names, has_else)
        self._items = items
        self.trips = trips  # if it is an unrolled range, else 1
        self._steps = 0
        self._size = recorder.recording.size
        self._loop = Block(recorder, passage.part("loop"), names)
        self._step: Block | None = None
        self._continues = False
        self._is_left_plainly = False
        recorder.plain_loops.append(self)

    @property
    def item(self) -> Any:
        """The value of this step."""
        assert self._items is not None
        return self._items.item

    def goes_on(self) -> bool:
        """Say whether there is another step."""
        if not self._is_alive:
            return False
        self._steps += 1
        if self._steps > MOST_PLAIN_STEPS and self._recorder.recording.size > self._size:
            self._refuse_steps()
        return self._items is None or self._items.advance()

    def _refuse_steps(self) -> None:
        session = self._recorder.session
        if self._items is None and session.mode(self._passage) is None:
            session.require_mode(self._passage, _REGION)
        raise UsageError(
            at_line(
                f"loop: takes too many steps to be recorded one by one; got more than "
                f"{MOST_PLAIN_STEPS}, expected a loop over range whose body needs no plain index. "
                "Use the index in numbers and arrays only."
            )
        )

    def enter(self, *values: Any) -> tuple[Any, ...]:
        """Begin a step."""
        step = self._passage.part("step", self._steps)
        self._step = Block(self._recorder, step, self._names)
        return values

    def stops(self, test: Any, *_: Any) -> bool:
        """Say whether the test ends the loop."""
        if isinstance(test, Element):
            if (reason := self._recorder.session.reason(self._passage)) is not None:
                raise reason
            self._recorder.session.require_mode(self._passage, _REGION)
        return not test

    def break_(self, *values: Any) -> None:
        """Leave the loop; returns when the Python loop is to be left."""
        assert self._step is not None
        if self._is_everybody_here():
            self._is_left_plainly = True
            return
        self._loop.leave(values)
        raise Left

    def continue_(self, *values: Any) -> None:
        """Go on with the next step."""
        assert self._step is not None
        if self._is_everybody_here():
            self._continues = True
        else:
            self._step.leave(values)
        raise Left

    def repeat(self, *values: Any) -> tuple[Any, ...]:
        """End a step."""
        assert self._step is not None
        is_here = self._is_alive or self._continues
        self._continues = False
        try:
            values = self._step.end(values if is_here else None)
        except Left:
            self._is_alive = False
            return values
        self._is_alive = True
        return values

    def done(self, *values: Any) -> tuple[Any, ...]:
        """End the loop itself."""
        del self._recorder.plain_loops[self._recorder.plain_loops.index(self) :]
        return values

    def otherwise(self) -> bool:
        """Say whether the `else` part runs: if the loop was not left by all."""
        return self._is_alive and not self._is_left_plainly

    def join(self, *values: Any) -> tuple[Any, ...]:
        """End the statement."""
        return self._loop.end(values if self._is_alive else None)

    def _is_everybody_here(self) -> bool:
        return len(self._recorder.regions) == self._depth and self._loop.is_everybody_here()


class RegionLoop(Loop):
    """A loop of the program."""

    is_expression = False
    trips: int | None = None  # of a range with plain bounds

    item: Any = None

    def __init__(
        self,
        recorder: Recorder,
        passage: Passage,
        names: tuple[str, ...],
        has_else: bool,
        values: tuple[Any, ...],
    ) -> None:
        super().__init__(recorder, passage, names, has_else)
        recorder.locate()
        self._exits = Block(recorder, passage.part("else"), names) if has_else else None
        self._start = recorder.recording.size
        self._meeting = Meeting(recorder, passage, names)
        self._starts = tuple(
            variable.start(self._known(variable.name, value))
            for variable, value in zip(self._meeting.variables, values, strict=True)
        )
        self._goes_on = True
        self._has_exit = True  # the head can be left
        self._is_sure = False  # there is at least one step
        self._is_in_body = False
        self._is_left = False
        self._at_head: tuple[Any, ...] = ()
        self._set_by_test: set[str] = set()
        self._unset: set[str] = set()  # variables without a value at the end of some step
        self.heads: list[Value] = []
        self.can_be_plain = True
        self.first = recorder.recording.size
        self.scope = -1

    def _known(self, name: str, value: Any) -> Any:
        conflict = self._recorder.session.conflict(self._passage, name)
        return conflict if conflict is not None else value

    def goes_on(self) -> bool:
        """Say whether the step, of which there is one, is to be recorded."""
        return self._goes_on

    def _begin(self) -> None:
        self._goes_on = False
        self._recorder.locate()
        self.first = self._recorder.recording.size
        self.scope = self._recorder.recording.begin_loop()
        self._recorder.regions.append(self)

    def _begin_body(self) -> None:
        self._recorder.recording.begin_body()
        self._is_in_body = True

    def enter(self, *_: Any) -> tuple[Any, ...]:
        """Begin the loop."""
        self._begin()
        values = tuple(
            variable.read() if variable.has_slots else start
            for variable, start in zip(self._meeting.variables, self._starts, strict=True)
        )
        self._at_head = values
        self.heads = [
            number.value
            for value in values
            if not isinstance(value, Missing)
            for number in take_apart(value).numbers
            if isinstance(number, Element)
        ]
        return values

    def __exit__(self, kind: Any, error: Any, trace: Any) -> bool:
        if kind is not None and kind is not Left and issubclass(kind, Exception):
            self.discard()
        return super().__exit__(kind, error, trace)

    def heads_of(self, with_variables: bool) -> list[Value]:
        """Return the values that would be plain in a plain loop."""
        return self.heads if with_variables else []

    def unroll(self, error: Exception) -> None:
        """Record the function again with this loop plain, if it can be; if not, it is an error."""
        session = self._recorder.session
        if self.can_be_plain and session.mode(self._passage) is None:
            session.require_mode(self._passage, _PLAIN, error)

    def discard(self) -> None:
        """Drop it; an exception has ended it."""
        recorder = self._recorder
        if self not in recorder.regions:
            return
        del recorder.regions[recorder.regions.index(self) :]
        recorder.recording.discard_scope(self.scope)
        recorder.lose(self.first)

    def stops(self, test: Any, *values: Any) -> bool:
        """Take the test, which stands at the head of every step, and the variables behind it."""
        test = truth(test)
        recorder = self._recorder
        self._write_head(values)
        if isinstance(test, Element):
            recorder.recording.break_if(not_(test).value)
        elif test:
            self._has_exit = False
        else:
            recorder.recording.break_if(recorder.constant(DType.Bool, True))
        self._begin_body()
        return False

    def _write_head(self, values: tuple[Any, ...]) -> None:
        """Leave what the test has changed for elements that do not go on."""
        changed = [
            (variable, value)
            for variable, head, value in zip(
                self._meeting.variables, self._at_head, values, strict=True
            )
            if value is not head and not isinstance(value, Missing)
        ]
        self._set_by_test = {variable.name for variable, _ in changed}
        fits = [variable.write(value, self.scope) for variable, value in changed]
        if not all(fits):
            raise Retrace

    def break_(self, *values: Any) -> None:
        """Leave the loop."""
        if self._exits is not None:
            self._exits.leave(values)
        else:
            self._meeting.write(values, self.scope)
            self._recorder.recording.break_scope(self.scope)
        self._is_left = True
        raise Left

    def continue_(self, *values: Any) -> None:
        """Go on with the next step."""
        self._write_step(values)
        self._recorder.recording.leave_scope(self.scope)
        raise Left

    def _write_step(self, values: tuple[Any, ...]) -> None:
        """Leave the values for the next step, or for what follows the loop."""
        known = []
        for variable, start, value in zip(
            self._meeting.variables, self._starts, values, strict=True
        ):
            if isinstance(value, Missing):
                self._unset.add(variable.name)
                if variable.has_slots and not isinstance(start, Missing):
                    self._note_conflict(variable.name, value.named(variable.name))
                continue
            known.append((variable, value))
            is_new = isinstance(start, Missing)
            if variable.has_slots and not is_new and variable.differs(value):
                self._note_conflict(variable.name, variable.conflict(value))
        fits = [variable.write(value, self.scope) for variable, value in known]
        if not all(fits):
            raise Retrace

    def _note_conflict(self, name: str, missing: Missing) -> NoReturn:
        self._recorder.session.note_conflict(self._passage, name, missing)

    def repeat(self, *values: Any) -> tuple[Any, ...]:
        """End the step."""
        recorder = self._recorder
        if self._is_alive:
            self._write_step(values)
        recorder.recording.end_body()
        self._advance()
        recorder.recording.end_loop()
        recorder.regions.pop()
        recorder.lose(self.first)
        return values

    def _advance(self) -> None:
        """Do what stands between two steps."""

    def done(self, *values: Any) -> tuple[Any, ...]:
        """Return the variables as the elements that leave at the head bring them."""
        self._is_alive = self._has_exit
        if self._exits is None:
            self._is_alive = self._has_exit or self._is_left
            if not self._is_alive:
                raise Left
        if not self._is_alive:
            return values
        result = []
        for variable, start in zip(self._meeting.variables, self._starts, strict=True):
            is_late = isinstance(start, Missing)
            is_skipped = self._has_exit and not self._is_sure
            is_unset = not variable.has_slots or variable.name in self._unset
            is_set = variable.name in self._set_by_test
            if is_late and (is_skipped or is_unset) and not is_set:
                result.append(self._may_be_unset(variable.name))
            else:
                result.append(variable.read(self._start))
        return tuple(result)

    def _may_be_unset(self, name: str) -> Missing:
        return Missing(
            name,
            "may have no value; got an assignment inside a loop only, which an element may leave "
            "before it, expected one on every path that leads here. Give it a value before the "
            "loop.",
        )

    def join(self, *values: Any) -> tuple[Any, ...]:
        """End the statement."""
        if self._exits is None:
            return values
        return self._exits.end(values if self._is_alive else None)


class Range:
    """`range` with an element among its arguments."""

    def __init__(self, *arguments: Any) -> None:
        self.start, self.stop = (0, arguments[0]) if len(arguments) == 1 else arguments[:2]
        self.step = arguments[2] if len(arguments) == 3 else 1
        for argument in (self.start, self.stop, self.step):
            kind = kind_of(argument)
            if kind.dtype.name[0] not in "IU" and kind.dtype.name != "Bool":
                raise UsageTypeError(
                    at_line(
                        "range: a bound is not a whole number; got a float, expected integers. "
                        "Convert it with int(...)."
                    )
                )
        if _can_be_known(self.step):
            self.step = operator.index(self.step)
        else:
            raise UsageTypeError(
                at_line(
                    "range: the step is an element; got a value that differs between elements, "
                    "expected a plain number. Use a while loop."
                )
            )
        if self.step == 0:
            raise UsageError(at_line("range: the step is 0; got 0, expected another number."))

    def can_be_known(self) -> bool:
        """Say whether the bounds are plain or captured numbers."""
        return _can_be_known(self.start) and _can_be_known(self.stop)

    def known(self) -> range:
        """Return the range of plain bounds; captured ones are guards from now on."""
        return range(operator.index(self.start), operator.index(self.stop), self.step)

    def __iter__(self) -> Iterator[Any]:
        if self.can_be_known():
            return iter(self.known())
        raise UsageTypeError(
            at_line(
                "range: an element is among its bounds; got a use outside of a for statement, "
                "expected for i in range(...)."
            )
        )


def _can_be_known(number: Any) -> bool:
    """Say whether a number has a value that Python may ask for."""
    return not isinstance(number, Element) or hasattr(number, "known")


class RangeLoop(RegionLoop):
    """A loop of the program over a range."""

    def __init__(
        self,
        recorder: Recorder,
        passage: Passage,
        names: tuple[str, ...],
        has_else: bool,
        values: tuple[Any, ...],
        items: Any,
    ) -> None:
        super().__init__(recorder, passage, names, has_else, values)
        self._step = items.step
        is_plain = isinstance(items, range)
        bounds = (items.start, items.stop, items.stop + items.step)
        self._dtype = DType.I32 if is_plain and all(map(is_narrow, bounds)) else DType.I64
        start, self._stop = (as_value(recorder, bound, self._dtype) for bound in bounds[:2])
        self._counter = recorder.recording.slot(start)
        self._now: Value | None = None
        self.can_be_plain = is_plain or items.can_be_known()
        self.trips = len(items) if is_plain else None
        self._is_sure = is_plain and len(items) > 0
        is_upward = items.step > 0 and not isinstance(items.start, Element)
        self._is_never_negative = is_upward and items.start >= 0

    def enter(self, *values: Any) -> tuple[Any, ...]:
        """Begin the loop, and take the counter."""
        values = super().enter(*values)
        recorder = self._recorder
        self._now = recorder.recording.read(self._counter)
        self.heads.append(self._now)
        if self._is_never_negative:
            recorder.counters.add(self._now.id)
        is_over = recorder.op("ge" if self._step > 0 else "le", [self._now, self._stop])
        recorder.recording.break_if(is_over)
        self._begin_body()
        self.item = Element(recorder, self._now, weak=True)
        return values

    def heads_of(self, with_variables: bool) -> list[Value]:
        """Return the counter, which needs no other to be plain."""
        assert self._now is not None
        return super().heads_of(with_variables) if with_variables else [self._now]

    def _advance(self) -> None:
        recorder = self._recorder
        step = recorder.constant(self._dtype, self._step)
        assert self._now is not None
        recorder.recording.write(self._counter, recorder.op("add", [self._now, step]))


def begin_while(
    recorder: Recorder,
    site: int,
    names: tuple[str, ...],
    has_else: bool,
    values: tuple[Any, ...],
    used: tuple[Any, ...],
) -> Loop:
    """Begin a `while` statement; `used` are the variables that its test and body read."""
    passage = recorder.visit(site)
    mode = recorder.session.mode(passage)
    if mode is None:
        takes_part = any(map(has_element, used)) or any(map(has_element, values))
        mode = _REGION if takes_part else _PLAIN
    if mode == _REGION:
        return RegionLoop(recorder, passage, names, has_else, values)
    return PlainLoop(recorder, passage, names, has_else, None, 1)


def begin_for(
    recorder: Recorder,
    site: int,
    names: tuple[str, ...],
    has_else: bool,
    values: tuple[Any, ...],
    used: tuple[Any, ...],
    items: Any,
) -> Loop:
    """Begin a `for` statement."""
    passage = recorder.visit(site)
    if isinstance(items, Range):
        if recorder.session.mode(passage) == _PLAIN:
            return PlainLoop(recorder, passage, names, has_else, Items(items.known()), 1)
        return RangeLoop(recorder, passage, names, has_else, values, items)
    if isinstance(items, Element):
        raise UsageTypeError(
            at_line(
                "for: an element is not a container; got a number, expected range(...) or a Python "
                "container. Write for i in range(x)."
            )
        )
    trips = 1
    if isinstance(items, range):
        around = 1
        for loop in recorder.plain_loops:
            around *= loop.trips
        mode = recorder.session.mode(passage)
        takes_part = any(map(has_element, used)) or any(map(has_element, values))
        if mode is None and takes_part and around * len(items) > MOST_UNROLLED:
            return RangeLoop(recorder, passage, names, has_else, values, items)
        trips = max(len(items), 1) if takes_part else 1
    return PlainLoop(recorder, passage, names, has_else, Items(items), trips)
