"""Where paths meet: each brings its values of some variables, and leaves them in slots.

A slot has one kind. A path that brings a wider one makes the function be recorded again, with the
kind that all have in common.
"""

from typing import Any

from ..dtypes import WEAK_NARROW, Kind, promote
from ..element import Varying, is_narrow
from ..recorder import Control, Passage, Recorder, Retrace
from .slots import Slot, is_since, kind_of_part, new_slot, read, slot_before, write
from .state import Missing, describe, is_same_number, put_together, take_apart


class Variable:
    """One variable of the user's function, as the paths bring it."""

    def __init__(self, recorder: Recorder, passage: Passage, name: str) -> None:
        self.name = name
        self.missing: Missing | None = None  # why there is no value
        self._recorder = recorder
        self._passage = passage
        self._shape: Any = None
        self._first: list[Any] = []  # numbers of the first path
        self._slots: list[Slot] = []
        self._is_same: list[bool] = []  # all paths brought the first number

    @property
    def has_slots(self) -> bool:
        """Whether a path has brought a value."""
        return self._shape is not None

    def _kind(self, number: Any, index: int) -> Kind:
        variable = (self.name, index)
        return self._recorder.session.kind(self._passage, variable, kind_of_part(number))

    def start(self, value: Any) -> Any:
        """Make slots with the first value here; return it as it is read from them."""
        if isinstance(value, Missing):
            return value
        self._shape, self._first = take_apart(value)
        for index, number in enumerate(self._first):
            self._slots.append(new_slot(self._recorder, number, self._kind(number, index)))
        self._is_same = [False] * len(self._slots)
        return self.read()

    def write(self, value: Any, scope: int) -> bool:
        """Bring a value; slots are made before the scope. False if their kinds are too narrow."""
        if isinstance(value, Missing):
            self.missing = self.missing or value
            return True
        shape, numbers = take_apart(value)
        if self._shape is None:
            self._shape, self._first = shape, numbers
            for index, number in enumerate(numbers):
                kind = self._kind(number, index)
                self._slots.append(slot_before(self._recorder, scope, number, kind))
            self._is_same = [True] * len(numbers)
        elif self._shape != shape:
            self.missing = self.missing or self.conflict(value)
            return True
        fits = True
        for index, (number, slot) in enumerate(zip(numbers, self._slots, strict=True)):
            kind = slot.kind if _fits(number, slot.kind) else kind_of_part(number)
            if promote(slot.kind, kind) != slot.kind:
                wider = promote(slot.kind, kind)
                self._recorder.session.widen(self._passage, (self.name, index), wider)
                fits = False
                continue
            write(self._recorder, slot, number)
            self._is_same[index] &= is_same_number(number, self._first[index])
        return fits

    def differs(self, value: Any) -> bool:
        """Say whether a value is of another shape than those that were brought."""
        return bool(take_apart(value).shape != self._shape)

    def conflict(self, value: Any) -> Missing:
        """Return what stands for the variable when such a value is brought too."""
        if self.name == RESULT:
            return _differing_results(put_together(self._shape, iter(self._first)), value)
        return differing(self.name, put_together(self._shape, iter(self._first)), value)

    def read(self, before: int = 0) -> Any:
        """Return what was brought; numbers of before that all paths brought stay what they are."""
        if self.missing is not None:
            return self.missing.named(self.name)
        numbers = [
            first if same and not is_since(first, before) else read(self._recorder, slot)
            for first, same, slot in zip(self._first, self._is_same, self._slots, strict=True)
        ]
        return put_together(self._shape, iter(numbers))


def _fits(number: Any, kind: Kind) -> bool:
    return kind == WEAK_NARROW and is_narrow(number)


def differing(name: str, a: Any, b: Any) -> Missing:
    """Return what stands for a variable that is of two sorts."""
    if isinstance(a, Varying) and isinstance(b, Varying):
        return Missing(
            name,
            "is another row on another path; got two of them, expected one, as their lengths "
            "differ. Choose between numbers, np.where(test, a, b), or make the row behind them.",
        )
    return Missing(
        name,
        f"is not of one sort for all elements; got {describe(a)} on one path and {describe(b)} on "
        "another, expected the same structure on both. Give it a number, or a tuple of as many, on "
        "every path.",
    )


RESULT = "the result"


def _differing_results(a: Any, b: Any) -> Missing:
    hint = " Is a return missing?" if a is None or b is None else ""
    return Missing(
        RESULT,
        f"the function returns different things; got {describe(a)} on one path and {describe(b)} "
        f"on another, expected the same structure on every path.{hint}",
    )


class Meeting:
    """The variables that paths bring to one place."""

    def __init__(self, recorder: Recorder, passage: Passage, names: tuple[str, ...]) -> None:
        self._recorder = recorder
        self.variables = [Variable(recorder, passage, name) for name in names]
        self.first = recorder.recording.size  # number of the first value inside

    def write(self, values: tuple[Any, ...], scope: int) -> None:
        """Bring values to the end of this scope."""
        self._recorder.locate()
        fits = [
            variable.write(value, scope)
            for variable, value in zip(self.variables, values, strict=True)
        ]
        if not all(fits):
            raise Retrace

    def read(self) -> tuple[Any, ...]:
        """Return the values behind the scope."""
        return tuple(variable.read(self.first) for variable in self.variables)


class Left(Control):
    """No element goes on here: all have left for where a branch, loop or function leads them."""


class Block:
    """Something that elements can leave before its end: a function, a loop, a step of one."""

    def __init__(self, recorder: Recorder, passage: Passage, names: tuple[str, ...]) -> None:
        self._recorder = recorder
        self._scope = recorder.recording.begin_block()
        self._index = len(recorder.blocks)
        recorder.blocks.append(self)
        self._meeting = Meeting(recorder, passage, names)
        self.is_left = False

    def is_everybody_here(self) -> bool:
        """Say whether no element has left a block inside of this one for what follows that."""
        return not any(block.is_left for block in self._recorder.blocks[self._index + 1 :])

    def leave(self, values: tuple[Any, ...]) -> None:
        """Let the elements that are here leave with these values."""
        self._recorder.locate()
        recording = self._recorder.recording
        self.is_left = True
        self._meeting.write(values, self._scope)
        recording.leave_scope(self._scope)

    def end(self, values: tuple[Any, ...] | None) -> tuple[Any, ...]:
        """End it with the values of elements that come to its end, if some do."""
        recording = self._recorder.recording
        if not self.is_left:
            del self._recorder.blocks[self._index :]
            recording.end_block(self._scope)
            if values is None:
                raise Left
            return values
        if values is not None:
            self._meeting.write(values, self._scope)
        del self._recorder.blocks[self._index :]
        recording.end_block(self._scope)
        self._recorder.lose(self._meeting.first)
        return self._meeting.read()
