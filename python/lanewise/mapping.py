"""``lw.map``: the one-shot form of ``lw.vectorize``."""

from collections.abc import Callable
from typing import Any

import numpy as np

from .arguments import as_array, split_argument
from .cores import ROWS
from .errors import UsageError, UsageTypeError
from .ragged import Ragged
from .recorder import current
from .source import at_line
from .trees import flatten, split_result, unflatten
from .vectorize import Vectorized

Axes = int | None | tuple[int | None, ...] | list[int | None]


def map(
    fn: Callable[..., Any],
    /,
    *arrays: Any,
    in_axes: Axes = 0,
    out_axes: Any = 0,
    **options: Any,
) -> Any:
    """Call a function for one element on all of them.

    Parameters
    ----------
    fn : callable
        As `vectorize` takes it. What was recorded of it is kept, also for functions that the same
        ``def`` or ``lambda`` makes later.
    *arrays : array_like or number
        One value for each element; all of one size. Numbers are shared by all elements.
    in_axes : int, None, or a tuple of them, optional
        The axis along which an argument is mapped, for all or for each; None: it is not, all
        elements get the number, or the whole array. With more dimensions than that an element is a
        vector, matrix or image, and the function gets it whole.
    out_axes : int, or a tuple of them, optional
        The axis of the elements in the results, for all or for each.
    **options
        ``out``, ``where`` and the options of `vectorize`.

    Examples
    --------
    >>> import lanewise as lw, numpy as np
    >>> lw.map(lambda x, y: x * y + 1, np.arange(3.0), np.arange(3.0))
    array([1., 2., 5.])

    An array that all elements read:

    >>> prices = np.array([10.0, 20.0, 30.0])
    >>> lw.map(lambda i, table: table[i] * 2, np.array([2, 0]), prices, in_axes=(0, None))
    array([60., 20.])

    Elements that are rows:

    >>> rows = np.array([[3.0, 4.0], [5.0, 12.0]])
    >>> lw.map(lambda row: row / np.sqrt((row * row).sum()), rows).round(3)
    array([[0.6  , 0.8  ],
           [0.385, 0.923]])

    No array at all, but so many elements:

    >>> lw.map(lambda table: table[lw.element() % 3], prices, in_axes=None, count=4)
    array([10., 20., 30., 10.])
    """
    if not callable(fn):
        raise UsageTypeError(f"map: not a function; got {type(fn).__name__}, expected a callable.")
    axes = _axes_of(in_axes, len(arrays))
    if current() is not None:
        return _map_inside(fn, arrays, axes, out_axes, options)
    shared = [position for position, axis in enumerate(axes) if axis is None]
    has_rows = _check_arguments(arrays, axes, options.get("count"))
    arrays = tuple(
        array if axis in (0, None) else _moved(array, axis)
        for array, axis in zip(arrays, axes, strict=True)
    )
    per_call = {key: options.pop(key) for key in ("out", "where") if key in options}
    function = Vectorized(
        fn.__wrapped__ if isinstance(fn, Vectorized) and not has_rows else fn,
        given=options,
        excluded=shared,
        core=ROWS if has_rows else None,
    )
    if out_axes == 0 and type(out_axes) is int:
        return function(*arrays, **per_call)
    if function._call_options({}).is_partial:
        raise UsageError(
            "map: out_axes with on_timeout; got 'partial', expected 'raise'. Leave out_axes out, "
            "and move the axes of the results."
        )
    if per_call.get("out") is not None:
        function(*arrays, **per_call | {"out": _with_axes(per_call["out"], out_axes, 0)})
        return per_call["out"]
    results = function(*arrays, **per_call)
    if function._call_options({}).collects:
        return _with_axes(results[0], 0, out_axes), results[1]
    return _with_axes(results, 0, out_axes)


def _moved(array: Any, axis: int) -> Any:
    """Return an argument whose arrays have an axis in front."""
    leaves: list[Any] = []
    structure = flatten(array, leaves, split_argument)
    arrays = [leaf if isinstance(leaf, np.ndarray) else as_array(leaf) for leaf in leaves]
    moved = (np.moveaxis(leaf, axis, 0) if leaf.ndim else leaf for leaf in arrays)
    return unflatten(structure, moved)


def _with_axes(results: Any, source: Any, destination: Any) -> Any:
    """Move the axis of the elements in all results; one of the two is said for each, or for all."""
    leaves: list[Any] = []
    structure = flatten(results, leaves, split_result)
    sources, destinations = (
        list(axis) if isinstance(axis, (tuple, list)) else [axis] * len(leaves)
        for axis in (source, destination)
    )
    if len(sources) != len(leaves) or len(destinations) != len(leaves):
        raise UsageError(
            f"map: out_axes does not fit the results; got {max(len(sources), len(destinations))} "
            f"axes, expected {len(leaves)}, one for each result."
        )
    moved = []
    for leaf, begin, end in zip(leaves, sources, destinations, strict=True):
        for axis in (begin, end):
            is_axis = isinstance(axis, int) and not isinstance(axis, bool)
            if not is_axis or not -leaf.ndim <= axis < leaf.ndim:
                raise UsageError(
                    f"map: results have no such axis; got out_axes {axis!r}, expected "
                    f"{-leaf.ndim} to {leaf.ndim - 1} for a result of shape {leaf.shape}."
                )
        moved.append(np.moveaxis(leaf, begin, end))
    return unflatten(structure, iter(moved))


def _map_inside(
    fn: Callable[..., Any],
    arrays: tuple[Any, ...],
    axes: list[int | None],
    out_axes: Any,
    options: dict[str, Any],
) -> Any:
    """Map over the axes of tensors, inside of a function that is being recorded."""
    from .tensors.nested import map_tensors  # seldom needed, and long to import

    if options:
        raise UsageTypeError(
            at_line(
                f"map: options inside of a vectorized function; got {', '.join(options)}, expected "
                "none. Give them to the outer one."
            )
        )
    return map_tensors(fn, arrays, axes, out_axes)


def _axes_of(in_axes: Axes, count: int) -> list[int | None]:
    if not isinstance(in_axes, (tuple, list)):
        return [in_axes] * count
    if len(in_axes) != count:
        raise UsageError(
            f"map: in_axes does not fit the arguments; got {len(in_axes)} axes, expected {count}, "
            "one for each argument."
        )
    return list(in_axes)


def _check_arguments(arrays: tuple[Any, ...], axes: list[int | None], count: Any) -> bool:
    """Refuse axes that arguments do not have, and sizes that differ; say if elements are rows."""
    has_rows = False
    first: tuple[int, int] | None = None  # size and argument
    for position, (array, axis) in enumerate(zip(arrays, axes, strict=True)):
        if axis is None:
            continue
        if not isinstance(axis, int) or isinstance(axis, bool):
            raise UsageTypeError(
                f"map: in_axes is not an axis; got {axis!r} (argument {position}), expected a "
                "whole number or None."
            )
        for part in _arrays_in(array):
            if isinstance(part, Ragged):
                shape: tuple[int, ...] = (len(part),)
            else:
                shape = part.shape
            if not shape:
                continue
            if not -len(shape) <= axis < len(shape):
                raise UsageError(
                    f"map: argument {position} has no such axis; got in_axes {axis}, expected "
                    f"{-len(shape)} to {len(shape) - 1} for the shape {shape}."
                )
            has_rows = has_rows or len(shape) > 1
            size = shape[axis]
            if first is not None and size != first[0]:
                raise UsageError(
                    f"map: arguments disagree on the mapped size; got {first[0]} (argument "
                    f"{first[1]}) and {size} (argument {position}), expected one size. "
                    f"Use in_axes=None for argument {position} to share it between elements."
                )
            first = first or (size, position)
    is_mapped = bool(arrays) and any(axis is not None for axis in axes)
    if first is None and not is_mapped and count is None:
        raise UsageError(
            "map: nothing to map over; got no mapped argument, expected at least one, or count=."
        )
    return has_rows


def _arrays_in(argument: Any) -> list[Any]:
    leaves: list[Any] = []
    flatten(argument, leaves, split_argument)
    return [leaf if isinstance(leaf, (np.ndarray, Ragged)) else as_array(leaf) for leaf in leaves]
