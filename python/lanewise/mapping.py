"""``lw.map``: the one-shot form of ``lw.vectorize``."""

from collections.abc import Callable
from typing import Any

import numpy as np

from .arguments import as_array, split_argument
from .errors import UsageError, UsageTypeError
from .trees import flatten
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
        elements get the number, or the array to read by index.
    out_axes : int, optional
        The axis of the elements in the results.
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

    No array at all, but so many elements:

    >>> lw.map(lambda table: table[lw.element() % 3], prices, in_axes=None, count=4)
    array([10., 20., 30., 10.])
    """
    if not callable(fn):
        raise UsageTypeError(f"map: not a function; got {type(fn).__name__}, expected a callable.")
    axes = _axes_of(in_axes, len(arrays))
    shared = [position for position, axis in enumerate(axes) if axis is None]
    _check_arguments(arrays, axes, options.get("count"))
    _check_out_axes(out_axes)
    per_call = {key: options.pop(key) for key in ("out", "where") if key in options}
    function = fn.__wrapped__ if isinstance(fn, Vectorized) else fn
    return Vectorized(function, given=options, excluded=shared)(*arrays, **per_call)


def _axes_of(in_axes: Axes, count: int) -> list[int | None]:
    if not isinstance(in_axes, (tuple, list)):
        return [in_axes] * count
    if len(in_axes) != count:
        raise UsageError(
            f"map: in_axes does not fit the arguments; got {len(in_axes)} axes, expected {count}, "
            "one for each argument."
        )
    return list(in_axes)


def _check_arguments(arrays: tuple[Any, ...], axes: list[int | None], count: Any) -> None:
    """Refuse axes that arguments do not have, and sizes that differ."""
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
            if part.ndim == 0:
                continue
            if not -part.ndim <= axis < part.ndim:
                raise UsageError(
                    f"map: argument {position} has no such axis; got in_axes {axis}, expected "
                    f"{-part.ndim} to {part.ndim - 1} for the shape {part.shape}."
                )
            if part.ndim > 1:
                raise UsageError(
                    f"map: elements are single values; got the shape {part.shape} (argument "
                    f"{position}), expected one dimension. Use vectorize, which maps over all "
                    "dimensions, or in_axes=None to read it by index."
                )
            if first is not None and part.shape[0] != first[0]:
                raise UsageError(
                    f"map: arguments disagree on the mapped size; got {first[0]} (argument "
                    f"{first[1]}) and {part.shape[0]} (argument {position}), expected one size. "
                    f"Use in_axes=None for argument {position} to share it between elements."
                )
            first = first or (part.shape[0], position)
    if arrays and first is None and any(axis is not None for axis in axes):
        return
    if first is None and count is None:
        raise UsageError(
            "map: nothing to map over; got no mapped argument, expected at least one, or count=."
        )


def _arrays_in(argument: Any) -> list[Any]:
    leaves: list[Any] = []
    flatten(argument, leaves, split_argument)
    return [leaf if isinstance(leaf, np.ndarray) else as_array(leaf) for leaf in leaves]


def _check_out_axes(out_axes: Any) -> None:
    if out_axes in (0, -1) and not isinstance(out_axes, bool):
        return
    raise UsageError(
        f"map: results have no such axis; got out_axes {out_axes!r}, expected 0 or -1: results of "
        "single values have one axis."
    )
