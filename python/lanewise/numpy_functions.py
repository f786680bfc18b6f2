"""The NumPy functions that are recorded when they are called on elements."""

from collections.abc import Callable
from functools import partial
from importlib import import_module
from typing import Any

import numpy as np

from .complex_element import Complex, made
from .dtypes import promote, settled
from .element import (
    NUMPY_FUNCTIONS,
    Element,
    as_value,
    floor_divide,
    kind_of,
    power,
    record,
    rounded,
    unsupported,
)
from .rules import FUNCTIONS_OF_REALS, NUMPY_NAMES

_BY_RULE: dict[str, Any] = {
    "add": np.add,
    "subtract": np.subtract,
    "multiply": np.multiply,
    "divide": np.divide,
    "remainder": np.remainder,
    "negative": np.negative,
    "absolute": np.absolute,
    "fabs": np.fabs,
    "minimum": np.minimum,
    "maximum": np.maximum,
    "sqrt": np.sqrt,
    "sign": np.sign,
    "copysign": np.copysign,
    "floor": np.floor,
    "ceil": np.ceil,
    "trunc": np.trunc,
    "round": np.rint,
    "equal": np.equal,
    "not_equal": np.not_equal,
    "less": np.less,
    "less_equal": np.less_equal,
    "greater": np.greater,
    "greater_equal": np.greater_equal,
    "bitwise_and": np.bitwise_and,
    "bitwise_or": np.bitwise_or,
    "bitwise_xor": np.bitwise_xor,
    "invert": np.invert,
    "left_shift": np.left_shift,
    "right_shift": np.right_shift,
}


def _logical(rule: str, *operands: Any) -> Element:
    return record(
        rule,
        *(x.astype(np.bool_) if isinstance(x, Element) else bool(x) for x in operands),
    )


def _where(condition: Any, *branches: Any) -> Element:
    if len(branches) != 2:
        raise unsupported("np.where without both branches")
    return record("select", condition, *branches)


def _round(a: Any, decimals: int = 0) -> Element:
    if decimals == 0:
        return record("round", a)
    if isinstance(a, Complex):
        return made(rounded(a.real, decimals), rounded(a.imag, decimals))
    return rounded(a, decimals)


def _clip(a: Any, a_min: Any = None, a_max: Any = None, *, min: Any = None, max: Any = None) -> Any:
    a_min, a_max = (min if a_min is None else a_min), (max if a_max is None else a_max)
    if a_min is not None:
        a = np.maximum(a, a_min)
    return a if a_max is None else np.minimum(a, a_max)


def _real(x: Any) -> Element:
    """Take a number as a float, as functions of reals do."""
    return record("copysign", x, x)


def _scaled(factor: float) -> Callable[[Any], Any]:
    return lambda x: record("multiply", _real(x), factor)


def _float_power(a: Any, b: Any) -> Element:
    def wide(x: Any) -> Any:
        if isinstance(x, Element):
            return x.astype(np.complex128 if x.dtype.kind == "c" else np.float64)
        return complex(x) if isinstance(x, (complex, np.complexfloating)) else float(x)

    return record("power", wide(a), wide(b))


def _heaviside(x: Any, at_zero: Any) -> Any:
    x = _real(x) if isinstance(x, Element) else x
    step = np.where(x > 0, 1.0, np.where(x == 0, at_zero, 0.0))
    return np.where(np.isnan(x), x, step)


def _logaddexp(exp: Any, log1p: Any, a: Any, b: Any) -> Any:
    larger, smaller = np.maximum(a, b), np.minimum(a, b)
    # Equal infinities have no difference.
    difference = np.where(larger == smaller, 0.0, smaller - larger)
    return larger + log1p(exp(difference))


def _log2_1p(x: Any) -> Any:
    return np.log1p(x) * 1.4426950408889634


def _modf(x: Any) -> tuple[Any, Any]:
    x = _real(x)
    whole_part = np.trunc(x)
    return np.copysign(np.where(np.isinf(x), 0.0, x - whole_part), x), whole_part


def _frexp(x: Any) -> tuple[Any, Any]:
    return record("frexp_mantissa", x), record("frexp_exponent", x)


def _spacing(x: Any) -> Any:
    x = _real(x)
    return np.copysign(np.nextafter(np.abs(x), np.inf) - np.abs(x), x)


def _reciprocal(x: Any) -> Any:
    is_float = x.dtype.kind in "fc"
    return record("divide" if is_float else "floor_divide", 1, x)


def _nan_to_num(
    x: Any, copy: bool = True, nan: Any = 0.0, posinf: Any = None, neginf: Any = None
) -> Any:
    if isinstance(x, Complex):
        return made(*(_nan_to_num(part, copy, nan, posinf, neginf) for part in (x.real, x.imag)))
    if x.dtype.kind != "f":
        return x
    bounds = np.finfo(x.dtype)
    high = bounds.max.item() if posinf is None else posinf
    low = bounds.min.item() if neginf is None else neginf
    finite = np.where(x == np.inf, high, np.where(x == -np.inf, low, x))
    return np.where(np.isnan(x), nan, finite)


def _isclose(a: Any, b: Any, rtol: Any = 1e-5, atol: Any = 1e-8, equal_nan: bool = False) -> Any:
    b = b * 1.0  # bools have no difference
    is_near = np.abs(a - b) <= atol + rtol * np.abs(b)
    result = np.logical_or(np.logical_and(is_near, np.isfinite(b)), a == b)
    if equal_nan:
        result = np.logical_or(result, np.logical_and(np.isnan(a), np.isnan(b)))
    return result


def _sinc(x: Any) -> Any:
    y = np.pi * np.where(x == 0, 1.0e-20, x)
    return np.sin(y) / y


def _select(condlist: Any, choicelist: Any, default: Any = 0) -> Any:
    result = default
    for condition, choice in reversed(list(zip(condlist, choicelist, strict=True))):
        result = np.where(condition, choice, result)
    return result


def _gcd(a: Any, b: Any) -> Any:
    from .loops import while_loop  # seldom needed

    kind = settled(promote(kind_of(a), kind_of(b)))
    recorder = next(x.recorder for x in (a, b) if isinstance(x, Element))
    larger, rest = (abs(Element(recorder, as_value(recorder, x, kind))) for x in (a, b))
    state = while_loop(lambda x, y: y != 0, lambda x, y: (y, x % y), (larger, rest))
    return state[0]


def _lcm(a: Any, b: Any) -> Any:
    common = _gcd(a, b)
    return np.where(common == 0, 0, abs(a // np.where(common == 0, 1, common) * b)).astype(
        common.dtype
    )


def _angle(z: Any, deg: bool = False) -> Any:
    angle = record("arctan2", z.imag, z.real)
    return angle * (180 / np.pi) if deg else angle


def _polyval(p: Any, x: Any) -> Any:
    result: Any = 0
    for coefficient in np.asarray(p) if isinstance(p, (list, tuple)) else p:
        result = result * x + coefficient
    return result


def _constant_like(value: int) -> Callable[..., Any]:
    def like(a: Any, dtype: Any = None) -> Any:
        return np.dtype(a.dtype if dtype is None else dtype).type(value)

    return like


def _full_like(a: Any, fill_value: Any, dtype: Any = None) -> Any:
    kind = a.dtype if dtype is None else np.dtype(dtype)
    return fill_value.astype(kind) if isinstance(fill_value, Element) else kind.type(fill_value)


def _result_type(*operands: Any) -> Any:
    known = (x.dtype if isinstance(x, Element) else x for x in operands)
    return np.result_type(*known)


NUMPY_FUNCTIONS.update({function: partial(record, rule) for rule, function in _BY_RULE.items()})
NUMPY_FUNCTIONS.update(
    {
        getattr(np, name): partial(record, name)
        for name in (*FUNCTIONS_OF_REALS, *NUMPY_NAMES)
        if hasattr(np, name)
    }
)
_WRITTEN: dict[Any, Any] = {
    np.positive: lambda x: x,
    np.square: lambda x: record("multiply", x, x),
    np.power: power,
    np.logical_and: partial(_logical, "bitwise_and"),
    np.logical_or: partial(_logical, "bitwise_or"),
    np.logical_xor: partial(_logical, "bitwise_xor"),
    np.logical_not: partial(_logical, "invert"),
    np.where: _where,
    np.round: _round,
    np.around: _round,
    np.clip: _clip,
    np.conjugate: lambda x: x.conjugate(),
    np.angle: _angle,
    np.deg2rad: _scaled(np.pi / 180),
    np.radians: _scaled(np.pi / 180),
    np.rad2deg: _scaled(180 / np.pi),
    np.degrees: _scaled(180 / np.pi),
    np.divmod: lambda a, b: (floor_divide(a, b), record("remainder", a, b)),
    np.floor_divide: floor_divide,
    np.float_power: _float_power,
    np.frexp: _frexp,
    np.ldexp: lambda x, n: record("ldexp", x, n),
    np.heaviside: _heaviside,
    np.logaddexp: partial(_logaddexp, np.exp, np.log1p),
    np.logaddexp2: partial(_logaddexp, np.exp2, _log2_1p),
    np.modf: _modf,
    np.reciprocal: _reciprocal,
    np.spacing: _spacing,
    np.fix: lambda x: record("trunc", x),
    np.real: lambda val: val.real,
    np.imag: lambda val: val.imag,
    np.isreal: lambda x: x.imag == 0 if isinstance(x, Complex) else record("equal", x, x) | True,
    np.iscomplex: lambda x: (
        x.imag != 0 if isinstance(x, Complex) else record("not_equal", x, x) & False
    ),
    np.isrealobj: lambda x: not isinstance(x, Complex),
    np.iscomplexobj: lambda x: isinstance(x, Complex),
    np.isposinf: lambda x: x >= np.inf,
    np.isneginf: lambda x: x <= -np.inf,
    np.isclose: _isclose,
    np.allclose: _isclose,
    np.nan_to_num: _nan_to_num,
    np.sinc: _sinc,
    np.gcd: _gcd,
    np.lcm: _lcm,
    np.select: _select,
    np.polyval: _polyval,
    np.zeros_like: _constant_like(0),
    np.empty_like: _constant_like(0),
    np.ones_like: _constant_like(1),
    np.full_like: _full_like,
    np.copy: lambda a: a,
    np.ndim: lambda a: 0,
    np.shape: lambda a: (),
    np.size: lambda a: 1,
    np.result_type: _result_type,
}
_umath = import_module("numpy._core.umath" if hasattr(np, "_core") else "numpy.core.umath")
NUMPY_FUNCTIONS[_umath.clip] = _clip  # the ufunc behind np.clip
# Those of NumPy 2.
_NEWER: dict[str, Any] = {
    "astype": lambda x, dtype: x.astype(dtype),
    "bitwise_count": lambda x: record("popcount", record("absolute", x)).astype(np.uint8),
}
NUMPY_FUNCTIONS.update(_WRITTEN)
NUMPY_FUNCTIONS.update(
    {getattr(np, name): function for name, function in _NEWER.items() if hasattr(np, name)}
)
