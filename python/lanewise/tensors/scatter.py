"""Assignments by tensors of indices and by masks.

They happen one after the other, in C order: of several to one place the last one stays, as in
NumPy, and ``np.add.at`` adds all of them.
"""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from .._core import DType, Value
from ..element import NUMPY_FUNCTIONS, another_trial
from ..errors import UsageTypeError
from ..flow.containers import PlainArray
from ..source import at_line
from . import indexing, spaces
from .arranging import Selection, along_axis, in_range
from .calls import FUNCTIONS, METHODS, unsupported_tensor
from .making import new_array
from .spaces import Shape
from .tensor import Tensor, as_tensor, recorder_of

Combine = Callable[[Any, Any], Any]  # what is there, and the new number


def _target(call: str, a: Any, by: Any) -> Tensor:
    """Return the tensor that is changed in place; `by` are the other operands."""
    if isinstance(a, PlainArray):
        a.require_memory()
    if isinstance(a, Tensor):
        return a
    error = UsageTypeError(
        at_line(
            f"{call}: changes an array from outside; got {type(a).__name__}, expected a tensor "
            "that the function has made. Copy it first."
        )
    )
    for symbol in by:
        if isinstance(symbol, Tensor):  # an array that a rewritten function makes is one
            another_trial(symbol.recorder, symbol.base_value, error)
    raise error


def _assign(
    target: Tensor,
    shape: Shape,
    places: Callable[[list[Value]], list[Value]],
    value: Any,
    combine: Combine | None = None,
) -> None:
    """Assign numbers of a shape, each to the place that its positions have."""
    recorder = target.recorder
    source = as_tensor(recorder, value)
    if source.base_value is target.base_value:
        source = source.copy()
    source = source.broadcast_to("assignment", shape)
    target.make_writable()

    def assign(positions: list[Value]) -> None:
        at = places(positions)
        number = source.at(positions)
        if combine is not None:
            number = combine(target.at(at, target.strides_in_base), number)
        target.write_at(at, number)

    spaces.loop_over(recorder, shape, assign)


def scatter(
    found: Tensor, gathered: Sequence[tuple[int, Any]], value: Any, combine: Combine | None = None
) -> None:
    """Assign to axes of a tensor by tensors of indices."""
    own = found.base_value
    gathered = [
        (axis, part.copy() if isinstance(part, Tensor) and part.base_value is own else part)
        for axis, part in gathered
    ]
    selection = Selection(found, gathered)
    _assign(found, selection.shape, selection.places, value, combine)


def assign_where(target: Tensor, mask: Any, value: Any) -> None:
    """Assign one number to the places of a mask."""
    chosen = as_tensor(target.recorder, mask)
    if chosen.shape != target.shape[: chosen.ndim]:
        raise UsageTypeError(
            at_line(
                f"index: a mask of another shape; got {chosen.shape}, expected {target.shape}, or "
                "the first sizes of it."
            )
        )
    if np.ndim(value):
        raise UsageTypeError(
            at_line(
                f"index: several numbers by a mask; got the shape {np.shape(value)}, expected one "
                "number, as how many places there are differs. Write x = np.where(mask, values, x)."
            )
        )
    chosen = chosen.reshape(*chosen.shape, *[1] * (target.ndim - chosen.ndim))
    target.write(np.where(chosen, value, target).astype(target.dtype))


def _in_one_dimension(call: str, target: Tensor) -> Tensor:
    """Return a view of all numbers, whose changes are the tensor's own."""
    shape = (target.size,)
    strides = indexing.reshaped(target.shape, target.strides_in_base, shape)
    if strides is None:
        raise UsageTypeError(
            at_line(
                f"{call}: numbers that do not stand together; got a view of the shape "
                f"{target.shape}, expected a tensor of its own. Copy it first."
            )
        )
    return target.view(shape, strides)


def put(a: Any, ind: Any, v: Any, mode: str = "raise") -> None:
    """Assign by indices, counted as if there were one dimension."""
    target = _target("put", a, (ind, v))
    ind = in_range("np.put", ind, target.size, mode)
    places = as_tensor(target.recorder, ind).reshape(-1)
    numbers = as_tensor(target.recorder, v).reshape(-1)
    if numbers.size not in (1, places.size):  # NumPy begins anew, or takes the first ones
        numbers = numbers[np.arange(places.size) % numbers.size]
    _in_one_dimension("put", target)[places] = numbers


def put_along_axis(arr: Any, indices: Any, values: Any, axis: Any) -> None:
    """Assign along an axis by indices of the other axes' own."""
    target = _target("put_along_axis", arr, (indices, values))
    if axis is None:
        target, axis = _in_one_dimension("put_along_axis", target), 0
    shape, places = along_axis("put_along_axis", target, indices, axis)
    _assign(target, shape, places, values)


def at(ufunc: Any, a: Any, indices: Any, b: Any = None) -> None:
    """Apply a function in place at indices, as often as they name a place."""
    name = f"np.{ufunc.__name__}.at"
    function = NUMPY_FUNCTIONS.get(ufunc)
    if function is None or b is None:
        raise unsupported_tensor(name)
    target = _target(name, a, (indices, b))
    part = target.part(indices)
    found = target.view(part.shape, part.strides, part.offset, part.moving)
    scatter(found, part.gathered, b, function)


def bincount(x: Any, weights: Any = None, minlength: Any = 0) -> Any:
    """Count whole numbers from 0 on, or add their weights up."""
    if minlength < 1:
        raise UsageTypeError(
            at_line(
                "bincount: no number of bins; got minlength=0, expected one more than the largest "
                "number, as all elements have as many. A larger number fails its element."
            )
        )
    recorder = recorder_of([x, weights])
    dtype = DType.I64 if weights is None else DType.F64
    counts = new_array(recorder, (int(minlength),), dtype)
    at(np.add, counts, x, 1 if weights is None else weights)
    return counts


FUNCTIONS.update(
    {
        "scatter": scatter,
        "assign_where": assign_where,
        np.put: put,
        np.put_along_axis: put_along_axis,
        np.bincount: bincount,
    }
)
METHODS[None, "at"] = at
