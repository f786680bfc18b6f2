"""Loops of the program: their variables are in slots.

Slots are read at the head of a step, and written where the step ends or is left.
"""

from typing import Any, NoReturn

from .._core import DType, Value
from ..element import Element, as_value, interval_of
from ..intervals import INT64, Interval, of_range
from ..recorder import Passage, Recorder, Retrace
from .branches import not_, truth
from .meeting import Block, Left, Meeting
from .plain_loops import PLAIN, Loop
from .ranges import Range
from .state import Missing, take_apart


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
            head
            for value in values
            if not isinstance(value, Missing)
            for number in take_apart(value).numbers
            if isinstance(number, Element)
            for head in number.values
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
            session.require_mode(self._passage, PLAIN, error)

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
        self._interval, is_narrow = _known(items)
        self._dtype = DType.I32 if is_narrow else DType.I64
        start = as_value(recorder, items.start, self._dtype)
        self._stop = as_value(recorder, items.stop, self._dtype)
        self._counter = recorder.recording.slot(start)
        self._now: Value | None = None
        self.can_be_plain = is_plain or items.can_be_known()
        self.trips = len(items) if is_plain else None
        self._is_sure = is_plain and len(items) > 0

    def enter(self, *values: Any) -> tuple[Any, ...]:
        """Begin the loop, and take the counter."""
        values = super().enter(*values)
        recorder = self._recorder
        self._now = recorder.recording.read(self._counter)
        self.heads.append(self._now)
        recorder.intervals[self._now.id] = self._interval
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


class ItemLoop(RangeLoop):
    """A loop of the program over what a tensor has along its first axis."""

    def __init__(
        self,
        recorder: Recorder,
        passage: Passage,
        names: tuple[str, ...],
        has_else: bool,
        values: tuple[Any, ...],
        items: Any,
    ) -> None:
        super().__init__(recorder, passage, names, has_else, values, self._places(items))
        self._items = items

    def enter(self, *values: Any) -> tuple[Any, ...]:
        """Begin the loop, and take the item."""
        values = super().enter(*values)
        self.item = self._at(self.item)
        return values

    def _places(self, items: Any) -> Any:
        return range(len(items))

    def _at(self, place: Any) -> Any:
        return self._items[place]


class RowLoop(ItemLoop):
    """A loop of the program over a row, as long as that is for an element."""

    def _places(self, items: Any) -> Any:
        return Range(items.size)

    def _at(self, place: Any) -> Any:
        return self._items.at(place.value)


def _known(items: Any) -> tuple[Interval, bool]:
    """Return what is known of the numbers in a range, and whether int32 is enough to count them."""
    start, stop = (interval_of(bound) or INT64 for bound in (items.start, items.stop))
    interval = of_range(start, stop, items.step)
    behind = Interval(stop.low + items.step, stop.high + items.step)  # what the counter ends with
    is_narrow = all(one.fits(32) for one in (start, stop, behind))
    return Interval(max(interval.low, INT64.low), min(interval.high, INT64.high)), is_narrow
