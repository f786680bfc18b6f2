"""Sums, extremes and the like along axes of tensors.

Up to 8 terms are combined from left to right, more in stripes (``ir::Collect`` has the order); the
terms of several axes are counted in C order. Along an axis on which the value does not change, a
sum is a product.
"""

import math
from collections.abc import Callable
from typing import Any, TypeVar

import numpy as np

from .._core import DType, Value
from ..complex_element import made
from ..dtypes import FLOATS, INTEGERS, PARTS, TO_NUMPY, ComplexType, Type
from ..element import Element, as_value, record
from ..errors import UsageError, UsageTypeError
from ..number_types import real_type, type_of
from ..source import at_line
from . import spaces
from .calls import FUNCTIONS, METHODS
from .tensor import Tensor, apply, as_tensor, from_number, of_space, recorder_of

_SUM_TYPES = {
    **dict.fromkeys((DType.Bool, DType.I8, DType.I16, DType.I32), DType.I64),
    **dict.fromkeys((DType.U8, DType.U16, DType.U32), DType.U64),
}


T = TypeVar("T", bound=Type)


def _wide(dtype: T) -> T | DType:
    """Return the type in which values are combined."""
    return DType.F32 if dtype is DType.F16 else dtype


def operand(a: Any) -> Tensor:
    """Return an argument of a NumPy function as a tensor."""
    return as_tensor(recorder_of([a]), a)


def reduce(
    a: Tensor,
    axes: tuple[int, ...],
    keepdims: bool,
    how: str,
    prepare: Callable[[Element], Value],
) -> Any:
    """Record what becomes of the values along axes; a number where no other axis is left."""
    recorder = a.recorder
    others = [d for d in range(a.ndim) if d not in axes]
    if not a.size:
        return _of_nothing(a, axes, keepdims, how, prepare)
    steps = a.steps
    order = [*others, *axes]
    count, inner = spaces.joined([a.shape[d] for d in axes], [tuple(steps[d] for d in axes)])
    if len(count) > 1:  # they do not follow one another
        a = a.transposed(order).copy()
        axes = tuple(range(len(others), a.ndim))
        others = list(range(len(others)))
        steps = a.steps
        count, inner = spaces.joined([a.shape[d] for d in axes], [tuple(steps[d] for d in axes)])
    shape = tuple(a.shape[d] for d in others)
    gone_through = [a.shape[d] if steps[d] != 0 else 1 for d in others]
    sizes, outer = spaces.joined(gone_through, [tuple(steps[d] for d in others)])

    def body(positions: list[Value]) -> list[Value]:
        def one(at: Value) -> list[tuple[str, Value]]:
            return [(how, prepare(a.at([*positions, at], [*outer[0], *inner[0]])))]

        if not count:
            if how.startswith("arg"):
                return [spaces.number(recorder, 0)]
            return [prepare(a.at(positions, outer[0]))]
        return recorder.each(count[0], one)

    [value] = spaces.keep_all(recorder, sizes, body)
    if not shape and not keepdims:
        return Element(recorder, value)
    if not shape:
        return from_number(recorder, (value,), (1,) * len(axes))
    result = of_space(recorder, (value,), shape, tuple(gone_through), bool(sizes))
    return _with_kept(result, order, len(others)) if keepdims else result


_OF_NOTHING = {"sum": 0, "product": 1, "or": False, "and": True}


def _of_nothing(
    a: Tensor,
    axes: tuple[int, ...],
    keepdims: bool,
    how: str,
    prepare: Callable[[Element], Value],
) -> Any:
    """Return what a reduction of a tensor without numbers gives."""
    recorder = a.recorder
    shape = tuple(1 if d in axes else size for d, size in enumerate(a.shape))
    if 0 not in shape and how not in _OF_NOTHING:
        raise UsageError(
            at_line(f"{how}: of no numbers; got the shape {a.shape}, expected one or more.")
        )
    dtype = prepare(a.at([spaces.number(recorder, 0)] * a.ndim)).dtype
    value = as_value(recorder, _OF_NOTHING.get(how, 0), dtype)
    left = shape if keepdims else tuple(n for d, n in enumerate(shape) if d not in axes)
    return from_number(recorder, (value,), left) if left else Element(recorder, value)


def _with_kept(result: Tensor, order: list[int], kept: int) -> Tensor:
    """Put axes of size 1 where the others were."""
    whole = result.reshape(*result.shape, *[1] * (len(order) - kept))
    return whole.transposed([order.index(d) for d in range(len(order))])


def _finish(result: Any, dtype: Type) -> Any:
    return result.astype(TO_NUMPY[dtype])


def _dtype_of(call: str, dtype: Any, default: Type) -> Type:
    return default if dtype is None else type_of(call, dtype)


def real_operand(call: str, a: Any) -> tuple[Tensor, DType]:
    """Return an argument as a tensor of real numbers, and their type."""
    tensor = operand(a)
    return tensor, real_type(call, tensor.element_type)


def with_parts(real: Any, imag: Any) -> Any:
    """Return what two parts make up."""
    return apply(made, real, imag)


def _complex_total(how: str, a: Tensor, axes: tuple[int, ...], keepdims: bool) -> Any:
    """Return the sum of complex numbers, part by part, or their product, from left to right."""
    if how == "sum":
        parts = (sum_(part, axes, None, keepdims) for part in (a.real, a.imag))
        return with_parts(*parts)
    shape = tuple(1 if d in axes else size for d, size in enumerate(a.shape))
    others = [d for d in range(a.ndim) if d not in axes]
    count = math.prod(a.shape[d] for d in axes)
    result: Any
    if not count:
        result = np.ones_like(a, shape=shape)
    else:
        flat = a.transposed([*others, *axes]).reshape(*(a.shape[d] for d in others), count)
        result = np.cumprod(flat, axis=-1)[..., -1:].reshape(shape)
    return result if keepdims else _squeezed(result, axes)


def _total(call: str, how: str) -> Callable[..., Any]:
    """Return `sum` or `prod`."""

    def function(a: Any, axis: Any = None, dtype: Any = None, keepdims: bool = False) -> Any:
        a = operand(a)
        axes = spaces.normal_axes(call, axis, a.ndim)
        ours = _dtype_of(call, dtype, _SUM_TYPES.get(a.element_type, a.element_type))
        if isinstance(ours, ComplexType):
            return _complex_total(how, a.astype(TO_NUMPY[ours]), axes, keepdims)
        wide = _wide(ours)
        recorder = a.recorder
        times = 1
        if how == "sum":
            a, axes, times, keepdims_of = _without_constant(a, axes, keepdims)
            if not axes:
                result = _scaled(a, wide, times) if a.ndim else _scaled(a.at([]), wide, times)
                return _finish(keepdims_of(result), ours)
        else:
            keepdims_of = None
        result = reduce(
            a,
            axes,
            keepdims if keepdims_of is None else False,
            how,
            lambda x: recorder.convert(x.value, wide),
        )
        if keepdims_of is not None:
            result = keepdims_of(_scaled(result, wide, times))
        return _finish(result, ours)

    return function


def _without_constant(
    a: Tensor, axes: tuple[int, ...], keepdims: bool
) -> tuple[Tensor, tuple[int, ...], int, Callable[[Any], Any]]:
    """Leave axes out on which the value does not change; the sum is so many times as much."""
    steps = a.steps
    constant = [d for d in axes if steps[d] == 0 and a.shape[d] > 1]
    if a.size <= 1:
        constant = []
    times = math.prod(a.shape[d] for d in constant)
    shape = tuple(1 if d in axes else size for d, size in enumerate(a.shape))
    recorder = a.recorder

    def with_axes(result: Any) -> Any:
        if not keepdims:
            return result
        if isinstance(result, Element):
            return from_number(recorder, result.values, shape)
        return result.reshape(shape)

    index = tuple(0 if d in constant else slice(None) for d in range(a.ndim))
    left = a[(*index, ...)] if constant else a
    kept = [d for d in range(a.ndim) if d not in constant]
    return left, tuple(kept.index(d) for d in axes if d in kept), times, with_axes


def _scaled(x: Any, dtype: DType, times: int) -> Any:
    if times == 1:
        return x.astype(TO_NUMPY[dtype])
    return x.astype(TO_NUMPY[dtype]) * TO_NUMPY[dtype].type(times)


sum_ = _total("sum", "sum")
prod = _total("prod", "product")


def _extreme(call: str, how: str, of_bools: str) -> Callable[..., Any]:
    def function(a: Any, axis: Any = None, keepdims: bool = False) -> Any:
        a, dtype = real_operand(call, a)
        axes = spaces.normal_axes(call, axis, a.ndim)
        recorder = a.recorder
        result = reduce(
            a,
            axes,
            keepdims,
            of_bools if dtype is DType.Bool else how,
            lambda x: recorder.convert(x.value, _wide(dtype)),
        )
        return _finish(result, dtype)

    return function


min_ = _extreme("min", "min", "and")
max_ = _extreme("max", "max", "or")


def _place(call: str, how: str) -> Callable[..., Any]:
    def function(a: Any, axis: Any = None, keepdims: bool = False) -> Any:
        a, given = real_operand(call, a)
        if axis is None and not keepdims:
            a = a.reshape(-1)
        axes = spaces.normal_axes(call, axis, a.ndim)
        if axis is not None and len(axes) != 1:
            raise UsageError(at_line(f"{call}: more than one axis; got {axis}, expected one."))
        recorder = a.recorder
        dtype = DType.I32 if given is DType.Bool else _wide(given)
        result = reduce(a, axes, keepdims, how, lambda x: recorder.convert(x.value, dtype))
        return _finish(result, DType.I64)

    return function


argmin = _place("argmin", "argmin")
argmax = _place("argmax", "argmax")


def _quantifier(call: str, how: str) -> Callable[..., Any]:
    def function(a: Any, axis: Any = None, keepdims: bool = False) -> Any:
        a = operand(a)
        axes = spaces.normal_axes(call, axis, a.ndim)
        return reduce(a, axes, keepdims, how, lambda x: x.astype(np.bool_).value)

    return function


any_ = _quantifier("any", "or")
all_ = _quantifier("all", "and")


def _count(a: Tensor, axis: Any) -> int:
    return math.prod(a.shape[d] for d in spaces.normal_axes("mean", axis, a.ndim))


def _real_type(dtype: Type) -> Type:
    return dtype if dtype in FLOATS or dtype in PARTS else DType.F64


def mean(a: Any, axis: Any = None, dtype: Any = None, keepdims: bool = False) -> Any:
    """Return the sum over the number of terms."""
    a = operand(a)
    ours = _dtype_of("mean", dtype, _real_type(a.element_type))
    wide = TO_NUMPY[_wide(ours)]
    total = sum_(a, axis, wide, keepdims)
    return _finish(total / wide.type(_count(a, axis)), ours)


def var(
    a: Any,
    axis: Any = None,
    dtype: Any = None,
    ddof: Any = 0,
    keepdims: bool = False,
    where: Any = True,
    mean: Any = None,
    correction: Any = None,
) -> Any:
    """Return the mean square of what differs from the mean, in two passes."""
    a = operand(a)
    ours = _dtype_of("var", dtype, _real_type(a.element_type))
    wide = TO_NUMPY[_wide(ours)]
    real = a.astype(wide)
    middle = _mean_of_some(real, axis, None, True, where) if mean is None else mean
    difference = real - middle
    squares = _squares(difference)
    if isinstance(ours, ComplexType):
        ours = PARTS[ours]
        wide = TO_NUMPY[ours]
    less = ddof if correction is None else correction
    if where is True:
        count = wide.type(max(_count(a, axis) - less, 0))
    else:
        chosen = as_tensor(a.recorder, where).broadcast_to("var", a.shape)
        squares = np.where(chosen, squares, wide.type(0))
        count = np.maximum(count_nonzero(chosen, axis, keepdims) - less, 0).astype(wide)
    return _finish(sum_(squares, axis, None, keepdims) / count, ours)


def _squares(x: Any) -> Any:
    """Return the squares of numbers, or of the lengths of complex ones."""
    if x.dtype.kind != "c":
        return x * x
    real, imag = x.real, x.imag
    return real * real + imag * imag


def std(
    a: Any,
    axis: Any = None,
    dtype: Any = None,
    ddof: Any = 0,
    keepdims: bool = False,
    where: Any = True,
    mean: Any = None,
    correction: Any = None,
) -> Any:
    """Return the square root of the variance."""
    return np.sqrt(var(a, axis, dtype, ddof, keepdims, where, mean, correction))


def average(a: Any, axis: Any = None, weights: Any = None, keepdims: bool = False) -> Any:
    """Return the mean, with weights."""
    if weights is None:
        return mean(a, axis, keepdims=keepdims)
    weights = operand(weights)
    a = operand(a)
    if weights.shape != a.shape and axis is not None and weights.ndim == 1:
        at = spaces.normal_axis("average", axis, a.ndim)
        weights = weights.reshape([-1 if d == at else 1 for d in range(a.ndim)])
    weights = weights.broadcast_to("average", a.shape)
    return sum_(a * weights, axis, None, keepdims) / sum_(weights, axis, None, keepdims)


def logsumexp(a: Any, axis: Any = None, keepdims: bool = False) -> Any:
    """Return the logarithm of the sum of exponentials, without overflow."""
    a = real_operand("logsumexp", a)[0]
    largest = max_(a, axis, keepdims=True)
    shift = np.where(np.isfinite(largest), largest, 0)
    total = np.log(sum_(np.exp(a - shift), axis, None, keepdims=True)) + shift
    if keepdims:
        return total
    axes = spaces.normal_axes("logsumexp", axis, a.ndim)
    return _squeezed(total, axes)


def softmax(a: Any, axis: Any = -1) -> Any:
    """Return exponentials over their sum."""
    a = operand(a)
    powers = np.exp(a - max_(a, axis, keepdims=True))
    return powers / sum_(powers, axis, None, keepdims=True)


def _squeezed(a: Tensor, axes: tuple[int, ...]) -> Any:
    index = tuple(0 if d in axes else slice(None) for d in range(a.ndim))
    return a[index]


def norm(x: Any, ord: Any = None, axis: Any = None, keepdims: bool = False) -> Any:
    """Return the length of vectors, or one of the norms of matrices that are sums."""
    x = operand(x)
    axes = spaces.normal_axes("norm", axis, x.ndim)
    if x.element_type in INTEGERS or x.element_type is DType.Bool:
        x = x.astype(np.float64)
    if ord is None or (ord == "fro" and len(axes) == 2) or (ord == 2 and len(axes) == 1):
        return np.sqrt(sum_(_squares(x), axis, None, keepdims))
    if x.dtype.kind == "c":
        x = abs(x)
    if len(axes) == 1 and not isinstance(ord, str):
        return _norm_of_vectors(x, ord, axis, keepdims)
    if len(axes) == 2 and ord in (1, -1, np.inf, -np.inf):
        rows, columns = (spaces.normal_axis("norm", one, x.ndim) for one in axis or (0, 1))
        summed, other = (rows, columns) if abs(ord) == 1 else (columns, rows)
        sums = sum_(abs(x), summed, None, keepdims=True)
        result = (max_ if ord > 0 else min_)(sums, other, keepdims=True)
        return result if keepdims else _squeezed(result, axes)
    raise UsageTypeError(
        at_line(
            f"np.linalg.norm: not supported on tensors with ord={ord!r} along {len(axes)} axes; "
            "expected a number of vectors, or None, 'fro', 1, -1, inf or -inf of matrices."
        )
    )


def _norm_of_vectors(x: Tensor, ord: Any, axis: Any, keepdims: bool) -> Any:
    if ord == 0:
        return count_nonzero(x, axis, keepdims).astype(x.dtype)
    sizes = abs(x)
    if ord in (np.inf, -np.inf):
        return (max_ if ord > 0 else min_)(sizes, axis, keepdims)
    if ord == 1:
        return sum_(sizes, axis, None, keepdims)
    total = sum_(sizes ** x.dtype.type(ord), axis, None, keepdims)
    return total ** x.dtype.type(1 / ord)


def vector_norm(x: Any, axis: Any = None, keepdims: bool = False, ord: Any = 2) -> Any:
    """Return the length of all numbers as one vector, or along axes."""
    x = operand(x)
    axes = spaces.normal_axes("vector_norm", axis, x.ndim)
    if len(axes) <= 1:
        return norm(x, ord, axes[0] if axes else None, keepdims)
    shape = tuple(1 if d in axes else n for d, n in enumerate(x.shape))
    others = [d for d in range(x.ndim) if d not in axes]
    flat = x.transposed([*others, *axes]).reshape(*(x.shape[d] for d in others), -1)
    result = norm(flat, ord, -1)
    return as_tensor(x.recorder, result).reshape(shape) if keepdims else result


def matrix_norm(x: Any, keepdims: bool = False, ord: Any = "fro") -> Any:
    """Return a norm of matrices along the last two axes."""
    return norm(x, ord, (-2, -1), keepdims)


def ptp(a: Any, axis: Any = None, keepdims: bool = False) -> Any:
    """Return the distance of the extremes."""
    return max_(a, axis, keepdims) - min_(a, axis, keepdims)


def count_nonzero(a: Any, axis: Any = None, keepdims: bool = False) -> Any:
    """Return how many numbers are not 0."""
    return sum_(operand(a).astype(np.bool_), axis, None, keepdims)


def ignoring(reduction: Callable[..., Any], neutral: float) -> Callable[..., Any]:
    """Return a reduction that takes NaNs for another number."""

    def function(a: Any, axis: Any = None, **options: Any) -> Any:
        a = operand(a)
        if a.element_type in FLOATS:
            a = np.where(np.isnan(a), neutral, a)
        return reduction(a, axis=axis, **options)

    return function


def _extreme_of_some(reduction: Callable[..., Any], neutral: float) -> Callable[..., Any]:
    """Return an extreme of what is a number; NaN where nothing is."""
    known = ignoring(reduction, neutral)

    def function(a: Any, axis: Any = None, keepdims: bool = False) -> Any:
        a = operand(a)
        result = known(a, axis, keepdims=keepdims)
        if a.element_type not in FLOATS:
            return result
        return np.where(all_(np.isnan(a), axis, keepdims), a.dtype.type(np.nan), result)

    return function


def nanmean(a: Any, axis: Any = None, keepdims: bool = False) -> Any:
    """Return the mean of what is a number."""
    a = operand(a)
    return _mean_of_some(a, axis, None, keepdims, ~np.isnan(a))


def nanvar(a: Any, axis: Any = None, ddof: Any = 0, keepdims: bool = False) -> Any:
    """Return the variance of what is a number."""
    a = operand(a)
    return var(a, axis, None, ddof, keepdims, ~np.isnan(a))


def nanstd(a: Any, axis: Any = None, ddof: Any = 0, keepdims: bool = False) -> Any:
    """Return the square root of that."""
    return np.sqrt(nanvar(a, axis, ddof, keepdims))


def allclose(a: Any, b: Any, rtol: Any = 1e-5, atol: Any = 1e-8, equal_nan: bool = False) -> Any:
    """Say whether all numbers are near."""
    return all_(np.isclose(a, b, rtol, atol, equal_nan))


def array_equal(a1: Any, a2: Any) -> Any:
    """Say whether all numbers are equal."""
    if np.shape(a1) != np.shape(a2):
        return False
    return all_(apply(lambda x, y: record("equal", x, y), a1, a2))


def _of_some(
    reduction: Callable[..., Any], neutral: Any, combine: Callable[[Any, Any], Any]
) -> Callable[..., Any]:
    """Return a reduction of what a mask selects, and of a number that is there before."""

    def function(
        a: Any,
        axis: Any = None,
        dtype: Any = None,
        keepdims: bool = False,
        initial: Any = None,
        where: Any = True,
    ) -> Any:
        if where is not True:
            if neutral is None and initial is None:
                raise UsageError(
                    at_line(
                        "where: nothing may be selected; got a mask and no initial=, expected a "
                        "number that the result begins with."
                    )
                )
            a = np.where(where, a, initial if neutral is None else neutral)
        given = {} if dtype is None else {"dtype": dtype}
        result = reduction(a, axis=axis, keepdims=keepdims, **given)
        return result if initial is None else combine(result, initial)

    return function


def _mean_of_some(
    a: Any, axis: Any = None, dtype: Any = None, keepdims: bool = False, where: Any = True
) -> Any:
    """Return the mean of what a mask selects."""
    if where is True:
        return mean(a, axis, dtype, keepdims)
    a = operand(a)
    ours = _dtype_of("mean", dtype, _real_type(a.element_type))
    wide = TO_NUMPY[_wide(ours)]
    chosen = as_tensor(a.recorder, where).broadcast_to("mean", a.shape)
    total = sum_(np.where(chosen, a, 0), axis, wide, keepdims)
    return _finish(total / count_nonzero(chosen, axis, keepdims).astype(wide), ours)


_min_of_some = _of_some(min_, None, np.minimum)
_max_of_some = _of_some(max_, None, np.maximum)
FUNCTIONS.update(
    {
        np.sum: _of_some(sum_, 0, np.add),
        np.prod: _of_some(prod, 1, np.multiply),
        np.min: _min_of_some,
        np.max: _max_of_some,
        np.amin: _min_of_some,
        np.amax: _max_of_some,
        np.mean: _mean_of_some,
        np.average: average,
        np.var: var,
        np.std: std,
        np.argmin: argmin,
        np.argmax: argmax,
        np.any: _of_some(any_, False, np.logical_or),
        np.all: _of_some(all_, True, np.logical_and),
        np.ptp: ptp,
        np.count_nonzero: count_nonzero,
        np.nansum: lambda a, axis=None, dtype=None, keepdims=False: ignoring(sum_, 0.0)(
            a, axis, dtype=dtype, keepdims=keepdims
        ),
        np.nanprod: lambda a, axis=None, dtype=None, keepdims=False: ignoring(prod, 1.0)(
            a, axis, dtype=dtype, keepdims=keepdims
        ),
        np.nanmax: _extreme_of_some(max_, -math.inf),
        np.nanmin: _extreme_of_some(min_, math.inf),
        np.nanmean: nanmean,
        np.nanvar: nanvar,
        np.nanstd: nanstd,
        np.linalg.norm: norm,
        np.allclose: allclose,
        np.array_equal: array_equal,
    }
)


def _by_method(function: Callable[..., Any]) -> Callable[..., Any]:
    def reduced(array: Any, axis: Any = 0, dtype: Any = None, keepdims: bool = False) -> Any:
        if dtype is None:
            return function(array, axis=axis, keepdims=keepdims)
        return function(array, axis=axis, dtype=dtype, keepdims=keepdims)

    return reduced


METHODS.update(
    {
        (np.add, "reduce"): _by_method(sum_),
        (np.multiply, "reduce"): _by_method(prod),
        (np.minimum, "reduce"): _by_method(min_),
        (np.maximum, "reduce"): _by_method(max_),
        (np.logical_and, "reduce"): _by_method(all_),
        (np.logical_or, "reduce"): _by_method(any_),
    }
)
if hasattr(np, "vecdot"):  # NumPy 2
    FUNCTIONS[np.linalg.vector_norm] = vector_norm
    FUNCTIONS[np.linalg.matrix_norm] = matrix_norm
