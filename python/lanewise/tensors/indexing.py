"""Indices of tensors: what NumPy's basic indices make of offset, shape and strides."""

import operator
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np

from .._core import DType, Value
from ..dtypes import INTEGERS, Type
from ..element import Element, is_tensor
from ..errors import UsageError, UsageTypeError
from ..flow.memory import index_value
from ..recorder import Recorder
from ..source import at_line
from .spaces import Shape, Strides, number


class View(NamedTuple):
    """A part of a tensor; `gathered` are the axes of it that are read by tensors of indices."""

    offset: int
    moving: Value | None
    shape: Shape
    strides: Strides
    gathered: tuple[tuple[int, Any], ...]


def is_sequence_index(part: Any) -> bool:
    """Say whether a part of an index is an array of indices."""
    return (
        is_tensor(part)
        or isinstance(part, list)
        or (isinstance(part, np.ndarray) and part.ndim > 0)
    )


def expanded(index: Any, ndim: int) -> list[Any]:
    """Return an index with a part for every dimension, and None for new ones."""
    parts: list[Any] = []
    for part in index if isinstance(index, tuple) else (index,):
        is_mask = isinstance(part, np.ndarray) and part.ndim > 0 and part.dtype == np.bool_
        parts += np.nonzero(part) if is_mask else [part]
    taken = sum(part is not None and part is not Ellipsis for part in parts)
    if taken > ndim:
        raise UsageError(
            at_line(
                f"index: too many indices; got {taken}, expected at most {ndim}, the number of "
                "dimensions."
            )
        )
    dots = [place for place, part in enumerate(parts) if part is Ellipsis]
    if len(dots) > 1:
        raise UsageError(at_line("index: more than one ellipsis; got ... twice, expected once."))
    rest = [slice(None)] * (ndim - taken)
    at = dots[0] if dots else len(parts)
    return parts[:at] + rest + parts[at + 1 :]


def checked_index(recorder: Recorder, index: Element, size: int) -> Value:
    """Record an index of an element, i32; the element fails where it is out of range."""
    value = recorder.convert(index_value(recorder, index, size), DType.I32)
    recorder.locate()
    recorder.recording.check_index(value, size)
    return value


def view(
    recorder: Recorder,
    index: Any,
    offset: int,
    moving: Value | None,
    shape: Shape,
    strides: Strides,
) -> View:
    """Return what an index makes of a tensor."""
    new_shape: list[int] = []
    new_strides: list[int] = []
    gathered: list[tuple[int, Any]] = []
    axis = 0
    for part in expanded(index, len(shape)):
        if part is None:
            new_shape.append(1)
            new_strides.append(0)
            continue
        size, stride = shape[axis], strides[axis]
        axis += 1
        if is_sequence_index(part):
            gathered.append((len(new_shape), part))
            new_shape.append(size)
            new_strides.append(stride)
        elif isinstance(part, slice):
            places = _places(part, size)
            offset += places.start * stride if len(places) else 0
            new_shape.append(len(places))
            new_strides.append(stride * places.step)
        elif isinstance(part, Element):
            at = checked_index(recorder, part, size)
            if stride != 1:
                at = recorder.op("mul", [at, number(recorder, stride)])
            if moving is not None:
                at = recorder.op("add", [moving, recorder.convert(at, moving.dtype)])
            moving = at
        else:
            offset += _plain(part, size) * stride
    return View(offset, moving, tuple(new_shape), tuple(new_strides), tuple(gathered))


def _places(part: slice, size: int) -> range:
    for bound in (part.start, part.stop, part.step):
        if isinstance(bound, Element) and not hasattr(bound, "known"):
            error = UsageTypeError(
                at_line(
                    "index: an element is a bound of a slice; got a size that differs between "
                    "elements, expected plain numbers. Read as many values from there on, "
                    "x[i + np.arange(n)]."
                )
            )
            bound.recorder.make_plain(bound.value, error)  # the counter of a loop
            raise error
    return range(size)[part]


def _plain(part: Any, size: int) -> int:
    if isinstance(part, (bool, np.bool_)):
        raise UsageTypeError(
            at_line("index: a bool; got a mask, expected whole numbers or slices. Use np.where.")
        )
    try:
        at = operator.index(part)
    except TypeError:
        raise UsageTypeError(
            at_line(
                f"index: not an index; got {type(part).__name__}, expected whole numbers, slices, "
                "... or None."
            )
        ) from None
    if not -size <= at < size:
        raise IndexError(at_line(f"index: out of range; got {at}, expected {-size} to {size - 1}."))
    return at % size


def require_integers(dtype: Type) -> None:
    """Refuse tensors of anything but whole numbers as an index."""
    if dtype is DType.Bool:
        raise UsageTypeError(
            at_line(
                "index: a mask; got a tensor of bools, whose result would differ in size between "
                "elements, expected whole numbers. Use np.where(mask, a, b), or where=mask in "
                "a reduction."
            )
        )
    if dtype not in INTEGERS:
        raise UsageTypeError(
            at_line("index: not whole numbers; got a tensor of floats, expected integers.")
        )


def reshaped(shape: Shape, strides: Strides, new_shape: Shape) -> Strides | None:
    """Return the strides with which a tensor has another shape; None where it must be copied."""
    old = [(size, stride) for size, stride in zip(shape, strides, strict=True) if size != 1]
    result: list[int] = []
    at = 0
    new = list(new_shape)
    while new:
        size = new.pop(0)
        if size == 1:
            result.append(0)
            continue
        sizes = [size]
        group = [old[at]]
        at += 1
        have, want = group[0][0], size
        while have != want:
            if have < want:
                if at >= len(old):
                    return None
                group.append(old[at])
                have *= old[at][0]
                at += 1
            else:
                following = new.pop(0)
                sizes.append(following)
                want *= following
        for (_, stride), (next_size, next_stride) in pairwise(group):
            if stride != next_size * next_stride:
                return None
        stride = group[-1][1]
        strides_here = []
        for one in reversed(sizes):
            strides_here.append(stride)
            stride *= one
        result += reversed(strides_here)
    return tuple(result)
