"""Checking the arrays that a caller gives for the results."""

from typing import Any

import numpy as np

from ._core import DType
from .arguments import Array
from .dtypes import TO_NUMPY
from .errors import UsageError, UsageTypeError


def check_outputs(call: str, out: Any, shape: tuple[int, ...], dtypes: list[DType]) -> list[Array]:
    """Return `out` as a list of arrays that results of this shape and these types fit into."""
    outputs = list(out) if isinstance(out, (tuple, list)) else [out]
    if len(outputs) != len(dtypes):
        raise UsageError(
            f"{call}: wrong number of outputs; got {len(outputs)}, expected {len(dtypes)}, "
            "one for each result."
        )
    for index, (array, dtype) in enumerate(zip(outputs, dtypes, strict=True)):
        _check(
            f"{call}: output {index}" if len(outputs) > 1 else f"{call}: out", array, shape, dtype
        )
    return outputs


def _check(what: str, array: Any, shape: tuple[int, ...], dtype: DType) -> None:
    if not isinstance(array, np.ndarray):
        raise UsageTypeError(
            f"{what} is not an array; got {type(array).__name__}, expected a NumPy array."
        )
    if array.dtype != TO_NUMPY[dtype]:
        raise UsageTypeError(
            f"{what} has another type; got {array.dtype}, expected {TO_NUMPY[dtype]}."
        )
    if array.shape != shape:
        raise UsageError(
            f"{what} has another shape; got {array.shape}, expected {shape}, that of the arguments."
        )
    if not (array.flags.c_contiguous and array.flags.aligned):
        raise UsageError(
            f"{what} is not contiguous; got strides {array.strides}, expected an aligned array in "
            "C order. Give a new array and copy from it."
        )
    if not array.flags.writeable:
        raise UsageError(
            f"{what} is read-only; got an array that may not be written, expected one that may."
        )
