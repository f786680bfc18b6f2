"""Mapping over Dask arrays: a function for one element, block by block, on any number of workers.

Dask is needed only when `map_blocks` is called.
"""

import functools
import importlib
from collections.abc import Callable
from typing import Any

import numpy as np

from .blocks import numbered, runs
from .errors import UsageError, UsageTypeError
from .vectorize import Vectorized, vectorize


def map_blocks(fn: Callable[..., Any], *arrays: Any, seed: int | None = None) -> Any:
    """Map a function for one element over Dask arrays.

    The result is the same however the arrays are cut into blocks, on whatever worker a block runs,
    and however often it runs: a draw depends on the number of its element in the whole array.

    Parameters
    ----------
    fn : callable
        A function for one element, plain or made by `vectorize`.
    *arrays : dask.array.Array, array_like or number
        Broadcast against each other; numbers are shared by all elements.
    seed : int, optional
        Of random draws.

    Returns
    -------
    dask.array.Array or tuple of them
        As the function returns one element or a tuple of them; nothing is computed yet.

    Examples
    --------
    >>> import lanewise as lw, numpy as np
    >>> import dask.array as da                                         # doctest: +SKIP
    >>> from lanewise.dask import map_blocks
    >>> x = da.linspace(0, 1, 1_000_000, chunks=100_000)                # doctest: +SKIP
    >>> map_blocks(lambda x, k: np.exp(-k * x), x, 2.0).sum().compute() # doctest: +SKIP
    np.float64(432332.9...)
    """
    try:
        da: Any = importlib.import_module("dask.array")
    except ImportError:
        raise UsageError(
            "map_blocks: dask is not installed; got no module dask.array, expected one. "
            'Run pip install "dask[array]".'
        ) from None
    if not callable(fn):
        raise UsageTypeError(
            f"map_blocks: not a function; got {type(fn).__name__}, expected a callable."
        )
    given = [da.asarray(array) for array in arrays if np.ndim(array)]
    if not given:
        raise UsageError(
            f"map_blocks: nothing to map over; got {len(arrays)} numbers, expected an array."
        )
    if any(np.isnan(size) for array in given for size in array.shape):
        raise UsageError(
            "map_blocks: the size of an array is not known; got a shape with nan, expected "
            "numbers. Call array.compute_chunk_sizes() first."
        )
    mapped = iter(da.broadcast_arrays(*given))
    chosen = [next(mapped) if np.ndim(array) else array for array in arrays]
    results = _results_of_nothing(fn, chosen)
    shape = np.broadcast_shapes(*(array.shape for array in given))
    options: dict[str, Any] = {"fn": fn, "seed": seed, "whole": shape}
    if not isinstance(results, tuple):
        return da.map_blocks(_map_block, *chosen, **options, dtype=results.dtype, meta=results)
    # One task computes all results of a block, one more each picks its own.
    nothing = np.empty((0,) * len(shape), object)
    together = da.map_blocks(_map_block, *chosen, **options, dtype=object, meta=nothing)
    return tuple(
        da.map_blocks(_pick, together, which=i, dtype=result.dtype, meta=result)
        for i, result in enumerate(results)
    )


def _results_of_nothing(fn: Callable[..., Any], arguments: list[Any]) -> Any:
    """Call the function on no elements, which gives the types of its results."""
    empty = [np.zeros((0,) * np.ndim(a), a.dtype) if np.ndim(a) else a for a in arguments]
    results = _vectorized(fn)(*empty)
    return tuple(results) if isinstance(results, list) else results


def _map_block(
    *arguments: Any,
    fn: Callable[..., Any],
    seed: int | None,
    whole: tuple[int, ...],
    block_info: Any = None,
) -> Any:
    """Map over one block of the whole, a contiguous run at a time."""
    blocks = [argument for argument in arguments if np.ndim(argument)]
    part = blocks[0].shape
    places = block_info[None]["array-location"] if block_info else [(0, 0)] * len(whole)
    offset = tuple(begin for begin, _ in places)
    function = _vectorized(fn)
    outputs: Any = None
    for place, first in runs(whole, offset, part):
        row = [argument[place] if np.ndim(argument) else argument for argument in arguments]
        results = _as_tuple(function(*row, **numbered(first, seed)))
        if outputs is None:
            outputs = tuple(np.empty(part, result.dtype) for result in results)
        for output, result in zip(outputs, results, strict=True):
            output[place] = result
    if outputs is None:  # no elements
        outputs = _as_tuple(function(*arguments))
    return outputs if len(outputs) > 1 else outputs[0]


def _as_tuple(results: Any) -> tuple[Any, ...]:
    return tuple(results) if isinstance(results, (tuple, list)) else (results,)


def _pick(results: Any, which: int) -> Any:
    return results[which] if isinstance(results, tuple) else results  # a tuple of one is that one


@functools.lru_cache(maxsize=128)
def _kept(fn: Callable[..., Any]) -> Vectorized:
    kept: Vectorized = vectorize(fn)
    return kept


def _vectorized(fn: Callable[..., Any]) -> Vectorized:
    """Return the function for arrays; a plain one is recorded once in each process."""
    return fn if isinstance(fn, Vectorized) else _kept(fn)
