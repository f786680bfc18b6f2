"""Functions of one number that are made of others: quantiles of the normal distribution."""

from typing import Any

import numpy as np

from ... import lgamma
from .names import listed
from .ops import elementwise, whole

# Wichura's rational approximations (algorithm AS 241), the highest power first: of the middle, of
# what lies outside, and of what lies far out.
_MIDDLE_ABOVE = (
    *(2509.0809287301227, 33430.57558358813, 67265.7709270087, 45921.95393154987),
    *(13731.69376550946, 1971.5909503065513, 133.14166789178438, 3.3871328727963665),
)
_MIDDLE_BELOW = (
    *(5226.495278852854, 28729.085735721943, 39307.89580009271, 21213.794301586597),
    *(5394.196021424751, 687.1870074920579, 42.31333070160091, 1.0),
)
_OUTER_ABOVE = (
    *(0.0007745450142783414, 0.022723844989269184, 0.2417807251774506, 1.2704582524523684),
    *(3.6478483247632045, 5.769497221460691, 4.630337846156546, 1.4234371107496835),
)
_OUTER_BELOW = (
    *(1.0507500716444169e-09, 0.0005475938084995345, 0.015198666563616457, 0.14810397642748008),
    *(0.6897673349851, 1.6763848301838038, 2.053191626637759, 1.0),
)
_FAR_ABOVE = (
    *(2.0103343992922881e-07, 2.7115555687434876e-05, 0.0012426609473880784, 0.026532189526576124),
    *(0.29656057182850487, 1.7848265399172913, 5.463784911164114, 6.657904643501103),
)
_FAR_BELOW = (
    *(2.0442631033899397e-15, 1.421511758316446e-07, 1.8463183175100548e-05, 0.0007868691311456133),
    *(0.014875361290850615, 0.1369298809227358, 0.599832206555888, 1.0),
)


def _ratio(above: tuple[float, ...], below: tuple[float, ...], x: Any) -> Any:
    return _polynomial(above, x) / _polynomial(below, x)


def _polynomial(coefficients: tuple[float, ...], x: Any) -> Any:
    total = x * 0 + coefficients[0]
    for one in coefficients[1:]:
        total = total * x + one
    return total


def quantile(q: Any, tail: Any) -> Any:
    """Return where a part `tail` of all lies outside; `q` is how far the part is from the half."""
    is_middle = np.absolute(q) <= 0.425
    middle = q * _ratio(_MIDDLE_ABOVE, _MIDDLE_BELOW, 0.180625 - q * q)
    inside = np.where(is_middle | (tail <= 0), 0.25, tail)
    r = np.sqrt(-np.log(inside))
    outer = np.where(
        r <= 5,
        _ratio(_OUTER_ABOVE, _OUTER_BELOW, r - 1.6),
        _ratio(_FAR_ABOVE, _FAR_BELOW, r - 5),
    )
    outer = np.where(tail > 0, outer, np.where(tail == 0, np.inf, np.nan))
    return np.where(is_middle, middle, np.where(q < 0, -outer, outer))


@elementwise
def ndtri(x: Any) -> Any:
    """Return below which number a part of the normal distribution lies."""
    return quantile(x - 0.5, np.minimum(x, 1 - x))


@elementwise
def erfinv(x: Any) -> Any:
    """Return the inverse of the error function."""
    return quantile(x / 2, (1 - np.absolute(x)) / 2) * 0.7071067811865476


@elementwise
def erfcinv(x: Any) -> Any:
    """Return the inverse of `erfc`."""
    return quantile((1 - x) / 2, np.minimum(x, 2 - x) / 2) * 0.7071067811865476


@whole()
def lbeta(x: Any) -> Any:
    """Return the logarithm of the beta function of the numbers along the last axis."""
    return np.sum(lgamma(x), axis=-1) - lgamma(np.sum(x, axis=-1))


NAMES = {
    **listed("math", [ndtri, erfinv, erfcinv, lbeta], top=False),
}
