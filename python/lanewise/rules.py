"""How each function of elements maps to an op of the table, by the types of its operands.

A rule takes the kinds of the operands and gives the op and the types they are converted to first.
Python's and NumPy's functions are named on the left; ``lanewise/ops/ops.def`` has the ops.
"""

from collections.abc import Callable
from typing import NamedTuple

from ._core import DType, called_ops
from .dtypes import FLOATS, INTEGERS, Kind, Type, as_float, name_of, promote_all
from .errors import UsageTypeError
from .source import at_line


class Resolved(NamedTuple):
    """An op, the types its operands are converted to, and whether its result is weak."""

    op: str | None  # None: the result is the first operand
    operands: tuple[Type, ...]
    weak: bool = False


Rule = Callable[[str, list[Kind]], Resolved]


def _refuse(name: str, kinds: list[Kind], expected: str) -> UsageTypeError:
    got = ", ".join(name_of(kind.dtype) for kind in kinds)
    return UsageTypeError(
        at_line(f"{name}: not defined for these types; got ({got}), expected {expected}")
    )


def _alike(op: str | None, kind: Kind, count: int) -> Resolved:
    return Resolved(op, (kind.dtype,) * count, kind.weak)


def _arithmetic(op: str, of_bools: str | None = None) -> Rule:
    """Numbers of one type; bools as NumPy does them, where it does."""

    def rule(name: str, kinds: list[Kind]) -> Resolved:
        common = promote_all(kinds)
        if common.dtype is not DType.Bool:
            return _alike(op, common, len(kinds))
        if of_bools is None:
            raise _refuse(name, kinds, "numbers. Use ^ or ~ for bools, or convert with .astype.")
        return _alike(of_bools, common, len(kinds))

    return rule


def _real(op: str) -> Rule:
    """Floats of one type; integers are taken as float64."""
    return lambda name, kinds: _alike(op, as_float(promote_all(kinds)), len(kinds))


def _whole(op: str, hint: str) -> Rule:
    """Integers of one type."""

    def rule(name: str, kinds: list[Kind]) -> Resolved:
        common = promote_all(kinds)
        if common.dtype not in INTEGERS:
            raise _refuse(name, kinds, f"integers. {hint}")
        return _alike(op, common, len(kinds))

    return rule


def _bits(op: str) -> Rule:
    """Bools or integers of one type."""

    def rule(name: str, kinds: list[Kind]) -> Resolved:
        common = promote_all(kinds)
        if common.dtype in FLOATS:
            raise _refuse(name, kinds, "bools or integers. Compare floats first.")
        return _alike(op, common, len(kinds))

    return rule


def _rounding(op: str) -> Rule:
    """Floats; integers and bools are whole already."""
    return lambda _, kinds: _alike(op if kinds[0].dtype in FLOATS else None, kinds[0], 1)


def _absolute(_: str, kinds: list[Kind]) -> Resolved:
    return _alike(None if kinds[0].dtype is DType.Bool else "abs", kinds[0], 1)


def _comparison(op: str) -> Rule:
    """Values of one type; bools are ordered as 0 and 1."""

    def rule(_: str, kinds: list[Kind]) -> Resolved:
        common = promote_all(kinds).dtype
        if common is DType.Bool and op not in ("eq", "ne"):
            common = DType.I32
        return Resolved(op, (common,) * 2)

    return rule


def _select(_: str, kinds: list[Kind]) -> Resolved:
    common = promote_all(kinds[1:])
    return Resolved("select", (DType.Bool, common.dtype, common.dtype), common.weak)


def _quotient(_: str, kinds: list[Kind]) -> Resolved:
    """Floats of one type; integers of any size are divided as float64."""
    common = promote_all(kinds)
    if common.dtype not in FLOATS:
        common = Kind(DType.F64, common.weak)
    return _alike("div", common, 2)


def _remainder(name: str, kinds: list[Kind]) -> Resolved:
    """Remainder with the sign of the divisor, of integers or floats."""
    common = promote_all(kinds)
    if common.dtype is DType.Bool:
        raise _refuse(name, kinds, "numbers. Convert with .astype first.")
    return _alike("mod" if common.dtype in FLOATS else "rem", common, 2)


def _scaled(_: str, kinds: list[Kind]) -> Resolved:
    """Take a float and a whole number of 32 bits."""
    common = as_float(kinds[0])
    return Resolved("ldexp", (common.dtype, DType.I32), common.weak)


# Functions of real numbers that have the op's name, and those that NumPy calls something else.
FUNCTIONS_OF_REALS = (
    *("sin", "cos", "tan", "exp", "exp2", "expm1", "log", "log2", "log10", "log1p"),
    *("sinh", "cosh", "tanh", "sigmoid", "erf", "erfc", "lgamma", "digamma"),
    *("cbrt", "rsqrt", "hypot", "fmin", "fmax", "fmod", "nextafter"),
    *("isnan", "isinf", "isfinite", "signbit"),
)
NUMPY_NAMES = {
    "arcsin": "asin",
    "arccos": "acos",
    "arctan": "atan",
    "arctan2": "atan2",
    "arcsinh": "asinh",
    "arccosh": "acosh",
    "arctanh": "atanh",
}

RULES: dict[str, Rule] = {
    "add": _arithmetic("add", "or"),
    "subtract": _arithmetic("sub"),
    "multiply": _arithmetic("mul", "and"),
    "divide": _quotient,
    "floor_divide": _whole("div", "For floats use lw.floor(a / b), which rounds a / b first."),
    "remainder": _remainder,
    "power": _real("pow"),
    "sign": _arithmetic("sign"),
    "negative": _arithmetic("neg"),
    "absolute": _absolute,
    "fabs": _real("abs"),
    "minimum": _arithmetic("min", "and"),
    "maximum": _arithmetic("max", "or"),
    "sqrt": _real("sqrt"),
    **{name: _real(name) for name in FUNCTIONS_OF_REALS},
    **{name: _real(op) for name, op in NUMPY_NAMES.items()},
    "fma": _real("fma"),
    "copysign": _real("copysign"),
    "floor": _rounding("floor"),
    "ceil": _rounding("ceil"),
    "trunc": _rounding("trunc"),
    "round": _rounding("round"),
    "equal": _comparison("eq"),
    "not_equal": _comparison("ne"),
    "less": _comparison("lt"),
    "less_equal": _comparison("le"),
    "greater": _comparison("gt"),
    "greater_equal": _comparison("ge"),
    "bitwise_and": _bits("and"),
    "bitwise_or": _bits("or"),
    "bitwise_xor": _bits("xor"),
    "invert": _bits("not"),
    "left_shift": _whole("shl", "Convert with .astype first."),
    "right_shift": _whole("shr", "Convert with .astype first."),
    "select": _select,
    "ldexp": _scaled,
}

# Ops that have another name here. Those of the table without a rule above get that of their types.
OTHER_NAMES = {"min": "minimum", "max": "maximum", "pow": "power", "remainder": "ieee_remainder"}
_BY_TYPES: dict[str, Callable[[str], Rule]] = {
    "All": lambda op: lambda _, kinds: _alike(op, promote_all(kinds), len(kinds)),
    "Bits": _bits,
    "Number": _arithmetic,
    "Float": _real,
    "Integer": lambda op: _whole(op, "Convert with .astype first."),
}
for _op, _arity, _types, _sentence in called_ops():
    RULES.setdefault(OTHER_NAMES.get(_op, _op), _BY_TYPES[_types](_op))
