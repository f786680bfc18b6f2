"""The function that is being recorded on this thread, if there is one.

A recorder stands between the elements and the program under construction. It keeps the user's line
up to date, and knows which scopes (the function, the loops around the present line) are open: a
value is good only while the scope that made it is.
"""

import itertools
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Self

from ._core import DType, Recording, Value
from .source import Line, user_line

_open = threading.local()


class Recorder:
    """Appends to the program of one function."""

    def __init__(self, recording: Recording) -> None:
        self.recording = recording
        self._line: Line | None = None
        self._numbers = itertools.count()
        self.scopes = [next(self._numbers)]  # open ones, innermost last; empty at the end

    @property
    def scope(self) -> int:
        """The innermost open scope."""
        return self.scopes[-1]

    def locate(self) -> None:
        """Let what is recorded next name the user's present line."""
        line = user_line()
        if line is not None and line != self._line:
            self.recording.set_location(line.file, line.number)
            self._line = line

    def constant(self, dtype: DType, value: bool | int | float) -> Value:
        """Record a literal, which must fit the type."""
        self.locate()
        return self.recording.constant(dtype, value)

    def op(self, name: str, operands: list[Value]) -> Value:
        """Record an op of the table."""
        self.locate()
        return self.recording.op(name, operands)

    def convert(self, value: Value, dtype: DType) -> Value:
        """Record a conversion, if one is needed."""
        if value.dtype is dtype:
            return value
        self.locate()
        return self.recording.convert(value, dtype)

    def loop(self, initial: list[Value]) -> "Loop":
        """Open a loop, to be used with `with`; what is recorded in the block is its body."""
        self.locate()
        return Loop(self.recording, self.scopes, next(self._numbers), initial)

    def close(self) -> None:
        """End the recording: no value of it is good any more."""
        self.scopes.clear()


class Loop:
    """A loop of the program under construction.

    Unless it is ended inside the `with` block, it is dropped with all its contents.
    """

    def __init__(
        self, recording: Recording, scopes: list[int], scope: int, initial: list[Value]
    ) -> None:
        self._recording = recording
        self._scopes = scopes
        self._loop = recording.begin_loop(initial)
        self.arguments = recording.arguments(self._loop)
        self.ended = False
        scopes.append(scope)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._scopes.pop()
        if not self.ended:
            self._recording.discard_loop(self._loop)

    def break_if(self, condition: Value) -> None:
        """Leave with the values of the step's beginning where the condition holds."""
        self._recording.break_if(condition, self.arguments)

    def end(self, following: list[Value]) -> None:
        """End the body with the values of the next step."""
        self._recording.end_loop(following)
        self.ended = True

    def results(self) -> list[Value]:
        """Return the carried values as the loop leaves them."""
        return [self._recording.result(self._loop, i) for i in range(len(self.arguments))]


def current() -> Recorder | None:
    """Return the recorder that is open on this thread."""
    recorder: Recorder | None = getattr(_open, "recorder", None)
    return recorder


@contextmanager
def open_recorder(recording: Recording) -> Iterator[Recorder]:
    """Make a recorder the one of this thread."""
    recorder = Recorder(recording)
    _open.recorder = recorder
    try:
        yield recorder
    finally:
        _open.recorder = None
        recorder.close()
