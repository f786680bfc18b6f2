"""Loops of a rewritten function that is called while nothing is recorded: plain ones."""

from collections.abc import Iterator
from typing import Any

from ..recorder import Control


class HostLoop:
    """A loop as Python runs it, told in the same way as others."""

    def __init__(self, items: Iterator[Any] | None) -> None:
        self._items = items
        self._is_broken = False
        self.item: Any = None

    def goes_on(self) -> bool:
        """Say whether there is another step."""
        if self._items is None:
            return True
        for item in self._items:
            self.item = item
            return True
        return False

    def enter(self, *values: Any) -> tuple[Any, ...]:
        """Begin a step."""
        return values

    repeat = done = join = enter

    def __enter__(self) -> None:
        pass

    def __exit__(self, kind: Any, error: Any, trace: Any) -> bool:
        return kind is _Continue

    def stops(self, test: Any, *_: Any) -> bool:
        """Say whether the test ends the loop."""
        return not test

    def break_(self, *_: Any) -> None:
        """Note that the loop is left."""
        self._is_broken = True

    def continue_(self, *_: Any) -> None:
        """Go on with the next step."""
        raise _Continue

    def otherwise(self) -> bool:
        """Say whether the `else` part runs."""
        return not self._is_broken


class _Continue(Control):
    pass
