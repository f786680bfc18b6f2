"""Workloads whose elements are rows, images and matrices: arrays, true results, what is allowed.

What they mean is in `tensor_truths`. Rows of different lengths are two tables: all values, one row
behind the other, and where each begins.
"""

from collections.abc import Callable
from typing import Any

import numpy as np

from . import tensor_truths as truths
from .arrays import Array, Data
from .programs import Make, Program, Random, mostly, within

FAST = ("lanewise from Python, fast",)
_HAND = ("hand",)


def _relative(tolerance: float) -> Callable[[Array, Array], float]:
    """Count in a part of the true result."""
    return lambda results, truth: float((np.abs(results - truth) / np.abs(truth)).max() / tolerance)


def _uniform(
    shape: tuple[int, ...], least: float = -1, most: float = 1, dtype: Any = np.float32
) -> Callable[[Random, int], Array]:
    return lambda random, size: random.uniform(least, most, (size, *shape)).astype(dtype)


def _arrays(
    *inputs: Callable[[Random, int], Array], **tables: Callable[[Random, int], Array]
) -> Make:
    """Make all arrays, the tables in their own first dimension."""

    def make(random: Random, size: int) -> Data:
        return Data(
            size,
            [array(random, size) for array in inputs],
            {name: array(random, 1)[0] for name, array in tables.items()},
        )

    return make


def _bodies(random: Random, size: int) -> Data:
    """Places as the elements have them, and a table for each coordinate."""
    places = random.uniform(-1, 1, (size, 3)).astype(np.float32)
    x, y, z = places.T
    mass = random.uniform(0.5, 1.5, size).astype(np.float32)
    return Data(size, [places], {"x": x, "y": y, "z": z, "mass": mass})


def _points(random: Random, size: int) -> Data:
    data = _bodies(random, size)
    return Data(size, data.inputs, {name: data.tables[name] for name in "xyz"})


def _systems(random: Random, size: int) -> Data:
    """Systems whose large coefficients stand in any row, so that pivoting matters."""
    matrix = random.uniform(-1, 1, (size, 3, 3)) + 4 * np.eye(3)
    order = random.permuted(np.tile(np.arange(3), (size, 1)), axis=1)
    matrix = np.take_along_axis(matrix, order[:, :, None], axis=1)
    return Data(size, [matrix, random.uniform(-1, 1, (size, 3))])


def _columns(random: Random, size: int) -> Data:
    """Implicit diffusion: what a level gives to those below and above it, and takes from them."""
    below, above = random.uniform(-1, 0, (2, size, truths.LEVELS))
    right = random.uniform(-1, 1, (size, truths.LEVELS))
    return Data(size, [below, 1 - below - above, above, right])


def _pixels(random: Random, size: int) -> Data:
    return Data(size, [random.integers(0, 256, (size, 512, 512), np.uint8)])


_MEAN = 64  # values of a ragged row


def _offsets(random: Random, size: int) -> Array:
    """Where rows begin: most are short, some very long, none is empty; and so many in all."""
    lengths = random.lognormal(0, 1, size)
    bounds = np.cumsum(lengths) / lengths.sum() * size * (_MEAN - 1)
    return np.append(0, np.rint(bounds) + np.arange(1, size + 1)).astype(np.int32)


def _packets(random: Random, size: int) -> Data:
    values = random.integers(0, 256, size * _MEAN, np.uint8)
    tables = {"values": values, "offsets": _offsets(random, size), "table": truths.crc_table()}
    return Data(size, [], tables)


def _ragged(random: Random, size: int) -> Data:
    values = random.uniform(-5, 5, size * _MEAN).astype(np.float32)
    return Data(size, [], {"values": values, "offsets": _offsets(random, size)})


_ROW = 1024

TENSORS = {
    "softmax_rows": Program(
        "f32",
        "f32",
        4096,
        _arrays(_uniform((_ROW,), -5, 5)),
        truths.softmax_rows,
        _relative(2e-6),
        by_hand=_HAND,
        shape=(_ROW,),
    ),
    "layernorm": Program(
        "f32",
        "f32",
        4096,
        _arrays(_uniform((_ROW,), -5, 5), gain=_uniform((_ROW,)), bias=_uniform((_ROW,))),
        truths.layernorm,
        within(1e-5),
        by_hand=_HAND,
        shape=(_ROW,),
    ),
    "nbody": Program(
        "f32",
        "f32",
        10_000,
        _bodies,
        truths.nbody,
        within(0.1),  # of some 3000
        step=97,
        by_hand=(*_HAND, "free", *FAST, "numba, fastmath"),
        shape=(3,),
    ),
    "solve3x3": Program(
        "f64",
        "f64",
        100_000,
        _systems,
        truths.solve3x3,
        within(1e-14),
        by_hand=("numba, Cramer", "tensorflow, vectorized_map"),
        shape=(3,),
    ),
    "kmeans_assign": Program(
        "f32",
        "i64",
        1_000_000,
        _arrays(_uniform((8,)), centres=_uniform((64, 8))),
        truths.kmeans_assign,
        mostly(1e-3),
        step=20,
    ),
    "images_sqrt": Program(
        "f32",
        "u8",
        64,
        _pixels,
        truths.images_sqrt,
        mostly(1e-4),
        by_hand=(*_HAND, "bandwidth", "tensorflow, vectorized_map"),
        shape=(512, 512),
    ),
    "images_blur": Program(
        "f32",
        "f32",
        64,
        _pixels,
        truths.images_blur,
        within(1e-5),
        step=8,
        by_hand=(*_HAND, "bandwidth", "tensorflow, vectorized_map"),
        shape=(truths.BLURRED, truths.BLURRED),
    ),
    "repeat_sum": Program(
        "f32",
        "f32",
        100_000,
        _arrays(_uniform(())),
        truths.repeat_sum,
        _relative(3e-4),
        by_hand=("tensorflow, vectorized_map",),
    ),
    "conv_small": Program(
        "f32",
        "f32",
        10_000,
        _arrays(_uniform((28, 28)), kernels=_uniform((8, 3, 3))),
        truths.conv_small,
        within(1e-5),
        step=100,
        shape=(8, 26, 26),
    ),
    "mlp_forward": Program(
        "f32",
        "f32",
        60_000,
        _arrays(
            _uniform((784,), 0, 1),
            weights1=_uniform((784, 128), -0.1, 0.1),
            bias1=_uniform((128,)),
            weights2=_uniform((128, 10)),
            bias2=_uniform((10,)),
        ),
        truths.mlp_forward,
        within(3e-5),
        step=50,
        shape=(10,),
    ),
    "product": Program(
        "f32",
        "f32",
        1024,
        _arrays(_uniform((1024,)), b=_uniform((1024, 1024))),
        truths.product,
        within(1e-3),
        shape=(1024,),
    ),
    "pairwise_kernel": Program(
        "f32",
        "f32",
        10_000,
        _points,
        truths.pairwise_kernel,
        _relative(1e-5),
        step=97,
        by_hand=FAST,
    ),
    "tke_column": Program(
        "f64",
        "f64",
        100_000,
        _columns,
        truths.tke_column,
        within(1e-13),
        step=100,
        by_hand=("tensorflow, vectorized_map",),
        shape=(truths.LEVELS,),
    ),
    "ragged_crc": Program("u32", "u32", 100_000, _packets, truths.ragged_crc, within(0.5)),
    "ragged_softmax": Program(
        "f32",
        "f32",
        100_000,
        _ragged,
        truths.ragged_softmax,
        _relative(2e-6),
        shape=(_MEAN,),  # on the average
    ),
}
