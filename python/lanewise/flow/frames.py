"""A call of a rewritten function: its early returns, and the statements it has begun."""

from typing import Any

from .._core import DType
from ..errors import UsageError
from ..recorder import Recorder, current
from ..source import at_line, say
from ..texts import readable
from .branches import If
from .containers import LOCAL
from .host import HostLoop
from .loops import begin_for, begin_while
from .meeting import RESULT, Block, Left
from .state import Missing


class Frame:
    """One call of a rewritten function; entered with `with` for its body."""

    def __init__(self, site: int, name: str, shared: tuple[str, ...]) -> None:
        recorder = current()
        self._name = name
        self._site = site
        self._recorder = recorder
        if recorder is None:
            return
        self._refuse_recursion(recorder)
        if shared:
            self._refuse_in_expressions(recorder, shared)
        self._depth = len(recorder.regions)
        self._plain_loops = len(recorder.plain_loops)
        self._index = len(recorder.functions)
        self._block = Block(recorder, recorder.visit(site), (RESULT, *shared))
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

    def _refuse_in_expressions(self, recorder: Recorder, shared: tuple[str, ...]) -> None:
        if any(region.is_expression for region in recorder.regions):
            raise UsageError(
                at_line(
                    f"{self._name}: changes variables of the function around it in a part of an "
                    f"expression that not all elements evaluate; got nonlocal {', '.join(shared)}, "
                    "expected a call in a statement. Write it with if."
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

    def return_(self, value: Any, *shared: Any) -> Any:
        """Return: at once, where all elements do; else let those that are here leave.

        With the value go the variables of other functions that this one changes.
        """
        recorder = self._recorder
        if recorder is None:
            return (value, *shared) if shared else value
        if isinstance(value, Missing):
            value.refuse()
        if len(recorder.regions) == self._depth and self._block.is_everybody_here():
            return self._result(self._block.end((value, *shared)))
        self._block.leave((value, *shared))
        raise Left

    def finish(self, *_: Any) -> Any:
        """Return what the elements returned, all of which have."""
        return self._result(self._block.end(None))

    def _result(self, values: tuple[Any, ...]) -> Any:
        if isinstance(values[0], Missing):
            values[0].named(self._name).refuse()
        return values if len(values) > 1 else values[0]

    def changes(self, thing: Any) -> None:
        """Refuse to change an object where not all elements are that were where it was made."""
        recorder = self._recorder
        if recorder is None or isinstance(thing, LOCAL):
            return
        place = recorder.made.get(id(thing))
        if place.is_for_all() if place else recorder.is_everybody_here():
            return
        error = UsageError(
            at_line(
                f"{type(thing).__name__}: changed for some elements only; got an assignment to an "
                "attribute or item inside a branch or loop on elements, expected a local variable. "
                "Assign to a variable, or make a new object in each branch."
            )
        )
        for region in reversed(recorder.regions):
            region.unroll(error)
        raise error

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

    def raise_(self, error: Any, is_tried: bool) -> Any:
        """Raise: on a path of some elements, those fail."""
        recorder = self._recorder
        if recorder is None or recorder.is_everybody_here():
            return error
        if is_tried:
            if self.is_everybody_here():
                return error
            return UsageError(
                at_line(
                    "raise: inside of try, for some elements only; got a branch or loop on "
                    "elements, expected one on plain values. Use if instead of try."
                )
            )
        recorder.locate()
        is_class = isinstance(error, type)
        say(readable(error.__name__ if is_class else f"{type(error).__name__}: {error}"))
        recorder.recording.fail_if(recorder.constant(DType.Bool, True))
        return Left()

    def depth(self) -> int:
        """Return how many branches and loops are open, where a `try` statement begins."""
        return 0 if self._recorder is None else len(self._recorder.regions)

    def recover(self, depth: int) -> None:
        """Drop what an exception left open, at the beginning of its handler."""
        if self._recorder is not None and len(self._recorder.regions) > depth:
            self._recorder.regions[depth].discard()
