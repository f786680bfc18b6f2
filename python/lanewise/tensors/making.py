"""New tensors, and what is asked of a tensor."""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from .._core import Value
from ..complex_element import as_values
from ..dtypes import FROM_NUMPY, Kind, Type, promote_all, settled
from ..element import NUMPY_FUNCTIONS, Element, Whole, another_trial, kind_of
from ..errors import UsageError, UsageTypeError
from ..number_types import type_of
from ..recorder import Recorder
from ..source import at_line
from . import spaces
from .base import ARRAY
from .calls import FUNCTIONS
from .spaces import Shape
from .tensor import Tensor, as_tensor, from_array, from_number, recorder_of


def new_array(recorder: Recorder, shape: Shape, dtype: Type, fill: Any = 0) -> Tensor:
    """Return a tensor to be written, all of one number at first."""
    size = int(np.prod(shape))
    initial = as_values(recorder, fill, dtype)
    if not size:
        return from_number(recorder, initial, shape)
    recorder.locate()
    arrays = tuple(recorder.recording.array(value, size) for value in initial)
    return from_array(recorder, arrays, shape, ARRAY)


def array_of_numbers(recorder: Recorder, array: Any) -> Tensor:
    """Return a tensor to be written that begins with plain numbers."""
    values = array.ravel()
    if not values.size:
        return as_tensor(recorder, array)
    result = new_array(recorder, array.shape, type_of("tensor", array.dtype), values[0])
    is_same = values.tobytes() == values[:1].tobytes() * values.size
    if not is_same:
        result[...] = array.view(np.ndarray).copy()
    return result


def build(recorder: Recorder, shape: Shape, read: Callable[[list[Value]], Element]) -> Tensor:
    """Return a tensor of what a function gives for every position."""
    sizes = [size for size in shape if size != 1]
    if 0 in shape:
        return from_number(recorder, read([spaces.number(recorder, 0)] * len(shape)).values, shape)

    def at(positions: list[Value]) -> list[Value]:
        left = iter(positions)
        number = read([spaces.number(recorder, 0) if n == 1 else next(left) for n in shape])
        return [*number.values]

    values = tuple(spaces.keep_all(recorder, sizes, at))
    if not sizes:
        return from_number(recorder, values, shape)
    return from_array(recorder, values, shape)


def common_type(parts: Sequence[Any]) -> Type:
    """Return the type that tensors and numbers have in common."""
    kinds = [Kind(FROM_NUMPY[p.dtype]) if _has_axes(p) else kind_of(p) for p in parts]
    return settled(promote_all(kinds))


def _has_axes(value: Any) -> bool:
    return isinstance(value, Whole) or (isinstance(value, np.ndarray) and value.ndim > 0)


def nested(recorder: Recorder, values: Any) -> Tensor:
    """Return lists of numbers and tensors as a tensor."""
    if isinstance(values, (list, tuple)):
        if not _holds_symbols(values):
            return as_tensor(recorder, np.array(values))
        parts = [
            nested(recorder, value) if isinstance(value, (list, tuple)) else value
            for value in values
        ]
        return stacked(recorder, parts)
    return as_tensor(recorder, values)


def _holds_symbols(values: Any) -> bool:
    return any(
        isinstance(value, (Element, Whole))
        or (isinstance(value, (list, tuple)) and _holds_symbols(value))
        for value in values
    )


def stacked(recorder: Recorder, parts: Sequence[Any], axis: int = 0, call: str = "stack") -> Tensor:
    """Return tensors of one shape along a new axis."""
    dtype = common_type(parts)
    tensors = [as_tensor(recorder, part) for part in parts]
    shape = tensors[0].shape
    for tensor in tensors:
        if tensor.shape != shape:
            raise UsageError(
                at_line(
                    f"{call}: shapes differ; got {shape} and {tensor.shape}, expected one shape."
                )
            )
    at = spaces.normal_axis(call, axis, len(shape) + 1)
    result = new_array(recorder, (*shape[:at], len(tensors), *shape[at:]), dtype)
    for place, tensor in enumerate(tensors):
        result[(*[slice(None)] * at, place)] = tensor
    return result


def _like(value: int) -> Callable[..., Any]:
    def like(a: Any, dtype: Any = None, shape: Any = None) -> Any:
        return full_like(a, value, dtype, shape)

    return like


def full_like(a: Any, fill_value: Any, dtype: Any = None, shape: Any = None) -> Any:
    """Return a tensor of one number, of the shape and type of another."""
    tensor = as_tensor(recorder_of([a, fill_value]), a)
    ours = tensor.element_type if dtype is None else type_of("tensor", dtype)
    number = as_values(tensor.recorder, fill_value, ours)
    sizes = tensor.shape if shape is None else _shape(shape)
    return from_number(tensor.recorder, number, sizes)


def full(recorder: Recorder, shape: Any, fill_value: Any, dtype: Any = None) -> Tensor:
    """Return a tensor of one element in all places."""
    ours = settled(kind_of(fill_value)) if dtype is None else type_of("tensor", dtype)
    return from_number(recorder, as_values(recorder, fill_value, ours), _shape(shape))


def _shape(shape: Any) -> Shape:
    return tuple(int(n) for n in shape) if isinstance(shape, (tuple, list)) else (int(shape),)


def _copyto(dst: Any, src: Any, casting: Any = None) -> None:
    """Let a function that fills arrays with elements be rewritten."""
    symbols = [value for value in (dst, src) if isinstance(value, (Element, Tensor))]
    error = UsageTypeError(
        at_line(
            "np.full: an element in a plain array; got an array that was made outside of what is "
            "recorded, expected one of the element. Write np.full_like(x, value)."
        )
    )
    if isinstance(symbols[0], Element):
        another_trial(symbols[0].recorder, symbols[0].value, error)
    raise error


def _result_type(*operands: Any) -> Any:
    known = (x.dtype if isinstance(x, (Element, Whole)) else x for x in operands)
    return np.result_type(*known)


def _astype(x: Any, dtype: Any, copy: bool = True) -> Any:
    return x.astype(dtype)


FUNCTIONS.update(
    {
        "nested": nested,
        np.zeros_like: _like(0),
        np.empty_like: _like(0),
        np.ones_like: _like(1),
        np.full_like: full_like,
        np.copyto: _copyto,
        np.shape: lambda a: a.shape,
        np.ndim: lambda a: a.ndim,
        np.size: lambda a, axis=None: a.size if axis is None else a.shape[axis],
        np.copy: lambda a, order="K": a.copy(),
        np.result_type: _result_type,
        np.isrealobj: lambda x: x.dtype.kind != "c",
        np.iscomplexobj: lambda x: x.dtype.kind == "c",
        np.real: lambda val: val.real,
        np.imag: lambda val: val.imag,
        np.select: NUMPY_FUNCTIONS[np.select],  # made of others
        np.polyval: NUMPY_FUNCTIONS[np.polyval],
    }
)
if hasattr(np, "astype"):
    FUNCTIONS[np.astype] = _astype
