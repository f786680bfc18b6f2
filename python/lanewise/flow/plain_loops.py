"""Loops whose steps are recorded one by one, and what all loops have in common."""

from collections.abc import Iterable, Iterator
from typing import Any

from ..element import Element
from ..errors import UsageError
from ..recorder import Passage, Recorder
from ..source import at_line
from .meeting import Block, Left

MOST_PLAIN_STEPS = 10_000
REGION, PLAIN = "region", "plain"  # how a loop has to be recorded


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
            session.require_mode(self._passage, REGION)
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
            self._recorder.session.require_mode(self._passage, REGION)
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
