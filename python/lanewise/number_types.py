"""The types that users ask for, of the numbers in a tensor or row."""

from typing import Any

import numpy as np

from ._core import DType
from .dtypes import FROM_NUMPY, SUPPORTED, TO_NUMPY, ComplexType, Type
from .errors import UsageTypeError
from .source import at_line


def type_of(call: str, dtype: Any) -> Type:
    """Return the type of a tensor's numbers."""
    ours = FROM_NUMPY.get(np.dtype(dtype))
    if ours is None:
        raise UsageTypeError(
            at_line(f"{call}: unsupported type; got {np.dtype(dtype)}, expected {SUPPORTED}.")
        )
    return ours


def real_type(call: str, dtype: Type) -> DType:
    """Return a type, if it is real."""
    if isinstance(dtype, ComplexType):
        raise UsageTypeError(
            at_line(
                f"{call}: not defined for complex numbers; got a tensor of {TO_NUMPY[dtype]}, "
                "expected real ones. Take x.real, x.imag or abs(x)."
            )
        )
    return dtype
