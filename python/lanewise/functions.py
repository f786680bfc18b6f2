"""Functions of elements. On plain numbers they compute, so that the plain function runs too."""

import functools
import math
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np

from ._core import called_ops
from .element import Element, constant, record
from .errors import UsageTypeError
from .recorder import current
from .rules import OTHER_NAMES
from .source import at_line
from .vectorize import vectorize


def _call(name: str, plain: Callable[..., Any], *operands: Any) -> Any:
    """Record when there is an element among the operands, compute otherwise."""
    if any(isinstance(operand, Element) for operand in operands):
        return record(name, *operands)
    result = plain(*operands)
    is_python = all(isinstance(operand, (bool, int, float, complex)) for operand in operands)
    is_numpy = any(isinstance(operand, np.generic) for operand in operands)
    return result.item() if is_python and not is_numpy and hasattr(result, "item") else result


@functools.cache
def _mapped(name: str) -> Callable[..., Any]:
    """Return the function as this library computes it, for those that NumPy does not have."""
    function = vectorize(lambda *elements: record(name, *elements), name=name)

    def plain(*operands: Any) -> Any:
        recorder = current()
        if recorder is not None:
            return record(name, *(constant(recorder, operand) for operand in operands))
        arrays = np.broadcast_arrays(*operands)
        return function(*(array.reshape(-1) for array in arrays)).reshape(arrays[0].shape)[()]

    return plain


@functools.cache
def function_of_row(name: str) -> Callable[..., Any] | None:
    """Make the function of an op's row, for those that are not written below; None without row."""
    rows = {OTHER_NAMES.get(row[0], row[0]): row for row in called_ops()}
    if name not in rows:
        return None
    _, arity, _, sentence = rows[name]

    def function(*operands: Any) -> Any:
        if len(operands) != arity:
            raise UsageTypeError(
                at_line(f"{name}: wrong number of operands; got {len(operands)}, expected {arity}.")
            )
        return _call(name, _mapped(name), *operands)

    function.__name__ = function.__qualname__ = name
    function.__doc__ = sentence
    return function


def select(condition: Any, a: Any, b: Any) -> Any:
    """Take ``a`` where the condition holds, else ``b``; both are evaluated.

    Parameters
    ----------
    condition : Element or bool
        Numbers count as true when they are not zero.
    a, b : Element or number
        The two values; the result has the type they have in common.

    Examples
    --------
    >>> import lanewise as lw, numpy as np
    >>> relu = lw.vectorize(lambda x: lw.select(x > 0, x, 0))
    >>> relu(np.array([-1.5, 2.5]))
    array([0. , 2.5])
    """
    return _call("select", np.where, condition, a, b)


where = select


def sin(x: Any) -> Any:
    """Sine of an angle in radians.

    Examples
    --------
    >>> import lanewise as lw, numpy as np
    >>> lw.vectorize(lambda x: lw.sin(x))(np.array([0.0, 0.5])).round(6)
    array([0.      , 0.479426])
    """
    return _call("sin", np.sin, x)


def cos(x: Any) -> Any:
    """Cosine of an angle in radians.

    Examples
    --------
    >>> import lanewise as lw, numpy as np
    >>> lw.vectorize(lambda x: lw.cos(x))(np.array([0.0, 0.5])).round(6)
    array([1.      , 0.877583])
    """
    return _call("cos", np.cos, x)


def tan(x: Any) -> Any:
    """Tangent of an angle in radians.

    Examples
    --------
    >>> import lanewise as lw, numpy as np
    >>> lw.vectorize(lambda x: lw.tan(x))(np.array([0.0, 0.5])).round(6)
    array([0.      , 0.546302])
    """
    return _call("tan", np.tan, x)


def asin(x: Any) -> Any:
    """Inverse sine.

    Examples
    --------
    >>> import lanewise as lw, numpy as np
    >>> lw.vectorize(lambda x: lw.asin(x))(np.array([0.0, 0.5])).round(6)
    array([0.      , 0.523599])
    """
    return _call("arcsin", np.arcsin, x)


def acos(x: Any) -> Any:
    """Inverse cosine.

    Examples
    --------
    >>> import lanewise as lw, numpy as np
    >>> lw.vectorize(lambda x: lw.acos(x))(np.array([0.0, 0.5])).round(6)
    array([1.570796, 1.047198])
    """
    return _call("arccos", np.arccos, x)


def atan(x: Any) -> Any:
    """Inverse tangent.

    Examples
    --------
    >>> import lanewise as lw, numpy as np
    >>> lw.vectorize(lambda x: lw.atan(x))(np.array([0.0, 0.5])).round(6)
    array([0.      , 0.463648])
    """
    return _call("arctan", np.arctan, x)


def exp(x: Any) -> Any:
    """Power of e to the exponent x.

    Examples
    --------
    >>> import lanewise as lw, numpy as np
    >>> lw.vectorize(lambda x: lw.exp(x))(np.array([0.0, 0.5])).round(6)
    array([1.      , 1.648721])
    """
    return _call("exp", np.exp, x)


def exp2(x: Any) -> Any:
    """Power of 2 to the exponent x.

    Examples
    --------
    >>> import lanewise as lw, numpy as np
    >>> lw.vectorize(lambda x: lw.exp2(x))(np.array([0.0, 0.5])).round(6)
    array([1.      , 1.414214])
    """
    return _call("exp2", np.exp2, x)


def expm1(x: Any) -> Any:
    """Power of e to the exponent x, minus 1, accurate near 0.

    Examples
    --------
    >>> import lanewise as lw, numpy as np
    >>> lw.vectorize(lambda x: lw.expm1(x))(np.array([0.0, 0.5])).round(6)
    array([0.      , 0.648721])
    """
    return _call("expm1", np.expm1, x)


def log(x: Any) -> Any:
    """Natural logarithm.

    Examples
    --------
    >>> import lanewise as lw, numpy as np
    >>> lw.vectorize(lambda x: lw.log(x))(np.array([1.0, 2.5])).round(6)
    array([0.      , 0.916291])
    """
    return _call("log", np.log, x)


def log2(x: Any) -> Any:
    """Logarithm to base 2.

    Examples
    --------
    >>> import lanewise as lw, numpy as np
    >>> lw.vectorize(lambda x: lw.log2(x))(np.array([8.0, 2.5])).round(6)
    array([3.      , 1.321928])
    """
    return _call("log2", np.log2, x)


def log10(x: Any) -> Any:
    """Logarithm to base 10.

    Examples
    --------
    >>> import lanewise as lw, numpy as np
    >>> lw.vectorize(lambda x: lw.log10(x))(np.array([100.0, 2.5])).round(6)
    array([2.     , 0.39794])
    """
    return _call("log10", np.log10, x)


def log1p(x: Any) -> Any:
    """Natural logarithm of 1 + x, accurate near 0.

    Examples
    --------
    >>> import lanewise as lw, numpy as np
    >>> lw.vectorize(lambda x: lw.log1p(x))(np.array([0.0, 0.5])).round(6)
    array([0.      , 0.405465])
    """
    return _call("log1p", np.log1p, x)


def sinh(x: Any) -> Any:
    """Hyperbolic sine.

    Examples
    --------
    >>> import lanewise as lw, numpy as np
    >>> lw.vectorize(lambda x: lw.sinh(x))(np.array([0.0, 0.5])).round(6)
    array([0.      , 0.521095])
    """
    return _call("sinh", np.sinh, x)


def cosh(x: Any) -> Any:
    """Hyperbolic cosine.

    Examples
    --------
    >>> import lanewise as lw, numpy as np
    >>> lw.vectorize(lambda x: lw.cosh(x))(np.array([0.0, 0.5])).round(6)
    array([1.      , 1.127626])
    """
    return _call("cosh", np.cosh, x)


def tanh(x: Any) -> Any:
    """Hyperbolic tangent.

    Examples
    --------
    >>> import lanewise as lw, numpy as np
    >>> lw.vectorize(lambda x: lw.tanh(x))(np.array([0.0, 0.5])).round(6)
    array([0.      , 0.462117])
    """
    return _call("tanh", np.tanh, x)


def asinh(x: Any) -> Any:
    """Inverse hyperbolic sine.

    Examples
    --------
    >>> import lanewise as lw, numpy as np
    >>> lw.vectorize(lambda x: lw.asinh(x))(np.array([0.0, 0.5])).round(6)
    array([0.      , 0.481212])
    """
    return _call("arcsinh", np.arcsinh, x)


def acosh(x: Any) -> Any:
    """Inverse hyperbolic cosine.

    Examples
    --------
    >>> import lanewise as lw, numpy as np
    >>> lw.vectorize(lambda x: lw.acosh(x))(np.array([1.0, 2.5])).round(6)
    array([0.      , 1.566799])
    """
    return _call("arccosh", np.arccosh, x)


def atanh(x: Any) -> Any:
    """Inverse hyperbolic tangent.

    Examples
    --------
    >>> import lanewise as lw, numpy as np
    >>> lw.vectorize(lambda x: lw.atanh(x))(np.array([0.0, 0.5])).round(6)
    array([0.      , 0.549306])
    """
    return _call("arctanh", np.arctanh, x)


def cbrt(x: Any) -> Any:
    """Cube root.

    Examples
    --------
    >>> import lanewise as lw, numpy as np
    >>> lw.vectorize(lambda x: lw.cbrt(x))(np.array([8.0, 2.5])).round(6)
    array([2.      , 1.357209])
    """
    return _call("cbrt", np.cbrt, x)


def isnan(x: Any) -> Any:
    """Is not a number.

    Examples
    --------
    >>> import lanewise as lw, numpy as np
    >>> lw.vectorize(lambda x: lw.isnan(x))(np.array([0.5, np.nan]))
    array([False,  True])
    """
    return _call("isnan", np.isnan, x)


def isinf(x: Any) -> Any:
    """Is infinite.

    Examples
    --------
    >>> import lanewise as lw, numpy as np
    >>> lw.vectorize(lambda x: lw.isinf(x))(np.array([0.5, np.inf]))
    array([False,  True])
    """
    return _call("isinf", np.isinf, x)


def isfinite(x: Any) -> Any:
    """Is neither infinite nor NaN.

    Examples
    --------
    >>> import lanewise as lw, numpy as np
    >>> lw.vectorize(lambda x: lw.isfinite(x))(np.array([0.5, np.inf]))
    array([ True, False])
    """
    return _call("isfinite", np.isfinite, x)


def signbit(x: Any) -> Any:
    """Has a minus sign, which -0 has too.

    Examples
    --------
    >>> import lanewise as lw, numpy as np
    >>> lw.vectorize(lambda x: lw.signbit(x))(np.array([0.5, -0.0]))
    array([False,  True])
    """
    return _call("signbit", np.signbit, x)


def sign(x: Any) -> Any:
    """-1, 0 or 1; a NaN stays.

    Examples
    --------
    >>> import lanewise as lw, numpy as np
    >>> lw.vectorize(lambda x: lw.sign(x))(np.array([0.5, -7.0]))
    array([ 1., -1.])
    """
    return _call("sign", np.sign, x)


def erf(x: Any) -> Any:
    """Error function.

    Examples
    --------
    >>> import lanewise as lw, numpy as np
    >>> lw.vectorize(lambda x: lw.erf(x))(np.array([0.0, 0.5])).round(6)
    array([0.    , 0.5205])
    """
    return _call("erf", _mapped("erf"), x)


def erfc(x: Any) -> Any:
    """One minus the error function, accurate where that is small.

    Examples
    --------
    >>> import lanewise as lw, numpy as np
    >>> lw.vectorize(lambda x: lw.erfc(x))(np.array([0.0, 0.5])).round(6)
    array([1.    , 0.4795])
    """
    return _call("erfc", _mapped("erfc"), x)


def lgamma(x: Any) -> Any:
    """Logarithm of the absolute value of the gamma function.

    Examples
    --------
    >>> import lanewise as lw, numpy as np
    >>> lw.vectorize(lambda x: lw.lgamma(x))(np.array([4.0, 2.5])).round(6)
    array([1.791759, 0.284683])
    """
    return _call("lgamma", _mapped("lgamma"), x)


def digamma(x: Any) -> Any:
    """Slope of lgamma.

    Examples
    --------
    >>> import lanewise as lw, numpy as np
    >>> lw.vectorize(lambda x: lw.digamma(x))(np.array([1.0, 2.5])).round(6)
    array([-0.577216,  0.703157])
    """
    return _call("digamma", _mapped("digamma"), x)


def sigmoid(x: Any) -> Any:
    """Logistic function, 1 / (1 + exp(-x)).

    Examples
    --------
    >>> import lanewise as lw, numpy as np
    >>> lw.vectorize(lambda x: lw.sigmoid(x))(np.array([0.0, 0.5])).round(6)
    array([0.5     , 0.622459])
    """
    return _call("sigmoid", _mapped("sigmoid"), x)


def rsqrt(x: Any) -> Any:
    """One over the square root.

    Examples
    --------
    >>> import lanewise as lw, numpy as np
    >>> lw.vectorize(lambda x: lw.rsqrt(x))(np.array([4.0, 2.25])).round(6)
    array([0.5     , 0.666667])
    """
    return _call("rsqrt", _mapped("rsqrt"), x)


def atan2(a: Any, b: Any) -> Any:
    """Angle of the point (b, a), from -pi to pi.

    Examples
    --------
    >>> import lanewise as lw, numpy as np
    >>> lw.vectorize(lambda x: lw.atan2(x, 1.0))(np.array([1.0, -1.0])).round(6)
    array([ 0.785398, -0.785398])
    """
    return _call("arctan2", np.arctan2, a, b)


def hypot(a: Any, b: Any) -> Any:
    """Length of the vector (a, b).

    Examples
    --------
    >>> import lanewise as lw, numpy as np
    >>> lw.vectorize(lambda x: lw.hypot(x, 4.0))(np.array([3.0, 0.5])).round(6)
    array([5.      , 4.031129])
    """
    return _call("hypot", np.hypot, a, b)


def fmin(a: Any, b: Any) -> Any:
    """Smaller of two numbers; of a number and a NaN the number.

    Examples
    --------
    >>> import lanewise as lw, numpy as np
    >>> lw.vectorize(lambda x: lw.fmin(x, 1.0))(np.array([0.5, np.nan])).round(6)
    array([0.5, 1. ])
    """
    return _call("fmin", np.fmin, a, b)


def fmax(a: Any, b: Any) -> Any:
    """Larger of two numbers; of a number and a NaN the number.

    Examples
    --------
    >>> import lanewise as lw, numpy as np
    >>> lw.vectorize(lambda x: lw.fmax(x, 1.0))(np.array([0.5, np.nan])).round(6)
    array([1., 1.])
    """
    return _call("fmax", np.fmax, a, b)


def fmod(a: Any, b: Any) -> Any:
    """Remainder with the sign of the dividend, exact.

    Examples
    --------
    >>> import lanewise as lw, numpy as np
    >>> lw.vectorize(lambda x: lw.fmod(x, 2.0))(np.array([-7.5, 7.0])).round(6)
    array([-1.5,  1. ])
    """
    return _call("fmod", np.fmod, a, b)


def mod(a: Any, b: Any) -> Any:
    """Remainder with the sign of the divisor, as Python's ``%``.

    Examples
    --------
    >>> import lanewise as lw, numpy as np
    >>> lw.vectorize(lambda x: lw.mod(x, 2.0))(np.array([-7.5, 7.0])).round(6)
    array([0.5, 1. ])
    """
    return _call("remainder", np.remainder, a, b)


def nextafter(a: Any, b: Any) -> Any:
    """Neighbour of a in the direction of b.

    Examples
    --------
    >>> import lanewise as lw, numpy as np
    >>> lw.vectorize(lambda x: lw.nextafter(x, 3.0))(np.array([1.0, 2.0])) > np.array([1.0, 2.0])
    array([ True,  True])
    """
    return _call("nextafter", np.nextafter, a, b)


def power(a: Any, b: Any) -> Any:
    """Power of a to the exponent b.

    Examples
    --------
    >>> import lanewise as lw, numpy as np
    >>> lw.vectorize(lambda x: lw.power(x, 1.5))(np.array([4.0, 2.25])).round(6)
    array([8.   , 3.375])
    """
    return _call("power", np.power, a, b)


def sqrt(x: Any) -> Any:
    """Square root, correctly rounded.

    Examples
    --------
    >>> import lanewise as lw, numpy as np
    >>> lw.vectorize(lambda x: lw.sqrt(x))(np.array([4.0, 2.25]))
    array([2. , 1.5])
    """
    return _call("sqrt", np.sqrt, x)


def floor(x: Any) -> Any:
    """Largest whole number not above x, in the type of x.

    Examples
    --------
    >>> import lanewise as lw, numpy as np
    >>> lw.vectorize(lambda x: lw.floor(x))(np.array([1.5, -1.5]))
    array([ 1., -2.])
    """
    return _call("floor", np.floor, x)


def ceil(x: Any) -> Any:
    """Smallest whole number not below x, in the type of x.

    Examples
    --------
    >>> import lanewise as lw, numpy as np
    >>> lw.vectorize(lambda x: lw.ceil(x))(np.array([1.5, -1.5]))
    array([ 2., -1.])
    """
    return _call("ceil", np.ceil, x)


def trunc(x: Any) -> Any:
    """Whole part of x, in the type of x.

    Examples
    --------
    >>> import lanewise as lw, numpy as np
    >>> lw.vectorize(lambda x: lw.trunc(x))(np.array([1.5, -1.5]))
    array([ 1., -1.])
    """
    return _call("trunc", np.trunc, x)


def round(x: Any) -> Any:
    """Nearest whole number, ties to even, in the type of x.

    Examples
    --------
    >>> import lanewise as lw, numpy as np
    >>> lw.vectorize(lambda x: lw.round(x))(np.array([0.5, 1.5]))
    array([0., 2.])
    """
    return _call("round", np.rint, x)


def abs(x: Any) -> Any:
    """Absolute value; the built-in ``abs`` does the same.

    Examples
    --------
    >>> import lanewise as lw, numpy as np
    >>> lw.vectorize(lambda x: lw.abs(x))(np.array([-2, 3]))
    array([2, 3])
    """
    return _call("absolute", np.abs, x)


def minimum(a: Any, b: Any) -> Any:
    """Smaller of two numbers; NaN if one is.

    Examples
    --------
    >>> import lanewise as lw, numpy as np
    >>> lw.vectorize(lambda x: lw.minimum(x, 1.0))(np.array([0.5, 7.0]))
    array([0.5, 1. ])
    """
    return _call("minimum", np.minimum, a, b)


def maximum(a: Any, b: Any) -> Any:
    """Larger of two numbers; NaN if one is.

    Examples
    --------
    >>> import lanewise as lw, numpy as np
    >>> lw.vectorize(lambda x: lw.maximum(x, 1.0))(np.array([0.5, 7.0]))
    array([1., 7.])
    """
    return _call("maximum", np.maximum, a, b)


def copysign(a: Any, b: Any) -> Any:
    """Magnitude of a with the sign of b.

    Examples
    --------
    >>> import lanewise as lw, numpy as np
    >>> lw.vectorize(lambda x: lw.copysign(2.0, x))(np.array([-0.0, 7.0]))
    array([-2.,  2.])
    """
    return _call("copysign", np.copysign, a, b)


def fma(a: Any, b: Any, c: Any) -> Any:
    """Compute a * b + c with one rounding.

    Examples
    --------
    What a product loses by rounding:

    >>> import lanewise as lw, numpy as np
    >>> lw.vectorize(lambda x: lw.fma(x, x, -(x * x)))(np.array([1 + 2.0**-52])) == 2.0**-104
    array([ True])
    """
    return _call("fma", _plain_fma, a, b, c)


def _plain_fma(a: float, b: float, c: float) -> float:
    if math.isfinite(a) and math.isfinite(b) and math.isfinite(c):
        exact = Fraction(a) * Fraction(b) + Fraction(c)
        if exact != 0:  # the sign of a zero comes from below
            return float(exact)
    return a * b + c
