"""Functions of TensorFlow on ragged tensors.

What goes number by number is done on the numbers; what takes rows together is a map over them.
"""

import functools
from collections.abc import Callable
from typing import Any

import numpy as np

from ....errors import UsageError, UsageTypeError
from ....recorder import current
from ....source import at_line
from .. import graph
from ..maps import mapped
from ..ops import Op
from ..tensor import Tensor, array_of, has_graph, plain_index
from . import partitions
from .partitions import Array
from .shaping import as_ragged, expand_dims, joined, side_by_side, stacked, take
from .tensor import RaggedTensor

Function = Callable[..., Any]


def dispatch(op: Op, call: Function, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """Do a function of TensorFlow, with a ragged tensor among its arguments."""
    if current() is not None:
        raise UsageTypeError(
            at_line(
                f"{op.name}: a RaggedTensor from outside of the function; got one in a function "
                "that is being recorded, expected its rows. Map over it too, in elems."
            )
        )
    if has_graph(args) or has_graph(kwargs):
        return graph.record(call, args, kwargs)
    given = op.signature.bind(*args, **kwargs).arguments
    name = op.name.lstrip("_")
    if name in _FUNCTIONS:
        return _FUNCTIONS[name](call, **given)
    if op.is_elementwise or name in _NUMBER_BY_NUMBER:
        return number_by_number(name, call, args, kwargs)
    raise TypeError(
        f"{name}: not supported on ragged tensors; got a RaggedTensor, expected a tensor. Use "
        "rows.to_tensor(), or tf.map_fn over the rows."
    )


# --- number by number ---

_NUMBER_BY_NUMBER = {"identity", "one_hot", "clip_by_value"}


def number_by_number(
    name: str, call: Function, args: tuple[Any, ...], kwargs: dict[str, Any]
) -> RaggedTensor:
    """Call a function on the numbers of ragged tensors, which have the same rows."""
    found = [one for one in (*args, *kwargs.values()) if isinstance(one, RaggedTensor)]
    first = max(found, key=lambda rows: rows.ragged_rank)

    def numbers(value: Any) -> Any:
        if isinstance(value, RaggedTensor):
            return value.flat_values if _same(first, value) else _refuse(name, first, value)
        if type(value) in (int, float, bool) or value is None or isinstance(value, str):
            return value
        if not isinstance(value, (Tensor, np.ndarray, list)) and not hasattr(value, "held_array"):
            return value
        return _beside(name, first, np.asarray(array_of(value)))

    flat = call(*map(numbers, args), **{key: numbers(value) for key, value in kwargs.items()})
    return first.with_flat_values(flat)


def _same(a: RaggedTensor, b: RaggedTensor) -> bool:
    if a.ragged_rank != b.ragged_rank:
        return False
    pairs = zip(a.nested_row_splits, b.nested_row_splits, strict=True)
    return all(x is y or np.array_equal(array_of(x), array_of(y)) for x, y in pairs)


def _refuse(name: str, a: Any, b: Any) -> Any:
    raise UsageError(
        f"{name}: rows of different lengths; got {_described(a)} and {_described(b)}, expected the "
        "same row_splits, or numbers that all of a row share, in the shape [rows, 1]."
    )


def _described(value: Any) -> str:
    if isinstance(value, RaggedTensor):
        return f"rows of {np.diff(value.splits).tolist()}"
    return f"a tensor of shape {list(value.shape)}"


def _beside(name: str, rows: RaggedTensor, array: Array) -> Any:
    """Return a tensor beside rows for each of their numbers."""
    inner = np.ndim(array_of(rows.flat_values)) - 1
    if array.ndim <= inner:
        return Tensor(array)
    given: Array = array
    if array.ndim != len(rows.shape):
        return _refuse(name, rows, given)
    if array.shape[0] == 1:
        array = np.broadcast_to(array, (rows.count_rows(), *array.shape[1:]))
    level: Any = rows
    while isinstance(level, RaggedTensor):
        if len(array) != level.count_rows():
            return _refuse(name, rows, given)
        lengths = np.diff(level.splits)
        if array.shape[1] == 1:
            array = np.repeat(array[:, 0], lengths, axis=0)
        elif (lengths == array.shape[1]).all():
            array = array.reshape(-1, *array.shape[2:])
        else:
            return _refuse(name, rows, given)
        level = level.values
    return Tensor(array)


# --- rows taken together ---


@functools.cache
def _of_row(call: Function) -> Function:
    """Return the function of a row, always the same one, so that its program is found again."""
    return lambda row: call(row)


def _each(call: Function, rows: RaggedTensor) -> Any:
    """Call a function on every row."""
    return mapped(call.__name__, _of_row(call), rows, warns=False)


def _reduce(call: Function, input_tensor: Any, axis: Any = None, keepdims: Any = False) -> Any:
    rows = input_tensor
    axis = plain_index(axis)
    if axis is None:
        total = call(rows.flat_values)
        if not keepdims:
            return total
        return Tensor(np.reshape(array_of(total), [1] * len(rows.shape)))
    rank = len(rows.shape)
    axes = sorted({_axis(call, one, rank) for one in np.ravel(axis).tolist()}, reverse=True)
    if len(axes) > 1 and call.__name__ == "reduce_mean":
        return _mean(rows, axes, keepdims)
    result: Any = rows
    for one in axes:
        result = _along(call, result, one)
        if keepdims:
            result = _with_dimension(result, one)
    return result


def _axis(call: Function, axis: int, rank: int) -> int:
    if not -rank <= axis < rank:
        raise UsageError(
            f"{call.__name__}: no such axis; got {axis}, expected one of {rank} dimensions."
        )
    return axis % rank


def _mean(rows: RaggedTensor, axes: list[int], keepdims: bool) -> Any:
    from .. import elementwise, reductions

    ones = rows.with_flat_values(Tensor(np.ones_like(array_of(rows.flat_values))))
    total, count = (
        reductions.reduce_sum(one, axis=axes, keepdims=keepdims) for one in (rows, ones)
    )
    is_integer = rows.dtype.is_integer
    return (elementwise.floordiv if is_integer else elementwise.truediv)(total, count)


def _with_dimension(result: Any, axis: int) -> Any:
    if isinstance(result, RaggedTensor):
        return expand_dims(result, axis)
    return Tensor(np.expand_dims(array_of(result), axis))


def _along(call: Function, rows: Any, axis: int) -> Any:
    """Reduce along one axis."""
    if not isinstance(rows, RaggedTensor):
        return call(rows, axis=axis)
    if axis == 0:
        rows, axis = _columns(rows), 1
    inner = rows.values
    if axis > 1:
        return rows.with_values(_along(call, inner, axis - 1))
    if isinstance(inner, RaggedTensor) or np.ndim(array_of(inner)) > 1:
        if not rows.count_rows():
            return take(inner, np.zeros(0, np.int64))
        return _stacked([_along(call, row, 0) for row in rows])
    return _each(call, rows)


def _stacked(parts: list[Any]) -> Any:
    """Return results of rows: dense where they have one shape."""
    if not any(isinstance(part, RaggedTensor) for part in parts):
        arrays = [array_of(part) for part in parts]
        if len({array.shape for array in arrays}) == 1:
            return Tensor(np.stack(arrays))
    return stacked(parts)


def _columns(rows: RaggedTensor) -> RaggedTensor:
    """Return first values of rows as one row, the second ones, and so on."""
    places = partitions.columns(rows.splits)
    counts = np.bincount(places)
    order = np.argsort(places, kind="stable")
    return RaggedTensor(take(rows.values, order), Tensor(partitions.splits_of_lengths(counts)))


def _softmax(call: Function, logits: Any, axis: Any) -> Any:
    if _axis(call, -1 if axis is None else int(axis), len(logits.shape)) != len(logits.shape) - 1:
        raise UsageError(f"{call.__name__}: another axis than the last; got {axis}, expected -1.")
    inner = logits.values
    if isinstance(inner, RaggedTensor):
        return logits.with_values(_softmax(call, inner, -1))
    if np.ndim(array_of(inner)) > 1:
        return logits.with_values(call(inner, -1))
    return mapped(call.__name__, _of_logits(call), logits, warns=False)


@functools.cache
def _of_logits(call: Function) -> Function:
    return lambda row: call(row, -1)


# --- rows moved ---


def _concat(call: Function, values: Any, axis: Any) -> Any:
    parts = list(values)
    rank = max(len(part.shape) for part in parts if isinstance(part, RaggedTensor))
    axis = _axis(call, int(axis), rank)
    if axis == 0:
        return joined(parts)
    if axis == 1:
        return side_by_side(parts)
    rows = [as_ragged(part) for part in parts]
    if not all(np.array_equal(one.splits, rows[0].splits) for one in rows):
        return _refuse("concat", *rows[:2])
    return rows[0].with_values(call([one.values for one in rows], axis - 1))


def _stack(call: Function, values: Any, axis: Any = 0) -> Any:
    parts = list(values)
    axis = int(axis)
    if axis == 0:
        return stacked(parts)
    ragged_parts = [as_ragged(part) for part in parts]
    rank = len(ragged_parts[0].shape)
    axis = axis + rank + 1 if axis < 0 else axis
    wider = [expand_dims(part, axis) for part in ragged_parts]
    return _concat(call, wider, axis)


def _gather(
    call: Function,
    params: Any,
    indices: Any,
    validate_indices: Any = None,
    axis: Any = None,
    batch_dims: Any = 0,
) -> Any:
    if batch_dims:
        rows = zip(params, indices, strict=True)
        return _stacked([call(p, i, batch_dims=batch_dims - 1) for p, i in rows])
    if axis not in (None, 0):
        raise UsageError(f"gather: another axis than the first; got {axis}, expected 0.")
    if isinstance(indices, RaggedTensor):
        return indices.with_flat_values(_gather(call, params, indices.flat_values))
    at = np.asarray(array_of(indices))
    if not isinstance(params, RaggedTensor):
        return call(params, indices)
    if at.size and not (at.min() >= 0 and at.max() < params.count_rows()):
        raise UsageError(
            f"gather: no such row; got {at.tolist()}, expected numbers below {params.count_rows()}."
        )
    taken = params.row_at(int(at)) if at.ndim == 0 else take(params, at.reshape(-1))
    for size in reversed(at.shape[1:]):
        taken = RaggedTensor.from_uniform_row_length(taken, size)
    return taken


def _shape(call: Function, input: Any, out_type: Any = "int32") -> Any:
    return input.bounding_shape(out_type=out_type)


def _count(call: Function, input: Any, out_type: Any = "int32") -> Any:
    return call(input.flat_values, out_type)


def _rank(call: Function, input: Any) -> Any:
    return Tensor(np.asarray(len(input.shape), np.int32))


def _expand_dims(call: Function, input: Any, axis: Any) -> Any:
    return expand_dims(input, int(axis))


def _where(call: Function, condition: Any) -> Any:
    raise UsageError(
        "where: places in ragged tensors; got no x and y, expected both. Use "
        "tf.ragged.boolean_mask."
    )


_REDUCTIONS = ("sum", "mean", "max", "min", "prod", "any", "all", "variance", "std", "logsumexp")
_FUNCTIONS: dict[str, Function] = {
    **{f"reduce_{name}": _reduce for name in _REDUCTIONS},
    "softmax": _softmax,
    "log_softmax": _softmax,
    "concat": _concat,
    "stack": _stack,
    "gather": _gather,
    "shape": _shape,
    "size": _count,
    "rank": _rank,
    "expand_dims": _expand_dims,
    "where": _where,
}


def _operators() -> None:
    """Let ragged tensors have the operators of tensors."""
    binary = (
        *("add", "sub", "mul", "truediv", "floordiv", "mod", "pow", "and", "or", "xor"),
        *("lshift", "rshift"),
    )
    reflected = (f"r{name}" for name in binary)
    for name in (
        *binary,
        *reflected,
        *("lt", "le", "gt", "ge", "eq", "ne"),
        "neg",
        "abs",
        "invert",
    ):
        setattr(RaggedTensor, f"__{name}__", getattr(Tensor, f"__{name}__"))


_operators()
