"""Sums, extremes and the like of rows of different lengths.

Numbers are combined in the order that tensors have (``ir::Collect``): up to 8 from left to right,
of more number j in stripe j mod 64, stripes in sequence, and then s with s + 32, s + 16 and so on.
Of integers, bools and extremes the order makes no difference but for the sign of a zero. All
elements count from 0 up, so that in lanes the place of a stripe is the same for all.
"""

from collections.abc import Callable
from typing import Any

import numpy as np

from .._core import DType, Value
from ..dtypes import BOUNDS, FLOATS, INTEGERS, TO_NUMPY, promote
from ..element import Element, as_value, kind_of, record
from ..errors import UsageError
from ..recorder import Recorder
from ..source import at_line
from .counted import fail_if
from .rows import FUNCTIONS, Row, apply

_STRIPES = 64
_FEW = 8
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


def _branch(recorder: Recorder, test: Value, body: Callable[[], None]) -> None:
    """Record what only some elements do."""
    recording = recorder.recording
    first = recording.size
    recording.begin_branch(test)
    body()
    recording.end_branch()
    recorder.lose(first)


def _in_sequence(row: Row, op: str, dtype: DType, neutral: Value) -> Value:
    """Record the numbers combined from left to right."""
    recorder = row.recorder
    recording = recorder.recording
    total = recording.slot(neutral)

    def step(at: Value) -> None:
        number = as_value(recorder, row.at(at), dtype)
        recording.write(total, recorder.op(op, [recording.read(total), number]))

    loop(recorder, row.number(0).value, row.length.value, step)
    return recording.read(total)


def _in_stripes(row: Row, op: str, dtype: DType, neutral: Value) -> Value:
    """Record the numbers combined in the order of tensors."""
    recorder = row.recorder
    recording = recorder.recording

    def number(value: int) -> Value:
        return row.number(value).value

    recorder.locate()
    total = recording.slot(neutral)
    block = recording.begin_block()
    stripes = recording.array_before(block, dtype, _STRIPES)

    def combine(at: Value, a: Value, b: Value) -> None:
        recording.write_at(stripes, at, recorder.op(op, [a, b]), True)

    def step(at: Value) -> None:
        value = as_value(recorder, row.at(at), dtype)
        place = recorder.op("and", [at, number(_STRIPES - 1)])
        before = recording.read_at(stripes, place, True)
        is_first = recorder.op("lt", [at, number(_STRIPES)])
        combined = recorder.op(op, [before, value])
        recording.write_at(stripes, place, _select(recorder, is_first, value, combined), True)
        few = recording.read(total)
        is_few = recorder.op("lt", [at, number(_FEW)])
        recording.write(total, _select(recorder, is_few, recorder.op(op, [few, value]), few))

    loop(recorder, number(0), row.length.value, step)

    def read(place: int) -> Value:
        return recording.read_at(stripes, number(place), True)

    def together() -> None:
        left = recorder.op("min", [row.length.value, number(_STRIPES)])
        for half in (32, 16, 8):
            distance = number(half)

            def pair(at: Value, distance: Value = distance) -> None:
                other = recorder.op("add", [at, distance])
                a, b = (recording.read_at(stripes, place, True) for place in (at, other))
                combine(at, a, b)

            loop(recorder, number(0), recorder.op("sub", [left, distance]), pair)
            left = recorder.op("min", [left, distance])
        values = [read(place) for place in range(_FEW)]
        while len(values) > 1:
            half = len(values) // 2
            values = [
                recorder.op(op, [a, b]) for a, b in zip(values[:half], values[half:], strict=True)
            ]
        recording.write(total, values[0])

    _branch(recorder, recorder.op("gt", [row.length.value, number(_FEW)]), together)
    recording.end_block(block)
    return recording.read(total)


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
    from ..tensors.tensor import real_type, type_of  # seldom needed, and long to import

    return real_type(call, type_of(call, dtype))


def _type_of(row: Row) -> DType:
    dtype = DType.I64 if row.kind.weak and row.kind.dtype in INTEGERS else row.kind.dtype
    assert isinstance(dtype, DType)
    return dtype


def _total(call: str, op: str, neutral: float, empty: float) -> Callable[..., Any]:
    """Return `sum` or `prod`; `neutral` changes no number it is combined with."""

    def function(a: Row, axis: Any = None, dtype: Any = None) -> Any:
        _check_axis(call, axis)
        own = _type_of(a)
        ours = _typed(call, dtype, _SUM_TYPES.get(own, own))
        wide = _wide(ours)
        recorder = a.recorder
        if wide in FLOATS:
            value = _in_stripes(a, op, wide, recorder.constant(wide, neutral))
            nothing = recorder.constant(wide, empty)
            is_empty = recorder.op("eq", [a.length.value, a.number(0).value])
            value = _select(recorder, is_empty, nothing, value)
        else:
            value = _in_sequence(a, op, wide, as_value(recorder, int(neutral), wide))
        return Element(recorder, recorder.convert(value, ours))

    return function


sum_ = _total("sum", "add", -0.0, 0.0)
prod = _total("prod", "mul", 1.0, 1.0)


def extreme(row: Row, op: str) -> Element:
    """Record the least or greatest number; of none, the one that changes no other."""
    recorder = row.recorder
    dtype = _type_of(row)
    if dtype is DType.Bool:
        name, initial = ("and", True) if op == "min" else ("or", False)
        value = recorder.constant(DType.Bool, initial)
        return Element(recorder, _in_sequence(row, name, dtype, value))
    wide = _wide(dtype)
    if wide not in FLOATS:
        bound = BOUNDS[wide].max if op == "min" else BOUNDS[wide].min
        value = _in_sequence(row, op, wide, recorder.constant(wide, int(bound)))
        return Element(recorder, value)
    neutral = recorder.constant(wide, np.inf if op == "min" else -np.inf)
    recording = recorder.recording
    found = _in_sequence(row, op, wide, neutral)
    result = recording.slot(found)
    # The sign of a zero is the one thing that depends on the order.
    is_zero = recorder.op("eq", [found, recorder.constant(wide, 0.0)])
    _branch(recorder, is_zero, lambda: recording.write(result, _in_stripes(row, op, wide, neutral)))
    return Element(recorder, recorder.convert(recording.read(result), dtype))


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


def _place(call: str, is_better: str) -> Callable[..., Any]:
    """Return `argmin` or `argmax`: the first position of the best number, or of a NaN."""

    def function(a: Row, axis: Any = None) -> Any:
        _check_axis(call, axis)
        _require_some(call, a)
        recorder = a.recorder
        recording = recorder.recording
        own = _type_of(a)
        dtype = DType.I32 if own is DType.Bool else _wide(own)
        zero = 0.0 if dtype in FLOATS else 0
        best = recording.slot(recorder.constant(dtype, zero))
        place = recording.slot(a.number(0).value)

        def step(at: Value) -> None:
            value = Element(recorder, as_value(recorder, a.at(at), dtype))
            now = Element(recorder, recording.read(best))
            takes = record(is_better, value, now) | (Element(recorder, at) == 0)
            if dtype in FLOATS:
                takes = takes | (record("isnan", value) & ~record("isnan", now))
            recording.write(best, _select(recorder, takes.value, value.value, now.value))
            recording.write(place, _select(recorder, takes.value, at, recording.read(place)))

        loop(recorder, a.number(0).value, a.length.value, step)
        return Element(recorder, recorder.convert(recording.read(place), DType.I64))

    return function


argmin = _place("argmin", "less")
argmax = _place("argmax", "greater")


def _quantifier(call: str, op: str, initial: bool) -> Callable[..., Any]:
    def function(a: Row, axis: Any = None) -> Any:
        _check_axis(call, axis)
        recorder = a.recorder
        value = recorder.constant(DType.Bool, initial)
        return Element(recorder, _in_sequence(a, op, DType.Bool, value))

    return function


any_ = _quantifier("any", "or", False)
all_ = _quantifier("all", "and", True)


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
        return Element(recorder, _in_sequence(product, "add", dtype, recorder.constant(dtype, 0)))
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
    ((np.add, "reduce"), sum_),
    ((np.multiply, "reduce"), prod),
    ((np.minimum, "reduce"), min_),
    ((np.maximum, "reduce"), max_),
    ((np.logical_or, "reduce"), any_),
    ((np.logical_and, "reduce"), all_),
):
    FUNCTIONS[_function] = _recorded
FUNCTIONS |= {"softmax": softmax, "logsumexp": logsumexp, "folded": folded}
