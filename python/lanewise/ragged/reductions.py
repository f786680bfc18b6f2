"""Sums, extremes and the like of rows of different lengths.

Numbers are combined in the order that tensors have (``ir::Collect``): up to 8 from left to right,
of more number j in stripe j mod 64, stripes in sequence, and then s with s + 32, s + 16 and so on.
"""

from collections.abc import Callable
from typing import Any

import numpy as np

from .._core import DType, Value
from ..dtypes import FLOATS, INTEGERS, TO_NUMPY, promote
from ..element import Element, as_value, kind_of, record
from ..errors import UsageError
from ..number_types import real_type, type_of
from ..recorder import Collected, Recorder
from ..source import at_line
from .counted import fail_if
from .rows import FUNCTIONS, Row, apply

_MOST = 2**31 - 2**16  # numbers of a row
_SUM_TYPES = {
    **dict.fromkeys((DType.Bool, DType.I8, DType.I16, DType.I32), DType.I64),
    **dict.fromkeys((DType.U8, DType.U16, DType.U32), DType.U64),
}


def loop(recorder: Recorder, begin: Value, end: Value, body: Callable[[Value], None]) -> None:
    """Record a loop over the positions from one on, before another."""
    recording = recorder.recording
    recorder.locate()
    counter = recording.slot(begin)
    first = recording.size
    recording.begin_loop()
    now = recording.read(counter)
    recording.break_if(recorder.op("ge", [now, end]))
    recording.begin_body()
    body(now)
    recording.end_body()
    one = recorder.constant(now.dtype, 1)
    recording.write(counter, recorder.op("add", [now, one]))
    recording.end_loop()
    recorder.lose(first)


def _collected(row: Row, how: str, dtype: DType) -> Value:
    """Record what becomes of all numbers, converted: their sum, for example."""

    def one(position: Value) -> Collected:
        return [(how, _number(row, position, dtype))]

    return row.recorder.each(_MOST, one, _positions(row))[0]


def write_numbers(row: Row, dtype: DType, target: Value, first: Value) -> None:
    """Record that all numbers, converted, go to a target, from a place of it on."""
    recorder = row.recorder

    def one(position: Value) -> Collected:
        recorder.recording.keep(_number(row, position, dtype), target, first)
        return []

    recorder.each(_MOST, one, _positions(row))


def _positions(row: Row) -> Value:
    """Record how many numbers a row has, as an `each` wants it."""
    recorder = row.recorder
    length = row.length.value
    if row.index_type is not DType.I32:
        fail_if(row.length > _MOST, "row: too long to be reduced; expected at most 2**31 - 2**16")
        length = recorder.convert(length, DType.I32)
    return length


def _number(row: Row, position: Value, dtype: DType) -> Value:
    number = row.at(row.recorder.convert(position, row.index_type))
    return as_value(row.recorder, number, dtype)


def _select(recorder: Recorder, test: Value, a: Value, b: Value) -> Value:
    return recorder.op("select", [test, a, b])


def _wide(dtype: DType) -> DType:
    """Return the type in which numbers are combined."""
    return DType.F32 if dtype is DType.F16 else dtype


def _check_axis(call: str, axis: Any) -> None:
    if axis not in (None, 0, -1):
        raise UsageError(
            at_line(f"{call}: no such axis of a row; got {axis!r}, expected None, 0 or -1.")
        )


def _typed(call: str, dtype: Any, default: DType) -> DType:
    if dtype is None:
        return default
    return real_type(call, type_of(call, dtype))


def _type_of(row: Row) -> DType:
    dtype = DType.I64 if row.kind.weak and row.kind.dtype in INTEGERS else row.kind.dtype
    assert isinstance(dtype, DType)
    return dtype


def _total(call: str, how: str, empty: float) -> Callable[..., Any]:
    """Return `sum` or `prod`; that of no numbers is `empty`."""

    def function(a: Row, axis: Any = None, dtype: Any = None) -> Any:
        _check_axis(call, axis)
        own = _type_of(a)
        ours = _typed(call, dtype, _SUM_TYPES.get(own, own))
        wide = _wide(ours)
        recorder = a.recorder
        value = _collected(a, how, wide)
        if wide in FLOATS:
            is_empty = recorder.op("eq", [a.length.value, a.number(0).value])
            value = _select(recorder, is_empty, recorder.constant(wide, empty), value)
        return Element(recorder, recorder.convert(value, ours))

    return function


sum_ = _total("sum", "sum", 0.0)
prod = _total("prod", "product", 1.0)


def extreme(row: Row, how: str) -> Element:
    """Record the least or greatest number; of none, the one that changes no other."""
    recorder = row.recorder
    dtype = _type_of(row)
    if dtype is DType.Bool:
        return Element(recorder, _collected(row, "and" if how == "min" else "or", dtype))
    return Element(recorder, recorder.convert(_collected(row, how, _wide(dtype)), dtype))


def _require_some(call: str, row: Row) -> None:
    fail_if(row.length == 0, f"{call}: a row without values; expected at least one")


def _least(call: str, op: str) -> Callable[..., Any]:
    def function(a: Row, axis: Any = None) -> Any:
        _check_axis(call, axis)
        _require_some(call, a)
        return extreme(a, op)

    return function


min_ = _least("min", "min")
max_ = _least("max", "max")


def _place(call: str, how: str) -> Callable[..., Any]:
    """Return `argmin` or `argmax`: the first position of the best number, or of a NaN."""

    def function(a: Row, axis: Any = None) -> Any:
        _check_axis(call, axis)
        _require_some(call, a)
        own = _type_of(a)
        place = _collected(a, how, DType.I32 if own is DType.Bool else _wide(own))
        return Element(a.recorder, a.recorder.convert(place, DType.I64))

    return function


argmin = _place("argmin", "argmin")
argmax = _place("argmax", "argmax")


def _quantifier(call: str, how: str) -> Callable[..., Any]:
    def function(a: Row, axis: Any = None) -> Any:
        _check_axis(call, axis)
        return Element(a.recorder, _collected(a, how, DType.Bool))

    return function


any_ = _quantifier("any", "or")
all_ = _quantifier("all", "and")


def _real_type(dtype: DType) -> DType:
    return dtype if dtype in FLOATS else DType.F64


def mean(a: Row, axis: Any = None, dtype: Any = None) -> Any:
    """Return the sum over the number of terms."""
    ours = _typed("mean", dtype, _real_type(_type_of(a)))
    wide = TO_NUMPY[_wide(ours)]
    return (sum_(a, axis, wide) / a.length.astype(wide)).astype(TO_NUMPY[ours])


def var(a: Row, axis: Any = None, dtype: Any = None, ddof: Any = 0, correction: Any = None) -> Any:
    """Return the mean square of what differs from the mean, in two passes."""
    ours = _typed("var", dtype, _real_type(_type_of(a)))
    wide = TO_NUMPY[_wide(ours)]
    real = a.astype(wide)
    difference = real - mean(real, axis)
    count = a.length - (ddof if correction is None else correction)
    total = sum_(difference * difference, axis)
    return (total / record("maximum", count, 0).astype(wide)).astype(TO_NUMPY[ours])


def std(a: Row, axis: Any = None, dtype: Any = None, ddof: Any = 0, correction: Any = None) -> Any:
    """Return the square root of the variance."""
    return np.sqrt(var(a, axis, dtype, ddof, correction))


def logsumexp(a: Row, axis: Any = None, keepdims: bool = False) -> Any:
    """Return the logarithm of the sum of exponentials, without overflow."""
    del keepdims
    _check_axis("logsumexp", axis)
    largest = extreme(a, "max")
    shift = np.where(np.isfinite(largest), largest, 0)
    return np.log(sum_(np.exp(a - shift))) + shift


def softmax(a: Row, axis: Any = -1) -> Row:
    """Return exponentials over their sum."""
    _check_axis("softmax", axis)
    powers = np.exp(a - extreme(a, "max"))
    return powers / sum_(powers)  # type: ignore[no-any-return]


def dot(a: Any, b: Any) -> Any:
    """Return the sum of products, a chain of fma in the order of the terms."""
    product = apply(lambda x, y: x * y, a, b)
    dtype = _type_of(product)
    recorder = a.recorder
    recording = recorder.recording
    if dtype not in FLOATS:
        return Element(recorder, _collected(product, "sum", dtype))
    wide = _wide(dtype)
    total = recording.slot(recorder.constant(wide, 0.0))

    def step(at: Value) -> None:
        x, y = (as_value(recorder, row.at(at), wide) for row in (a, b))
        recording.write(total, recorder.op("fma", [x, y, recording.read(total)]))

    loop(recorder, a.number(0).value, a.length.value, step)
    return Element(recorder, recorder.convert(recording.read(total), dtype))


def folded(row: Row, how: str, start: Any = None) -> Any:
    """Return what Python's `sum`, `min` or `max` of the numbers is, one after another."""
    recorder = row.recorder
    recording = recorder.recording
    if how != "sum":
        _require_some(how, row)
    kind = row.kind
    if how == "sum":
        kind = promote(kind_of(start), kind)
    dtype = kind.dtype
    assert isinstance(dtype, DType)
    zero = 0.0 if dtype in FLOATS else False if dtype is DType.Bool else 0
    initial = recorder.constant(dtype, zero) if how != "sum" else as_value(recorder, start, dtype)
    total = recording.slot(initial)

    def step(at: Value) -> None:
        now = Element(recorder, recording.read(total), kind.weak)
        value = row.at(at)
        if how == "sum":
            following = now + value
        else:
            takes = record("less" if how == "min" else "greater", value, now)
            following = record("select", takes | (Element(recorder, at) == 0), value, now)
        recording.write(total, as_value(recorder, following, dtype))

    loop(recorder, row.number(0).value, row.length.value, step)
    return Element(recorder, recording.read(total), kind.weak)


for _function, _recorded in (
    (np.sum, sum_),
    (np.prod, prod),
    (np.min, min_),
    (np.amin, min_),
    (np.max, max_),
    (np.amax, max_),
    (np.mean, mean),
    (np.var, var),
    (np.std, std),
    (np.argmin, argmin),
    (np.argmax, argmax),
    (np.any, any_),
    (np.all, all_),
    (np.dot, dot),
    (np.vdot, dot),
    (np.inner, dot),
    (np.matmul, dot),
    (np.size, lambda a: a.size),
    (np.shape, lambda a: a.shape),
    (np.ndim, lambda a: a.ndim),
    ((np.add, "reduce"), sum_),
    ((np.multiply, "reduce"), prod),
    ((np.minimum, "reduce"), min_),
    ((np.maximum, "reduce"), max_),
    ((np.logical_or, "reduce"), any_),
    ((np.logical_and, "reduce"), all_),
):
    FUNCTIONS[_function] = _recorded
FUNCTIONS |= {"softmax": softmax, "logsumexp": logsumexp, "folded": folded}
