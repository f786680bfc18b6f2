"""Builtins and functions of `math`, as they are on elements.

A function of `math` computes in the type of its elements, as NumPy's do. What Python makes an
``int`` is a weak int64.
"""

import builtins
import functools
import math
from collections.abc import Callable, Iterable
from typing import Any

import numpy as np

from .._core import DType
from ..complex_element import Complex, made, split
from ..dtypes import FLOATS, PARTS, TO_NUMPY
from ..element import Element, Varying, numpy_name, power, record, unsupported, whole
from ..errors import UsageError, UsageTypeError
from ..source import at_line
from .branches import not_, truth
from .choices import and_, choose, or_
from .containers import local_array
from .formats import print_, str_, text
from .ranges import Range

FUNCTIONS: dict[Any, Callable[..., Any]] = {}


def _has_element(values: Iterable[Any]) -> bool:
    return builtins.any(isinstance(value, Element) for value in values)


def for_elements(plain: Any) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Let a function stand for another where an element is among the arguments."""
    is_of_reals = getattr(plain, "__module__", None) == "math"

    def decorate(function: Callable[..., Any]) -> Callable[..., Any]:
        def choose_one(*args: Any, **kwargs: Any) -> Any:
            if _has_element(args) or _has_element(kwargs.values()):
                if is_of_reals and builtins.any(isinstance(arg, Complex) for arg in args):
                    raise _of_complex(plain.__name__)
                return function(*args, **kwargs)
            return plain(*args, **kwargs)

        FUNCTIONS[plain] = choose_one
        return function

    return decorate


def _of_complex(name: str) -> UsageTypeError:
    return UsageTypeError(
        at_line(
            f"math.{name}: not defined for complex numbers; got complex, expected a real number. "
            f"Use cmath.{name} or NumPy's."
        )
    )


# --- builtins ---


@for_elements(int)
def _int(x: Element) -> Element:
    return whole(x)


@for_elements(float)
def _float(x: Element) -> Element:
    return Element(x.recorder, x.recorder.convert(x.value, DType.F64), weak=True)


@for_elements(complex)
def _complex(real: Any, imag: Any = 0.0) -> Element:
    if isinstance(imag, (Complex, complex)):
        made_of = real + imag * 1j
    else:
        a, b = split(real)
        made_of = made(a, b + imag if isinstance(real, Complex) else imag)
    return made_of.item()  # type: ignore[no-any-return]


def _cast(dtype: Any) -> None:
    for_elements(dtype)(lambda x: x.astype(dtype))


for _dtype in TO_NUMPY.values():
    _cast(_dtype.type)


@for_elements(bool)
def _bool(x: Element) -> Any:
    return truth(x)


@for_elements(range)
def _range(*bounds: Any) -> Range:
    return Range(*bounds)


@for_elements(pow)
def _pow(base: Any, exponent: Any, modulus: Any = None) -> Element:
    result = power(base, exponent)
    return result if modulus is None else result % modulus


@for_elements(divmod)
def _divmod(a: Any, b: Any) -> tuple[Element, Element]:
    return a // b, a % b


@for_elements(len)
def _len(x: Element) -> int:
    raise unsupported("len")


def _items(values: tuple[Any, ...]) -> list[Any]:
    return list(values[0]) if len(values) == 1 else list(values)


def _extreme(plain: Any, is_better: Callable[[Any, Any], Any]) -> None:
    """Do `min` or `max`: the first of those that no other is better than."""

    def best(*values: Any, **options: Any) -> Any:
        items = values[0] if len(values) == 1 else values
        if isinstance(items, (str, bytes, dict)) or options:
            return plain(*values, **options)
        items = list(items)
        if not _has_element(items):
            return plain(items)
        result = items[0]
        for item in items[1:]:
            better = is_better(item, result)
            if isinstance(better, Element):
                result = choose(better, item, result)
            elif better:
                result = item
        return result

    FUNCTIONS[plain] = best


_extreme(min, lambda a, b: a < b)
_extreme(max, lambda a, b: a > b)


def _quantifier(plain: Any, fold: Callable[..., Any], initial: bool) -> None:
    def over(values: Iterable[Any]) -> Any:
        items = list(values)
        if not _has_element(items):
            return plain(items)
        return fold(initial, *((lambda item=item: truth(item)) for item in items))

    FUNCTIONS[plain] = over


_quantifier(any, or_, False)
_quantifier(all, and_, True)


def _reversed(values: Any) -> Any:
    return values[::-1] if isinstance(values, range) else reversed(values)


def _map(function: Any, *columns: Iterable[Any]) -> list[Any]:
    from .calls import call

    return [call(function, *row) for row in zip(*columns, strict=False)]


def _reduce(function: Any, values: Iterable[Any], *initial: Any) -> Any:
    from .calls import call

    return functools.reduce(lambda a, b: call(function, a, b), values, *initial)


FUNCTIONS[reversed] = _reversed
FUNCTIONS[map] = _map
FUNCTIONS[functools.reduce] = _reduce
FUNCTIONS[print] = print_
FUNCTIONS[str] = str_
for _maker_of_text in (repr, ascii, format):
    FUNCTIONS[_maker_of_text] = functools.partial(text, _maker_of_text)


@for_elements(isinstance)
def _isinstance(x: Any, kinds: Any) -> bool:
    """Say what the number that an element stands for would be."""
    if not isinstance(x, Element):
        return isinstance(x, kinds)
    every = kinds if isinstance(kinds, tuple) else (kinds,)
    dtype = x.kind.dtype
    if dtype is DType.Bool:
        own: tuple[type, ...] = (bool, int)
    elif dtype in PARTS:
        own = (complex,)
    else:
        own = (float,) if dtype in FLOATS else (int,)
    return builtins.any(kind in own or issubclass(x.dtype.type, kind) for kind in every)


# --- math ---

_SAME_NAME = (
    *("acos", "acosh", "asin", "asinh", "atan", "atan2", "atanh", "cbrt", "copysign", "cos"),
    *("cosh", "erf", "erfc", "exp", "exp2", "expm1", "fabs", "fmod", "isfinite", "isinf", "isnan"),
    *("lgamma", "log10", "log1p", "log2", "nextafter", "sin", "sinh", "sqrt", "tan", "tanh"),
)
_OTHER_NAME = {
    **{name: f"arc{name[1:]}" for name in ("acos", "acosh", "asin", "asinh", "atan", "atanh")},
    "atan2": "arctan2",
    "remainder": "ieee_remainder",
    "fma": "fma",
}


def _recorded(name: str) -> None:
    function = getattr(math, name, None)
    if function is None:
        return
    rule = _OTHER_NAME.get(name, name)
    for_elements(function)(lambda *operands: record(rule, *operands))


for _name in {*_SAME_NAME, *_OTHER_NAME}:
    _recorded(_name)


@for_elements(math.log)
def _log(x: Any, base: Any = None) -> Any:
    if base is None:
        return record("log", x)
    return _call("log", math.log, x) / _call("log", math.log, base)


def _call(rule: str, plain: Callable[..., Any], *operands: Any) -> Any:
    return record(rule, *operands) if _has_element(operands) else plain(*operands)


@for_elements(math.pow)
def _math_pow(base: Any, exponent: Any) -> Element:
    return record("power", base, exponent)


@for_elements(math.hypot)
def _hypot(*sides: Any) -> Any:
    return (
        functools.reduce(lambda a, b: record("hypot", a, b), sides)
        if len(sides) > 1
        else (builtins.abs(sides[0]))
    )


@for_elements(math.degrees)
def _degrees(x: Element) -> Any:
    return x * (180 / math.pi)


@for_elements(math.radians)
def _radians(x: Element) -> Any:
    return x * (math.pi / 180)


@for_elements(math.modf)
def _modf(x: Element) -> tuple[Element, Element]:
    whole = record("trunc", x)
    rest = choose(record("isinf", x), 0.0, x - whole)
    return record("copysign", rest, x), whole


@for_elements(math.frexp)
def _frexp(x: Element) -> tuple[Element, Element]:
    return record("frexp_mantissa", x), whole(record("frexp_exponent", x))


@for_elements(math.ldexp)
def _ldexp(x: Any, exponent: Any) -> Element:
    return record("ldexp", x, exponent)


@for_elements(math.isclose)
def _isclose(a: Any, b: Any, *, rel_tol: float = 1e-9, abs_tol: float = 0.0) -> Any:
    difference = builtins.abs(a - b)
    larger = FUNCTIONS[max](builtins.abs(a), builtins.abs(b))
    is_near = (difference <= rel_tol * larger) | (difference <= abs_tol)
    is_infinite = _call("isinf", math.isinf, a) | _call("isinf", math.isinf, b)
    return (a == b) | (is_near & not_(is_infinite))


def _refused(name: str) -> None:
    def refuse(*_: Any, **__: Any) -> None:
        raise UsageError(
            at_line(
                f"math.{name}: not supported on elements; got a call inside a vectorized function, "
                "expected a function that lanewise records. Write it as a loop."
            )
        )

    if hasattr(math, name):
        for_elements(getattr(math, name))(refuse)


for _name in ("comb", "factorial", "gamma", "gcd", "isqrt", "lcm", "perm", "ulp"):
    _refused(_name)


def _sequence(name: str, fold: Callable[[list[Any]], Any]) -> None:
    """Let a function of an iterable stand for one of `math`."""
    plain = getattr(math, name)

    def over(values: Iterable[Any], *more: Any, **options: Any) -> Any:
        items = list(values)
        if not _has_element([*items, *(v for rest in more for v in rest)]):
            return plain(items, *more, **options)
        return fold([items, *more] if more else items, **options)

    FUNCTIONS[plain] = over


def _prod(items: list[Any], start: Any = 1) -> Any:
    return functools.reduce(lambda a, b: a * b, items, start)


def _dist(points: list[Any]) -> Any:
    differences = [a - b for a, b in zip(*points, strict=True)]
    return record("sqrt", sum(d * d for d in differences))


_sequence("prod", _prod)
_sequence("fsum", sum)
_sequence("dist", _dist)


# --- arrays that a function makes ---


def _over_items(plain: Any, fold: Callable[[list[Any]], Any]) -> None:
    """Let a function of NumPy take lists of elements."""

    def over(values: Any, *args: Any, **kwargs: Any) -> Any:
        if not (isinstance(values, (list, tuple)) and _has_element(values)):
            return plain(values, *args, **kwargs)
        if args or kwargs:
            raise unsupported(f"{numpy_name(plain)} of elements with further arguments")
        return fold(list(values))

    FUNCTIONS[plain] = over


def _folded(operation: Callable[[Any, Any], Any]) -> Callable[[list[Any]], Any]:
    return lambda items: functools.reduce(operation, items)


_over_items(np.sum, _folded(lambda a, b: a + b))
_over_items(np.prod, _folded(lambda a, b: a * b))
_over_items(np.mean, lambda items: sum(items) / len(items))
for _function in (np.max, np.amax):
    _over_items(_function, _folded(np.maximum))
for _function in (np.min, np.amin):
    _over_items(_function, _folded(np.minimum))
_over_items(np.any, lambda items: FUNCTIONS[any](items))
_over_items(np.all, lambda items: FUNCTIONS[all](items))


def _dot(a: Any, b: Any) -> Any:
    kinds = (list, tuple)
    if not (isinstance(a, kinds) and isinstance(b, kinds) and _has_element([*a, *b])):
        return np.dot(a, b)
    return functools.reduce(lambda x, y: x + y, [x * y for x, y in zip(a, b, strict=True)])


FUNCTIONS[np.dot] = _dot


def _making(function: Any) -> None:
    FUNCTIONS[function] = functools.partial(local_array, function)


for _maker in (
    *(np.zeros, np.ones, np.full, np.empty, np.array, np.asarray, np.arange),
    *(np.linspace, np.eye, np.identity, np.tri),
):
    _making(_maker)
FUNCTIONS[np.asanyarray] = functools.partial(local_array, np.asarray)
FUNCTIONS[np.ascontiguousarray] = lambda a: np.atleast_1d(local_array(np.asarray, a))


# --- rows of different lengths ---


def _of_rows(plain: Any, function: Callable[..., Any]) -> None:
    """Let a function stand for another where a row is among the arguments."""
    before = FUNCTIONS.get(plain, plain)

    def choose_one(*args: Any, **kwargs: Any) -> Any:
        if builtins.any(isinstance(arg, Varying) for arg in args):
            return function(*args, **kwargs)
        return before(*args, **kwargs)

    FUNCTIONS[plain] = choose_one


_of_rows(len, lambda row: row.size)
_of_rows(enumerate, lambda row, start=0: row.enumerated(start))
_of_rows(zip, lambda *items, strict=False: next(filter(_is_row, items)).zipped(items))
_of_rows(sum, lambda row, start=0: row.folded("sum", start))
_of_rows(min, lambda row: row.folded("min"))
_of_rows(max, lambda row: row.folded("max"))
_of_rows(any, lambda row: row.any())
_of_rows(all, lambda row: row.all())
_of_rows(reversed, lambda row: row[::-1])


def _is_row(value: Any) -> bool:
    return isinstance(value, Varying)
