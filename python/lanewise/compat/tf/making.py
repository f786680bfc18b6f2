"""New tensors: constants, ranges, and conversions."""

import builtins
import math
from collections.abc import Callable
from typing import Any

import numpy as np

from ...element import Element, Whole
from ...errors import UsageError, UsageTypeError
from ...flow.containers import PlainArray, local_array
from ...recorder import current
from . import graph
from .dtypes import as_dtype
from .names import listed
from .ops import composite, elementwise, moving, plain, static_of
from .ranges import Numbers
from .tensor import Tensor, array_of, has_graph, is_symbol, is_tensor


def made(make: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
    """Return a new tensor; in a function that is being recorded, an array of the element's own."""
    if current() is not None:
        return local_array(make, *args, **kwargs)
    return Tensor(make(*args, **kwargs))


def _has_symbols(value: Any) -> bool:
    if isinstance(value, (list, tuple)):
        return any(map(_has_symbols, value))
    return is_symbol(value)


@composite
def constant(value: Any, dtype: Any = None, shape: Any = None) -> Any:
    """Return numbers as a tensor; Python's are int32 and float32.

    Examples
    --------
    >>> import lanewise.compat.tf as tf
    >>> tf.constant([1, 2]).dtype
    tf.int32
    """
    if has_graph(value):
        return convert_to_tensor(value, dtype)
    value = plain(value)
    if _has_symbols(value):
        return convert_to_tensor(value, dtype)
    array = array_of(value, dtype)
    if shape is not None:
        sizes = tuple(map(int, plain(shape)))
        if np.size(array) not in (1, math.prod(sizes)):
            raise UsageTypeError(
                f"constant: another number of values than the shape has; got {np.size(array)}, "
                f"expected {math.prod(sizes)}."
            )
        array = np.broadcast_to(array, sizes) if np.size(array) == 1 else array.reshape(sizes)
    if current() is not None:
        return local_array(np.array, array) if np.ndim(array) else array[()]
    made_of = Tensor(np.array(array))
    return graph.constant(made_of) if graph.keeps_constants() else made_of


@composite
def convert_to_tensor(
    value: Any, dtype: Any = None, dtype_hint: Any = None, preferred_dtype: Any = None
) -> Any:
    """Return a tensor as it is, and anything else that can be one as a tensor."""
    hint = preferred_dtype if dtype_hint is None else dtype_hint
    if dtype is None and hint is not None and not _has_symbols(value) and not is_tensor(value):
        wanted = as_dtype(hint).dtype
        dtype = wanted if np.can_cast(array_of(value).dtype, wanted, "same_kind") else None
    if has_graph(value):
        return _converted(value, dtype)
    if current() is not None:
        value = plain(value)
        if _has_symbols(value):
            return _converted(value, dtype)
        array = array_of(value, dtype)
        return array[()] if np.ndim(array) == 0 else array
    if isinstance(value, Tensor):
        if dtype is not None and value.dtype != dtype:
            raise ValueError(
                f"convert_to_tensor: a tensor has its type; got {value.dtype.name}, expected "
                f"{as_dtype(dtype).name}. Use tf.cast."
            )
        return value
    if hasattr(type(value), "read_value"):
        return _converted(value.read_value(), dtype)
    return Tensor(np.asarray(array_of(value, dtype)))


def _converted(value: Any, dtype: Any) -> Any:
    if isinstance(value, (list, tuple)):
        from .arranging import stack

        value = stack([_converted(part, None) for part in value])
    return value if dtype is None else cast(value, dtype)


def cast(x: Any, dtype: Any, name: Any = None) -> Any:
    """Return numbers in another type; floats become integers without what is behind the point.

    Examples
    --------
    >>> import lanewise.compat.tf as tf
    >>> tf.cast([1.8, -1.8], tf.int32).numpy()
    array([ 1, -1], dtype=int32)
    """
    return _casts(as_dtype(dtype).name)(x)


_CASTS: dict[str, Callable[..., Any]] = {}


def _casts(name: str) -> Callable[..., Any]:
    """Return the conversion to a type, which is a function of numbers."""
    found = _CASTS.get(name)
    if found is None:
        wanted = as_dtype(name).dtype

        def convert(x: Any) -> Any:
            if isinstance(x, (Element, Whole, np.ndarray, np.generic)):
                if x.dtype.kind == "c" and wanted.kind != "c":
                    x = x.real
                return x.astype(wanted)
            return wanted.type(x)

        convert.__name__ = f"cast_to_{name}"
        found = _CASTS[name] = elementwise(convert)
    return found


@composite
def saturate_cast(value: Any, dtype: Any) -> Any:
    """Return numbers in another type, the nearest that it has."""
    from .elementwise import clip_by_value

    value = convert_to_tensor(value)
    wanted, given = as_dtype(dtype), as_dtype(value.dtype)
    if all(kind.is_integer or kind.is_floating for kind in (wanted, given)):
        low, high = max(given.min, wanted.min), min(given.max, wanted.max)
        if (low, high) != (given.min, given.max):
            value = clip_by_value(value, *map(given.dtype.type, (low, high)))
    return cast(value, wanted)


def _shape_of(shape: Any) -> tuple[int, ...]:
    sizes = static_of(plain(shape))
    sizes = (int(sizes),) if isinstance(sizes, int) else tuple(map(int, sizes))
    if any(size < 0 for size in sizes):
        raise UsageError(f"shape: a size below 0; got {sizes}, expected at least 0.")
    return sizes


def _full(shape: tuple[int, ...], value: int, kind: Any) -> Any:
    """Return a tensor of zeros or ones; of texts without characters."""
    return made(np.full, shape, b"" if kind.kind == "O" else value, kind)


def _filled(name: str, value: int) -> Callable[..., Any]:
    def fill_shape(shape: Any, dtype: Any = "float32", name: Any = None) -> Any:
        if has_graph(shape):
            return graph.record(fill_shape, (shape, dtype), {})
        return _full(_shape_of(shape), value, as_dtype(dtype).dtype)

    fill_shape.__name__ = fill_shape.__qualname__ = name
    fill_shape.__doc__ = f"Return a tensor of {'zeros' if value == 0 else 'ones'}."
    return fill_shape


zeros = _filled("zeros", 0)
ones = _filled("ones", 1)


def _like(name: str, value: int) -> Callable[..., Any]:
    def like(input: Any, dtype: Any = None, name: Any = None) -> Any:
        if has_graph(input):
            return graph.record(like, (input, dtype), {})
        if hasattr(type(input), "is_composite"):
            return input.with_flat_values(like(input.flat_values, dtype))
        array = plain(input)
        array = array if hasattr(array, "shape") else array_of(array)
        kind = array.dtype if dtype is None else as_dtype(dtype).dtype
        return _full(tuple(array.shape), value, kind)

    like.__name__ = like.__qualname__ = name
    like.__doc__ = f"Return {'zeros' if value == 0 else 'ones'} in the shape of a tensor."
    return like


zeros_like = _like("zeros_like", 0)
ones_like = _like("ones_like", 1)


@composite
def fill(dims: Any, value: Any) -> Any:
    """Return a tensor of one number."""
    if has_graph(dims) or has_graph(value):
        return graph.record(fill, (dims, value), {})
    number = plain(value)
    if is_symbol(number):
        return np.broadcast_to(number, _shape_of(dims))
    number = array_of(number)
    if np.ndim(number):
        raise UsageError(f"fill: not one number; got the shape {np.shape(number)}, expected ().")
    return made(np.full, _shape_of(dims), number[()])


@composite
def range(start: Any, limit: Any = None, delta: Any = 1, dtype: Any = None) -> Any:
    """Return numbers from one to below another.

    Examples
    --------
    >>> import lanewise.compat.tf as tf
    >>> tf.range(2, 10, 3).numpy()
    array([2, 5, 8], dtype=int32)
    """
    if limit is None:
        start, limit = 0, start
    if has_graph((start, limit, delta)):
        return graph.record(range, (start, limit, delta), {"dtype": dtype})
    bounds = [plain(bound) for bound in (start, limit, delta)]
    if any(isinstance(bound, Element) for bound in bounds):
        return Numbers(dtype, *bounds)
    ends = [array_of(bound)[()] for bound in bounds]
    if any(map(np.ndim, ends)) or ends[2] == 0:
        raise UsageError(
            f"range: no bounds; got {ends}, expected numbers, and a delta that is not 0."
        )
    kinds = [end.dtype for end in ends]
    kind = (
        np.result_type(*([kind for kind in kinds if kind.kind == "f"] or kinds))
        if dtype is None
        else as_dtype(dtype).dtype
    )
    numbers = made(np.arange, *ends, dtype=kind)
    if isinstance(numbers, PlainArray) and all(end.dtype.kind in "iu" for end in ends):
        numbers.numbers = builtins.range(*map(int, ends))
    return numbers


@composite
def linspace(start: Any, stop: Any, num: Any, axis: int = 0) -> Any:
    """Return so many numbers from one to another, evenly apart."""
    if has_graph((start, stop, num)):
        return graph.record(linspace, (start, stop, num), {"axis": axis})
    ends = [array_of(plain(end)) for end in (start, stop)]
    kind = np.result_type(*[end.dtype for end in ends])
    kind = kind if kind.kind == "f" else np.dtype(np.float64)
    count = int(static_of(plain(num)))
    return made(np.array, np.linspace(ends[0], ends[1], count, axis=axis).astype(kind))


def eye(
    num_rows: Any,
    num_columns: Any = None,
    batch_shape: Any = None,
    dtype: Any = "float32",
    name: Any = None,
) -> Any:
    """Return matrices with ones on the diagonal."""
    rows = int(static_of(plain(num_rows)))
    columns = rows if num_columns is None else int(static_of(plain(num_columns)))
    matrix = np.eye(rows, columns, dtype=as_dtype(dtype).dtype)
    if batch_shape is not None:
        matrix = np.broadcast_to(matrix, (*_shape_of(batch_shape), rows, columns))
    return made(np.array, matrix)


@moving
def identity(input: Any) -> Any:
    """Return a tensor as it is."""
    return input


stop_gradient = identity


NAMES = {
    **listed("", [constant, convert_to_tensor, cast, zeros, ones, zeros_like, ones_like, fill]),
    **listed("", [range, linspace, eye, identity]),
    "dtypes.cast": cast,
    "dtypes.saturate_cast": saturate_cast,
    "saturate_cast": saturate_cast,
    "linalg.eye": eye,
    "stop_gradient": stop_gradient,
}
