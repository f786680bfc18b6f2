"""From the arguments of a call to arrays of one shape and the signature they have.

Arrays are mapped; numbers and arrays of rank 0 are shared by all elements. Only kinds are part of
the signature, never values or sizes.
"""

from typing import Any, NamedTuple

import numpy as np

from ._core import DType
from .dtypes import BOUNDS, FROM_NUMPY, SUPPORTED, TO_NUMPY, WEAK_FLOAT, WEAK_INT, Kind
from .errors import UsageError, UsageTypeError

Array = np.ndarray[Any, np.dtype[Any]]


class Parameter(NamedTuple):
    """What is known of an argument while its function is recorded."""

    kind: Kind
    is_mapped: bool


Signature = tuple[Parameter, ...]


class Arguments(NamedTuple):
    """The arguments of a call, ready for the map."""

    arrays: list[Array]  # C-contiguous, of `shape`; shared ones have rank 0
    shape: tuple[int, ...]
    signature: Signature


def describe(call: str, arguments: tuple[Any, ...]) -> Arguments:
    """Return the arguments of a call as arrays of one shape; `call` is named in errors."""
    if not arguments:
        raise UsageError(f"{call}: nothing to map over; got no arguments, expected at least one.")
    described = [_describe(call, index, value) for index, value in enumerate(arguments)]
    arrays = [array for array, _ in described]
    shape = _common_shape(call, arrays)
    _check_literals(call, described)
    if all(array.ndim == 0 for array in arrays):  # one element
        arrays[0] = arrays[0].reshape(1)
    else:
        arrays = [_mapped(array, shape) if array.ndim else array for array in arrays]
    signature = tuple(
        Parameter(kind, array.ndim != 0) for array, (_, kind) in zip(arrays, described, strict=True)
    )
    return Arguments(arrays, shape, signature)


def _describe(call: str, index: int, value: Any) -> tuple[Array, Kind]:
    if type(value) is np.ndarray and (dtype := FROM_NUMPY.get(value.dtype)) is not None:
        return value, Kind(dtype)
    if isinstance(value, float) and not isinstance(value, np.generic):
        return np.array(value), WEAK_FLOAT
    if isinstance(value, int) and not isinstance(value, bool):
        return np.array(_fitting(call, index, value), np.int64), WEAK_INT
    return _describe_array(call, index, value)


def _fitting(call: str, index: int, value: int) -> int:
    bounds = BOUNDS[DType.I64]
    if bounds.min <= value <= bounds.max:
        return value
    raise UsageError(
        f"{call}: argument {index} does not fit int64; got {value}, expected {bounds.min} to "
        f"{bounds.max}. Pass a float."
    )


def _describe_array(call: str, index: int, value: Any) -> tuple[Array, Kind]:
    if isinstance(value, np.ma.MaskedArray):
        raise UsageTypeError(
            f"{call}: argument {index} is a masked array; got a mask, expected plain values. "
            "Pass argument.filled(value)."
        )
    try:
        array = np.asarray(value)
    except ValueError as error:
        raise UsageError(
            f"{call}: argument {index} is not an array; got {type(value).__name__}, expected "
            f"numbers in rows of equal length ({error})."
        ) from None
    dtype = FROM_NUMPY.get(array.dtype.newbyteorder("="))
    if dtype is None:
        got = f"an object ({type(value).__name__})" if array.dtype == object else array.dtype
        hint = (
            "Convert it with .astype." if array.dtype.kind in "iuf" else "Pass arrays of numbers."
        )
        raise UsageTypeError(
            f"{call}: argument {index} has an unsupported type; got {got}, expected {SUPPORTED}. "
            f"{hint}"
        )
    return array, Kind(dtype)


def _common_shape(call: str, arrays: list[Array]) -> tuple[int, ...]:
    shapes = [array.shape for array in arrays if array.ndim]
    if all(shape == shapes[0] for shape in shapes):
        return shapes[0] if shapes else ()
    try:
        return np.broadcast_shapes(*shapes)
    except ValueError:
        got = ", ".join(f"{array.shape} (argument {i})" for i, array in enumerate(arrays))
        raise UsageError(
            f"{call}: arguments disagree on the mapped shape; got {got}, expected shapes that "
            "broadcast: equal, or 1, in every dimension. Pass a plain number to share it."
        ) from None


def _mapped(array: Array, shape: tuple[int, ...]) -> Array:
    if array.shape != shape:
        array = np.broadcast_to(array, shape)
    if array.flags.c_contiguous and array.flags.aligned and array.dtype.isnative:
        return array
    return np.array(array, array.dtype.newbyteorder("="), order="C")


def _check_literals(call: str, described: list[tuple[Array, Kind]]) -> None:
    """Refuse Python integers that would not fit the int32 arrays they may meet."""
    bounds = BOUNDS[DType.I32]
    if not any(array.ndim and array.dtype == TO_NUMPY[DType.I32] for array, _ in described):
        return
    for index, (array, kind) in enumerate(described):
        if kind == WEAK_INT and not bounds.min <= array.item() <= bounds.max:
            raise UsageError(
                f"{call}: argument {index} does not fit int32, the type of an array beside it; got "
                f"{array.item()}, expected {bounds.min} to {bounds.max}. "
                "Pass np.int64(value) to widen."
            )
