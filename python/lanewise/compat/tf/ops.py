"""What a function of TensorFlow is here, and the ways a call of it can go.

Each is written once, in terms of NumPy, for values that are arrays or elements. A call

* inside of a function that is being recorded (a map, say) is recorded as part of it;
* on a node of a graph makes another node;
* on arrays runs as a program of one operation, which is kept: *elementwise* functions as maps over
  all numbers, functions of *whole* tensors as maps over what stands apart in them. What only
  *moves* numbers is done by NumPy.
"""

import functools
import inspect
from collections import OrderedDict
from collections.abc import Callable, Hashable, Iterable, Sequence
from typing import Any, NamedTuple

import numpy as np

from ... import _core
from ...cores import ROWS
from ...dtypes import FROM_NUMPY
from ...element import Element, Whole, as_value
from ...errors import OpError, UsageError, UsageTypeError
from ...recorder import current
from ...tensors.tensor import apply
from ...vectorize import Vectorized
from . import sampling
from .tensor import Tensor, array_of, has_graph, is_symbol

Function = Callable[..., Any]
# Of a function of whole tensors: whether the first axis of its arrays stands apart, so that it can
# be mapped over, and what its other arguments are then; None where it does not.
Leads = Callable[..., "dict[str, Any] | None"]
Shared = Callable[[list[Any]], tuple[int, ...]]  # which arrays are the same for all then


class Op(NamedTuple):
    """A function of TensorFlow."""

    name: str
    function: Function  # on arrays and elements
    run: Function  # on arrays
    signature: inspect.Signature
    is_elementwise: bool


OPS: dict[Function, Op] = {}  # by what users call


def public(op: Op) -> Function:
    """Return what users call; it takes ``name=`` as all functions of TensorFlow do."""

    @functools.wraps(op.function)
    def call(*args: Any, name: Any = None, **kwargs: Any) -> Any:
        if kwargs:
            bound = op.signature.bind(*args, **kwargs)
            args, kwargs = bound.args, bound.kwargs
        return dispatch(op, call, args, kwargs)

    call.is_of_tensorflow = True  # type: ignore[attr-defined]  # it captures no tensors
    OPS[call] = op
    return call


def dispatch(op: Op, call: Function, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """Go the way that the arguments ask for."""
    if any(type(arg) is not Tensor and has_rows(arg) for arg in args):
        from .ragged.operations import dispatch as of_rows

        return of_rows(op, call, args, kwargs)
    if current() is not None:
        values = inside(args, op.is_elementwise)
        if op.is_elementwise and not kwargs:
            return number_by_number(op.function, values)
        return op.function(*values, **{key: plain(value) for key, value in kwargs.items()})
    if is_later(args, kwargs):
        from .graph import record

        return record(call, args, kwargs)
    return op.run(*args, **kwargs)


def is_later(args: tuple[Any, ...], kwargs: dict[str, Any]) -> bool:
    """Say whether a call is written down: for nodes, and for variables while a graph is built."""
    if has_graph(args) or (kwargs and has_graph(kwargs)):
        return True
    if not any(map(_has_variable, (*args, *kwargs.values()))):
        return False
    from .graph import building

    return building() is not None


def _has_variable(value: Any) -> bool:
    if isinstance(value, (list, tuple)):
        return any(map(_has_variable, value))
    return type(value) is not Tensor and hasattr(type(value), "assign_add")


def has_rows(value: Any) -> bool:
    """Say whether a value is a ragged tensor, or a list with one in it."""
    if type(value) in (list, tuple):
        return any(map(has_rows, value))
    return hasattr(type(value), "is_composite")


def inside(args: tuple[Any, ...], is_elementwise: bool = False) -> list[Any]:
    """Return the arguments of a call that is being recorded: arrays in place of tensors.

    Numbers of Python take the type of what they meet; where they meet nothing they have their own.
    """
    values = [plain(arg) for arg in args]
    if any(isinstance(value, (np.ndarray, np.generic)) or is_symbol(value) for value in values):
        return values
    if is_elementwise:
        return _together(values)
    return [array_of(v)[()] if type(v) in (int, float) else v for v in values]


def _together(values: list[Any]) -> list[Any]:
    """Return numbers of Python in one type: floats where one is a float."""
    kind = np.float32 if any(type(value) is float for value in values) else None
    return [array_of(v, kind if type(v) is int else None)[()] for v in values]


def plain(value: Any) -> Any:
    """Return a value with arrays and elements in place of tensors and variables."""
    if isinstance(value, Tensor):
        return value if is_symbol(value) else value._value
    if isinstance(value, (list, tuple)) and not hasattr(value, "_fields"):
        return _list_like(value, map(plain, value))
    read = getattr(type(value), "read_inside", None)
    return value if read is None else read(value)


def _list_like(value: Any, parts: Iterable[Any]) -> Any:
    return list(parts) if isinstance(value, list) else tuple(parts)


def number_by_number(function: Function, values: list[Any]) -> Any:
    """Record a function of single numbers; those of Python are as they are in a call on arrays."""
    symbols = [value for value in values if is_symbol(value)]
    if not symbols:
        return function(*values)
    recorder = symbols[0].recorder
    numbers = [_weak(recorder, value) for value in like_others(values)]
    if any(isinstance(value, (Whole, np.ndarray)) for value in numbers):
        return apply(function, *numbers)
    return function(*numbers)


def _weak(recorder: Any, value: Any) -> Any:
    """Return a number of Python as an element that gives way to other types."""
    kind = _WEAK.get(type(value))
    return value if kind is None else Element(recorder, as_value(recorder, value, kind), weak=True)


_WEAK = {int: _core.DType.I64, float: _core.DType.F64}


def like_others(values: Sequence[Any]) -> list[Any]:
    """Return values with arrays in place of lists, which have the type of the others."""
    kinds = [value.dtype for value in values if is_symbol(value) or isinstance(value, np.ndarray)]
    return [_typed(value, kinds) if isinstance(value, (list, tuple)) else value for value in values]


def _typed(value: Any, kinds: list[Any]) -> Any:
    if _has_symbol(value):
        return held(value)
    array = array_of(value)
    has_types = any(hasattr(part, "dtype") for part in value)
    if has_types or not kinds or array.dtype.kind not in "if":
        return array
    kind = np.result_type(*kinds)
    fits = kind.kind in "fc" or (kind.kind in "iu" and array.dtype.kind == "i")
    return array_of(value, kind) if fits else array


def wrapped(result: Any) -> Any:
    """Return arrays as tensors."""
    if isinstance(result, (list, tuple)):
        parts = map(wrapped, result)
        return type(result)(*parts) if hasattr(result, "_fields") else type(result)(parts)
    if isinstance(result, bytes):  # an item of texts
        return Tensor(np.array(result, object))
    return Tensor(result) if isinstance(result, (np.ndarray, np.generic)) else result


# --- elementwise ---


def elementwise(function: Function) -> Function:
    """Make a function of single numbers one of tensors."""
    program = Vectorized(function)

    def run(*args: Any) -> Any:
        values = []
        is_typed = False
        for arg in args:
            if type(arg) is Tensor:
                values.append(arg._value)
                is_typed = True
            elif type(arg) in (float, int, bool, complex):
                values.append(arg)
            else:
                values.append(arg if isinstance(arg, (list, tuple)) else array_of(arg))
                is_typed = True
        if not is_typed:
            values = _together(values)
        elif any(isinstance(value, (list, tuple)) for value in values):
            values = like_others(values)
        return Tensor(compute(program, values, function))

    op = Op(function.__name__, function, run, inspect.signature(function), True)
    return public(op)


def compute(program: Vectorized, values: list[Any], plainly: Function) -> Any:
    """Run a program on arrays; on what is not made of numbers, or of none, NumPy does it."""
    try:
        if sampling.is_on():
            return program(*values, on_error="fill")
        return program(*values)
    except TypeError:
        if all(is_numbers(value) for value in values):
            raise
        return plainly(*values)


def is_numbers(value: Any) -> bool:
    """Say whether programs can compute with a value."""
    return not hasattr(value, "dtype") or value.dtype in FROM_NUMPY


# --- whole tensors ---

_MOST_PROGRAMS = 1024
_programs: OrderedDict[Hashable, Vectorized] = OrderedDict()


def whole(
    tensors: int = 1, leads: Leads | None = None, shared: Shared | None = None
) -> Callable[[Function], Function]:
    """Make a function of whole tensors, its first arguments, one of arrays of any size."""

    def decorate(function: Function) -> Function:
        signature = inspect.signature(function)
        names = list(signature.parameters)[tensors:]

        @functools.wraps(function)
        def inside(*args: Any, **kwargs: Any) -> Any:
            rest = [static_of(arg) for arg in args[tensors:]]
            more = {key: static_of(value) for key, value in kwargs.items()}
            return function(*map(held, args[:tensors]), *rest, **more)

        def run(*args: Any, **kwargs: Any) -> Any:
            values = [array_of(arg) for arg in args[:tensors]]
            static = dict(zip(names, map(static_of, args[tensors:]), strict=False))
            static |= {key: static_of(value) for key, value in kwargs.items()}
            rest = None if leads is None else leads(values, **static)
            same = () if shared is None or rest is None else shared(values)
            return wrapped(run_whole(function, values, static, rest, same))

        return public(Op(function.__name__, inside, run, signature, False))

    return decorate


def held(value: Any) -> Any:
    """Return what can be a tensor as an array, or as elements where they are in it."""
    if is_symbol(value) or isinstance(value, (np.ndarray, np.generic)):
        return value
    if isinstance(value, (list, tuple)) and any(map(_has_symbol, value)):
        return np.stack([one if type(one) in (bool, int, float) else held(one) for one in value])
    return array_of(value)


def beside(value: Any, *others: Any) -> Any:
    """Return an array as a tensor that is being recorded, if others beside it are."""
    recorder = current()
    if recorder is None or is_symbol(value) or not any(map(_has_symbol, others)):
        return value
    from ...tensors import as_tensor

    return as_tensor(recorder, value)


def _has_symbol(value: Any) -> bool:
    if isinstance(value, (list, tuple)):
        return any(map(_has_symbol, value))
    return is_symbol(value)


def run_whole(
    function: Function,
    values: list[Any],
    static: dict[str, Any],
    rest: dict[str, Any] | None,
    shared: tuple[int, ...] = (),
) -> Any:
    """Run a function of whole arrays; with `rest` it is mapped over their first axis."""
    is_empty = any(np.size(value) == 0 for value in values)
    if is_empty or not all(map(is_numbers, values)):
        return by_numpy(function, *values, **static)
    ranks = tuple(map(np.ndim, values))
    if rest is not None:
        return _program(function, rest, ranks, shared)(*values, **_rules())
    program = _program(function, static, ranks)
    result = program(*(value[None] if np.ndim(value) else value for value in values), **_rules())
    return _first(result) if any(ranks) else result


def _rules() -> dict[str, Any]:
    return {"on_error": "fill"} if sampling.is_on() else {}


def _first(result: Any) -> Any:
    if isinstance(result, (list, tuple)):
        return type(result)(part[0] for part in result)
    return result[0]


class _Bound:
    """A function of tensors with its other arguments."""

    def __init__(self, function: Function, static: dict[str, Any]) -> None:
        self._function = function
        self._static = static

    def __call__(self, *tensors: Any) -> Any:
        return self._function(*tensors, **self._static)


def _program(
    function: Function,
    static: dict[str, Any],
    ranks: tuple[int, ...],
    shared: tuple[int, ...] | None = None,
) -> Vectorized:
    key = (function, tuple((name, _key(value)) for name, value in static.items()), ranks, shared)
    found = _programs.get(key)
    if found is None:
        one = _Bound(function, static)
        found = Vectorized(one, name=function.__name__, core=ROWS, excluded=shared or ())
        _programs[key] = found
        if len(_programs) > _MOST_PROGRAMS:
            _programs.popitem(last=False)
    return found


def _key(value: Any) -> Hashable:
    if isinstance(value, (list, tuple)):
        return type(value), tuple(map(_key, value))
    return type(value), value


def static_of(value: Any) -> Any:
    """Return an argument that is a part of the program: numbers of Python in place of tensors."""
    if isinstance(value, Tensor) and not is_symbol(value):
        value = value.numpy()
    if isinstance(value, np.generic):
        return value.item()
    if isinstance(value, np.ndarray):
        return tuple(value.tolist()) if value.ndim else value.item()
    if isinstance(value, (list, tuple)):
        return _list_like(value, map(static_of, value))
    return value


def by_numpy(function: Function, *args: Any, **kwargs: Any) -> Any:
    """Call a function on arrays; what NumPy says of wrong arguments is an error of ours."""
    try:
        return function(*args, **kwargs)
    except OpError:
        raise
    except TypeError as error:
        raise UsageTypeError(f"{function.__name__}: {error}") from error
    except (ValueError, IndexError) as error:
        raise UsageError(f"{function.__name__}: {error}") from error


# --- what only moves numbers ---


def moving(function: Function) -> Function:
    """Make a function that only moves numbers one of tensors."""

    def run(*args: Any, **kwargs: Any) -> Any:
        values = [_moved(arg) for arg in args]
        more = {key: _moved(arg) for key, arg in kwargs.items()}
        return wrapped(by_numpy(function, *values, **more))

    return public(Op(function.__name__, function, run, inspect.signature(function), False))


def _moved(value: Any) -> Any:
    """Return an array that results may share, as nobody changes it."""
    if isinstance(value, Tensor):
        return value.shared_array()
    if hasattr(type(value), "held_array"):
        return array_of(value).copy()
    if isinstance(value, (list, tuple)):
        return _list_like(value, map(_moved, value))
    return value


def composite(function: Function) -> Function:
    """Make a function that calls others of TensorFlow one of these: it takes ``name=`` too."""

    @functools.wraps(function)
    def call(*args: Any, name: Any = None, **kwargs: Any) -> Any:
        return function(*args, **kwargs)

    call.is_of_tensorflow = True  # type: ignore[attr-defined]
    return call
