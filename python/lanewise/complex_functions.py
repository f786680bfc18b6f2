"""What operations mean for complex numbers.

Products are the plain formula, quotients are scaled as NumPy's are (Smith's way), and real operands
are complex ones with an imaginary part of 0, so that infinities, NaN and signs of zeros come out as
in NumPy. Functions are made of those of real numbers; what C's Annex G says of special values
holds where NumPy and Python agree on it.
"""

import math
from collections.abc import Callable
from typing import Any, NamedTuple

from ._core import DType, Value
from .complex_element import Complex, as_complex, as_values, made, split
from .dtypes import PARTS, TO_NUMPY, ComplexType, Kind, promote_all
from .element import COMPLEX_FUNCTIONS, Element, as_value, is_operand, kind_of, record
from .recorder import Recorder

Parts = tuple[Any, Any]


class _Range(NamedTuple):
    """Where functions of a type have to be scaled."""

    exponent: float  # exp(x) overflows soon above
    shift: float  # what is taken off such an exponent
    large: float  # of which a square would overflow
    small: float  # of which a square would lose bits


_RANGES = {
    DType.F32: _Range(88.0, 64.0, 2.0**60, 2.0**-50),
    DType.F64: _Range(709.0, 512.0, 2.0**500, 2.0**-450),
}


def _range(x: Element) -> _Range:
    return _RANGES[x.value.dtype]


def select(condition: Any, a: Any, b: Any) -> Any:
    """Take `a` where a condition holds, else `b`."""
    return record("select", condition, a, b)


def _common(*operands: Any) -> tuple[Recorder, Kind, list[tuple[Element, Element]]]:
    """Return the parts of operands as elements of the kind that they have in common."""
    recorder = next(operand.recorder for operand in operands if isinstance(operand, Element))
    kind = promote_all([kind_of(operand) for operand in operands])
    part = PARTS[kind.dtype]

    def element(number: Any) -> Element:
        value: Value = as_value(recorder, number, part)
        return Element(recorder, value, kind.weak)

    pairs = [split(operand) for operand in operands]
    return recorder, kind, [(element(real), element(imag)) for real, imag in pairs]


def _function(name: str) -> Callable[[Callable[..., Parts]], Callable[..., Parts]]:
    """Let a function of parts, two for each operand, stand for one of complex numbers."""

    def decorate(function: Callable[..., Parts]) -> Callable[..., Parts]:
        def of_complex(*operands: Any) -> Complex:
            recorder, kind, pairs = _common(*operands)
            parts = function(*(part for pair in pairs for part in pair))
            return as_complex(recorder, parts, kind)

        COMPLEX_FUNCTIONS[name] = of_complex
        return function

    return decorate


def _real_function(name: str) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Do the same for one whose results are not complex."""

    def decorate(function: Callable[..., Any]) -> Callable[..., Any]:
        def of_complex(*operands: Any) -> Any:
            _, _, pairs = _common(*operands)
            return function(*(part for pair in pairs for part in pair))

        COMPLEX_FUNCTIONS[name] = of_complex
        return function

    return decorate


# --- making and choosing ---


def _astype(x: Element, dtype: ComplexType) -> Complex:
    return Complex(x.recorder, as_values(x.recorder, x, dtype))


def _constant(recorder: Recorder, number: Any) -> Complex:
    return as_complex(recorder, split(number), kind_of(number))


def _select(condition: Any, a: Any, b: Any) -> Any:
    if kind_of(condition).dtype in PARTS:
        condition = condition != 0
    if not any(kind_of(operand).dtype in PARTS for operand in (a, b)):
        return record("select", condition, a, b)
    kind = promote_all([kind_of(a), kind_of(b)])
    recorder = next(operand for operand in (condition, a, b) if isinstance(operand, Element))
    part = PARTS[kind.dtype]
    first, second = (
        [Element(recorder.recorder, as_value(recorder.recorder, p, part)) for p in split(operand)]
        for operand in (a, b)
    )
    chosen = [record("select", condition, x, y) for x, y in zip(first, second, strict=True)]
    return as_complex(recorder.recorder, (chosen[0], chosen[1]), kind)


COMPLEX_FUNCTIONS["astype"] = _astype
COMPLEX_FUNCTIONS["constant"] = _constant
COMPLEX_FUNCTIONS["select"] = _select


# --- arithmetic and comparison ---


@_function("add")
def _add(a: Any, b: Any, c: Any, d: Any) -> Parts:
    return a + c, b + d


@_function("subtract")
def _subtract(a: Any, b: Any, c: Any, d: Any) -> Parts:
    return a - c, b - d


@_function("multiply")
def _multiply(a: Any, b: Any, c: Any, d: Any) -> Parts:
    return a * c - b * d, a * d + b * c


@_function("divide")
def _divide(a: Any, b: Any, c: Any, d: Any) -> Parts:
    is_wide = abs(c) >= abs(d)
    long, short = select(is_wide, c, d), select(is_wide, d, c)
    p, q = select(is_wide, a, b), select(is_wide, b, a)
    ratio = short / long
    scale = 1.0 / (long + short * ratio)
    turned = p * ratio
    real = (p + q * ratio) * scale
    imag = select(is_wide, q - turned, turned - q) * scale
    is_zero = (c == 0) & (d == 0)
    return select(is_zero, a / abs(c), real), select(is_zero, b / abs(c), imag)


@_function("negative")
def _negative(x: Any, y: Any) -> Parts:
    return -x, -y


@_function("round")
def _round(x: Any, y: Any) -> Parts:
    return record("round", x), record("round", y)


@_function("sign")
def _sign(x: Any, y: Any) -> Parts:
    length = record("hypot", x, y)
    is_zero = length == 0
    return select(is_zero, 0.0, x / length), select(is_zero, 0.0, y / length)


class Length(Element):
    """The absolute value of a complex number, which is compared by its square.

    So a loop ``while abs(z) < 2`` has no root in it: what is not used is not in the program.
    """

    __slots__ = ("_parts",)

    def __init__(self, x: Any, y: Any) -> None:
        length = record("hypot", x, y)
        super().__init__(length.recorder, length.value, length.kind.weak)
        self._parts = x, y

    def _squared(self, other: Any) -> float | None:
        """Return the square of a bound, if that and its own are in range."""
        limits = _range(self)
        if type(other) not in (int, float) or not limits.small < other < limits.large:
            return None
        bound: float = TO_NUMPY[self.value.dtype].type(other).item()
        return bound * bound

    def _squares(self) -> tuple[Any, Any]:
        x, y = self._parts
        return x * x, y * y

    def __lt__(self, other: Any) -> Any:
        bound = self._squared(other)
        if bound is None:
            return super().__lt__(other)
        p, q = self._squares()
        return p + q < bound

    def __le__(self, other: Any) -> Any:
        bound = self._squared(other)
        if bound is None:
            return super().__le__(other)
        p, q = self._squares()
        return p + q <= bound

    # A length is infinite also where one part is NaN, and with it the sum.
    def __gt__(self, other: Any) -> Any:
        bound = self._squared(other)
        if bound is None:
            return super().__gt__(other)
        p, q = self._squares()
        return (p + q > bound) | (p == math.inf) | (q == math.inf)

    def __ge__(self, other: Any) -> Any:
        bound = self._squared(other)
        if bound is None:
            return super().__ge__(other)
        p, q = self._squares()
        return (p + q >= bound) | (p == math.inf) | (q == math.inf)


@_real_function("absolute")
def _absolute(x: Any, y: Any) -> Any:
    return Length(x, y)


@_real_function("equal")
def _equal(a: Any, b: Any, c: Any, d: Any) -> Any:
    return (a == c) & (b == d)


@_real_function("not_equal")
def _not_equal(a: Any, b: Any, c: Any, d: Any) -> Any:
    return (a != c) | (b != d)


@_real_function("isnan")
def _isnan(x: Any, y: Any) -> Any:
    return record("isnan", x) | record("isnan", y)


@_real_function("isinf")
def _isinf(x: Any, y: Any) -> Any:
    return record("isinf", x) | record("isinf", y)


@_real_function("isfinite")
def _isfinite(x: Any, y: Any) -> Any:
    return record("isfinite", x) & record("isfinite", y)


@_real_function("phase")
def phase(x: Any, y: Any) -> Any:
    """Return the angle of a number."""
    return record("arctan2", y, x)


# --- exponentials and logarithms ---


def _scaled(x: Any, size: Any) -> tuple[Any, Any]:
    """Take so much off a large exponent that its power of e does not overflow.

    Return what is left, and the factor that is missing then. `size` says how large it is.
    """
    limits = _range(x)
    is_large = size > limits.exponent
    rest = select(is_large, x - record("copysign", limits.shift, x), x)
    return rest, select(is_large, math.exp(limits.shift), 1.0)


def _signed_zero(x: Any, y: Any) -> Any:
    """Return 0 with the sign that a product would have."""
    return record("copysign", 0.0, x) * record("copysign", 1.0, y)


@_function("exp")
def _exp(x: Any, y: Any) -> Parts:
    rest, factor = _scaled(x, x)
    power = record("exp", rest)
    real = power * record("cos", y) * factor
    imag = select(y == 0, y, power * record("sin", y) * factor)
    # An infinite exponent with an angle that is none.
    is_odd = record("isinf", x) & ~record("isfinite", y)
    limit = select(x > 0, x, 0.0)
    return select(is_odd, limit, real), select(is_odd, select(x > 0, math.nan, 0.0), imag)


@_function("exp2")
def _exp2(x: Any, y: Any) -> Parts:
    return _exp(x * math.log(2), y * math.log(2))


@_function("expm1")
def _expm1(x: Any, y: Any) -> Parts:
    half = record("sin", y * 0.5)
    real = record("expm1", x) * record("cos", y) - 2.0 * half * half
    return real, select(y == 0, y, record("exp", x) * record("sin", y))


def _log_length(x: Any, y: Any) -> Any:
    """Return the logarithm of the length of (x, y), also near 1, and far from it."""
    limits = _range(x)
    x, y = abs(x), abs(y)
    m, n = select(x > y, x, y), select(x > y, y, x)
    scale = select(m > limits.large, limits.small, select(m < limits.small, limits.large, 1.0))
    shift = select(
        m > limits.large,
        -math.log(limits.small),
        select(m < limits.small, -math.log(limits.large), 0.0),
    )
    length = record("hypot", m * scale, n * scale)
    far = record("log", length) + shift
    # Near 1: of the squares minus 1, with what their rounding loses.
    p, q = m * m, n * n
    less = p - 1.0
    total = less + q
    back = total - less
    lost = (less - (total - back)) + (q - back) + (p - (less + 1.0))
    lost = lost + (record("fma", m, m, -p) + record("fma", n, n, -q))
    near = 0.5 * record("log1p", total + lost)
    is_near = (length > 0.7) & (length < 1.4) & (scale == 1.0)
    return select(is_near, near, far)


@_function("log")
def _log(x: Any, y: Any) -> Parts:
    return _log_length(x, y), record("arctan2", y, x)


@_function("log2")
def _log2(x: Any, y: Any) -> Parts:
    real, imag = _log(x, y)
    return real * math.log2(math.e), imag * math.log2(math.e)


@_function("log10")
def _log10(x: Any, y: Any) -> Parts:
    real, imag = _log(x, y)
    return real * math.log10(math.e), imag * math.log10(math.e)


@_function("log1p")
def _log1p(x: Any, y: Any) -> Parts:
    is_near = (abs(x) < 0.5) & (abs(y) < 0.5)
    near = 0.5 * record("log1p", x * (2.0 + x) + y * y)
    return select(is_near, near, _log_length(1.0 + x, y)), record("arctan2", y, 1.0 + x)


# --- roots and powers ---


@_function("sqrt")
def _sqrt(x: Any, y: Any) -> Parts:
    limits = _range(x)
    width, height = abs(x), abs(y)
    is_large = (width > limits.large) | (height > limits.large)
    is_small = (width < limits.small) & (height < limits.small)
    scale = select(is_large, limits.small, select(is_small, limits.large, 1.0))
    back = select(is_large, limits.small**-0.5, select(is_small, limits.large**-0.5, 1.0))
    w, h = width * scale, height * scale
    long = record("sqrt", (w + record("hypot", w, h)) * 0.5)
    short = select(long == 0, height, h / (2.0 * long))
    long, short = long * back, short * back
    is_endless = height == math.inf
    long, short = select(is_endless, math.inf, long), select(is_endless, math.inf, short)
    is_left = record("signbit", x)
    real = select(is_left, short, long)
    return real, record("copysign", select(is_left, long, short), y)


_MOST_PRODUCTS = 100  # exponents below are products


def _power(base: Any, exponent: Any) -> Any:
    if not isinstance(exponent, Element):
        real, imag = split(exponent)
        if imag == 0 and abs(real) < _MOST_PRODUCTS and real == int(real):
            return _whole_power(base, exponent, int(real))
        if (real, imag) == (0.5, 0.0):
            _, kind, pairs = _common(base, exponent)
            return as_complex(base.recorder, _sqrt(*pairs[0]), kind)
    recorder, kind, ((a, b), (c, d)) = _common(base, exponent)
    length, angle = _log(a, b)
    real, imag = _exp(*_multiply(c, d, length, angle))
    is_zero = (a == 0) & (b == 0)
    of_zero = select(c > 0, 0.0, math.nan)
    real, imag = select(is_zero, of_zero, real), select(is_zero, of_zero, imag)
    is_one = (c == 0) & (d == 0)
    real, imag = select(is_one, 1.0, real), select(is_one, 0.0, imag)
    if isinstance(exponent, Element) and exponent.dtype.kind in "iu":
        is_few, products = _products(a, b, exponent)
        real, imag = select(is_few, products[0], real), select(is_few, products[1], imag)
    return as_complex(recorder, (real, imag), kind)


def _whole_power(base: Any, exponent: Any, times: int) -> Complex:
    """Record a power by products, from the lowest bit of the exponent on."""
    recorder, kind, pairs = _common(base, exponent)
    one, zero = _like(pairs[0][0], 1.0), _like(pairs[0][0], 0.0)
    square: Parts = pairs[0]
    left = abs(times)
    result: Parts | None = None
    while left:
        if left & 1:
            result = square if result is None else _multiply(*result, *square)
        left >>= 1
        if left:
            square = _multiply(*square, *square)
    if result is None:
        result = one, zero
    if times < 0:
        result = _divide(one, zero, *result)
    return as_complex(recorder, result, kind)


def _like(x: Element, number: float) -> Element:
    """Record a number of the type of an element."""
    return Element(x.recorder, as_value(x.recorder, number, x.value.dtype), x.kind.weak)


def _products(a: Any, b: Any, exponent: Any) -> tuple[Any, Parts]:
    """Return whether a whole exponent is near 0, and the power by products, where it is."""
    is_few = (exponent > -_MOST_PRODUCTS) & (exponent < _MOST_PRODUCTS)
    left = select(is_few, abs(exponent), 0)
    one, zero = _like(a, 1.0), _like(a, 0.0)
    real, imag = one, zero
    square: Parts = (a, b)
    for bit in range(_MOST_PRODUCTS.bit_length()):
        has_bit = (left >> bit) & 1 != 0
        product = _multiply(real, imag, *square)
        real, imag = select(has_bit, product[0], real), select(has_bit, product[1], imag)
        square = _multiply(*square, *square)
    inverse = _divide(one, zero, real, imag)
    is_below = exponent < 0
    return is_few, (select(is_below, inverse[0], real), select(is_below, inverse[1], imag))


COMPLEX_FUNCTIONS["power"] = _power


# --- hyperbolic and trigonometric functions ---


@_function("cosh")
def _cosh(x: Any, y: Any) -> Parts:
    rest, factor = _scaled(x, abs(x))
    real = record("cosh", rest) * record("cos", y) * factor
    imag = record("sinh", rest) * record("sin", y) * factor
    imag = select(y == 0, _signed_zero(x, y), imag)
    has_no_angle = ~record("isfinite", y)
    return (
        select(has_no_angle & record("isinf", x), math.inf, real),
        select(has_no_angle & (x == 0), 0.0, imag),
    )


@_function("sinh")
def _sinh(x: Any, y: Any) -> Parts:
    rest, factor = _scaled(x, abs(x))
    real = record("sinh", rest) * record("cos", y) * factor
    imag = select(y == 0, y, record("cosh", rest) * record("sin", y) * factor)
    has_no_angle = ~record("isfinite", y)
    real = select(has_no_angle & (x == 0), x, real)
    return select(has_no_angle & record("isinf", x), math.inf, real), imag


@_function("tanh")
def _tanh(x: Any, y: Any) -> Parts:
    slope, tangent = record("tanh", x), record("tan", y)
    shrink = 1.0 / record("cosh", x)
    product = slope * tangent
    below = 1.0 + product * product
    real = select(x == 0, x, slope * (1.0 + tangent * tangent) / below)
    imag = select(y == 0, y, tangent / below * shrink * shrink)
    is_endless = record("isinf", x)
    return (
        select(is_endless, record("copysign", 1.0, x), real),
        select(is_endless, record("copysign", 0.0, tangent), imag),
    )


@_function("arcsinh")
def _arcsinh(x: Any, y: Any) -> Parts:
    a, b = _sqrt(1.0 + y, -x)
    c, d = _sqrt(1.0 - y, x)
    real = record("arcsinh", a * d - c * b)
    imag = record("arctan2", y, a * c - b * d)
    is_large = _is_large(x, y)
    real = select(is_large, record("copysign", _log_double(x, y), x), real)
    imag = select(is_large, record("arctan2", y, abs(x)), imag)
    return real, select(y == 0, y, imag)


@_function("arccosh")
def _arccosh(x: Any, y: Any) -> Parts:
    a, b = _sqrt(x - 1.0, y)
    c, d = _sqrt(x + 1.0, y)
    real = record("arcsinh", a * c + b * d)
    imag = 2.0 * record("arctan2", b, c)
    is_large = _is_large(x, y)
    return (
        select(is_large, _log_double(x, y), real),
        select(is_large, record("arctan2", y, x), imag),
    )


@_function("arccos")
def _arccos(x: Any, y: Any) -> Parts:
    a, b = _sqrt(1.0 - x, -y)
    c, d = _sqrt(1.0 + x, y)
    real = 2.0 * record("arctan2", a, c)
    imag = record("arcsinh", c * b - d * a)
    is_large = _is_large(x, y)
    real = select((x == 0) & record("isnan", y), math.pi / 2, real)
    return (
        select(is_large, record("arctan2", abs(y), x), real),
        select(is_large, record("copysign", _log_double(x, y), -y), imag),
    )


@_function("arctanh")
def _arctanh(x: Any, y: Any) -> Parts:
    limits = _range(x)
    a, b = abs(x), abs(y)
    beside = 1.0 - a
    real = 0.25 * record("log1p", 4.0 * a / (beside * beside + y * y))
    imag = 0.5 * record("arctan2", 2.0 * y, beside * (1.0 + a) - y * y)
    is_at_pole = (a == 1.0) & (b < limits.small)
    real = select(is_at_pole, 0.5 * (math.log(2) - record("log", b)), real)
    is_large = _is_large(x, y)
    half = record("hypot", a * 0.5, b * 0.5)
    is_endless = record("isinf", x) | record("isinf", y)
    of_large = select(is_endless, 0.0, a * 0.25 / half / half)
    has_angle = is_endless | ~record("isnan", x)
    angle = select(has_angle, record("copysign", math.pi / 2, y), math.nan)
    imag = select(is_large, select(record("isnan", y), y, angle), imag)
    real = record("copysign", select(is_large, of_large, real), x)
    return select(x == 0, x, real), imag


def _is_large(x: Any, y: Any) -> Any:
    limits = _range(x)
    return (abs(x) > limits.large) | (abs(y) > limits.large)


def _log_double(x: Any, y: Any) -> Any:
    """Return the logarithm of twice a large length."""
    return record("log", record("hypot", x * 0.25, y * 0.25)) + 3.0 * math.log(2)


def _turned(name: str, function: Callable[[Any, Any], Parts]) -> None:
    """Make a trigonometric function of a hyperbolic one: f(z) is -i g(iz)."""

    def turned(x: Any, y: Any) -> Parts:
        real, imag = function(-y, x)
        return imag, -real

    _function(name)(turned)


_turned("sin", _sinh)
_turned("tan", _tanh)
_turned("arcsin", _arcsinh)
_turned("arctan", _arctanh)


@_function("cos")
def _cos(x: Any, y: Any) -> Parts:
    return _cosh(-y, x)


def as_complex_operand(x: Any) -> Any:
    """Take a real element as a complex one; numbers stay what they are."""
    if isinstance(x, Element) and not isinstance(x, Complex) and is_operand(x):
        return made(x, 0.0)
    return x
