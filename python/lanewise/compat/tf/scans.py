"""``tf.scan``, ``tf.foldl`` and ``tf.foldr``: one step after the other along the first axis.

Each is one loop of a program, which writes what it gives in place.
"""

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from ... import flow
from ...dtypes import FROM_NUMPY
from ...errors import UsageError, UsageTypeError
from ...loops import count_loop
from ...recorder import current
from ...source import at_line
from ...tensors import as_tensor
from ...tensors.making import new_array
from ...trees import Structure, flatten, split_result, unflatten
from . import graph, sampling
from .bindings import has_symbols
from .control import as_results, plain_parts
from .dialect import settled
from .maps import split_elems
from .names import listed
from .ops import plain
from .recording import NotRecordedError, run_recorded
from .tensor import Tensor, array_of

Function = Callable[..., Any]


class _Way(NamedTuple):
    """How to go through elements."""

    call: str
    is_reverse: bool
    keeps_all: bool


class _Given(NamedTuple):
    """What is a part of the program."""

    way: _Way
    elems: Structure
    first: Structure
    elements: int  # how many of the arrays are elements
    has_first: bool


def scan(
    fn: Function,
    elems: Any,
    initializer: Any = None,
    parallel_iterations: int = 10,
    back_prop: bool = True,
    swap_memory: bool = False,
    infer_shape: bool = True,
    reverse: bool = False,
    name: Any = None,
) -> Any:
    """Call ``fn(accumulated, element)`` along the first axis; return all that it gives.

    Without an initializer the first element is the first that is accumulated.

    Examples
    --------
    >>> import lanewise.compat.tf as tf
    >>> tf.scan(lambda a, x: a + x, tf.constant([1, 2, 3, 4])).numpy()
    array([ 1,  3,  6, 10], dtype=int32)
    """
    return _stepped(_Way("scan", bool(reverse), True), fn, elems, initializer)


def foldl(
    fn: Function,
    elems: Any,
    initializer: Any = None,
    parallel_iterations: int = 10,
    back_prop: bool = True,
    swap_memory: bool = False,
    name: Any = None,
) -> Any:
    """Call ``fn(accumulated, element)`` along the first axis; return what it gives at last.

    Examples
    --------
    >>> import lanewise.compat.tf as tf
    >>> tf.foldl(lambda a, x: a * 10 + x, tf.constant([1, 2, 3])).numpy()
    np.int32(123)
    """
    return _stepped(_Way("foldl", False, False), fn, elems, initializer)


def foldr(
    fn: Function,
    elems: Any,
    initializer: Any = None,
    parallel_iterations: int = 10,
    back_prop: bool = True,
    swap_memory: bool = False,
    name: Any = None,
) -> Any:
    """Call ``fn(accumulated, element)`` along the first axis, from its end.

    Examples
    --------
    >>> import lanewise.compat.tf as tf
    >>> tf.foldr(lambda a, x: a * 10 + x, tf.constant([1, 2, 3])).numpy()
    np.int32(321)
    """
    return _stepped(_Way("foldr", True, False), fn, elems, initializer)


def _stepped(way: _Way, fn: Function, elems: Any, initializer: Any) -> Any:
    if not callable(fn):
        raise TypeError(
            f"{way.call}: fn is not a function; got {type(fn).__name__}, expected a callable of "
            "what is accumulated and an element."
        )
    fn = getattr(fn, "python_function", fn)
    is_built = graph.building() is not None and current() is None
    if is_built or has_symbols((fn, elems, initializer)):
        return graph.record(_stepped, (way, fn, elems, initializer), {})
    leaves: list[Any] = []
    structure = flatten(elems, leaves, split_elems)
    firsts: list[Any] = []
    first = None if initializer is None else flatten(initializer, firsts, split_elems)
    given = _Given(way, structure, first, len(leaves), initializer is not None)
    if current() is not None:
        values = [settled(plain(leaf)) for leaf in (*leaves, *firsts)]
        _check(way.call, values[: len(leaves)])
        return _inside(given, fn, values)
    arrays = [np.asarray(array_of(leaf)) for leaf in (*leaves, *firsts)]
    size = _check(way.call, arrays[: len(leaves)])
    return _run(given, fn, arrays, size)


def _check(call: str, elements: list[Any]) -> int:
    """Return how many elements there are."""
    if not elements or any(np.ndim(one) == 0 for one in elements):
        raise ValueError(
            f"{call}: elems are not tensors with a first axis; got "
            f"{'a number' if elements else 'nothing'}, expected tensors of at least one dimension."
        )
    sizes = {int(one.shape[0]) for one in elements}
    if len(sizes) > 1:
        raise UsageError(
            f"{call}: tensors disagree on the first size; got "
            f"{', '.join(str(one.shape[0]) for one in elements)}, expected one size."
        )
    return sizes.pop()


def _run(given: _Given, fn: Function, arrays: list[Any], size: int) -> Any:
    """Run it: as one program or, where that cannot be, in Python."""

    def recorded(fixed: Any, *values: Any) -> Any:
        return _of_arrays(fixed, fn, values)

    way = given.way
    if size == 0 and not given.has_first:
        raise ValueError(
            f"{way.call}: no elements; got a first size of 0, expected an initializer."
        )
    if size and not sampling.is_on():
        try:
            fixed = None, tuple(way), *given[1:]
            return run_recorded(way.call, recorded, (fn,), fixed, arrays)
        except NotRecordedError:
            pass
    return _in_python(given, fn, arrays, size)


def _of_arrays(fixed: tuple[Any, ...], fn: Function, values: tuple[Any, ...]) -> Any:
    _, way, *rest = fixed
    return _inside(_Given(_Way(*way), *rest), fn, list(values))


def _in_python(given: _Given, fn: Function, arrays: list[Any], size: int) -> Any:
    way = given.way
    tensors = [Tensor(array) for array in arrays]
    elements, firsts = tensors[: given.elements], tensors[given.elements :]

    def at(place: int) -> Any:
        return unflatten(given.elems, iter([one[place] for one in elements]))

    places = list(range(size))[:: -1 if way.is_reverse else 1]
    if given.has_first:
        state, all_states = unflatten(given.first, iter(firsts)), []
    else:
        state = at(places.pop(0))
        all_states = [state]
    structure: Structure = flatten(state, [], split_result)
    for place in places[:1] if sampling.is_on() else places:
        state = as_results(fn(state, at(place)))
        _check_structure(way.call, structure, flatten(state, [], split_result))
        all_states.append(state)
    if not way.keeps_all:
        return state
    if sampling.is_on():
        all_states = [state] * size
    return _stacked(state, all_states[:: -1 if way.is_reverse else 1])


def _stacked(like: Any, states: list[Any]) -> Any:
    """Return states along a new first axis."""
    columns: list[list[Any]] = []
    structure: Structure = flatten(like, [], split_result)
    for state in states or [like]:
        leaves: list[Any] = []
        flatten(state, leaves, split_result)
        columns.append([array_of(leaf) for leaf in leaves])
    stacks = [np.stack(column) for column in zip(*columns, strict=True)]
    if not states:
        stacks = [stack[:0] for stack in stacks]
    return unflatten(structure, iter([Tensor(stack) for stack in stacks]))


# --- inside of what is being recorded ---


def _inside(given: _Given, fn: Function, values: list[Any]) -> Any:
    """Record the loop."""
    recorder = current()
    assert recorder is not None
    call, is_reverse, keeps_all = given.way
    elements = [as_tensor(recorder, value) for value in values[: given.elements]]
    size = int(elements[0].shape[0])

    def at(place: Any) -> Any:
        return unflatten(given.elems, iter([one[place] for one in elements]))

    if given.has_first:
        state, structure = values[given.elements :], given.first
        begin = 0
    else:
        state = []
        structure = flatten(at(size - 1 if is_reverse else 0), state, split_result)
        begin = 1
    results = [
        new_array(recorder, (size, *np.shape(leaf)), FROM_NUMPY[leaf.dtype])
        for leaf in state
        if keeps_all
    ]

    def keep(place: Any, leaves: list[Any]) -> None:
        for result, leaf in zip(results, leaves, strict=keeps_all):
            result[place] = leaf

    def step(index: Any, leaves: list[Any]) -> list[Any]:
        place = size - 1 - begin - index if is_reverse else index + begin
        given_state = unflatten(structure, iter(leaves))
        following = _following(call, structure, state, flow.call(fn, given_state, at(place)))
        keep(place, following)
        return following

    if begin and keeps_all:
        keep(size - 1 if is_reverse else 0, state)
    last = count_loop(call, size - begin, step, state)
    return unflatten(structure, iter(results if keeps_all else last))


def _check_structure(call: str, wanted: Structure, found: Structure) -> None:
    if found != wanted:
        raise UsageTypeError(
            at_line(
                f"{call}: fn returns another structure than it is given; got {found}, expected "
                f"{wanted}, as of the initializer."
            )
        )


def _following(call: str, structure: Structure, state: list[Any], result: Any) -> list[Any]:
    """Return what a step gave, in the types of what is accumulated."""
    leaves: list[Any] = []
    found = flatten(settled(plain_parts(result)), leaves, split_result)
    _check_structure(call, structure, found)
    return [_typed(call, before, after) for before, after in zip(state, leaves, strict=True)]


def _typed(call: str, before: Any, after: Any) -> Any:
    if after.dtype == before.dtype:
        return after
    if not np.can_cast(after.dtype, before.dtype, "same_kind"):
        raise UsageTypeError(
            at_line(
                f"{call}: fn returns another type than it is given; got {after.dtype}, expected "
                f"{before.dtype}. Give an initializer of that type."
            )
        )
    return after.astype(before.dtype)


NAMES = {**listed("", [scan, foldl, foldr])}
