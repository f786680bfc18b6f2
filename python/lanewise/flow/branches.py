"""`if`: on elements, parts of the program that only some elements run; else what Python does."""

from typing import Any, NamedTuple

from .._core import DType, Value
from ..complex_element import split
from ..dtypes import FLOATS, PARTS, parts_of, promote
from ..element import Element, as_value, kind_of, record
from ..recorder import Recorder
from ..source import at_line
from .meeting import Left, Slot, differing, read, write
from .state import (
    Missing,
    Tree,
    is_maybe,
    is_same_number,
    put_together,
    surely,
    take_apart,
)


def truth(test: Any) -> Any:
    """Return a condition as an element of type bool, or as a plain bool."""
    if not isinstance(test, Element):
        return bool(test)
    recorder = test.recorder
    if test.kind.dtype in PARTS:
        return record("not_equal", test, 0)
    return Element(recorder, as_value(recorder, test, DType.Bool))


def not_(operand: Any) -> Any:
    """Do `not operand`."""
    if not isinstance(operand, Element):
        return not operand
    return record("invert", truth(operand))


class Branch:
    """A part of the program for the elements whose condition holds."""

    can_be_plain = False

    def __init__(self, recorder: Recorder, condition: Value, is_expression: bool = False) -> None:
        self._recorder = recorder
        self.is_expression = is_expression
        recorder.locate()
        self.first = recorder.recording.size
        self.scope = recorder.recording.begin_branch(condition)
        recorder.regions.append(self)

    def slot(self, number: Any, initial: Any = None) -> Slot:
        """Keep a number for what follows; `initial` is what others have, 0 if not given."""
        recorder = self._recorder
        kind = kind_of(number)
        starts: tuple[Any, ...] = (None, None)
        if initial is not None:
            kind = promote(kind_of(initial), kind)
            starts = split(initial) if kind.dtype in PARTS else (initial,)
        values = [
            recorder.recording.slot_before(self.scope, part, _before(start, part))
            for part, start in zip(parts_of(kind.dtype), starts, strict=False)
        ]
        slot = Slot(tuple(values), kind)
        self.write(slot, number)
        return slot

    def write(self, slot: Slot, number: Any) -> None:
        """Assign to a slot."""
        write(self._recorder, slot, number)

    def end(self) -> None:
        """End it."""
        self._recorder.regions.pop()
        self._recorder.recording.end_branch()
        self._recorder.lose(self.first)

    def dissolve(self) -> bool:
        """End it as if it had been no branch, where that makes no difference but in time."""
        if not self._recorder.recording.dissolve_branch():
            return False
        self._recorder.regions.pop()
        return True

    def unroll(self, error: Exception) -> None:
        """Do nothing: it has no steps."""

    def discard(self) -> None:
        """Drop it; an exception has ended it."""
        del self._recorder.regions[self._recorder.regions.index(self) :]
        self._recorder.recording.discard_scope(self.scope)
        self._recorder.lose(self.first)


def _before(number: Any, dtype: DType) -> Any:
    """Return a number from before, if there is one, as `slot_before` takes it."""
    if number is None:
        return None
    if isinstance(number, Element):
        return number.value
    plain = number.item() if hasattr(number, "item") else number
    if dtype is DType.Bool:
        return bool(plain)
    return float(plain) if dtype in FLOATS else int(plain)


class _Path(NamedTuple):
    """What the elements that took a branch bring: trees, and the slots of numbers that changed."""

    trees: list[Tree | Missing]
    slots: list[list[Slot | None]]


class If:
    """An `if` statement: begun with its test, told the variables before and after its parts."""

    def __init__(self, test: Any, names: tuple[str, ...], values: tuple[Any, ...]) -> None:
        self._names = names
        self._test = truth(test)
        self._is_plain = not isinstance(self._test, Element)
        if not self._is_plain:
            self._recorder: Recorder = self._test.recorder
        self._before = values
        self._branch: Branch | None = None
        self._is_alive = True
        self._then: _Path | None = None
        self._else: _Path | None = None
        self._has_else = False

    def then(self) -> bool:
        """Begin the first part, if it runs."""
        if self._is_plain:
            return bool(self._test)
        self._branch = Branch(self._recorder, self._test.value)
        return True

    def otherwise(self) -> bool:
        """Begin the other part, if it runs."""
        if self._is_plain:
            return not self._test
        self._has_else = True
        self._branch = Branch(self._recorder, not_(self._test).value)
        return True

    def __enter__(self) -> None:
        self._is_alive = True

    def __exit__(self, kind: Any, error: Any, trace: Any) -> bool:
        if self._is_plain or kind is None:
            return False
        if kind is Left:
            self._is_alive = False
            return True
        if issubclass(kind, Exception):
            assert self._branch is not None
            self._branch.discard()
        return False

    def after(self, *values: Any) -> tuple[Any, ...]:
        """End a part; return the variables as they were before it."""
        if self._is_plain:
            return values
        assert self._branch is not None
        path = self._bring(values) if self._is_alive else None
        self._branch.end()
        if self._has_else:
            self._else = path
        else:
            self._then = path
        return self._before

    def _bring(self, values: tuple[Any, ...]) -> _Path:
        assert self._branch is not None
        trees: list[Tree | Missing] = []
        slots: list[list[Slot | None]] = []
        for index, (value, before) in enumerate(zip(values, self._before, strict=True)):
            if isinstance(value, Missing):
                trees.append(value)
                slots.append([])
                continue
            tree = take_apart(value)
            trees.append(tree)
            if value is before:
                slots.append([None] * len(tree.numbers))
                continue
            slots.append(self._slots(tree, before, self._shared(index, tree)))
        return _Path(trees, slots)

    def _shared(self, index: int, tree: Tree) -> list[Slot | None] | None:
        """Return the slots that the other part has for a variable, if they may serve."""
        if self._then is None:
            return None
        other = self._then.trees[index]
        if isinstance(other, Missing) or other.shape != tree.shape:
            return None
        return self._then.slots[index]

    def _slots(
        self, tree: Tree, before: Any, shared: list[Slot | None] | None
    ) -> list[Slot | None]:
        assert self._branch is not None
        initial: list[Any] = [None] * len(tree.numbers)
        if not isinstance(before, Missing):
            old = take_apart(before)
            if old.shape == tree.shape:
                initial = old.numbers
        slots: list[Slot | None] = []
        for index, number in enumerate(tree.numbers):
            slot = shared[index] if shared else None
            if is_same_number(number, initial[index]):
                slots.append(None)
            elif slot is not None and promote(slot.kind, kind_of(number)) == slot.kind:
                self._branch.write(slot, number)
                slots.append(slot)
            else:
                slots.append(self._branch.slot(number, initial[index]))
        return slots

    def join(self, *values: Any) -> tuple[Any, ...]:
        """End the statement; return the variables as the elements bring them."""
        if self._is_plain:
            return values
        if self._has_else and self._then is None and self._else is None:
            raise Left
        if self._then is None:
            return values if self._else is None else tuple(map(self._only, *self._else))
        if self._has_else and self._else is None:
            return tuple(map(self._only, *self._then))
        return tuple(self._meet(index) for index in range(len(self._names)))

    def _only(self, tree: Tree | Missing, slots: list[Slot | None]) -> Any:
        """Return a variable as the only path brings it."""
        if isinstance(tree, Missing):
            return tree
        numbers = (
            number if slot is None else read(self._recorder, slot)
            for number, slot in zip(tree.numbers, slots, strict=True)
        )
        return put_together(tree.shape, numbers)

    def _meet(self, index: int) -> Any:
        """Return a variable as the two paths bring it."""
        assert self._then is not None
        name, before = self._names[index], self._before[index]
        then_tree, then_slots = self._then.trees[index], self._then.slots[index]
        else_tree: Tree | Missing
        if self._else is not None:
            else_tree, else_slots = self._else.trees[index], self._else.slots[index]
        else:
            else_tree = before if isinstance(before, Missing) else take_apart(before)
            else_slots = [] if isinstance(else_tree, Missing) else [None] * len(else_tree.numbers)
        if isinstance(then_tree, Missing) or isinstance(else_tree, Missing):
            if isinstance(then_tree, Missing) and isinstance(else_tree, Missing):
                return then_tree
            return _one_sided(name)
        is_old = not isinstance(before, Missing) and take_apart(before).shape == then_tree.shape
        if is_maybe(then_tree) != is_maybe(else_tree):
            is_old = False
            if is_maybe(then_tree):
                else_tree, else_slots = surely(else_tree), [*else_slots, None]
            else:
                then_tree, then_slots = surely(then_tree), [*then_slots, None]
        if then_tree.shape != else_tree.shape:
            a = put_together(then_tree.shape, iter(then_tree.numbers))
            return differing(name, a, put_together(else_tree.shape, iter(else_tree.numbers)))
        numbers = [
            self._choose(a, b, s, t, is_old)
            for a, b, s, t in zip(
                then_tree.numbers, else_tree.numbers, then_slots, else_slots, strict=True
            )
        ]
        return put_together(then_tree.shape, iter(numbers))

    def _choose(self, a: Any, b: Any, s: Slot | None, t: Slot | None, has_initial: bool) -> Any:
        if s is None and t is None:
            return a if is_same_number(a, b) else record("select", self._test, a, b)
        if s is t or (has_initial and t is None):
            assert s is not None
            return read(self._recorder, s)
        if has_initial and s is None:
            assert t is not None
            return read(self._recorder, t)
        if not isinstance(a, Element) and not isinstance(b, Element) and is_same_number(a, b):
            return a
        left = a if s is None else read(self._recorder, s)
        right = b if t is None else read(self._recorder, t)
        return record("select", self._test, left, right)


def _one_sided(name: str) -> Missing:
    return Missing(
        name,
        "may have no value; got an assignment on one path only "
        f"({_line()}), expected one on every path that leads here. Give it a value before.",
    )


def _line() -> str:
    return at_line("").removesuffix(": ")
