"""Running sums and products, and sorting."""

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from .._core import DType, Value
from ..complex_element import as_values
from ..dtypes import Type
from ..element import Element, record
from ..errors import UsageError
from ..number_types import real_type, type_of
from ..source import at_line
from . import spaces
from .calls import FUNCTIONS, METHODS
from .reductions import ignoring, operand, real_operand
from .tensor import Tensor, element_of, from_array, nothing

MOST_SORTED = 64

_SUM_TYPES = {
    **dict.fromkeys((DType.Bool, DType.I8, DType.I16, DType.I32), DType.I64),
    **dict.fromkeys((DType.U8, DType.U16, DType.U32), DType.U64),
}


def _along(
    a: Tensor,
    axis: int,
    body: Callable[[Callable[[Value], Element], Callable[[Value, Any], None]], None],
    dtype: Type,
) -> Tensor:
    """Record for every vector along an axis what fills an array of its size."""
    recorder = a.recorder
    if not a.size:
        return nothing(recorder, a.shape, dtype)
    order = [*(d for d in range(a.ndim) if d != axis), axis]
    moved = a.transposed(order)
    *front, size = moved.shape
    sizes, [steps] = spaces.joined(front, [moved.steps[:-1]])
    last = moved.steps[-1]

    def one(positions: list[Value]) -> list[Value]:
        def read(at: Value) -> Element:
            return moved.at([*positions, at], [*steps, last])

        zero = as_values(recorder, 0, dtype)
        recorder.locate()
        arrays = [recorder.recording.array(part, size) for part in zero]

        def write(at: Value, number: Any) -> None:
            for array, value in zip(arrays, as_values(recorder, number, dtype), strict=True):
                recorder.recording.write_at(array, at, value, True)

        body(read, write)
        return arrays

    values = spaces.keep_all(recorder, sizes, one)
    result = from_array(recorder, tuple(values), moved.shape)
    return result.transposed([order.index(d) for d in range(a.ndim)])


def _scan(call: str, rule: str) -> Callable[..., Any]:
    """Return a function that combines the values along an axis from left to right."""

    def function(a: Any, axis: Any = None, dtype: Any = None) -> Any:
        a = operand(a)
        if axis is None:
            a, axis = a.reshape(-1), 0
        at = spaces.normal_axis(call, axis, a.ndim)
        recorder = a.recorder
        is_total = rule in ("add", "multiply")
        default = _SUM_TYPES.get(a.element_type, a.element_type) if is_total else a.element_type
        ours = default if dtype is None else type_of(call, dtype)
        if not is_total:
            real_type(call, ours)
        size = a.shape[at]

        def body(read: Callable[[Value], Element], write: Callable[[Value, Any], None]) -> None:
            recording = recorder.recording

            def number(place: Value) -> Element:
                return element_of(recorder, as_values(recorder, read(place), ours))

            zero = spaces.number(recorder, 0)
            first = number(zero)
            write(zero, first)
            if size == 1:
                return
            slots = [recording.slot(value) for value in first.values]

            def step(before: Value) -> None:
                place = recorder.op("add", [before, spaces.number(recorder, 1)])
                so_far = element_of(recorder, tuple(recording.read(slot) for slot in slots))
                total = record(rule, so_far, number(place))
                for slot, value in zip(slots, total.values, strict=True):
                    recording.write(slot, value)
                write(place, total)

            if size <= spaces.MOST_STRAIGHT:
                for before in range(size - 1):
                    step(spaces.number(recorder, before))
            else:
                spaces.count_to(recorder, size - 1, step)

        return _along(a, at, body, ours)

    return function


cumsum = _scan("cumsum", "add")
cumprod = _scan("cumprod", "multiply")


def _exchanges(size: int) -> list[tuple[int, int]]:
    """Return the pairs of a sorting network (Batcher's odd-even merges) for so many values."""
    pairs = []
    p = 1
    while p < size:
        k = p
        while k >= 1:
            for j in range(k % p, size - k, 2 * k):
                for i in range(min(k, size - j - k)):
                    if (i + j) // (p * 2) == (i + j + k) // (p * 2):
                        pairs.append((i + j, i + j + k))
            k //= 2
        p *= 2
    return pairs


def _is_before(a: Element, b: Element) -> Any:
    """Say whether a number comes before another; NaNs come last."""
    if a.dtype.kind != "f":
        return a < b
    return (a < b) | (np.isnan(b) & ~np.isnan(a))


def _sorted(call: str, a: Any, axis: Any, gives_places: bool) -> Any:
    a = real_operand(call, a)[0]
    if axis is None:
        a, axis = a.reshape(-1), 0
    at = spaces.normal_axis(call, axis, a.ndim)
    size = a.shape[at]
    if size > MOST_SORTED:
        raise UsageError(
            at_line(
                f"{call}: too many numbers; got {size} along the axis, expected at most "
                f"{MOST_SORTED}. Sort outside of the function."
            )
        )
    recorder = a.recorder

    def body(read: Callable[[Value], Element], write: Callable[[Value, Any], None]) -> None:
        values = [read(spaces.number(recorder, place)) for place in range(size)]
        places = [Element(recorder, recorder.constant(DType.I64, place)) for place in range(size)]
        for i, j in _exchanges(size):
            swap = _is_before(values[j], values[i])
            if gives_places:  # equal ones stay in their order
                is_equal = ~swap & ~_is_before(values[i], values[j])
                swap = swap | (is_equal & (places[j] < places[i]))
                places[i], places[j] = (
                    record("select", swap, places[j], places[i]),
                    record("select", swap, places[i], places[j]),
                )
            values[i], values[j] = (
                record("select", swap, values[j], values[i]),
                record("select", swap, values[i], values[j]),
            )
        for place, number in enumerate(places if gives_places else values):
            write(spaces.number(recorder, place), number)

    return _along(a, at, body, DType.I64 if gives_places else a.element_type)


def sort(a: Any, axis: Any = -1, kind: Any = None, *, stable: Any = None) -> Any:
    """Sort along an axis, of up to 64 numbers; NaNs come last."""
    return _sorted("sort", a, axis, False)


def argsort(a: Any, axis: Any = -1, kind: Any = None, *, stable: Any = None) -> Any:
    """Return the places that sort along an axis; equal numbers stay in their order."""
    return _sorted("argsort", a, axis, True)


def partition(a: Any, kth: Any, axis: Any = -1, kind: Any = None) -> Any:
    """Put a number where it would be sorted, smaller ones before it: all are sorted."""
    return sort(a, axis)


def median(a: Any, axis: Any = None, keepdims: bool = False) -> Any:
    """Return the number in the middle, or the mean of two."""
    a = real_operand("median", a)[0]
    axes = spaces.normal_axes("median", axis, a.ndim)
    shape = tuple(1 if d in axes else size for d, size in enumerate(a.shape))
    others = [d for d in range(a.ndim) if d not in axes]
    size = math.prod(a.shape[d] for d in axes)
    moved = a.transposed([*others, *axes]).reshape(*(a.shape[d] for d in others), size)
    ordered = sort(moved)
    middle = ordered[..., (size - 1) // 2 : size // 2 + 1]
    result = np.mean(middle, axis=-1)
    last = ordered[..., -1]  # a NaN, if there is one
    result = np.where(np.isnan(last), np.nan, result)
    if isinstance(result, Tensor) and not result.shape:
        result = result[()]
    return result.reshape(shape) if keepdims else result


def _of_axis_0(scan: Callable[..., Any]) -> Callable[..., Any]:
    return lambda array, axis=0, dtype=None: scan(array, axis, dtype)


def _last_of(scan: Callable[..., Any]) -> Callable[..., Any]:
    """Return a reduction that is the end of a scan."""

    def reduced(array: Any, axis: Any = 0, keepdims: bool = False) -> Any:
        a = operand(array)
        if axis is None:
            a, axis = a.reshape(-1), 0
        result = np.take(scan(a, axis), [-1], axis)
        return result if keepdims else np.squeeze(result, axis)

    return reduced


def _cumulative(scan: Callable[..., Any], first: int) -> Callable[..., Any]:
    """Return the scan of the Array API."""

    def function(
        x: Any, /, axis: Any = None, dtype: Any = None, *, include_initial: bool = False
    ) -> Any:
        a = operand(x)
        axis = 0 if axis is None and a.ndim == 1 else axis
        result = scan(a, axis, dtype)
        if not include_initial:
            return result
        at = spaces.normal_axis("cumulative_sum", axis, a.ndim)
        shape = [1 if d == at else size for d, size in enumerate(result.shape)]
        return np.concatenate([np.full_like(result, first, shape=shape), result], at)

    return function


FUNCTIONS.update(
    {
        np.cumsum: cumsum,
        np.cumprod: cumprod,
        np.sort: sort,
        np.argsort: argsort,
        np.partition: partition,
        np.median: median,
        np.nancumsum: lambda a, axis=None, dtype=None: ignoring(cumsum, 0.0)(a, axis, dtype=dtype),
        np.nancumprod: lambda a, axis=None, dtype=None: ignoring(cumprod, 1.0)(
            a, axis, dtype=dtype
        ),
    }
)
if hasattr(np, "cumulative_sum"):  # NumPy 2.1
    FUNCTIONS[np.cumulative_sum] = _cumulative(cumsum, 0)
    FUNCTIONS[np.cumulative_prod] = _cumulative(cumprod, 1)
for _ufunc in (np.bitwise_and, np.bitwise_or, np.bitwise_xor, np.logical_xor):
    _name = _ufunc.__name__.replace("logical", "bitwise")
    _bits = _scan(f"{_ufunc.__name__}.accumulate", _name)
    METHODS[_ufunc, "reduce"] = _last_of(_bits)
    METHODS[_ufunc, "accumulate"] = _of_axis_0(_bits)
METHODS.update(
    {
        (np.add, "accumulate"): _of_axis_0(cumsum),
        (np.multiply, "accumulate"): _of_axis_0(cumprod),
        (np.maximum, "accumulate"): _of_axis_0(_scan("maximum.accumulate", "maximum")),
        (np.minimum, "accumulate"): _of_axis_0(_scan("minimum.accumulate", "minimum")),
    }
)
