"""Random numbers that depend on a seed of two numbers alone: ``tf.random.stateless_normal``.

Bits come from Threefry, a block cipher of a counter, written with NumPy; inside of a function that
is being recorded the seed may differ between elements. The same seed gives the same numbers
everywhere, which are not those that TensorFlow draws.
"""

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from ... import element
from ...errors import UsageError
from ...recorder import current
from ...vectorize import Vectorized
from . import sampling
from .arranging import sizes_of
from .dtypes import as_dtype
from .names import listed
from .ops import beside, held, moving, static_of, whole
from .special import quantile
from .tensor import is_symbol

_ROTATIONS = ((13, 15, 26, 6), (17, 29, 16, 24))
_PARITY = np.uint32(0x1BD11BDA)
TAIL = 0.022750131948179209  # of the normal distribution beyond two deviations


def threefry(key: tuple[Any, Any], counter: tuple[Any, Any]) -> tuple[Any, Any]:
    """Return two words of 32 bits for a key and a counter of two words each (20 rounds)."""
    keys = (key[0], key[1], key[0] ^ key[1] ^ _PARITY)
    x, y = counter[0] + keys[0], counter[1] + keys[1]
    for group in range(5):
        for turn in _ROTATIONS[group % 2]:
            x = x + y
            y = (y << np.uint32(turn)) | (y >> np.uint32(32 - turn))
            y = x ^ y
        x = x + keys[(group + 1) % 3]
        y = y + keys[(group + 2) % 3] + np.uint32(group + 1)
    return x, y


def _word(number: Any) -> Any:
    """Return 32 bits of a part of a seed, which may have 64."""
    bits = number.astype(np.uint64)
    high = (bits >> np.uint64(32)).astype(np.uint32)
    return bits.astype(np.uint32) ^ (high * np.uint32(0x9E3779B1))


def _key(seed: Any) -> tuple[Any, Any]:
    """Return the key of a seed: vectors of one word, so that NumPy lets them wrap."""
    parts = held(seed)
    if np.shape(parts) != (2,):
        raise UsageError(
            f"stateless: not a seed; got the shape {np.shape(parts)}, expected two integers."
        )
    return _word(parts[0:1]), _word(parts[1:2])


Draw = Callable[[tuple[Any, Any], Any], Any]  # of a key and the number of a draw


def _unit(dtype: Any, is_open: bool) -> Draw:
    """Return a draw from 0 to below 1; not 0 if it is open."""

    def draw(key: tuple[Any, Any], number: Any) -> Any:
        x, y = threefry(key, (number, number * np.uint32(0)))
        if dtype != np.float64:
            if is_open:
                return ((x >> np.uint32(9)).astype(np.float32) + 0.5) * 2.0**-23
            return (x >> np.uint32(8)).astype(np.float32) * 2.0**-24
        if is_open:
            high = (x >> np.uint32(6)).astype(np.float64) * 2.0**26
            return (high + (y >> np.uint32(6)).astype(np.float64) + 0.5) * 2.0**-52
        high = (x >> np.uint32(5)).astype(np.float64) * 2.0**26
        return (high + (y >> np.uint32(6)).astype(np.float64)) * 2.0**-53

    return draw


def _normal(dtype: Any) -> Draw:
    unit = _unit(dtype, True)

    def draw(key: tuple[Any, Any], number: Any) -> Any:
        part = unit(key, number)
        return quantile(part - 0.5, np.minimum(part, 1 - part))

    return draw


def within_two(part: Any) -> Any:
    """Return normal numbers within two deviations, by parts from 0 to 1."""
    part = TAIL + part * (1 - 2 * TAIL)
    return quantile(part - 0.5, np.minimum(part, 1 - part))


def _truncated(dtype: Any) -> Draw:
    unit = _unit(dtype, True)
    return lambda key, number: within_two(unit(key, number))


def _bits(dtype: Any) -> Draw:
    def draw(key: tuple[Any, Any], number: Any) -> Any:
        x, y = threefry(key, (number, number * np.uint32(0)))
        word = (x.astype(np.uint64) << np.uint64(32)) | y.astype(np.uint64)
        return word.astype(dtype)

    return draw


_KINDS: dict[str, Callable[[Any], Draw]] = {
    "unit": lambda dtype: _unit(dtype, False),
    "open": lambda dtype: _unit(dtype, True),
    "normal": _normal,
    "truncated": _truncated,
    "bits": _bits,
}
_programs: dict[tuple[str, Any], Vectorized] = {}


def drawn(kind: str, seed: Any, sizes: tuple[int, ...], dtype: Any) -> Any:
    """Return draws of a shape."""
    count = math.prod(sizes)
    if current() is not None or count == 0 or sampling.is_on():
        with np.errstate(over="ignore"):
            found = _KINDS[kind](dtype)(_key(seed), np.arange(count, dtype=np.uint32))
        found = np.reshape(found, sizes)
        return found if found.dtype == dtype else found.astype(dtype)
    program = _programs.get((kind, dtype))
    if program is None:
        draw = _KINDS[kind](dtype)

        def one(first: Any, second: Any) -> Any:
            return draw((first, second), element(np.uint32)).astype(dtype)

        program = _programs[kind, dtype] = Vectorized(one, name=f"stateless_{kind}")
    with np.errstate(over="ignore"):
        first, second = _key(seed)
    return program(first[0], second[0], count=count).reshape(sizes)


def _float(call: str, dtype: Any) -> Any:
    kind = as_dtype(dtype).dtype
    if kind.kind != "f":
        raise UsageError(f"{call}: no type of floats; got {kind}, expected float32 or another.")
    return kind


@moving
def stateless_normal(
    shape: Any,
    seed: Any,
    mean: Any = 0.0,
    stddev: Any = 1.0,
    dtype: Any = "float32",
    alg: Any = "auto_select",
) -> Any:
    """Return normal numbers that depend on the seed alone.

    Examples
    --------
    >>> import lanewise.compat.tf as tf
    >>> first = tf.random.stateless_normal([3], seed=[1, 2])
    >>> bool(tf.reduce_all(first == tf.random.stateless_normal([3], seed=[1, 2])))
    True
    """
    kind = _float("stateless_normal", dtype)
    return scaled(drawn("normal", seed, sizes_of(shape), kind), mean, stddev)


@moving
def stateless_truncated_normal(
    shape: Any,
    seed: Any,
    mean: Any = 0.0,
    stddev: Any = 1.0,
    dtype: Any = "float32",
    alg: Any = "auto_select",
) -> Any:
    """Return normal numbers within two deviations that depend on the seed alone."""
    kind = _float("stateless_truncated_normal", dtype)
    return scaled(drawn("truncated", seed, sizes_of(shape), kind), mean, stddev)


def scaled(numbers: Any, mean: Any, deviation: Any) -> Any:
    """Return numbers times a deviation and with a mean, in their type."""
    is_plain = not any(map(is_symbol, (mean, deviation)))
    if is_plain and np.all(held(mean) == 0) and np.all(held(deviation) == 1):
        return numbers
    mean, deviation = (held(one).astype(numbers.dtype) for one in (mean, deviation))
    return numbers * deviation + mean


@moving
def stateless_uniform(
    shape: Any,
    seed: Any,
    minval: Any = 0,
    maxval: Any = None,
    dtype: Any = "float32",
    alg: Any = "auto_select",
) -> Any:
    """Return numbers from one to below another, each as likely, that depend on the seed alone."""
    kind = as_dtype(dtype).dtype
    sizes = sizes_of(shape)
    if kind.kind == "f":
        low, high = (held(one).astype(kind) for one in (minval, 1 if maxval is None else maxval))
        return low + drawn("unit", seed, sizes, kind) * (high - low)
    if minval is None and maxval is None:
        return drawn("bits", seed, sizes, kind)
    low, high = integer_bounds("stateless_uniform", minval, maxval)
    width = (high - low).astype(np.uint64)
    rest = (drawn("bits", seed, sizes, np.dtype(np.uint64)) % width).astype(np.int64)
    return (low + rest).astype(kind)


def integer_bounds(call: str, minval: Any, maxval: Any) -> tuple[Any, Any]:
    """Return the bounds of integers as they are drawn."""
    if maxval is None:
        raise UsageError(
            f"{call}: integers need a bound; got maxval=None, expected a number. Integers are "
            "drawn from minval to below maxval."
        )
    low, high = (held(one).astype(np.int64) for one in (minval, maxval))
    if not is_symbol(low) and not is_symbol(high) and np.any(high <= low):
        raise UsageError(f"{call}: no integers; got {low} to below {high}, expected more.")
    return low, high


@whole(tensors=2)
def chosen(logits: Any, parts: Any, dtype: Any = "int64") -> Any:
    """Return classes by parts from 0 to 1: as many as have less than a part of all before them."""
    shifted = np.exp(logits - np.max(logits, axis=-1, keepdims=True))
    sums = np.cumsum(shifted, axis=-1)
    bounds = parts.astype(sums.dtype) * sums[:, -1:]
    count = np.sum((sums[:, None, :] <= bounds[:, :, None]).astype(np.int64), axis=-1)
    return np.minimum(count, np.shape(logits)[-1] - 1).astype(as_dtype(dtype).dtype)


def stateless_categorical(
    logits: Any,
    num_samples: Any,
    seed: Any,
    dtype: Any = "int64",
    alg: Any = "auto_select",
    name: Any = None,
) -> Any:
    """Return classes, drawn by the logarithms of how likely they are, that the seed decides."""
    parts = _rows_of_parts(logits, num_samples, seed)
    return chosen(logits, parts, as_dtype(dtype).name)


@moving
def _rows_of_parts(logits: Any, num_samples: Any, seed: Any) -> Any:
    sizes = (np.shape(held(logits))[0], static_of(num_samples))
    return drawn("unit", seed, sizes, np.dtype(np.float32))


@moving
def stateless_shuffle(value: Any, seed: Any, alg: Any = "auto_select") -> Any:
    """Return the parts of a tensor along the first axis in an order that the seed decides."""
    value = held(value)
    keys = drawn("bits", seed, (np.shape(value)[0],), np.dtype(np.uint32))
    return np.take(beside(value, keys), np.argsort(keys, kind="stable"), 0)


@moving
def split(seed: Any, num: Any = 2, alg: Any = "auto_select") -> Any:
    """Return so many seeds that come from one."""
    return drawn("bits", seed, (static_of(num), 2), np.dtype(np.int32))


@moving
def fold_in(seed: Any, data: Any, alg: Any = "auto_select") -> Any:
    """Return a seed that comes from one and a number."""
    with np.errstate(over="ignore"):
        number = np.reshape(_word(held(data)), (1,))
        x, y = threefry(_key(seed), (number, number * np.uint32(0) + np.uint32(1)))
    return np.concatenate([x, y]).astype(np.int32)


NAMES = {
    **listed("random", [stateless_normal, stateless_truncated_normal, stateless_uniform], False),
    **listed("random", [stateless_categorical, split, fold_in], False),
    "random.experimental.stateless_shuffle": stateless_shuffle,
    "random.experimental.stateless_split": split,
    "random.experimental.stateless_fold_in": fold_in,
}
