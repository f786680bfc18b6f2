"""The ternary, `and`, `or` and chains of comparisons: only some elements evaluate what comes later.

What comes later is given as a function without arguments. Where it assigns variables by ``:=``, the
function takes and returns them, and `assigning` joins them as a branch does.
"""

from collections.abc import Callable
from types import FunctionType
from typing import Any

from .._core import DType
from ..element import Element, record
from ..errors import UsageTypeError
from ..source import at_line
from .branches import Branch, not_, truth
from .meeting import differing, is_made_since, read
from .state import Maybe, Missing, describe, is_same_number, put_together, take_apart

Later = Callable[[], Any]


class Variables:
    """Variables that operands assign by ``:=``, as they are at the present point."""

    def __init__(self, names: tuple[str, ...], values: tuple[Any, ...]) -> None:
        self._names = names
        self.values = values

    def evaluate(self, operand: Callable[..., tuple[Any, ...]]) -> Any:
        """Evaluate an operand, which takes the variables and returns them after its value."""
        value, *assigned = operand(*self.values)
        self.values = tuple(assigned)
        return value

    def join(self, condition: Element, before: tuple[Any, ...], after: tuple[Any, ...]) -> None:
        """Take the values of elements whose condition holds, for others those of before."""
        self.values = tuple(
            old if new is old else _joined(name, condition, old, new)
            for name, old, new in zip(self._names, before, after, strict=True)
        )


def _joined(name: str, condition: Element, old: Any, new: Any) -> Any:
    if isinstance(new, Missing):
        return new
    if isinstance(old, Missing):
        # What was not evaluated is 0, so that a condition in the value is False.
        return new if isinstance(new, Maybe) else Maybe(new, condition)
    if isinstance(old, Maybe) and not isinstance(new, Maybe):
        new = Maybe(new, True)
    elif isinstance(new, Maybe) and not isinstance(old, Maybe):
        old = Maybe(old, True)
    if take_apart(old).shape != take_apart(new).shape:
        return differing(name, new, old)
    return choose(condition, new, old)


def assigning(
    what: Callable[..., Any],
    names: tuple[str, ...],
    first: Any,
    values: tuple[Any, ...],
    *operands: Any,
) -> tuple[Any, ...]:
    """Do one of the functions below on operands that assign variables; return these after it."""
    variables = Variables(names, values)
    later = (
        (lambda operand=operand: variables.evaluate(operand))
        if isinstance(operand, FunctionType)
        else operand
        for operand in operands
    )
    return (what(first, *later, variables=variables), *variables.values)


def ternary(test: Any, then: Later, otherwise: Later, *, variables: Variables | None = None) -> Any:
    """Do `then if test else otherwise`."""
    test = truth(test)
    if not isinstance(test, Element):
        return then() if test else otherwise()
    a = _evaluate(test, then, variables)
    return choose(test, a, _evaluate(not_(test), otherwise, variables))


def and_(left: Any, *later: Later, variables: Variables | None = None) -> Any:
    """Do `left and ...`."""
    if not later:
        return left
    if not isinstance(left, Element):
        return and_(later[0](), *later[1:], variables=variables) if left else left
    test = truth(left)
    right = _evaluate(test, lambda: and_(later[0](), *later[1:], variables=variables), variables)
    if _is_bool(left) and _is_bool(right):
        return record("bitwise_and", left, right)
    return choose(test, right, left)


def or_(left: Any, *later: Later, variables: Variables | None = None) -> Any:
    """Do `left or ...`."""
    if not later:
        return left
    if not isinstance(left, Element):
        return left if left else or_(later[0](), *later[1:], variables=variables)
    test = truth(left)
    right = _evaluate(
        not_(test), lambda: or_(later[0](), *later[1:], variables=variables), variables
    )
    if _is_bool(left) and _is_bool(right):
        return record("bitwise_or", left, right)
    return choose(test, left, right)


def compare(
    left: Any,
    operator: Callable[[Any, Any], Any],
    right: Later,
    *more: Any,
    variables: Variables | None = None,
) -> Any:
    """Do a chain of comparisons; an operator is followed by its right operand."""
    operand = right()
    result = operator(left, operand)
    if not more:
        return result
    return and_(result, lambda: compare(operand, *more, variables=variables), variables=variables)


def contains(item: Any, container: Any) -> Any:
    """Do `item in container`."""
    is_list = isinstance(container, (tuple, list, set, frozenset))
    if not is_list or not any(isinstance(x, Element) for x in (item, *container)):
        return item in container
    return or_(False, *((lambda other=other: item == other) for other in container))


def contains_not(item: Any, container: Any) -> Any:
    """Do `item not in container`."""
    return not_(contains(item, container))


def _evaluate(condition: Element, later: Later, variables: Variables | None = None) -> Any:
    """Evaluate for the elements whose condition holds; for others it is any value."""
    recorder = condition.recorder
    before = variables.values if variables else ()
    branch = Branch(recorder, condition.value, is_expression=True)
    value = later()
    if isinstance(value, Missing):
        value.refuse()
    after = variables.values if variables else ()
    if not branch.dissolve():
        # Variables without a value are no part of what leaves the branch.
        tree = take_apart((value, tuple(None if isinstance(v, Missing) else v for v in after)))
        slots = [
            branch.slot(number) if is_made_since(number, branch.first) else None
            for number in tree.numbers
        ]
        branch.end()
        numbers = (
            number if slot is None else read(recorder, slot)
            for number, slot in zip(tree.numbers, slots, strict=True)
        )
        value, outside = put_together(tree.shape, numbers)
        after = tuple(
            old if old is was or isinstance(old, Missing) else new
            for was, old, new in zip(before, after, outside, strict=True)
        )
    if variables:
        variables.join(condition, before, after)
    return value


def _is_bool(value: Any) -> bool:
    if isinstance(value, Element):
        return value.kind.dtype is DType.Bool
    return isinstance(value, bool)


def choose(test: Element, a: Any, b: Any) -> Any:
    """Return `a` where the test holds, else `b`, number by number."""
    a_tree, b_tree = take_apart(a), take_apart(b)
    if a_tree.shape != b_tree.shape:
        raise UsageTypeError(
            at_line(
                "if: the two values of an expression are not of one sort; got "
                f"{describe(a)} and {describe(b)}, expected two numbers, or tuples of as many. "
                "Give both the same structure."
            )
        )
    numbers = (
        x if is_same_number(x, y) else record("select", test, x, y)
        for x, y in zip(a_tree.numbers, b_tree.numbers, strict=True)
    )
    return put_together(a_tree.shape, numbers)
