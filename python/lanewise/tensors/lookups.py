"""Looking numbers up in sorted ones: places, interpolation, histograms, quantiles."""

from typing import Any

import numpy as np

from .._core import DType
from ..element import Element, record
from ..errors import UsageError, UsageTypeError
from ..source import at_line
from . import spaces
from .calls import FUNCTIONS
from .making import new_array
from .reductions import operand
from .scans import sort
from .scatter import at
from .tensor import Tensor, apply, as_tensor, recorder_of


def _sorted_vector(call: str, a: Any) -> Tensor:
    tensor = operand(a)
    if tensor.ndim != 1:
        raise UsageError(
            at_line(f"{call}: not a vector; got the shape {tensor.shape}, expected one dimension.")
        )
    return tensor


def searchsorted(a: Any, v: Any, side: str = "left") -> Any:
    """Return where numbers would be put into sorted ones: as many are below them, or not above."""
    recorder = recorder_of([a, v])
    table = _sorted_vector("searchsorted", as_tensor(recorder, a))
    if side not in ("left", "right"):
        raise UsageError(
            at_line(f"searchsorted: no such side; got {side!r}, expected 'left' or 'right'.")
        )

    def place_of(number: Any) -> Element:
        place = Element(recorder, spaces.number(recorder, 0))
        for step in _steps(table.size):
            after = record("add", place, step)
            last = record("minimum", after, table.size)
            known = table.at([record("subtract", last, 1).value])
            is_before = known < number if side == "left" else known <= number
            place = record("select", is_before & (after <= table.size), after, place)
        return place.astype(np.int64)

    return apply(place_of, v if isinstance(v, Element) else as_tensor(recorder, v))


def _steps(size: int) -> list[np.int32]:
    """Return powers of two, the largest first, that add up to a size or more."""
    return [np.int32(1 << bit) for bit in reversed(range(size.bit_length()))]


def digitize(x: Any, bins: Any, right: bool = False) -> Any:
    """Return the bins of numbers, whose bounds ascend."""
    if isinstance(bins, (np.ndarray, list, tuple)) and np.any(np.diff(np.asarray(bins)) < 0):
        raise UsageTypeError(
            at_line("digitize: bins descend; got such bounds, expected ascending ones.")
        )
    return searchsorted(bins, x, "left" if right else "right")


def interp(x: Any, xp: Any, fp: Any, left: Any = None, right: Any = None) -> Any:
    """Return what a function that is known at some places has between them."""
    recorder = recorder_of([x, xp, fp])
    places = _sorted_vector("interp", as_tensor(recorder, xp))
    values = _sorted_vector("interp", as_tensor(recorder, fp))
    if places.size != values.size:
        raise UsageError(
            at_line(
                f"interp: as many places as values are needed; got {places.size} and "
                f"{values.size}, expected equal numbers."
            )
        )
    first, last = places[0], places[-1]
    low = values[0] if left is None else left
    high = values[-1] if right is None else right
    if places.size == 1:
        inside = apply(lambda number: number * 0 + values[0], x)
    else:
        behind = np.clip(searchsorted(places, x, "right"), 1, places.size - 1)
        begin, end = places[behind - 1], places[behind]
        below, above = values[behind - 1], values[behind]
        inside = (above - below) / (end - begin) * (x - begin) + below
        inside = np.where(x == last, values[-1], inside)
    return np.where(x < first, low, np.where(x > last, high, inside))


def isin(element: Any, test_elements: Any, invert: bool = False) -> Any:
    """Say which numbers are among others."""
    recorder = recorder_of([element, test_elements])
    others = as_tensor(recorder, test_elements).reshape(-1)
    numbers = as_tensor(recorder, element)
    found = np.any(numbers.reshape(*numbers.shape, 1) == others, axis=-1)
    return ~found if invert else found


def histogram(a: Any, bins: Any = 10, range: Any = None, weights: Any = None) -> Any:
    """Count numbers in bins, and return the bounds of those too."""
    recorder = recorder_of([a, weights])
    numbers = as_tensor(recorder, a).reshape(-1)
    if not isinstance(bins, (int, np.integer)):
        edges: Any = bins
    elif range is not None:
        edges = np.linspace(range[0], range[1], int(bins) + 1)
    else:
        raise UsageTypeError(
            at_line(
                "histogram: the bounds of the bins are not known; got a number of bins, expected "
                "range=(low, high) with it, or all bounds."
            )
        )
    table = _sorted_vector("histogram", as_tensor(recorder, edges))
    count = table.size - 1
    place = searchsorted(table, numbers, "right") - 1
    place = np.where(numbers == table[-1], count - 1, place)
    is_inside = (numbers >= table[0]) & (numbers <= table[-1])
    total = new_array(recorder, (count,), DType.I64 if weights is None else DType.F64)
    one = 1 if weights is None else as_tensor(recorder, weights).reshape(-1)
    at(np.add, total, np.clip(place, 0, count - 1), np.where(is_inside, one, 0))
    return total, edges


def quantile(a: Any, q: Any, axis: Any = None, keepdims: bool = False) -> Any:
    """Return the number below which there is a part of all, between two if need be."""
    a = operand(a)
    if axis is None:
        shape = (1,) * a.ndim
        a, axis = a.reshape(-1), 0
    else:
        at_axis = spaces.normal_axis("quantile", axis, a.ndim)
        shape = tuple(1 if d == at_axis else size for d, size in enumerate(a.shape))
    parts = np.asarray(q, np.float64)
    if np.any((parts < 0) | (parts > 1)):
        raise UsageError(at_line(f"quantile: not a part; got {q!r}, expected 0 to 1."))
    ordered = FUNCTIONS[np.moveaxis](sort(a, axis), axis, -1)
    size = ordered.shape[-1]
    last = ordered[..., -1]  # a NaN, if there is one

    def one(part: float) -> Any:
        place = part * (size - 1)
        low = int(np.floor(place))
        high = min(low + 1, size - 1)
        rest = place - low
        below, above = ordered[..., low], ordered[..., high]
        step = above - below
        between = above - step * (1 - rest) if rest >= 0.5 else below + step * rest
        return np.where(np.isnan(last), last, between)

    results = [_shaped(one(float(part)), shape if keepdims else None) for part in parts.ravel()]
    if parts.ndim == 0:
        return results[0]
    return np.stack(results).reshape(*parts.shape, *results[0].shape)


def _shaped(result: Any, shape: tuple[int, ...] | None) -> Any:
    if isinstance(result, Tensor) and not result.shape:
        result = result[()]
    if shape is None:
        return result
    return as_tensor(result.recorder, result).reshape(shape)


def percentile(a: Any, q: Any, axis: Any = None, keepdims: bool = False) -> Any:
    """Return a quantile by its hundredths."""
    return quantile(a, np.true_divide(q, 100), axis, keepdims)


FUNCTIONS.update(
    {
        np.searchsorted: searchsorted,
        np.digitize: digitize,
        np.interp: interp,
        np.isin: isin,
        np.histogram: histogram,
        np.quantile: quantile,
        np.percentile: percentile,
    }
)
