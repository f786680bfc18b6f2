"""``lw.map`` and other vectorized functions inside of a function that is recorded."""

import itertools
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from .. import flow
from .._core import Value
from ..complex_element import as_values
from ..dtypes import Type, settled
from ..element import Whole, is_operand, kind_of
from ..errors import UsageError, UsageTypeError
from ..recorder import Recorder, Retrace, current
from ..source import at_line, user_line
from ..trees import Structure, flatten, split_result, unflatten
from . import spaces
from .calls import FUNCTIONS
from .making import new_array
from .spaces import Shape
from .tensor import Tensor, as_tensor, element_of, from_array


class _Inside:
    """The function of a map inside another, as a region that all positions run."""

    can_be_plain = False
    is_expression = True

    def __init__(self, recorder: Recorder) -> None:
        self._recorder = recorder

    def __enter__(self) -> None:
        self._recorder.regions.append(self)

    def __exit__(self, *_: Any) -> None:
        if self in self._recorder.regions:
            del self._recorder.regions[self._recorder.regions.index(self) :]

    def unroll(self, error: Exception) -> None:
        """Do nothing: its steps are not plain."""

    def discard(self) -> None:
        """Do nothing: an error in it ends the recording."""


def map_tensors(
    fn: Callable[..., Any], arrays: tuple[Any, ...], axes: list[int | None], out_axes: Any
) -> Any:
    """Call a function on what tensors have along an axis, all positions alike."""
    recorder = current()
    assert recorder is not None
    axes, out_axes = spaces.known(axes), spaces.known(out_axes)
    arguments: list[Any] = []
    for position, (array, axis) in enumerate(zip(arrays, axes, strict=True)):
        leaves: list[Any] = []
        structure = flatten(array, leaves, split_result)
        parts = [leaf if axis is None else _in_front(recorder, leaf, axis) for leaf in leaves]
        arguments.append((structure, parts, axis is not None, position))
    size = _common_size(arguments)

    def call(at: Value) -> Any:
        def part(leaf: Any) -> Any:
            return leaf.moved_by(at) if isinstance(leaf, Tensor) and leaf.ndim else leaf

        values = [
            unflatten(structure, iter([part(leaf) if mapped else leaf for leaf in parts]))
            for structure, parts, mapped, _ in arguments
        ]
        return flow.call(fn, *values)

    results = _record(recorder, size, call)
    if out_axes != 0:
        return _with_axes(results, out_axes)
    return results


def _in_front(recorder: Recorder, leaf: Any, axis: int) -> Any:
    tensor = as_tensor(recorder, leaf) if not is_operand(leaf) else leaf
    if isinstance(tensor, Tensor) and axis != 0:
        return FUNCTIONS["moveaxis"](tensor, axis, 0)
    return tensor


def _common_size(arguments: list[Any]) -> int:
    found: tuple[int, int] | None = None
    for _, parts, mapped, position in arguments:
        for leaf in parts:
            if not mapped or not isinstance(leaf, Tensor):
                continue
            if found is not None and leaf.shape[0] != found[0]:
                raise UsageError(
                    at_line(
                        f"map: arguments disagree on the mapped size; got {found[0]} (argument "
                        f"{found[1]}) and {leaf.shape[0]} (argument {position}), expected one size."
                    )
                )
            found = found or (leaf.shape[0], position)
    if found is None:
        raise UsageError(at_line("map: nothing to map over; got no tensor, expected at least one."))
    return found[0]


class _Given(NamedTuple):
    """What a function gives for one position."""

    structure: Structure
    shapes: list[Shape]
    dtypes: list[Type]


def _record(recorder: Recorder, size: int, call: Callable[[Value], Any]) -> Any:
    """Record an `each` that keeps what a function of the position gives.

    A position of an `each` draws no random numbers; a map that does is recorded again as a loop.
    """
    passage = recorder.visit((user_line(), "map"))
    known = recorder.session.drawing.get(passage)
    if known is not None:
        return _record_loop(recorder, size, call, known)
    draws = recorder.draws
    structure: Structure = None
    shapes: list[Shape] = []
    counts: list[int] = []  # of parts

    def body(at: Value) -> list[tuple[str, Value]]:
        nonlocal structure, shapes, counts
        leaves: list[Any] = []
        with _Inside(recorder):
            structure = flatten(call(at), leaves, split_result)
        taken: set[int] = set()
        shapes = [leaf.shape if isinstance(leaf, Whole) else () for leaf in leaves]
        parts = [_values(recorder, leaf, taken) for leaf in leaves]
        counts = [len(part) for part in parts]
        return [("keep", value) for part in parts for value in part]

    left = iter(recorder.each(size, body))
    values = [tuple(itertools.islice(left, count)) for count in counts]
    if recorder.draws != draws:
        dtypes = [element_of(recorder, one).kind.dtype for one in values]
        recorder.session.drawing[passage] = _Given(structure, shapes, dtypes)
        raise Retrace
    tensors = (
        from_array(recorder, one, (size, *shape)) for one, shape in zip(values, shapes, strict=True)
    )
    return unflatten(structure, tensors)


def _record_loop(recorder: Recorder, size: int, call: Callable[[Value], Any], given: _Given) -> Any:
    """Record a loop that writes what a function of the position gives."""
    results = [
        new_array(recorder, (size, *shape), dtype)
        for shape, dtype in zip(given.shapes, given.dtypes, strict=True)
    ]

    def step(at: Value) -> None:
        leaves: list[Any] = []
        with _Inside(recorder):
            flatten(call(at), leaves, split_result)
        for result, leaf in zip(results, leaves, strict=True):
            result.at_position(at).write(leaf)

    spaces.count_to(recorder, size, step)
    return unflatten(given.structure, iter(results))


def _values(recorder: Recorder, leaf: Any, taken: set[int]) -> Sequence[Value]:
    if isinstance(leaf, Whole):
        tensor = as_tensor(recorder, leaf)
        return tensor.as_result(tensor.element_type, taken)
    if not is_operand(leaf):
        raise UsageTypeError(
            at_line(
                f"map: the function does not return elements; got {type(leaf).__name__}, expected "
                "elements, tensors or numbers."
            )
        )
    return as_values(recorder, leaf, settled(kind_of(leaf)))


def _with_axes(results: Any, out_axes: Any) -> Any:
    leaves: list[Any] = []
    structure = flatten(results, leaves, split_result)
    axes = list(out_axes) if isinstance(out_axes, (tuple, list)) else [out_axes] * len(leaves)
    if len(axes) != len(leaves):
        raise UsageError(
            at_line(
                f"map: out_axes does not fit the results; got {len(axes)} axes, expected "
                f"{len(leaves)}, one for each result."
            )
        )
    moved = (FUNCTIONS["moveaxis"](leaf, 0, axis) for leaf, axis in zip(leaves, axes, strict=True))
    return unflatten(structure, moved)


def call_on_tensors(
    fn: Callable[..., Any], arguments: tuple[Any, ...], ranks: list[int | None]
) -> Any:
    """Call a vectorized function on tensors, whose last dimensions, `ranks`, belong to an element.

    The others are broadcast, and mapped over; None is for arguments that are not.
    """
    recorder = current()
    assert recorder is not None
    tensors = [
        argument if is_operand(argument) or rank is None else as_tensor(recorder, argument)
        for argument, rank in zip(arguments, ranks, strict=True)
    ]
    fronts = [
        tensor.shape[: tensor.ndim - rank]
        for tensor, rank in zip(tensors, ranks, strict=True)
        if isinstance(tensor, Tensor) and rank is not None
    ]
    shape = spaces.broadcast_shapes(getattr(fn, "__name__", "map"), *fronts)

    def wide(tensor: Any, rank: int | None) -> Any:
        if not isinstance(tensor, Tensor) or rank is None:
            return tensor
        return tensor.broadcast_to("map", (*shape, *tensor.shape[tensor.ndim - rank :]))

    def inside(depth: int, values: list[Any]) -> Any:
        if depth == len(shape):
            return flow.call(fn, *values)

        def call(at: Value) -> Any:
            parts = [
                v.moved_by(at) if isinstance(v, Tensor) and rank is not None else v
                for v, rank in zip(values, ranks, strict=True)
            ]
            return inside(depth + 1, parts)

        return _record(recorder, shape[depth], call)

    return inside(0, [wide(t, rank) for t, rank in zip(tensors, ranks, strict=True)])
