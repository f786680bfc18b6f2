"""``tf.map_fn`` and ``tf.vectorized_map``: one program over all elements."""

import inspect
import types
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np

from ...cores import ROWS
from ...element import Varying
from ...errors import UsageError, UsageTypeError
from ...ragged import Ragged
from ...recorder import current
from ...stand_ins import is_closed
from ...trees import Structure, flatten, parts_of, split_result, unflatten
from ...vectorize import Vectorized, map_once
from . import graph, sampling
from .bindings import has_symbols
from .dialect import TENSORFLOW
from .ops import is_numbers, plain, wrapped
from .results import one_by_one, sampled
from .specs import check_result
from .tensor import Tensor, array_of, is_tensor

Function = Callable[..., Any]


class PerElementWarning(UserWarning):
    """A function could not be recorded, and is called for one element after the other."""


FALLS_BACK = (
    UsageError,
    AttributeError,
    TypeError,
    ValueError,
)  # of functions that cannot be recorded
# What was made of functions, by their code, where nothing else tells them apart.
_known: dict[tuple[types.CodeType | Function, int], Vectorized] = {}
_MOST_KNOWN = 4096


def program_of(fn: Function, rank: int) -> Vectorized:
    """Return a function as one over all elements of arrays that have at most so many dimensions.

    What was recorded of its code is found again.
    """
    core = ROWS if rank > 1 else None
    if type(fn) is types.FunctionType and fn.__closure__ is None and fn.__defaults__ is None:
        found = _known.get((fn.__code__, rank))
        if found is not None and found.__wrapped__.__globals__ is fn.__globals__:
            return found
        made = Vectorized(fn, core=core, dialect=TENSORFLOW)
        if fn.__kwdefaults__ is None:
            if len(_known) >= _MOST_KNOWN:
                _known.clear()
            _known[fn.__code__, rank] = made
        return made
    if not hasattr(fn, "is_of_tensorflow"):
        return Vectorized(fn, core=core, dialect=TENSORFLOW, excluded=_others(fn))
    if (fn, rank) not in _known:
        _known[fn, rank] = Vectorized(_alone(fn), core=core, dialect=TENSORFLOW)
    return _known[fn, rank]


def _alone(fn: Function) -> Function:
    """Return a function of TensorFlow as one of a tensor, without its options."""
    return lambda tensor: fn(tensor)


def _others(fn: Function) -> range:
    """Return the places of parameters behind the first, which are as they are by default."""
    try:
        return range(1, len(inspect.signature(fn).parameters))
    except ValueError:
        return range(0)


def map_fn(
    fn: Function,
    elems: Any,
    dtype: Any = None,
    parallel_iterations: int | None = None,
    back_prop: bool = True,
    swap_memory: bool = False,
    infer_shape: bool = True,
    name: str | None = None,
    fn_output_signature: Any = None,
) -> Any:
    """Call a function on each element along the first axis, and stack the results.

    Elements run in SIMD lanes on all cores, in memory that does not grow with their number, so
    ``parallel_iterations``, ``swap_memory`` and ``back_prop`` have nothing to change and are only
    checked. What the function returns is seen while it is recorded: ``fn_output_signature``, or
    ``dtype``, need not be given, and is compared with it where it is.

    Parameters
    ----------
    fn : callable
        A function of one element, nested as `elems` is.
    elems : tensor, or nested tensors
        Arrays of one first size; lists, tuples and dicts of them are what the function gets.
    dtype, fn_output_signature : type, spec, or nested as the results are, optional
        What the function is expected to return.
    parallel_iterations : int, optional
        Not below 0.
    back_prop, swap_memory, infer_shape, name
        Without effect.

    Returns
    -------
    Tensor, or nested as the function returns it

    Examples
    --------
    >>> import lanewise.compat.tf as tf
    >>> tf.map_fn(lambda x: x * 2 + 1, tf.constant([1, 2, 3]))
    <tf.Tensor: shape=(3,), dtype=int32, numpy=array([3, 5, 7], dtype=int32)>
    """
    if (
        type(elems) is Tensor
        and dtype is None
        and fn_output_signature is None
        and parallel_iterations is None
        and _is_plain(fn)
    ):
        result = _map_plainly(fn, elems._value)
        if result is not None:
            return result
    _check_call("map_fn", fn, parallel_iterations)
    signature = dtype if fn_output_signature is None else fn_output_signature
    return mapped("map_fn", fn, elems, signature)


def wake() -> None:
    """Map a little, so that the first map of a program finds everything at hand."""
    for fn in (lambda x: (x + 1.0) / 2.0, lambda x: x**2 - x, lambda x: x * 0.5 + x):
        map_fn(fn, Tensor(np.ones(2)))


def _is_plain(fn: Any) -> bool:
    """Say whether a function has nothing but its code, and nothing else is under way."""
    return (
        type(fn) is types.FunctionType
        and fn.__closure__ is None
        and current() is None
        and not sampling.is_on()
        and graph.building() is None
    )


def _map_plainly(fn: Function, array: Any) -> Any:
    """Map a function over an array, if it was mapped before, or takes nothing from outside."""
    if array.ndim == 0 or array.size == 0:
        return None
    found = _known.get((fn.__code__, array.ndim))
    try:
        if found is not None and found.__wrapped__.__globals__ is fn.__globals__:
            result = found(array)
        elif not is_closed(fn.__code__) or fn.__code__.co_argcount != 1 or not is_numbers(array):
            return None
        else:
            result = map_once(fn, array, TENSORFLOW) if array.ndim == 1 else None
            if result is None:
                result = program_of(fn, array.ndim)(array)
    except FALLS_BACK:
        return None
    return Tensor(result) if type(result) is np.ndarray else wrapped(result)


def vectorized_map(
    fn: Function, elems: Any, fallback_to_while_loop: bool = True, warn: bool = True
) -> Any:
    """Call a function on each element along the first axis, as `map_fn` does.

    Arrays whose first size is 1 are shared by all elements. With ``fallback_to_while_loop=False``
    a function that cannot be recorded is an error; else it is called for one element after the
    other, with a warning unless ``warn`` is False.

    Examples
    --------
    >>> import lanewise.compat.tf as tf
    >>> tf.vectorized_map(lambda x: x * x, tf.constant([1.0, 2.0]))
    <tf.Tensor: shape=(2,), dtype=float32, numpy=array([1., 4.], dtype=float32)>
    """
    _check_call("vectorized_map", fn, None)
    return mapped("vectorized_map", fn, elems, None, True, fallback_to_while_loop, warn)


def _check_call(call: str, fn: Any, parallel_iterations: Any) -> None:
    if not callable(fn):
        raise TypeError(
            f"{call}: fn is not a function; got {type(fn).__name__}, expected a callable."
        )
    if parallel_iterations is not None and parallel_iterations < 0:
        raise TypeError(
            f"{call}: parallel_iterations is below 0; got {parallel_iterations}, expected a count. "
            "Leave it out: elements run on all cores."
        )


def mapped(
    call: str,
    fn: Function,
    elems: Any,
    signature: Any = None,
    shares: bool = False,
    falls_back: bool = True,
    warns: bool = True,
) -> Any:
    """Map a function over the first axis of nested tensors."""
    options = {"shares": shares, "falls_back": falls_back, "warns": warns}
    fn = getattr(fn, "python_function", fn)  # a tf.function is a part of the program
    is_building = graph.building() is not None and current() is None
    if is_building or has_symbols([fn, elems]):
        return graph.record(mapped, (call, fn, elems, signature), options)
    leaves: list[Any] = []
    structure = flatten(elems, leaves, split_elems)
    if not leaves:
        raise ValueError(
            f"{call}: nothing to map over; got {elems!r}, expected a tensor, or nested tensors."
        )
    if current() is not None:
        inside = _map_inside(call, fn, structure, leaves)
        return inside if signature is None else check_result(call, signature, inside)
    arrays = [_leaf(call, leaf) for leaf in leaves]
    if sampling.is_on():
        arrays = [array if is_dense(array) else array.sampled() for array in arrays]
        least = min(map(_size, arrays))
        arrays = [array[:least] for array in arrays]
    size = _common_size(call, arrays, shares)
    if shares:
        arrays = [a if _size(a) == size else _shared(a, size) for a in arrays]
    results = _run(call, fn, structure, arrays, size, signature, falls_back, warns)
    return results if signature is None else check_result(call, signature, results)


def split_elems(value: Any) -> tuple[type, tuple[Any, ...], list[Any]] | None:
    """Take nested tensors apart: lists are structures, and no arrays."""
    if is_tensor(value) or hasattr(type(value), "is_composite"):
        return None
    found = parts_of(value)
    return None if found is None else (type(value), *found)


def _leaf(call: str, leaf: Any) -> Any:
    composite = getattr(type(leaf), "is_composite", False)
    if composite:
        return leaf
    array = array_of(leaf)
    if np.ndim(array) == 0:
        raise ValueError(
            f"{call}: elems are scalars; got {leaf!r}, expected a tensor, or tensors, of at least "
            "one dimension. A list is several tensors: use tf.constant([...])."
        )
    return array


def _size(array: Any) -> int:
    return len(array) if isinstance(array, np.ndarray) else int(array.count_rows())


def _shared(array: Any, size: int) -> Any:
    """Return the one element of an array for all."""
    if not isinstance(array, np.ndarray):
        return type(array).stacked([array.row_at(0)] * size)
    return np.broadcast_to(array, (size, *array.shape[1:]))


def _common_size(call: str, arrays: list[Any], shares: bool) -> int:
    sizes = {_size(array) for array in arrays}
    if shares and len(sizes) > 1:
        sizes.discard(1)
    if len(sizes) > 1:
        raise UsageError(
            f"{call}: tensors disagree on the first size; got "
            f"{', '.join(str(_size(array)) for array in arrays)}, expected one size."
        )
    return sizes.pop()


def _run(
    call: str,
    fn: Function,
    structure: Structure,
    arrays: list[Any],
    size: int,
    signature: Any,
    falls_back: bool,
    warns: bool,
) -> Any:
    given = [_for_program(array) for array in arrays]
    if any(one is None for one in given):
        if not falls_back:
            raise UsageTypeError(
                f"{call}: elements that are not recorded; got texts, or rows of others than "
                "numbers, expected tensors and rows of numbers. Leave fallback_to_while_loop out."
            )
        results = one_by_one(call, fn, structure, arrays, size, signature)
        slow = [array for array, one in zip(arrays, given, strict=True) if one is None]
        if warns and size and all(map(_has_slow_rows, slow)):
            _warn(call, "its rows are made of others than numbers")
        return results
    program = program_of(fn, max((np.ndim(one) for one in given if is_dense(one)), default=1))
    argument = unflatten(structure, iter(given))
    try:
        if sampling.is_on():
            return sampled(program, argument, size)
        return _tensors(program(argument))
    except FALLS_BACK as error:
        if not falls_back:
            raise
        reason = error
    try:
        results = one_by_one(call, fn, structure, arrays, size, signature)
    except Exception:
        raise reason from None
    if warns and size:
        _warn(call, str(reason))
    return results


def _has_slow_rows(array: Any) -> bool:
    """Say whether rows could be numbers of programs, but for what they are made of."""
    return not is_dense(array) and hasattr(array, "ragged_rank") and array.dtype.is_numeric


def _warn(call: str, reason: str) -> None:
    if not sampling.is_on():
        warnings.warn(
            f"{call}: runs one element after the other, since the function cannot be recorded: "
            f"{reason}",
            PerElementWarning,
            stacklevel=5,
        )


def is_dense(array: Any) -> bool:
    """Say whether elements of an array have one shape."""
    return isinstance(array, np.ndarray)


def _for_program(array: Any) -> Any:
    """Return what a program takes for an array or ragged tensor; None if it takes none such."""
    if not is_dense(array):
        return array.for_program()
    return array if is_numbers(array) and 0 not in array.shape[1:] else None


def _tensors(result: Any) -> Any:
    """Return the results of a program as tensors."""
    if type(result) is np.ndarray:
        return Tensor(result)
    leaves: list[Any] = []
    structure = flatten(result, leaves, split_result)
    return unflatten(structure, iter([_tensor(leaf) for leaf in leaves]))


def _tensor(leaf: Any) -> Any:
    if isinstance(leaf, Ragged):
        from .ragged.mapping import of_engine

        return of_engine(leaf)
    return wrapped(leaf)


def _map_inside(call: str, fn: Function, structure: Structure, leaves: list[Any]) -> Any:
    """Map over the first axis of tensors that are being recorded."""
    from ...tensors.nested import map_tensors
    from .dialect import settled

    values = [plain(leaf) for leaf in leaves]
    for value in values:
        if np.ndim(value) == 0:
            raise ValueError(
                f"{call}: elems are scalars; got a number, expected a tensor of at least one "
                "dimension."
            )
    if any(isinstance(value, Varying) for value in values):
        from .ragged.mapping import map_row

        return map_row(fn, structure, values)
    argument = unflatten(structure, iter(values))

    def settle(*parts: Any) -> Any:
        from ... import flow

        return settled(flow.call(fn, *parts))

    return map_tensors(settle, (argument,), [0], 0)


NAMES = {"map_fn": map_fn, "vectorized_map": vectorized_map}
