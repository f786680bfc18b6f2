"""The NumPy functions that are recorded when they are called on elements."""

from functools import partial
from typing import Any

import numpy as np

from .element import NUMPY_FUNCTIONS, Element, power, record, unsupported
from .rules import FUNCTIONS_OF_REALS, NUMPY_NAMES

_BY_RULE: dict[str, Any] = {
    "add": np.add,
    "subtract": np.subtract,
    "multiply": np.multiply,
    "divide": np.divide,
    "floor_divide": np.floor_divide,
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


def _round(x: Element, decimals: int = 0) -> Element:
    if decimals != 0:
        raise unsupported("np.round with decimals")
    return record("round", x)


def _clip(x: Any, low: Any, high: Any) -> Element:
    return np.minimum(np.maximum(x, low), high)  # type: ignore[no-any-return]


NUMPY_FUNCTIONS.update({function: partial(record, rule) for rule, function in _BY_RULE.items()})
NUMPY_FUNCTIONS.update(
    {
        getattr(np, name): partial(record, name)
        for name in (*FUNCTIONS_OF_REALS, *NUMPY_NAMES)
        if hasattr(np, name)
    }
)
NUMPY_FUNCTIONS.update(
    {
        np.positive: lambda x: x,
        np.square: lambda x: record("multiply", x, x),
        np.power: power,
        np.logical_and: partial(_logical, "bitwise_and"),
        np.logical_or: partial(_logical, "bitwise_or"),
        np.logical_xor: partial(_logical, "bitwise_xor"),
        np.logical_not: partial(_logical, "invert"),
        np.where: _where,
        np.round: _round,
        np.clip: _clip,
    }
)
