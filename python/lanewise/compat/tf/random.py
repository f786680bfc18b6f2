"""``tf.random``: numbers that are others at every call, unless ``set_seed`` says which.

Whole tensors are drawn by a map over as many elements, so their numbers depend on the seed of the
call and the place in the tensor, and not on threads. Inside of a function that is being recorded
each element draws its own; the call of the map has the seed.
"""

import functools
import math
from collections.abc import Callable
from typing import Any

import numpy as np

from ... import lgamma
from ... import random as lanes
from ...loops import while_loop
from ...mapping import map as map_each
from ...recorder import current
from ...vectorize import Vectorized
from . import graph, sampling
from .arranging import sizes_of
from .dtypes import as_dtype
from .names import listed
from .ops import beside, held, plain, static_of, wrapped
from .seeds import next_seed, set_seed
from .stateless import chosen, integer_bounds, scaled, within_two
from .tensor import has_graph, is_symbol

Kind = Callable[..., Any]  # a draw, of parameters, in a type


def drawing(function: Callable[..., Any]) -> Callable[..., Any]:
    """Make a function that draws one of TensorFlow's: in a graph it draws when that runs."""

    @functools.wraps(function)
    def call(*args: Any, name: Any = None, **kwargs: Any) -> Any:
        if current() is None and (graph.building() is not None or has_graph((args, kwargs))):
            return graph.record(call, args, kwargs)
        values = [plain(arg) for arg in args]
        result = function(*values, **{key: plain(value) for key, value in kwargs.items()})
        return result if current() is not None else wrapped(result)

    call.is_of_tensorflow = True  # type: ignore[attr-defined]
    return call


_programs: dict[tuple[Kind, Any, int], Vectorized] = {}


def _draw(kind: Kind, sizes: tuple[int, ...], dtype: Any, seed: Any, *parameters: Any) -> Any:
    """Return draws of a shape; parameters are shared by all, or have that shape."""
    if current() is not None:
        recorder = current()
        assert recorder is not None
        if seed is not None:
            recorder.notes.setdefault("draws", []).append(static_of(seed))
        return kind(dtype, *parameters, size=sizes or None)
    if sampling.is_on() or math.prod(sizes) == 0:
        return np.zeros(sizes, dtype)
    program = _programs.get((kind, dtype, len(parameters)))
    if program is None:
        one = _With(functools.partial(kind, dtype))
        program = _programs[kind, dtype, len(parameters)] = Vectorized(one, name=kind.__name__)
    arrays = [one if np.ndim(one) == 0 else np.broadcast_to(one, sizes) for one in parameters]
    options = {} if any(map(np.ndim, arrays)) else {"count": math.prod(sizes)}
    return program(*arrays, seed=next_seed(static_of(seed)), **options).reshape(sizes)


class _With:
    """A draw of one type, as a function of its parameters."""

    def __init__(self, draw: Callable[..., Any]) -> None:
        self._draw = draw

    def __call__(self, *parameters: Any) -> Any:
        return self._draw(*parameters)


def _narrow(dtype: Any) -> Any:
    """Return the type in which floats are drawn."""
    return np.float64 if dtype == np.float64 else np.float32


def _normal(dtype: Any, size: Any = None) -> Any:
    return lanes.normal(dtype=_narrow(dtype), size=size).astype(dtype)


def _uniform(dtype: Any, size: Any = None) -> Any:
    return lanes.uniform(dtype=_narrow(dtype), size=size).astype(dtype)


def _truncated(dtype: Any, size: Any = None) -> Any:
    return within_two(lanes.uniform(dtype=_narrow(dtype), size=size)).astype(dtype)


def _integer(dtype: Any, low: Any, high: Any, size: Any = None) -> Any:
    return lanes.integers(low, high, np.int64, size=size).astype(dtype)


def _bits(dtype: Any, size: Any = None) -> Any:
    high, low = (lanes.bits(size=size).astype(np.uint64) for _ in range(2))
    return ((high << np.uint64(32)) | low).astype(dtype)


def _float(dtype: Any) -> Any:
    return as_dtype(dtype).dtype


@drawing
def normal(
    shape: Any, mean: Any = 0.0, stddev: Any = 1.0, dtype: Any = "float32", seed: Any = None
) -> Any:
    """Return normal numbers.

    Examples
    --------
    >>> import lanewise.compat.tf as tf
    >>> tf.random.normal([2, 3]).shape
    TensorShape([2, 3])
    """
    return scaled(_draw(_normal, sizes_of(shape), _float(dtype), seed), mean, stddev)


@drawing
def truncated_normal(
    shape: Any, mean: Any = 0.0, stddev: Any = 1.0, dtype: Any = "float32", seed: Any = None
) -> Any:
    """Return normal numbers within two deviations."""
    return scaled(_draw(_truncated, sizes_of(shape), _float(dtype), seed), mean, stddev)


@drawing
def uniform(
    shape: Any, minval: Any = 0, maxval: Any = None, dtype: Any = "float32", seed: Any = None
) -> Any:
    """Return numbers from one to below another, each as likely; integers too.

    Integers without bounds are all that their type has.

    Examples
    --------
    >>> import lanewise.compat.tf as tf
    >>> dice = tf.random.uniform([100], minval=1, maxval=7, dtype=tf.int32)
    >>> bool(tf.reduce_all((dice >= 1) & (dice <= 6)))
    True
    """
    kind, sizes = _float(dtype), sizes_of(shape)
    if kind.kind != "f" and minval is None and maxval is None:
        return _draw(_bits, sizes, kind, seed)
    if kind.kind != "f":
        low, high = integer_bounds("uniform", minval, maxval)
        return _draw(_integer, sizes, kind, seed, low, high)
    drawn = _draw(_uniform, sizes, kind, seed)
    if maxval is None and not is_symbol(minval) and np.all(held(minval) == 0):
        return drawn
    low, high = (held(one).astype(kind) for one in (minval, 1 if maxval is None else maxval))
    return low + drawn * (high - low)


@drawing
def shuffle(value: Any, seed: Any = None) -> Any:
    """Return the parts of a tensor along the first axis in another order."""
    value = held(value)
    keys = _draw(_uniform, (np.shape(value)[0],), np.dtype(np.float64), seed)
    return np.take(beside(value, keys), np.argsort(keys, kind="stable"), 0)


def categorical(
    logits: Any, num_samples: Any, dtype: Any = None, seed: Any = None, name: Any = None
) -> Any:
    """Return classes for each row of logarithms of how likely they are.

    Examples
    --------
    >>> import lanewise.compat.tf as tf
    >>> tf.random.categorical(tf.math.log([[0.5, 0.5]]), 5).shape
    TensorShape([1, 5])
    """
    parts = _rows_of_parts(logits, num_samples, seed)
    return chosen(logits, parts, as_dtype("int64" if dtype is None else dtype).name)


@drawing
def _rows_of_parts(logits: Any, num_samples: Any, seed: Any) -> Any:
    sizes = (np.shape(held(logits))[0], static_of(num_samples))
    return _draw(_uniform, sizes, np.dtype(np.float32), seed)


# --- by trials: each element draws until it has a number ---


def _one_gamma(alpha: Any) -> Any:
    """Draw by Marsaglia's and Tsang's way; below 1 by the one of alpha + 1."""
    is_low = alpha < 1
    d = np.where(is_low, alpha + 1, alpha) - 1.0 / 3
    c = 1 / np.sqrt(9 * d)

    def refused(value: Any, _: Any) -> Any:
        return value < 0

    def trial(*_: Any) -> Any:
        x, u = lanes.normal(), lanes.uniform()
        v = (1 + c * x) ** 3
        bound = 0.5 * x * x + d - d * v + d * np.log(np.where(v > 0, v, 1.0))
        return np.where((v > 0) & (np.log(u) < bound), d * v, -1.0), x

    found = while_loop(refused, trial, (-1.0, 0.0))[0]
    return found * np.where(is_low, lanes.uniform() ** (1 / np.where(is_low, alpha, 1.0)), 1.0)


def _one_poisson(rate: Any) -> Any:
    """Draw by products of uniform numbers below 10, and by Hörmann's way from there on."""
    is_low = rate < 10
    limit = np.exp(-np.where(is_low, rate, 1.0))

    def goes_on(_: Any, product: Any) -> Any:
        return is_low & (product > limit)

    def step(count: Any, product: Any) -> Any:
        return count + 1.0, product * lanes.uniform()

    few = np.maximum(while_loop(goes_on, step, (-1.0, 1.0))[0], 0.0)
    high = np.where(is_low, 10.0, rate)
    b = 0.931 + 2.53 * np.sqrt(high)
    a = -0.059 + 0.02483 * b
    weight = np.log(1.1239 + 1.1328 / (b - 3.4))
    sure = 0.9277 - 3.6224 / (b - 2)

    def refused(value: Any, _: Any) -> Any:
        return ~is_low & (value < 0)

    def trial(*_: Any) -> Any:
        u, v = lanes.uniform() - 0.5, 1 - lanes.uniform()
        us = 0.5 - np.absolute(u)
        k = np.floor((2 * a / us + b) * u + high + 0.43)
        place = np.maximum(k, 0.0)
        bound = -high + place * np.log(high) - lgamma(place + 1)
        is_there = (us >= 0.07) & (v <= sure)
        is_out = (k < 0) | ((us < 0.013) & (v > us))
        fits = np.log(v) + weight - np.log(a / (us * us) + b) <= bound
        return np.where(is_there | (~is_out & fits), k, -1.0), u

    many = while_loop(refused, trial, (-1.0, 0.0))[0]
    return np.where(is_low, few, many)


def _each(one: Callable[[Any], Any]) -> Kind:
    """Return a draw of one number as one of any shape."""

    def draw(dtype: Any, parameter: Any, size: Any = None) -> Any:
        if np.ndim(parameter) == 0 and size is None:
            return one(parameter * 1.0).astype(dtype)
        numbers = np.reshape(np.broadcast_to(parameter, size), -1).astype(np.float64)
        return np.reshape(map_each(one, numbers), size).astype(dtype)

    draw.__name__ = one.__name__.replace("_one_", "")
    return draw


_gamma, _poisson = _each(_one_gamma), _each(_one_poisson)


@drawing
def gamma(
    shape: Any, alpha: Any, beta: Any = None, dtype: Any = "float32", seed: Any = None
) -> Any:
    """Return numbers of gamma distributions, of a shape for each `alpha`."""
    kind = _float(dtype)
    alpha = held(alpha).astype(np.float64)
    rate = held(1.0 if beta is None else beta).astype(kind)
    sizes = (*sizes_of(shape), *np.broadcast_shapes(np.shape(alpha), np.shape(rate)))
    is_one = alpha >= 0
    drawn = _draw(_gamma, sizes, kind, seed, np.where(is_one, alpha, 1.0))
    return np.where(is_one, drawn, np.dtype(kind).type(np.nan)) / rate


@drawing
def poisson(shape: Any, lam: Any, dtype: Any = "float32", seed: Any = None) -> Any:
    """Return numbers of Poisson distributions, of a shape for each mean `lam`."""
    rates = held(lam).astype(np.float64)
    sizes = (*sizes_of(shape), *np.shape(rates))
    return _draw(_poisson, sizes, as_dtype(dtype).dtype, seed, rates)


NAMES = {
    **listed(
        "random", [normal, truncated_normal, uniform, shuffle, categorical, gamma, poisson], False
    ),
    "random.set_seed": set_seed,
}
