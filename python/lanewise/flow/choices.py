"""The ternary, `and`, `or` and chains of comparisons: only some elements evaluate what comes later.

What comes later is given as a function without arguments.
"""

from collections.abc import Callable
from typing import Any

from .._core import DType
from ..element import Element, record
from ..errors import UsageTypeError
from ..source import at_line
from .branches import Branch, not_, truth
from .meeting import is_made_since, read
from .state import Missing, describe, is_same_number, put_together, take_apart

Later = Callable[[], Any]


def ternary(test: Any, then: Later, otherwise: Later) -> Any:
    """Do `then if test else otherwise`."""
    test = truth(test)
    if not isinstance(test, Element):
        return then() if test else otherwise()
    a = _evaluate(test, then)
    return choose(test, a, _evaluate(not_(test), otherwise))


def and_(left: Any, *later: Later) -> Any:
    """Do `left and ...`."""
    if not later:
        return left
    if not isinstance(left, Element):
        return and_(later[0](), *later[1:]) if left else left
    test = truth(left)
    right = _evaluate(test, lambda: and_(later[0](), *later[1:]))
    if _is_bool(left) and _is_bool(right):
        return record("bitwise_and", left, right)
    return choose(test, right, left)


def or_(left: Any, *later: Later) -> Any:
    """Do `left or ...`."""
    if not later:
        return left
    if not isinstance(left, Element):
        return left if left else or_(later[0](), *later[1:])
    test = truth(left)
    right = _evaluate(not_(test), lambda: or_(later[0](), *later[1:]))
    if _is_bool(left) and _is_bool(right):
        return record("bitwise_or", left, right)
    return choose(test, left, right)


def compare(left: Any, operator: Callable[[Any, Any], Any], right: Later, *more: Any) -> Any:
    """Do a chain of comparisons; an operator is followed by its right operand."""
    operand = right()
    result = operator(left, operand)
    if not more:
        return result
    return and_(result, lambda: compare(operand, *more))


def contains(item: Any, container: Any) -> Any:
    """Do `item in container`."""
    is_list = isinstance(container, (tuple, list, set, frozenset))
    if not is_list or not any(isinstance(x, Element) for x in (item, *container)):
        return item in container
    return or_(False, *((lambda other=other: item == other) for other in container))


def contains_not(item: Any, container: Any) -> Any:
    """Do `item not in container`."""
    return not_(contains(item, container))


def _evaluate(condition: Element, later: Later) -> Any:
    """Evaluate for the elements whose condition holds; for others it is any value."""
    recorder = condition.recorder
    branch = Branch(recorder, condition.value, is_expression=True)
    value = later()
    if isinstance(value, Missing):
        value.refuse()
    if branch.dissolve():
        return value
    tree = take_apart(value)
    slots = [
        branch.slot(number) if is_made_since(number, branch.first) else None
        for number in tree.numbers
    ]
    branch.end()
    numbers = (
        number if slot is None else read(recorder, slot)
        for number, slot in zip(tree.numbers, slots, strict=True)
    )
    return put_together(tree.shape, numbers)


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
