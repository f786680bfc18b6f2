"""The operators of what has many elements: those of a number, for all of them."""

import functools
from collections.abc import Callable
from typing import Any

from .element import divide, floor_divide, power, record

Function = Callable[..., Any]


def _binary(function: Function) -> tuple[Function, Function]:
    """Return the methods of an operator: with the object on its left, and on its right."""
    return (
        lambda self, other: self._operate(function, self, other),
        lambda self, other: self._operate(function, other, self),
    )


def _rule(name: str) -> tuple[Function, Function]:
    return _binary(functools.partial(record, name))


def _unary(name: str) -> Function:
    function = functools.partial(record, name)
    return lambda self: self._operate(function, self)


class Operators:
    """Operators that are functions of numbers; a class says how it applies them to its own."""

    __slots__ = ()

    def _operate(self, function: Function, *operands: Any) -> Any:
        """Return a function of all elements; NotImplemented where an operand is none of ours."""
        raise NotImplementedError

    __add__, __radd__ = _rule("add")
    __sub__, __rsub__ = _rule("subtract")
    __mul__, __rmul__ = _rule("multiply")
    __truediv__, __rtruediv__ = _binary(divide)
    __mod__, __rmod__ = _rule("remainder")
    __and__, __rand__ = _rule("bitwise_and")
    __or__, __ror__ = _rule("bitwise_or")
    __xor__, __rxor__ = _rule("bitwise_xor")
    __lshift__, __rlshift__ = _rule("left_shift")
    __rshift__, __rrshift__ = _rule("right_shift")
    __floordiv__, __rfloordiv__ = _binary(floor_divide)
    __pow__, __rpow__ = _binary(power)
    __lt__ = _rule("less")[0]
    __le__ = _rule("less_equal")[0]
    __gt__ = _rule("greater")[0]
    __ge__ = _rule("greater_equal")[0]
    __eq__ = _rule("equal")[0]
    __ne__ = _rule("not_equal")[0]
    __hash__ = None  # type: ignore[assignment]  # equality is symbolic
    __neg__ = _unary("negative")
    __abs__ = _unary("absolute")
    __invert__ = _unary("invert")

    def __pos__(self) -> Any:
        return self

    def __divmod__(self, other: Any) -> Any:
        return self // other, self % other

    def __rdivmod__(self, other: Any) -> Any:
        return other // self, other % self
