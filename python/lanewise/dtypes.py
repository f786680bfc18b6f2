"""The types of an element and how they mix.

Mixing follows NumPy 2: a Python number is *weak*, it takes the type of what it meets. A weak value
is kept as Python would (``int`` as int64, ``float`` as float64) and converted where it is used, so
``x * (c * c)`` with a float32 ``x`` rounds ``c * c`` once, as NumPy does.

Programs have no complex numbers: one is two values while a function is recorded, its parts.
"""

from enum import Enum
from typing import Any, NamedTuple

import numpy as np

from ._core import DType, ParamKind

# They are single objects; what Enum has is a function of Python, called for every look into a dict.
DType.__hash__ = object.__hash__  # type: ignore[method-assign]
ParamKind.__hash__ = object.__hash__  # type: ignore[method-assign]


class ComplexType(Enum):
    """A complex number with parts of float32, or of float64."""

    C64 = 64
    C128 = 128

    __hash__ = object.__hash__


Type = DType | ComplexType

TO_NUMPY: dict[Type, np.dtype[Any]] = {
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
    ComplexType.C64: np.dtype(np.complex64),
    ComplexType.C128: np.dtype(np.complex128),
}
FROM_NUMPY: dict[np.dtype[Any], Type] = {numpy: ours for ours, numpy in TO_NUMPY.items()}
SUPPORTED = "bool, int8 to int64, uint8 to uint64, float16, float32, float64 or complex"

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


# The type of both parts, and the complex type for a float.
PARTS: dict[Type, DType] = {ComplexType.C64: DType.F32, ComplexType.C128: DType.F64}
OF_PARTS: dict[Type, ComplexType] = {
    DType.F16: ComplexType.C64,
    DType.F32: ComplexType.C64,
    DType.F64: ComplexType.C128,
}


class Kind(NamedTuple):
    """The type of an operand, and whether it gives way to others."""

    dtype: Type
    weak: bool = False


WEAK_INT = Kind(DType.I64, weak=True)
WEAK_FLOAT = Kind(DType.F64, weak=True)
WEAK_COMPLEX = Kind(ComplexType.C128, weak=True)
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
    if strong.dtype in PARTS:
        return strong
    if weak.dtype in PARTS:
        return Kind(OF_PARTS.get(strong.dtype, ComplexType.C128))
    gives_way = strong.dtype in FLOATS or (strong.dtype in INTEGERS and weak.dtype in INTEGERS)
    return Kind(strong.dtype if gives_way else weak.dtype)


def promote_all(kinds: list[Kind]) -> Kind:
    """Return the kind that all have in common."""
    result = kinds[0]
    for kind in kinds[1:]:
        result = promote(result, kind)
    return result


def settled(kind: Kind) -> Type:
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


def name_of(dtype: Type) -> str:
    """Return NumPy's name of a type."""
    return str(TO_NUMPY[dtype])


def parts_of(dtype: Type) -> tuple[DType, ...]:
    """Return the types of the values that make up one of this type: itself, or two."""
    if isinstance(dtype, ComplexType):
        return (PARTS[dtype],) * 2
    return (dtype,)


def type_named(name: str) -> Type:
    """Return the type of this name."""
    return ComplexType[name] if name in ComplexType.__members__ else DType[name]
