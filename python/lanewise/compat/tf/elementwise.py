"""``tf.math``, number by number: each function in terms of NumPy, and the operators of tensors."""

import functools
from collections.abc import Callable
from typing import Any

import numpy as np

from ... import functions as lw
from ...element import Element
from ...flow.checks import check
from ...loops import while_loop
from .names import listed
from .ops import elementwise
from .tensor import Tensor

# --- arithmetic ---


@elementwise
def add(x: Any, y: Any) -> Any:
    """Return ``x + y``."""
    return x + y


@elementwise
def subtract(x: Any, y: Any) -> Any:
    """Return ``x - y``."""
    return x - y


@elementwise
def multiply(x: Any, y: Any) -> Any:
    """Return ``x * y``."""
    return x * y


@elementwise
def truediv(x: Any, y: Any) -> Any:
    """Return ``x / y``; integers of at most 16 bits give float32, others float64."""
    x, y = wide_enough(x, y)
    return x / y


def wide_enough(x: Any, y: Any) -> tuple[Any, Any]:
    """Return integers of at most 16 bits as float32, and others as they are."""
    kinds = [None if _is_weak(v) else getattr(v, "dtype", None) for v in (x, y)]
    known = [kind for kind in kinds if kind is not None]
    if not known or not all(kind.kind in "iu" and kind.itemsize <= 2 for kind in known):
        return x, y
    x, y = (v.astype(np.float32) if hasattr(v, "astype") else float(v) for v in (x, y))
    return x, y


def _has(kinds: str, *values: Any) -> bool:
    """Say whether one of some values is of one of these kinds."""
    return any(getattr(value, "dtype", np.dtype(type(value))).kind in kinds for value in values)


def _is_weak(value: Any) -> bool:
    return isinstance(value, Element) and value.kind.weak


divide = truediv


@elementwise
def floordiv(x: Any, y: Any) -> Any:
    """Return ``x / y``, rounded down."""
    return np.floor(x / y) if _has("f", x, y) else x // y


@elementwise
def floormod(x: Any, y: Any) -> Any:
    """Return what is left of ``x`` after dividing, with the sign of ``y``."""
    return x % y


mod = floormod


@elementwise
def truncatediv(x: Any, y: Any) -> Any:
    """Return ``x / y``, rounded toward 0."""
    return np.trunc(x / y) if _has("f", x, y) else truncated(x, y)


def truncated(x: Any, y: Any) -> Any:
    """Return a quotient of integers without what is behind the point."""
    below = x // y
    if below.dtype.kind == "u":
        return below
    return below + ((below < 0) & (below * y != x)).astype(below.dtype)


@elementwise
def truncatemod(x: Any, y: Any) -> Any:
    """Return what is left of ``x`` after dividing, with the sign of ``x``."""
    return np.fmod(x, y) if _has("f", x, y) else x - truncated(x, y) * y


def pow(x: Any, y: Any, name: Any = None) -> Any:  # TensorFlow's name
    """Return ``x ** y``."""
    if type(y) in (int, float) and y in _PLAIN_EXPONENTS:
        return _plain_power(int(y))(x)
    return _power(x, y)


_PLAIN_EXPONENTS = range(65)  # for which there are programs of their own: products


@functools.cache
def _plain_power(exponent: int) -> Callable[..., Any]:
    def power(x: Any) -> Any:
        return x**exponent

    return elementwise(power)


@elementwise
def _power(x: Any, y: Any) -> Any:
    if all(getattr(v, "dtype", _INT).kind in "iu" and hasattr(v, "kind") for v in (x, y)):
        return _whole_power(x, y)
    return x**y


_INT = np.dtype(int)


def _whole_power(x: Any, y: Any) -> Any:
    """Return a power of integers, by squares."""
    check(y >= 0, "pow: an exponent of an integer is below 0; expected at least 0")
    one = x * 0 + y * 0 + 1

    def step(result: Any, base: Any, left: Any) -> Any:
        return np.where((left & 1) == 1, result * base, result), base * base, left >> 1

    return while_loop(lambda result, base, left: left > 0, step, (one, x * one, y))[0]


@elementwise
def negative(x: Any) -> Any:
    """Return ``-x``."""
    return -x


@elementwise
def abs(x: Any) -> Any:
    """Return the absolute value."""
    return np.absolute(x)


@elementwise
def sign(x: Any) -> Any:
    """Return -1, 0 or 1; of a complex number its direction."""
    return np.sign(x)


@elementwise
def square(x: Any) -> Any:
    """Return ``x * x``."""
    return x * x


@elementwise
def squared_difference(x: Any, y: Any) -> Any:
    """Return the square of ``x - y``; of complex numbers, that of its length."""
    difference = x - y
    return difference * (np.conjugate(difference) if _has("c", x, y) else difference)


@elementwise
def reciprocal(x: Any) -> Any:
    """Return ``1 / x``."""
    return 1 / x


@elementwise
def maximum(x: Any, y: Any) -> Any:
    """Return the larger one."""
    return np.maximum(x, y)


@elementwise
def minimum(x: Any, y: Any) -> Any:
    """Return the smaller one."""
    return np.minimum(x, y)


@elementwise
def divide_no_nan(x: Any, y: Any) -> Any:
    """Return ``x / y``, and 0 where ``y`` is 0."""
    x, y = wide_enough(x, y)
    return np.where(y == 0, 0.0, x / np.where(y == 0, 1.0, y))


@elementwise
def reciprocal_no_nan(x: Any) -> Any:
    """Return ``1 / x``, and 0 where ``x`` is 0."""
    return np.where(x == 0, 0.0, 1 / np.where(x == 0, 1.0, x))


@elementwise
def multiply_no_nan(x: Any, y: Any) -> Any:
    """Return ``x * y``, and 0 where ``y`` is 0, whatever ``x`` is."""
    return np.where(y == 0, 0.0, x * y)


@elementwise
def xlogy(x: Any, y: Any) -> Any:
    """Return ``x * log(y)``, and 0 where ``x`` is 0."""
    return np.where(x == 0, x, x * np.log(y))


@elementwise
def xlog1py(x: Any, y: Any) -> Any:
    """Return ``x * log(1 + y)``, and 0 where ``x`` is 0."""
    return np.where(x == 0, x, x * np.log1p(y))


@elementwise
def xdivy(x: Any, y: Any) -> Any:
    """Return ``x / y``, and 0 where ``x`` is 0."""
    return np.where(x == 0, x, x / y)


@elementwise
def clip_by_value(t: Any, clip_value_min: Any, clip_value_max: Any) -> Any:
    """Return what lies between two bounds as it is, and else the nearer bound."""
    return np.maximum(np.minimum(t, clip_value_max), clip_value_min)


# --- comparisons and truth values ---


@elementwise
def equal(x: Any, y: Any) -> Any:
    """Say whether ``x == y``."""
    return x == y


@elementwise
def not_equal(x: Any, y: Any) -> Any:
    """Say whether ``x != y``."""
    return x != y


@elementwise
def less(x: Any, y: Any) -> Any:
    """Say whether ``x < y``."""
    return x < y


@elementwise
def less_equal(x: Any, y: Any) -> Any:
    """Say whether ``x <= y``."""
    return x <= y


@elementwise
def greater(x: Any, y: Any) -> Any:
    """Say whether ``x > y``."""
    return x > y


@elementwise
def greater_equal(x: Any, y: Any) -> Any:
    """Say whether ``x >= y``."""
    return x >= y


@elementwise
def approximate_equal(x: Any, y: Any, tolerance: Any = 1e-5) -> Any:
    """Say whether two numbers are nearer to one another than a tolerance."""
    return np.absolute(x - y) < tolerance


@elementwise
def logical_and(x: Any, y: Any) -> Any:
    """Say whether both hold."""
    return np.logical_and(x, y)


@elementwise
def logical_or(x: Any, y: Any) -> Any:
    """Say whether one holds, or both."""
    return np.logical_or(x, y)


@elementwise
def logical_xor(x: Any, y: Any) -> Any:
    """Say whether one of them holds."""
    return np.logical_xor(x, y)


@elementwise
def logical_not(x: Any) -> Any:
    """Say whether it does not hold."""
    return np.logical_not(x)


@elementwise
def is_nan(x: Any) -> Any:
    """Say whether it is no number."""
    return np.isnan(x)


@elementwise
def is_inf(x: Any) -> Any:
    """Say whether it is infinite."""
    return np.isinf(x)


@elementwise
def is_finite(x: Any) -> Any:
    """Say whether it is neither infinite nor NaN."""
    return np.isfinite(x)


# --- bits ---


@elementwise
def bitwise_and(x: Any, y: Any) -> Any:
    """Return the bits that both have."""
    return x & y


@elementwise
def bitwise_or(x: Any, y: Any) -> Any:
    """Return the bits that one of them has."""
    return x | y


@elementwise
def bitwise_xor(x: Any, y: Any) -> Any:
    """Return the bits that only one has."""
    return x ^ y


@elementwise
def invert(x: Any) -> Any:
    """Return the bits that it does not have."""
    return ~x


@elementwise
def left_shift(x: Any, y: Any) -> Any:
    """Return ``x << y``."""
    return x << y


@elementwise
def right_shift(x: Any, y: Any) -> Any:
    """Return ``x >> y``."""
    return x >> y


# --- functions of one number ---


def _unary(name: str, function: Callable[[Any], Any], about: str) -> Any:
    def one(x: Any) -> Any:
        return function(x)

    one.__name__ = one.__qualname__ = name
    one.__doc__ = f"Return {about}."
    return elementwise(one)


sqrt = _unary("sqrt", np.sqrt, "the square root")
exp = _unary("exp", np.exp, "e to a power")
expm1 = _unary("expm1", np.expm1, "``exp(x) - 1``")
log = _unary("log", np.log, "the natural logarithm")
log1p = _unary("log1p", np.log1p, "``log(1 + x)``")
sin = _unary("sin", np.sin, "the sine")
cos = _unary("cos", np.cos, "the cosine")
tan = _unary("tan", np.tan, "the tangent")
asin = _unary("asin", np.arcsin, "the inverse of the sine")
acos = _unary("acos", np.arccos, "the inverse of the cosine")
atan = _unary("atan", np.arctan, "the inverse of the tangent")
sinh = _unary("sinh", np.sinh, "the hyperbolic sine")
cosh = _unary("cosh", np.cosh, "the hyperbolic cosine")
tanh = _unary("tanh", np.tanh, "the hyperbolic tangent")
asinh = _unary("asinh", np.arcsinh, "the inverse of the hyperbolic sine")
acosh = _unary("acosh", np.arccosh, "the inverse of the hyperbolic cosine")
atanh = _unary("atanh", np.arctanh, "the inverse of the hyperbolic tangent")
erf = _unary("erf", lw.erf, "the error function")
erfc = _unary("erfc", lw.erfc, "1 minus the error function")
lgamma = _unary("lgamma", lw.lgamma, "the logarithm of the gamma function")
digamma = _unary("digamma", lw.digamma, "the derivative of ``lgamma``")
ceil = _unary("ceil", np.ceil, "the next whole number above")
floor = _unary("floor", np.floor, "the next whole number below")
rint = _unary("rint", np.rint, "the nearest whole number, the even one of two")
conj = _unary("conj", np.conjugate, "the conjugate")


@elementwise
def rsqrt(x: Any) -> Any:
    """Return 1 over the square root."""
    return 1 / np.sqrt(x) if _has("c", x) else lw.rsqrt(x)


@elementwise
def sigmoid(x: Any) -> Any:
    """Return ``1 / (1 + exp(-x))``."""
    return 1 / (1 + np.exp(-x)) if _has("c", x) else lw.sigmoid(x)


@elementwise
def real(input: Any) -> Any:
    """Return the real part."""
    return np.real(input)


@elementwise
def imag(input: Any) -> Any:
    """Return the imaginary part."""
    return np.imag(input)


@elementwise
def angle(input: Any) -> Any:
    """Return the angle of a complex number; of a real one pi below 0, and else 0."""
    if not _has("f", input):
        return np.angle(input)
    kind = input.dtype.type
    return np.where(input < 0, kind(np.pi), kind(0))


@elementwise
def round(x: Any) -> Any:
    """Return the nearest whole number, the even one of two."""
    return x if getattr(x, "dtype", np.dtype(float)).kind in "iub" else np.rint(x)


@elementwise
def atan2(y: Any, x: Any) -> Any:
    """Return the angle of a point."""
    return np.arctan2(y, x)


@elementwise
def nextafter(x1: Any, x2: Any) -> Any:
    """Return the next number after one, toward another."""
    return np.nextafter(x1, x2)


@elementwise
def complex(real: Any, imag: Any) -> Any:
    """Return a complex number of two parts."""
    return real + imag * 1j


@elementwise
def softplus(features: Any) -> Any:
    """Return ``log(exp(x) + 1)``, without overflow."""
    return np.maximum(features, 0) + np.log1p(np.exp(-np.absolute(features)))


@elementwise
def log_sigmoid(x: Any) -> Any:
    """Return the logarithm of `sigmoid`, without overflow."""
    return np.minimum(x, 0) - np.log1p(np.exp(-np.absolute(x)))


@elementwise
def softsign(features: Any) -> Any:
    """Return ``x / (1 + abs(x))``."""
    return features / (1 + np.absolute(features))


# --- operators ---


def _operators() -> None:
    binary = {
        "add": add,
        "sub": subtract,
        "mul": multiply,
        "truediv": truediv,
        "floordiv": floordiv,
        "mod": floormod,
        "pow": pow,
        "and": bitwise_and,
        "or": bitwise_or,
        "xor": bitwise_xor,
        "lshift": left_shift,
        "rshift": right_shift,
    }
    comparisons = {"lt": less, "le": less_equal, "gt": greater, "ge": greater_equal}

    def forward(function: Callable[..., Any]) -> Callable[..., Any]:
        return lambda self, other: function(self, other)

    def reflected(function: Callable[..., Any]) -> Callable[..., Any]:
        return lambda self, other: function(other, self)

    def same(function: Callable[..., Any], is_equal: bool) -> Callable[..., Any]:
        def compare(self: Any, other: Any) -> Any:
            if other is None or isinstance(other, type):
                return not is_equal
            if isinstance(other, str) and self.dtype.dtype.kind != "O":
                return not is_equal
            return function(self, other)

        return compare

    for name, function in binary.items():
        setattr(Tensor, f"__{name}__", forward(function))
        setattr(Tensor, f"__r{name}__", reflected(function))
    for name, function in comparisons.items():
        setattr(Tensor, f"__{name}__", forward(function))
    Tensor.__eq__ = same(equal, True)  # type: ignore[method-assign]
    Tensor.__ne__ = same(not_equal, False)  # type: ignore[method-assign]
    for name, unary in (("neg", negative), ("abs", abs), ("invert", invert)):
        setattr(Tensor, f"__{name}__", (lambda of: lambda self: of(self))(unary))
    setattr(Tensor, "__pos__", lambda self: self)  # noqa: B010  # beside the others


_operators()

NAMES = {
    **listed(
        "math",
        [
            *(add, subtract, multiply, truediv, truncatediv, truncatemod, pow, negative, abs, sign),
            *(square, maximum, minimum, equal, not_equal, less, less_equal, greater),
            *(greater_equal, logical_and, logical_or, logical_not, sqrt, exp, sin, cos, tan),
            *(
                asin,
                acos,
                atan,
                atan2,
                sinh,
                cosh,
                tanh,
                asinh,
                acosh,
                atanh,
                sigmoid,
                floor,
                round,
            ),
        ],
    ),
    **listed(
        "math",
        [
            *(floormod, squared_difference, reciprocal, divide_no_nan, reciprocal_no_nan),
            *(multiply_no_nan, xlogy, xlog1py, xdivy, approximate_equal, logical_xor, is_nan),
            *(is_inf, is_finite, rsqrt, expm1, log, log1p, erf, erfc, lgamma, digamma, ceil, rint),
            *(real, imag, conj, angle, nextafter, softplus, log_sigmoid, softsign),
        ],
        top=False,
    ),
    **listed(
        "bitwise", [bitwise_and, bitwise_or, bitwise_xor, invert, left_shift, right_shift], False
    ),
    "math.divide": truediv,
    "divide": truediv,
    "math.floordiv": floordiv,
    "math.mod": floormod,
    "math.floormod": floormod,
    "clip_by_value": clip_by_value,
    "complex": complex,
    "dtypes.complex": complex,
}
