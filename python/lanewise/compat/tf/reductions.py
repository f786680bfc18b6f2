"""Sums, means, extremes and running sums: results have the type of what they are made of."""

from collections.abc import Callable
from typing import Any

import numpy as np

from ...composites import logsumexp
from ...element import Varying
from ...errors import UsageError, UsageTypeError
from ...ragged.reductions import extreme
from ...ragged.rows import Row
from .dtypes import as_dtype
from .elementwise import truncated
from .names import listed
from .ops import Leads, whole


def _axes(axis: Any) -> Any:
    """Return axes as NumPy takes them: None for all."""
    if isinstance(axis, (list, tuple)):
        return tuple(axis)
    return axis


def by_axis(name: str) -> Leads:
    """Map over the first axis where a reduction is along others only."""

    def leads(values: list[Any], **static: Any) -> dict[str, Any] | None:
        rank = np.ndim(values[0])
        axes = _axes(static.get(name))
        if axes is None or rank < 2:
            return None
        several = axes if isinstance(axes, tuple) else (axes,)
        inner = tuple((at + rank if at < 0 else at) - 1 for at in several)
        if not all(0 <= at < rank - 1 for at in inner):
            return None
        return {**static, name: inner if isinstance(axes, tuple) else inner[0]}

    return leads


_BY_AXIS = by_axis("axis")


def _reduction(name: str, about: str, function: Callable[..., Any]) -> Any:
    def reduce(input_tensor: Any, axis: Any = None, keepdims: bool = False) -> Any:
        if axis == () or axis == []:
            return function(input_tensor[None], 0, False)
        return function(input_tensor, _axes(axis), bool(keepdims))

    reduce.__name__ = reduce.__qualname__ = name
    reduce.__doc__ = f"Return {about} along axes, all if none are given."
    return whole(leads=_BY_AXIS)(reduce)


def _mean(x: Any, axis: Any, keepdims: bool) -> Any:
    if x.dtype.kind not in "iu":
        return np.mean(x, axis=axis, keepdims=keepdims)
    total = np.sum(x, axis=axis, dtype=x.dtype, keepdims=keepdims)
    if isinstance(x, Varying):  # of an empty row it is 0
        return truncated(total, np.maximum(x.size, 1).astype(x.dtype))
    count = np.size(x) // max(np.size(total), 1)
    return truncated(total, x.dtype.type(count))


def _extreme(which: str, function: Callable[..., Any]) -> Callable[..., Any]:
    """Return the largest or smallest; of no numbers in a row, the one that changes no other."""

    def reduce(x: Any, axis: Any, keepdims: bool) -> Any:
        if isinstance(x, Row) and axis in (None, 0, -1) and not keepdims:
            return extreme(x, which)
        if isinstance(x, np.ndarray) and x.dtype.kind in "fiu":
            return function(x, axis=axis, keepdims=keepdims, initial=least(x.dtype, which))
        return function(x, axis=axis, keepdims=keepdims)

    return reduce


def least(dtype: Any, which: str) -> Any:
    """Return what changes no other number: it is the largest, or the smallest, of none."""
    if dtype.kind == "f":
        return dtype.type(-np.inf if which == "max" else np.inf)
    return getattr(np.iinfo(dtype), "min" if which == "max" else "max")


def _logsumexp(x: Any, axis: Any, keepdims: bool) -> Any:
    if np.ndim(x) == 0 and axis is None:
        return x
    if np.size(x) == 0:
        return np.log(np.sum(np.exp(x), axis=axis, keepdims=keepdims))
    return logsumexp(x, axis=axis, keepdims=keepdims)


def _require_reals(call: str, x: Any) -> None:
    if x.dtype.kind not in "fc":
        raise UsageTypeError(
            f"{call}: integers; got {x.dtype}, expected floats. Convert with tf.cast."
        )


def _of_reals(call: str, function: Callable[..., Any]) -> Callable[..., Any]:
    def reduce(x: Any, axis: Any, keepdims: bool) -> Any:
        _require_reals(call, x)
        return function(x, axis=axis, keepdims=keepdims)

    return reduce


def _norm(x: Any, axis: Any, keepdims: bool) -> Any:
    squares = x * x if x.dtype.kind != "c" else np.real(x * np.conjugate(x))
    total = np.sqrt(np.sum(squares, axis=axis, dtype=squares.dtype, keepdims=keepdims))
    return total.astype(x.dtype)


reduce_sum = _reduction(
    "reduce_sum",
    "the sum",
    lambda x, axis, keepdims: np.sum(x, axis=axis, dtype=x.dtype, keepdims=keepdims),
)
reduce_prod = _reduction(
    "reduce_prod",
    "the product",
    lambda x, axis, keepdims: np.prod(x, axis=axis, dtype=x.dtype, keepdims=keepdims),
)
reduce_mean = _reduction("reduce_mean", "the mean, of integers without what is behind it,", _mean)
reduce_max = _reduction("reduce_max", "the largest", _extreme("max", np.max))
reduce_min = _reduction("reduce_min", "the smallest", _extreme("min", np.min))
reduce_any = _reduction(
    "reduce_any",
    "whether one holds",
    lambda x, axis, keepdims: np.any(x, axis=axis, keepdims=keepdims),
)
reduce_all = _reduction(
    "reduce_all",
    "whether all hold",
    lambda x, axis, keepdims: np.all(x, axis=axis, keepdims=keepdims),
)
reduce_variance = _reduction(
    "reduce_variance", "the variance", _of_reals("reduce_variance", np.var)
)
reduce_std = _reduction("reduce_std", "the root of the variance", _of_reals("reduce_std", np.std))
reduce_logsumexp = _reduction(
    "reduce_logsumexp",
    "the logarithm of the sum of exponentials",
    _of_reals("reduce_logsumexp", _logsumexp),
)
reduce_euclidean_norm = _reduction("reduce_euclidean_norm", "the length", _norm)


def _place(name: str, about: str, function: Callable[..., Any]) -> Any:
    def find(input: Any, axis: Any = None, output_type: Any = "int64") -> Any:
        along = 0 if axis is None else axis
        return function(input, axis=along).astype(as_dtype(output_type).dtype)

    def leads(values: list[Any], **static: Any) -> dict[str, Any] | None:
        return _BY_AXIS(values, **{"axis": 0, **static})

    find.__name__ = find.__qualname__ = name
    find.__doc__ = f"Return where {about} is along an axis, the first if none is given."
    return whole(leads=leads)(find)


argmax = _place("argmax", "the largest", np.argmax)
argmin = _place("argmin", "the smallest", np.argmin)


@whole(leads=_BY_AXIS)
def count_nonzero(
    input: Any, axis: Any = None, keepdims: bool = False, dtype: Any = "int64"
) -> Any:
    """Return how many numbers are not 0."""
    found = np.count_nonzero(input, axis=_axes(axis), keepdims=bool(keepdims))
    return np.int64(found) if isinstance(found, int) else found.astype(as_dtype(dtype).dtype)


@whole()
def zero_fraction(value: Any) -> Any:
    """Return which part of the numbers is 0."""
    return np.mean((value == 0).astype(np.float32))


def _neighbours(x: Any) -> tuple[Any, Any]:
    flat = np.reshape(x, -1)
    return flat[:-1], flat[1:]


@whole()
def is_non_decreasing(x: Any) -> Any:
    """Say whether no number is below the one before it."""
    if np.size(x) < 2:
        return np.all(x == x)
    before, after = _neighbours(x)
    return np.all(before <= after)


@whole()
def is_strictly_increasing(x: Any) -> Any:
    """Say whether each number is above the one before it."""
    if np.size(x) < 2:
        return np.all(x == x)
    before, after = _neighbours(x)
    return np.all(before < after)


# --- running ---


def _running(name: str, about: str, function: Callable[..., Any], neutral: float) -> Any:
    def scan(x: Any, axis: Any = 0, exclusive: bool = False, reverse: bool = False) -> Any:
        along = axis + np.ndim(x) if axis < 0 else axis
        if not 0 <= along < np.ndim(x):
            raise UsageError(
                f"{name}: no such axis; got {axis}, expected one of {np.ndim(x)} dimensions."
            )
        if np.size(x) == 0:
            return x
        x = np.flip(x, along) if reverse else x
        result = function(x, along)
        if exclusive:
            shape = list(np.shape(x))
            shape[along] = 1
            first = np.full(shape, x.dtype.type(neutral), x.dtype)
            if np.shape(x)[along] == 1:
                result = result * 0 + first if neutral == 0 else np.broadcast_to(first, shape)
            else:
                kept = result[(*[slice(None)] * along, slice(None, -1))]
                result = np.concatenate([first, kept], along)
        return np.flip(result, along) if reverse else result

    scan.__name__ = scan.__qualname__ = name
    scan.__doc__ = (
        f"Return the {about} of all numbers up to each one along an axis; with `exclusive` "
        "without it, with `reverse` from the end."
    )

    def leads(values: list[Any], **static: Any) -> dict[str, Any] | None:
        return _BY_AXIS(values, **{"axis": 0, **static})

    return whole(leads=leads)(scan)


def _cumulative_logsumexp(x: Any, axis: int) -> Any:
    """Double how many numbers each one stands for until it is all before it."""
    _require_reals("cumulative_logsumexp", x)
    shape, step = list(np.shape(x)), 1
    size = shape[axis]
    while step < size:
        shape[axis] = step
        none = np.full(shape, x.dtype.type(-np.inf), x.dtype)
        before = np.concatenate([none, x[(*[slice(None)] * axis, slice(None, -step))]], axis)
        x = np.logaddexp(x, before)
        step *= 2
    return x


cumsum = _running("cumsum", "sum", lambda x, axis: np.cumsum(x, axis, dtype=x.dtype), 0)
cumprod = _running("cumprod", "product", lambda x, axis: np.cumprod(x, axis, dtype=x.dtype), 1)
cumulative_logsumexp = _running(
    "cumulative_logsumexp",
    "logarithm of the sum of exponentials",
    _cumulative_logsumexp,
    -np.inf,
)

_REDUCTIONS = [
    *(reduce_sum, reduce_prod, reduce_mean, reduce_max, reduce_min, reduce_any, reduce_all),
    *(reduce_logsumexp, argmax, argmin, cumsum),
]

NAMES = {
    **listed("math", [*_REDUCTIONS, cumprod]),
    **listed(
        "math",
        [reduce_std, reduce_variance, reduce_euclidean_norm, count_nonzero, zero_fraction],
        top=False,
    ),
    **listed("math", [is_non_decreasing, is_strictly_increasing], top=False),
    "math.cumulative_logsumexp": cumulative_logsumexp,
}
