"""Going through the positions of tensors: shapes that broadcast, dimensions that join, and `each`.

An operation on tensors is one `each` of the program for every dimension that is left when those
are joined that follow one another in all operands. Dimensions along which all operands are
constant are not gone through.
"""

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from .._core import DType, Value
from ..errors import UsageError
from ..recorder import Recorder
from ..source import at_line

Shape = tuple[int, ...]
Strides = tuple[int, ...]


def broadcast_shapes(call: str, *shapes: Shape) -> Shape:
    """Return the shape that operands have in common, as NumPy broadcasts them."""
    try:
        return np.broadcast_shapes(*shapes)
    except ValueError:
        got = " and ".join(str(shape) for shape in shapes)
        raise UsageError(
            at_line(
                f"{call}: shapes do not broadcast; got {got}, expected equal sizes, or 1, in every "
                "dimension. Reshape one of them, or put an axis in, x[:, None]."
            )
        ) from None


def c_strides(shape: Shape) -> Strides:
    """Return the strides of values that stand together, in C order."""
    strides = []
    stride = 1
    for size in reversed(shape):
        strides.append(stride)
        stride *= size
    return tuple(reversed(strides))


def joined(sizes: Sequence[int], strides: Sequence[Strides]) -> tuple[list[int], list[list[int]]]:
    """Join dimensions that follow one another for all operands; those of size 1 go away."""
    new_sizes: list[int] = []
    new_strides: list[list[int]] = [[] for _ in strides]
    for d, size in enumerate(sizes):
        if size == 1:
            continue
        follows = bool(new_sizes) and all(
            new[-1] == old[d] * size for new, old in zip(new_strides, strides, strict=True)
        )
        if follows:
            new_sizes[-1] *= size
            for new, old in zip(new_strides, strides, strict=True):
                new[-1] = old[d]
        else:
            new_sizes.append(size)
            for new, old in zip(new_strides, strides, strict=True):
                new.append(old[d])
    return new_sizes, new_strides


def number(recorder: Recorder, value: int) -> Value:
    """Record a literal index."""
    return recorder.constant(DType.I32, value)


def index_of(
    recorder: Recorder,
    offset: int,
    moving: Value | None,
    positions: Sequence[Value],
    strides: Sequence[int],
) -> Value:
    """Record the place of positions in an array; `moving` is a part of the offset that varies."""
    total: Value | None = None
    for position, stride in zip(positions, strides, strict=True):
        if stride == 0:
            continue
        term = position
        if stride != 1:
            term = recorder.op("mul", [position, number(recorder, stride)])
        total = term if total is None else recorder.op("add", [total, term])
    if total is None:
        total = number(recorder, offset)
    elif offset != 0:
        total = recorder.op("add", [total, number(recorder, offset)])
    if moving is None:
        return total
    return recorder.op("add", [moving, recorder.convert(total, moving.dtype)])


def keep_all(
    recorder: Recorder, sizes: Sequence[int], body: Callable[[list[Value]], list[Value]]
) -> list[Value]:
    """Record an `each` for every size, one in another, that keep what the body gives."""

    def inside(positions: list[Value]) -> list[Value]:
        if len(positions) == len(sizes):
            return body(positions)
        size = sizes[len(positions)]
        return recorder.each(
            size, lambda at: [("keep", value) for value in inside([*positions, at])]
        )

    return inside([])


def count_to(recorder: Recorder, size: int, body: Callable[[Value], None]) -> None:
    """Record a loop over the numbers below a size, whose steps see what those before have done."""
    recording = recorder.recording
    recorder.locate()
    counter = recording.slot(number(recorder, 0))
    first = recording.size
    recording.begin_loop()
    now = recording.read(counter)
    recording.break_if(recorder.op("ge", [now, number(recorder, size)]))
    recording.begin_body()
    body(now)
    recording.end_body()
    recording.write(counter, recorder.op("add", [now, number(recorder, 1)]))
    recording.end_loop()
    recorder.lose(first)


def loop_over(
    recorder: Recorder, sizes: Sequence[int], body: Callable[[list[Value]], None]
) -> None:
    """Record loops, one in another, over all positions; few of them are recorded one by one."""
    if math.prod(sizes) <= MOST_STRAIGHT:
        for place in np.ndindex(*sizes):
            body([number(recorder, at) for at in place])
    else:
        loops(recorder, sizes, body)


def loops(recorder: Recorder, sizes: Sequence[int], body: Callable[[list[Value]], None]) -> None:
    """Record loops, one in another, over all positions."""

    def inside(positions: list[Value]) -> None:
        if len(positions) == len(sizes):
            body(positions)
        else:
            count_to(recorder, sizes[len(positions)], lambda at: inside([*positions, at]))

    inside([])


MOST_STRAIGHT = 16


def known(numbers: Any) -> Any:
    """Return numbers, in tuples or not, with captured ones as they are."""
    if isinstance(numbers, (tuple, list)):
        return type(numbers)(map(known, numbers))
    return numbers.known() if hasattr(numbers, "known") else numbers


def normal_axes(call: str, axis: Any, ndim: int) -> tuple[int, ...]:
    """Return axes as numbers from 0 on, in order; None is all of them."""
    axis = known(axis)
    if axis is None:
        return tuple(range(ndim))
    if ndim == 0 and axis in (0, -1):  # as NumPy, of a number
        return ()
    given = axis if isinstance(axis, (tuple, list)) else (axis,)
    axes = [normal_axis(call, one, ndim) for one in given]
    if len(set(axes)) != len(axes):
        raise UsageError(at_line(f"{call}: an axis is there twice; got {axis}, expected others."))
    return tuple(sorted(axes))


def normal_axis(call: str, axis: Any, ndim: int) -> int:
    """Return an axis as a number from 0 on."""
    axis = known(axis)
    if ndim == 0:
        raise UsageError(
            at_line(
                f"{call}: a number has no axes; got axis {axis!r}, expected a tensor. With lw.map, "
                'or signature="(n)->()", elements are rows.'
            )
        )
    if not isinstance(axis, (int, np.integer)) or not -ndim <= axis < ndim:
        raise UsageError(
            at_line(
                f"{call}: no such axis; got {axis!r}, expected {-ndim} to {ndim - 1} for a tensor "
                f"of {ndim} dimensions."
            )
        )
    return int(axis) % ndim


def reshaped(old: Shape, shape: Shape) -> Shape:
    """Return a new shape with its -1 replaced; it has to have as many values as the old one."""
    count = math.prod(old)
    open_places = [place for place, size in enumerate(shape) if size == -1]
    known = math.prod(size for size in shape if size != -1)
    if len(open_places) == 1 and known and count % known == 0:
        at = open_places[0]
        shape = (*shape[:at], count // known, *shape[at + 1 :])
    if math.prod(shape) != count or any(size < 0 for size in shape):
        raise UsageError(
            at_line(
                f"reshape: another number of values; got {old} and {shape}, expected "
                "shapes of one size."
            )
        )
    return shape
