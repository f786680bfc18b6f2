"""The types of an element and how they mix.

Mixing follows NumPy 2: a Python number is *weak*, it takes the type of what it meets. A weak value
is kept as Python would (``int`` as int64, ``float`` as float64) and converted where it is used, so
``x * (c * c)`` with a float32 ``x`` rounds ``c * c`` once, as NumPy does.
"""

from typing import Any, NamedTuple

import numpy as np

from ._core import DType

# They are single objects; what Enum has is a function of Python, called for every look into a dict.
DType.__hash__ = object.__hash__  # type: ignore[method-assign]

TO_NUMPY: dict[DType, np.dtype[Any]] = {
    DType.Bool: np.dtype(np.bool_),
    DType.I8: np.dtype(np.int8),
    DType.I16: np.dtype(np.int16),
    DType.I32: np.dtype(np.int32),
    DType.I64: np.dtype(np.int64),
    DType.U8: np.dtype(np.uint8),
    DType.U16: np.dtype(np.uint16),
    DType.U32: np.dtype(np.uint32),
    DType.U64: np.dtype(np.uint64),
    DType.F16: np.dtype(np.float16),
    DType.F32: np.dtype(np.float32),
    DType.F64: np.dtype(np.float64),
}
FROM_NUMPY: dict[np.dtype[Any], DType] = {numpy: ours for ours, numpy in TO_NUMPY.items()}
SUPPORTED = "bool, int8 to int64, uint8 to uint64, float16, float32 or float64"

FLOATS = frozenset({DType.F16, DType.F32, DType.F64})
INTEGERS = frozenset(
    {
        DType.I8,
        DType.I16,
        DType.I32,
        DType.I64,
        DType.U8,
        DType.U16,
        DType.U32,
        DType.U64,
    }
)
BOUNDS = {dtype: np.iinfo(TO_NUMPY[dtype]) for dtype in INTEGERS}


class Kind(NamedTuple):
    """The type of an operand, and whether it gives way to others."""

    dtype: DType
    weak: bool = False


WEAK_INT = Kind(DType.I64, weak=True)
WEAK_FLOAT = Kind(DType.F64, weak=True)
# A Python number that is known to fit int32: the counter of a loop. It is computed with as int64.
WEAK_NARROW = Kind(DType.I32, weak=True)

_STRONG = {
    (a, b): FROM_NUMPY[np.promote_types(TO_NUMPY[a], TO_NUMPY[b])]
    for a in TO_NUMPY
    for b in TO_NUMPY
}


def promote(a: Kind, b: Kind) -> Kind:
    """Return the kind of what ``a`` and ``b`` have in common."""
    if a.weak == b.weak:
        return Kind(_STRONG[a.dtype, b.dtype], a.weak)
    weak, strong = (a, b) if a.weak else (b, a)
    gives_way = strong.dtype in FLOATS or (strong.dtype in INTEGERS and weak.dtype in INTEGERS)
    return Kind(strong.dtype if gives_way else weak.dtype)


def promote_all(kinds: list[Kind]) -> Kind:
    """Return the kind that all have in common."""
    result = kinds[0]
    for kind in kinds[1:]:
        result = promote(result, kind)
    return result


def settled(kind: Kind) -> DType:
    """Return the type that a value has where it is seen from outside."""
    return DType.I64 if kind == WEAK_NARROW else kind.dtype


def as_float(kind: Kind) -> Kind:
    """Return the kind in which a function of real numbers takes it.

    As NumPy does: small integers and bools become floats that hold them exactly.
    """
    if kind.dtype in FLOATS:
        return kind
    if kind.weak:
        return WEAK_FLOAT
    return Kind(_STRONG[kind.dtype, DType.F16])


def name_of(dtype: DType) -> str:
    """Return NumPy's name of a type."""
    return str(TO_NUMPY[dtype])
