"""Functions of elements. On plain numbers they compute, so that the plain function runs too."""

from collections.abc import Callable
from fractions import Fraction
from math import isfinite
from typing import Any

import numpy as np

from .element import Element, record


def _call(name: str, plain: Callable[..., Any], *operands: Any) -> Any:
    """Record when there is an element among the operands, compute otherwise."""
    if any(isinstance(operand, Element) for operand in operands):
        return record(name, *operands)
    result = plain(*operands)
    is_python = all(isinstance(operand, (bool, int, float)) for operand in operands)
    is_numpy = any(isinstance(operand, np.generic) for operand in operands)
    return result.item() if is_python and not is_numpy and hasattr(result, "item") else result


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
    if isfinite(a) and isfinite(b) and isfinite(c):
        exact = Fraction(a) * Fraction(b) + Fraction(c)
        if exact != 0:  # the sign of a zero comes from below
            return float(exact)
    return a * b + c
