"""The function that is being recorded on this thread, if there is one.

A recorder stands between the elements and the program under construction. It keeps the user's line
up to date, and knows which branches and loops are open. What was made in one that has ended cannot
be used any more; what leaves it goes through a variable of the program, a *slot*.

Sometimes it shows late that something should have been recorded otherwise: a variable needs a wider
type, a loop must be a plain Python one. That is noted in the `Session`, and `Retrace` begins the
whole function again.
"""

import math
import threading
from bisect import bisect_right
from collections.abc import Callable, Hashable
from typing import Any, NamedTuple, NoReturn, TypeVar

from . import _core
from ._core import DType, Recording, Value
from .dtypes import Kind, promote
from .errors import InternalError
from .intervals import Interval

_open = threading.local()
_MOST_TRIALS = 200
_FEW_TRIALS = 20
_MOST_DIRECT = 20_000  # values of a function that is recorded without being rewritten
Result = TypeVar("Result")
Collected = list[tuple[str, Value]]  # how, and what


class Control(BaseException):
    """Ends what is being recorded, for reasons of the recorder; nobody else may catch it."""


class Retrace(Control):
    """The function has to be recorded again; the session says what to do otherwise."""


class Passage(NamedTuple):
    """A place of the source and how often it has been passed: the same in every trial."""

    site: Hashable
    visit: Hashable

    def part(self, name: str, step: int = 0) -> "Passage":
        """Return one for a part of it."""
        return Passage((self.site, name), (self.visit, step))


class Session:
    """What is known of a function from earlier trials to record it. It only ever grows."""

    def __init__(self) -> None:
        self.sequences: list[Any] = []  # from outside, which elements index
        self.converts = False  # the function is rewritten though it has no branches of its own
        self.prints = False  # the function prints
        self.accumulated: dict[Any, Any] = {}  # the kind of what is added to accumulators
        self.between: list[Callable[[], None]] = []  # what comes before the next trial
        self._modes: dict[Hashable, str] = {}
        self._reasons: dict[Hashable, Exception | None] = {}
        self._kinds: dict[Hashable, Kind] = {}
        self._conflicts: dict[Hashable, Any] = {}
        self._trials = 0
        self.drawing: dict[Passage, Any] = {}  # inner maps that draw, and what they give

    def mode(self, passage: Passage) -> str | None:
        """Return how something has to be recorded, by its place."""
        return self._modes.get(passage.site)

    def require_mode(self, passage: Passage, mode: str, why: Exception | None = None) -> NoReturn:
        """Record the function again with something recorded so; else `why` is an error."""
        self._modes[passage.site] = mode
        self._reasons[passage.site] = why
        raise Retrace

    def reason(self, passage: Passage) -> Exception | None:
        """Return the error that the mode is to avoid."""
        return self._reasons.get(passage.site)

    def kind(self, passage: Passage, variable: Hashable, kind: Kind) -> Kind:
        """Return the kind that a variable has to have, which begins with this one."""
        for key in ((passage, variable), (passage.site, variable)):
            if key in self._kinds:
                kind = promote(self._kinds[key], kind)
        return kind

    def widen(self, passage: Passage, variable: Hashable, kind: Kind) -> None:
        """Let a variable have at least this kind in the next trial."""
        # With very many passages of one place, one after another would take too many trials.
        where = passage if self._trials < _FEW_TRIALS else passage.site
        self._kinds[where, variable] = self.kind(passage, variable, kind)

    def conflict(self, passage: Passage, variable: str) -> Any:
        """Return why a variable has no value where a loop begins; None if it may have one."""
        return self._conflicts.get((passage, variable))

    def note_conflict(self, passage: Passage, variable: str, why: Any) -> NoReturn:
        """Record the function again without a value of the variable where a loop begins."""
        self._conflicts[passage, variable] = why
        raise Retrace

    def begin_trial(self) -> None:
        """Count the trials."""
        self._trials += 1
        if self._trials > _MOST_TRIALS:
            raise InternalError("record: the function was recorded too often without an end.")

    def is_first_trial(self) -> bool:
        """Say whether nothing is known yet."""
        return self._trials == 1


class Recorder:
    """Appends to the program of one function."""

    def __init__(self, recording: Recording, session: Session) -> None:
        self.recording = recording
        self.session = session
        self.is_open = True
        self.converts = session.converts  # NumPy may swallow a Retrace: then it is raised again
        self.constant_table: Callable[[Any, DType], Value] = _no_table  # of plain numbers
        self.regions: list[Any] = []  # branches and loops that are open, innermost last
        self.blocks: list[Any] = []  # what can be left and has not ended, innermost last
        self.plain_loops: list[Any] = []  # loops whose steps are recorded one by one
        self.functions: list[Any] = []  # converted functions that are being called
        self.sequences: dict[Hashable, Any] = {}  # memory of sequences from outside
        self.made: dict[int, Any] = {}  # where objects were made, by their address
        self.eaches = 0  # how many are open
        self.integers: set[int] = set()  # numbers of values that are Python integers from outside
        self.fitting: set[tuple[int, DType]] = set()  # those that all elements know to fit a type
        self.prints: Any = None  # takes the lines of a function that prints
        self.texts: list[Any] = []  # about elements, that are put off until they are printed
        self.accumulated: dict[Any, Any] = {}  # what accumulators have in the program
        self.is_numbered = False  # which number an element has makes a difference
        self.notes: dict[Any, Any] = {}  # of a dialect
        self.dialect: Any = None  # what else holds inside of the function
        self.draws = 0  # how many are recorded up to now
        self.intervals: dict[int, Interval] = {}  # of values by number, where something is known
        self._visits: dict[Hashable, int] = {}
        self.gone: list[tuple[int, int]] = []  # numbers of values in regions that have ended

    def make_plain(self, value: Value, error: Exception, steps: int | None = None) -> None:
        """Record the function again with plain loops, if that makes this value a plain one.

        With `steps`, only loops over ranges that together have so few are made so.
        """
        loops = [region for region in self.regions if region.can_be_plain]
        if steps is not None:
            loops = [loop for loop in loops if loop.trips is not None]
        heads = [head for loop in loops for head in loop.heads_of(steps is None)]
        if not heads or not self.recording.comes_only_from(value, heads):
            return
        chosen = [
            loop
            for loop in loops
            if any(self.recording.depends(value, head) for head in loop.heads_of(steps is None))
        ]
        if steps is None or math.prod(loop.trips for loop in chosen) <= steps:
            for loop in reversed(chosen):
                loop.unroll(error)

    def is_everybody_here(self) -> bool:
        """Say whether all elements are at this point."""
        return not self.regions and not any(block.is_left for block in self.blocks)

    def visit(self, site: Hashable) -> Passage:
        """Count the passage of a place in the source."""
        visits = self._visits[site] = self._visits.get(site, 0) + 1
        return Passage(site, visits)

    def locate(self) -> None:
        """Let what is recorded next name the user's present line."""
        self.recording.locate()

    def constant(self, dtype: DType, value: bool | int | float) -> Value:
        """Record a literal, which must fit the type."""
        return self.recording.constant(dtype, value)

    def op(self, name: str, operands: list[Value]) -> Value:
        """Record an op of the table."""
        result = self.recording.op(name, operands)
        if result.id > _MOST_DIRECT and not self.converts:
            # A plain loop somewhere, which rewritten would be one of the program.
            self.session.converts = True
            raise Retrace
        return result

    def convert(self, value: Value, dtype: DType) -> Value:
        """Record a conversion, if one is needed."""
        if value.dtype is dtype:
            return value
        return self.recording.convert(value, dtype)

    def is_never_negative(self, value: Value) -> bool:
        """Say whether it is known of a value that it is not below 0."""
        interval = self.intervals.get(value.id)
        return interval is not None and interval.low >= 0

    def each(
        self, size: int, body: Callable[[Value], Collected], count: Value | None = None
    ) -> list[Value]:
        """Record an `each`; the body gives values, and what becomes of them.

        With a count, elements have so many positions, and `size` at most.
        """
        self.locate()
        first = self.recording.size
        each, position = self.recording.begin_each(size, count)
        self.eaches += 1
        collected = body(position)
        for how, value in collected:
            self.recording.collect(how, value)
        self.recording.end_each()
        self.eaches -= 1
        self.lose(first)
        return [self.recording.result(each, index) for index in range(len(collected))]

    def lose(self, first: int) -> None:
        """Let values from this number on not be used any more: their region has ended."""
        while self.gone and self.gone[-1][0] >= first:
            self.gone.pop()
        self.gone.append((first, self.recording.size))

    def is_gone(self, value: Value) -> bool:
        """Say whether a value was made in a region that has ended."""
        if not self.gone:
            return False
        at = bisect_right(self.gone, (value.id, self.recording.size)) - 1
        return at >= 0 and self.gone[at][0] <= value.id < self.gone[at][1]


def _no_table(array: Any, dtype: DType) -> NoReturn:
    raise InternalError("record: there is no place for arrays of plain numbers.")


def current() -> Recorder | None:
    """Return the recorder that is open on this thread."""
    recorder: Recorder | None = getattr(_open, "recorder", None)
    return recorder


def _asks_for_another(error: BaseException | None) -> bool:
    """Say whether a `Retrace` is behind an error; `finally` may have raised another over it."""
    while error is not None and not isinstance(error, Retrace):
        error = error.__context__
    return error is not None


def record_function(name: str, body: Callable[[Recorder], Result]) -> Result:
    """Call `body` with a recorder, with another one until it needs no other trial."""
    session = Session()
    before = current()
    while True:
        session.begin_trial()
        recording = _core.begin(name)
        recorder = Recorder(recording, session)
        _open.recorder = recorder
        try:
            return body(recorder)
        except BaseException as error:
            if not _asks_for_another(error):
                raise
        finally:
            recording.close()
            _open.recorder = before
            recorder.is_open = False
        while session.between:
            session.between.pop()()
