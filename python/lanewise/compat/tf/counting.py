"""Numbers by groups: segments, bins, the largest few. Results of empty groups are TensorFlow's."""

import math
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from ...errors import UsageError
from ...recorder import current
from ...source import at_line
from .debugging import require
from .dtypes import as_dtype
from .elementwise import truncated
from .names import listed
from .ops import held, moving, static_of, whole
from .selecting import own_copy
from .tensor import is_symbol

# --- the largest ---


class TopK(NamedTuple):
    """What `top_k` gives."""

    values: Any
    indices: Any


@moving
def top_k(input: Any, k: Any = 1, sorted: bool = True, index_type: Any = "int32") -> Any:
    """Return the largest numbers along the last axis, and where they are; of equal ones the first.

    Examples
    --------
    >>> import lanewise.compat.tf as tf
    >>> tf.math.top_k([1, 3, 2], k=2).indices.numpy()
    array([1, 2], dtype=int32)
    """
    numbers = held(input)
    count, size = static_of(k), np.shape(numbers)[-1]
    if not 0 <= count <= size:
        raise UsageError(f"top_k: more than there are; got k={count}, expected 0 to {size}.")
    from_behind = np.argsort(np.flip(numbers, -1), -1, kind="stable")
    places = size - 1 - np.flip(from_behind, -1)[..., :count]
    return TopK(np.take_along_axis(numbers, places, -1), places.astype(as_dtype(index_type).dtype))


@whole(tensors=2)
def in_top_k(targets: Any, predictions: Any, k: Any) -> Any:
    """Say for each row whether the prediction of its target is among the largest."""
    places = np.clip(targets, 0, np.shape(predictions)[-1] - 1)
    own = np.take_along_axis(predictions, places[:, None], -1)
    above = np.sum((predictions > own).astype(np.int32), -1, dtype=np.int32)
    return (above < k) & np.isfinite(own[:, 0]) & (places == targets)


# --- segments ---


def _grouped(data: Any, ids: Any, count: int, start: Any, add: Callable[..., None]) -> Any:
    """Combine what belongs to each of so many groups; those below 0 belong to none."""
    require(ids < count, f"groups: a number is too large; expected less than {count}.")
    rest = np.shape(data)[np.ndim(ids) :]
    result = own_copy(np.full((count + 1, *rest), start, data.dtype))
    add(result, np.where(ids < 0, count, ids), data)
    return result[:count]


def _counts(data: Any, ids: Any, count: int) -> Any:
    """Return how many numbers each group has, at least 1, beside the results."""
    found = _grouped(np.ones(np.shape(ids), data.dtype), ids, count, 0, np.add.at)
    found = np.maximum(found, data.dtype.type(1))
    rank = np.ndim(data) - np.ndim(ids)
    return np.reshape(found, (count, *[1] * rank))


def _lowest(dtype: Any) -> Any:
    return as_dtype(dtype).min


def _highest(dtype: Any) -> Any:
    return as_dtype(dtype).max


def _sum(data: Any, ids: Any, count: int) -> Any:
    return _grouped(data, ids, count, 0, np.add.at)


def _prod(data: Any, ids: Any, count: int) -> Any:
    return _grouped(data, ids, count, 1, np.multiply.at)


def _max(data: Any, ids: Any, count: int) -> Any:
    return _grouped(data, ids, count, _lowest(data.dtype), np.maximum.at)


def _min(data: Any, ids: Any, count: int) -> Any:
    return _grouped(data, ids, count, _highest(data.dtype), np.minimum.at)


def _mean(data: Any, ids: Any, count: int) -> Any:
    return _sum(data, ids, count) / _counts(data, ids, count)


def _whole_mean(data: Any, ids: Any, count: int) -> Any:
    if data.dtype.kind in "fc":
        return _mean(data, ids, count)
    return truncated(_sum(data, ids, count), _counts(data, ids, count))


def _sqrt_n(data: Any, ids: Any, count: int) -> Any:
    return _sum(data, ids, count) / np.sqrt(_counts(data, ids, count))


def _unsorted(name: str, about: str, combine: Callable[[Any, Any, int], Any]) -> Any:
    def segments(data: Any, segment_ids: Any, num_segments: Any) -> Any:
        return combine(held(data), held(segment_ids), static_of(num_segments))

    segments.__name__ = segments.__qualname__ = f"unsorted_segment_{name}"
    segments.__doc__ = f"Return the {about} of each of so many groups."
    return moving(segments)


def _sorted(name: str, about: str, combine: Callable[[Any, Any, int], Any]) -> Any:
    def segments(data: Any, segment_ids: Any) -> Any:
        ids = held(segment_ids)
        if is_symbol(ids):
            raise UsageError(
                at_line(
                    f"segment_{name}: how many groups there are depends on values; got a call for "
                    "one element, expected their number. Use "
                    f"tf.math.unsorted_segment_{name}(data, ids, num_segments)."
                )
            )
        if np.any(np.diff(ids) < 0) or np.any(ids < 0):
            raise UsageError(
                f"segment_{name}: ids are not sorted; got {ids.tolist()}, expected ascending ones "
                f"from 0 on. Use tf.math.unsorted_segment_{name}."
            )
        count = int(ids[-1]) + 1 if ids.size else 0
        data = held(data)
        result = combine(data, ids, count)
        if name not in ("max", "min"):
            return result
        is_there = np.isin(np.arange(count), ids)
        return np.where(is_there.reshape(-1, *[1] * (result.ndim - 1)), result, data.dtype.type(0))

    segments.__name__ = segments.__qualname__ = f"segment_{name}"
    segments.__doc__ = f"Return the {about} of each group, whose numbers ascend."
    return moving(segments)


_GROUPS = {
    "sum": ("sum", _sum),
    "prod": ("product", _prod),
    "max": ("largest", _max),
    "min": ("smallest", _min),
}
_SEGMENTS = [
    *(_sorted(name, *group) for name, group in _GROUPS.items()),
    *(_unsorted(name, *group) for name, group in _GROUPS.items()),
    _sorted("mean", "mean, of integers without what is behind it,", _whole_mean),
    _unsorted("mean", "mean", _mean),
    _unsorted("sqrt_n", "sum over the root of the number", _sqrt_n),
]


# --- bins ---


@moving
def bincount(
    arr: Any,
    weights: Any = None,
    minlength: Any = None,
    maxlength: Any = None,
    dtype: Any = "int32",
    axis: Any = None,
    binary_output: bool = False,
) -> Any:
    """Return how often each number from 0 on is there, or the sum of its weights.

    Inside of maps `maxlength`, or `minlength`, says how many numbers there are. With ``axis=-1``
    each row of a matrix has its own counts.
    """
    if static_of(axis) not in (None, 0, -1):
        raise UsageError(f"bincount: no such axis; got {axis}, expected None, 0 or -1.")
    numbers = np.reshape(held(arr), -1)
    count, most = static_of(minlength) or 0, static_of(maxlength)
    if current() is None:
        count = max(count, int(numbers.max(initial=-1)) + 1)
        count = count if most is None else min(count, most)
    elif most is not None:
        count = most
    elif count == 0:
        raise UsageError(
            at_line("bincount: no number of bins; got neither, expected maxlength or minlength.")
        )
    kind = as_dtype(dtype).dtype if weights is None else held(weights).dtype
    parts = np.ones(np.shape(numbers), kind) if weights is None else np.reshape(held(weights), -1)
    places = numbers if most is None else np.where(numbers < most, numbers, -1)
    rows = np.shape(held(arr))[:-1] if static_of(axis) == -1 else ()
    if rows:
        first = np.repeat(np.arange(rows[0]) * count, np.shape(held(arr))[-1])
        places = np.where(places < 0, -1, places + first.astype(places.dtype))
    found = np.reshape(_sum(parts, places, count * math.prod(rows)), (*rows, count))
    return (found > 0).astype(kind) if binary_output else found


@moving
def confusion_matrix(
    labels: Any,
    predictions: Any,
    num_classes: Any = None,
    weights: Any = None,
    dtype: Any = "int32",
) -> Any:
    """Return how often each class was predicted for each label: a row for a label."""
    rows, columns = held(labels), held(predictions)
    if num_classes is None:
        if current() is not None:
            raise UsageError(at_line("confusion_matrix: no num_classes; got None, expected it."))
        num_classes = max(int(rows.max(initial=-1)), int(columns.max(initial=-1))) + 1
    count = static_of(num_classes)
    kind = as_dtype(dtype).dtype
    parts = np.ones(np.shape(rows), kind) if weights is None else held(weights).astype(kind)
    result = own_copy(np.zeros((count, count), kind))
    np.add.at(result, (rows, columns), parts)
    return result


def _bins(values: Any, value_range: Any, nbins: int) -> Any:
    low, high = (held(bound) for bound in (value_range[0], value_range[1]))
    places = np.floor((values - low) / (high - low) * nbins)
    return np.clip(places, 0, nbins - 1).astype(np.int32)


@moving
def histogram_fixed_width(
    values: Any, value_range: Any, nbins: Any = 100, dtype: Any = "int32"
) -> Any:
    """Return how many numbers are in each of so many bins; those outside are in the last ones."""
    count = static_of(nbins)
    places = np.reshape(_bins(held(values), held(value_range), count), -1)
    return _sum(np.ones(np.shape(places), as_dtype(dtype).dtype), places, count)


@moving
def histogram_fixed_width_bins(
    values: Any, value_range: Any, nbins: Any = 100, dtype: Any = "int32"
) -> Any:
    """Return the bin of each number."""
    places = _bins(held(values), held(value_range), static_of(nbins))
    return places.astype(as_dtype(dtype).dtype)


NAMES = {
    **listed("math", [top_k, in_top_k, *_SEGMENTS, bincount, confusion_matrix], top=False),
    **listed("nn", [top_k, in_top_k], top=False),
    **listed("", [histogram_fixed_width, histogram_fixed_width_bins]),
}
