"""Functions of `cmath`, as they are on elements: in the complex type for theirs, as NumPy's are."""

import cmath
from collections.abc import Callable
from typing import Any

from ..complex_element import made
from ..complex_functions import as_complex_operand, select
from ..element import Element, constant, record
from .branches import not_
from .builtins import FUNCTIONS, for_elements

_OTHER_NAMES = {
    name: f"arc{name[1:]}" for name in ("acos", "acosh", "asin", "asinh", "atan", "atanh")
}


def _recorded(name: str) -> None:
    rule = _OTHER_NAMES.get(name, name)
    for_elements(getattr(cmath, name))(lambda z: record(rule, as_complex_operand(z)))


for _name in (
    *("acos", "acosh", "asin", "asinh", "atan", "atanh", "cos", "cosh", "exp", "log10", "sin"),
    *("sinh", "sqrt", "tan", "tanh", "isfinite", "isinf", "isnan"),
):
    _recorded(_name)


@for_elements(cmath.log)
def _log(z: Any, base: Any = None) -> Any:
    result = _of(cmath.log, z)
    return result if base is None else result / _of(cmath.log, base)


def _of(function: Callable[..., Any], z: Any) -> Any:
    """Call a function of one number, which may be plain."""
    if isinstance(z, Element):
        return record(function.__name__, as_complex_operand(z))
    return function(z)


@for_elements(cmath.phase)
def _phase(z: Element) -> Any:
    return record("phase", as_complex_operand(z))


@for_elements(cmath.polar)
def _polar(z: Element) -> tuple[Any, Any]:
    return abs(as_complex_operand(z)), _phase(z)


@for_elements(cmath.rect)
def _rect(r: Any, phi: Any) -> Any:
    angle = phi if isinstance(phi, Element) else constant(r.recorder, phi)
    real, imag = r * record("cos", angle), r * record("sin", angle)
    # No angle: real also where the length is infinite.
    return made(real, select(angle == 0, angle * record("copysign", 1.0, r), imag))


@for_elements(cmath.isclose)
def _isclose(a: Any, b: Any, *, rel_tol: float = 1e-9, abs_tol: float = 0.0) -> Any:
    a, b = as_complex_operand(a), as_complex_operand(b)
    difference = abs(a - b)
    larger = FUNCTIONS[max](abs(a), abs(b))
    is_near = (difference <= rel_tol * larger) | (difference <= abs_tol)
    is_infinite = FUNCTIONS[cmath.isinf](a) | FUNCTIONS[cmath.isinf](b)
    return (a == b) | (is_near & not_(is_infinite))
