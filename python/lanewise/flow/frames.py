"""A call of a rewritten function: its early returns, and the statements it has begun."""

from typing import Any

from .._core import DType
from ..errors import ElementError, UsageError
from ..recorder import Recorder, current
from ..source import at_line, user_line
from .branches import If
from .host import HostLoop
from .loops import begin_for, begin_while
from .meeting import RESULT, Block, Left
from .state import Missing


class Frame:
    """One call of a rewritten function; entered with `with` for its body."""

    def __init__(self, site: int, name: str) -> None:
        recorder = current()
        self._name = name
        self._site = site
        self._recorder = recorder
        if recorder is None:
            return
        self._refuse_recursion(recorder)
        self._depth = len(recorder.regions)
        self._plain_loops = len(recorder.plain_loops)
        self._index = len(recorder.functions)
        self._block = Block(recorder, recorder.visit(site), (RESULT,))
        recorder.functions.append(self)

    def _refuse_recursion(self, recorder: Recorder) -> None:
        for frame in recorder.functions:
            if frame._site == self._site and not frame.is_everybody_here():
                raise UsageError(
                    at_line(
                        f"{self._name}: calls itself; got a call that depends on elements, whose "
                        "number is not known while it is recorded, expected a loop. Write it with "
                        "while, and a local list or array of fixed size as a stack."
                    )
                )

    def is_everybody_here(self) -> bool:
        """Say whether all elements that were there at its beginning still are at this point."""
        assert self._recorder is not None
        return (
            len(self._recorder.regions) == self._depth
            and not self._block.is_left
            and self._block.is_everybody_here()
        )

    def __enter__(self) -> None:
        pass

    def __exit__(self, kind: Any, error: Any, trace: Any) -> bool:
        if self._recorder is None:
            return False
        del self._recorder.functions[self._index :]
        del self._recorder.plain_loops[self._plain_loops :]
        return kind is Left and len(self._recorder.regions) == self._depth

    def return_(self, value: Any) -> Any:
        """Return: at once, where all elements do; else let those that are here leave."""
        recorder = self._recorder
        if recorder is None:
            return value
        if isinstance(value, Missing):
            value.refuse()
        if len(recorder.regions) == self._depth and self._block.is_everybody_here():
            return self._result(self._block.end((value,)))
        self._block.leave((value,))
        raise Left

    def finish(self) -> Any:
        """Return what the elements returned, all of which have."""
        return self._result(self._block.end(None))

    def _result(self, values: tuple[Any, ...]) -> Any:
        (value,) = values
        if isinstance(value, Missing):
            value.named(self._name).refuse()
        return value

    # --- statements ---

    def if_(self, test: Any, names: tuple[str, ...], *values: Any) -> If:
        """Begin an `if` statement."""
        return If(test, names, values)

    def while_(
        self,
        site: int,
        names: tuple[str, ...],
        has_else: bool,
        values: tuple[Any, ...],
        used: tuple[Any, ...],
    ) -> Any:
        """Begin a `while` statement."""
        if self._recorder is None:
            return HostLoop(None)
        return begin_while(self._recorder, site, names, has_else, values, used)

    def for_(
        self,
        site: int,
        names: tuple[str, ...],
        has_else: bool,
        values: tuple[Any, ...],
        used: tuple[Any, ...],
        items: Any,
    ) -> Any:
        """Begin a `for` statement."""
        if self._recorder is None:
            return HostLoop(iter(items))
        return begin_for(self._recorder, site, names, has_else, values, used, items)

    def raise_(self, error: Any) -> Any:
        """Raise: on a path of some elements, those fail."""
        recorder = self._recorder
        if recorder is None or self.is_everybody_here():
            return error
        recorder.locate()
        if (line := user_line()) is not None:
            is_class = isinstance(error, type)
            said = error.__name__ if is_class else f"{type(error).__name__}: {error}"
            ElementError.messages[f"{line.file}:{line.number}"] = said
        recorder.recording.fail_if(recorder.constant(DType.Bool, True))
        return Left()

    def depth(self) -> int:
        """Return how many branches and loops are open, where a `try` statement begins."""
        return 0 if self._recorder is None else len(self._recorder.regions)

    def recover(self, depth: int) -> None:
        """Drop what an exception left open, at the beginning of its handler."""
        if self._recorder is not None and len(self._recorder.regions) > depth:
            self._recorder.regions[depth].discard()
