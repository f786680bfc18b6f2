"""Integrals and slopes of what is known at some places."""

from typing import Any

import numpy as np

from ..dtypes import FLOATS
from ..element import Element
from ..errors import UsageError, UsageTypeError
from ..source import at_line
from . import spaces
from .calls import FUNCTIONS
from .reductions import mean, operand
from .tensor import Tensor, as_tensor


def trapezoid(y: Any, x: Any = None, dx: Any = 1.0, axis: Any = -1) -> Any:
    """Return the integral along an axis, by trapezoids."""
    values = operand(y)
    at = spaces.normal_axis("trapezoid", axis, values.ndim)
    width = dx
    if x is not None:
        places = as_tensor(values.recorder, x)
        width = np.diff(places, axis=at if places.ndim > 1 else 0)
        if places.ndim == 1:
            width = width.reshape([-1 if d == at else 1 for d in range(values.ndim)])
    front = [slice(None)] * at
    after, before = values[(*front, slice(1, None))], values[(*front, slice(-1))]
    return np.sum(width * (after + before) / 2.0, axis=at)


def gradient(f: Any, *varargs: Any, axis: Any = None, edge_order: int = 1) -> Any:
    """Return the slopes along an axis of places that are equally far apart."""
    values = operand(f)
    if values.element_type not in FLOATS:
        values = values.astype(np.float64)
    axes = spaces.normal_axes("gradient", axis, values.ndim)
    if len(varargs) > 1 or any(np.ndim(distance) for distance in varargs):
        raise UsageTypeError(
            at_line(
                "gradient: distances of their own; got several, expected one number for all axes."
            )
        )
    if edge_order != 1:
        raise UsageTypeError(
            at_line(f"gradient: another order at the ends; got {edge_order}, expected 1.")
        )
    distance = values.dtype.type(varargs[0] if varargs else 1)
    slopes = [_slope(values, at, distance) for at in axes]
    return slopes[0] if len(slopes) == 1 else tuple(slopes)


def _slope(values: Tensor, axis: int, distance: Any) -> Any:
    size = values.shape[axis]
    if size < 2:
        raise UsageError(at_line(f"gradient: too few numbers; got {size}, expected two or more."))
    front = [slice(None)] * axis

    def part(first: int | None, last: int | None) -> Any:
        return values[(*front, slice(first, last))]

    parts = [(part(1, 2) - part(0, 1)) / distance]
    if size > 2:
        parts.append((part(2, None) - part(None, -2)) / (2 * distance))
    parts.append((part(-1, None) - part(-2, -1)) / distance)
    return np.concatenate(parts, axis)


def cov(m: Any, y: Any = None, rowvar: bool = True, bias: bool = False, ddof: Any = None) -> Any:
    """Return how variables, the rows of a matrix, vary together."""
    given: Any = operand(m)
    if y is not None:
        given = np.concatenate([np.atleast_2d(one) for one in (given, operand(y))])
    if given.ndim > 2:
        raise UsageError(
            at_line(f"cov: not a matrix; got the shape {given.shape}, expected two dimensions.")
        )
    given = given.astype(np.float64)
    matrix = given.reshape(1, -1) if given.ndim == 1 else given if rowvar else given.T
    count = matrix.shape[1] - (int(not bias) if ddof is None else ddof)
    centred = matrix - mean(matrix, 1, keepdims=True)
    result = centred @ centred.T / matrix.dtype.type(count)
    return result[0, 0] if given.ndim == 1 else result


def corrcoef(x: Any, y: Any = None, rowvar: bool = True) -> Any:
    """Return how variables vary together, of those that vary by 1."""
    together = cov(x, y, rowvar)
    if isinstance(together, Element):
        return together / together
    deviation = np.sqrt(np.diagonal(together))
    return np.clip(together / deviation[:, None] / deviation[None, :], -1, 1)


def unwrap(p: Any, discont: Any = None, axis: Any = -1, *, period: Any = 2 * np.pi) -> Any:
    """Take jumps of more than half a period off the numbers along an axis."""
    values = operand(p)
    if values.element_type not in FLOATS:
        values = values.astype(np.float64)
    half = period / 2
    steps: Any = np.diff(values, axis=axis)
    short = np.mod(steps + half, period) - half
    short = np.where((short == -half) & (steps > 0), half, short)
    taken = np.where(np.abs(steps) < (half if discont is None else discont), 0, short - steps)
    at = spaces.normal_axis("unwrap", axis, values.ndim)
    front = (slice(None),) * at
    later = values[(*front, slice(1, None))] + np.cumsum(taken, axis=at)
    return np.concatenate([values[(*front, slice(1))], later], at)


FUNCTIONS.update({np.gradient: gradient, np.cov: cov, np.corrcoef: corrcoef, np.unwrap: unwrap})
FUNCTIONS[getattr(np, "trapezoid", None) or getattr(np, "trapz")] = trapezoid  # noqa: B009
