"""Workloads with loops: their arrays, their true results and how far others may be from these.

The programs themselves are in bench/hand/scalar_programs.cpp, which is what they mean.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from . import truths
from .arrays import Array, Data
from .scene import make_ensemble, make_rays

Random = np.random.Generator
Make = Callable[[Random, int], Data]  # of a size
Truth = Callable[[Data, int], Array]  # of every step-th element; NaN is not looked at


@dataclass(frozen=True)
class Program:
    dtype: str  # of the arithmetic
    output: str
    size: int
    make: Make
    truth: Truth
    error: Callable[[Array, Array], float]  # of results and truth, in what is allowed
    step: int = 1
    by_hand: tuple[str, ...] = ()  # what there is of hand-written competitors
    shape: tuple[int, ...] = ()  # of an element's result
    # How far results are from what is expected of another random generator.
    other_generator: Callable[[Array], float] | None = None


def make_judge(program: Program, data: Data) -> Callable[[Array, bool], float]:
    """Return a function that gives an error, above 1 if the results are wrong."""
    truth = program.truth(data, program.step)
    looked_at = ~np.isnan(truth)

    def judge(results: Array, is_ours: bool) -> float:
        if results.size != data.size * math.prod(program.shape):
            return math.inf
        if program.other_generator is not None and not is_ours:
            return program.other_generator(results)
        sample = results.reshape(data.size, *program.shape)[:: program.step]
        error = program.error(sample[looked_at], truth[looked_at])
        return math.inf if math.isnan(error) else error

    return judge


def within(tolerance: float) -> Callable[[Array, Array], float]:
    return lambda results, truth: float(np.abs(results - truth).max()) / tolerance


def mostly(allowed: float, relative: float = 0) -> Callable[[Array, Array], float]:
    """All but a part of the results are equal, or as near as `relative` says."""

    def error(results: Array, truth: Array) -> float:
        wrong = ~(np.abs(results - truth) <= relative * np.abs(truth))
        return float(wrong.mean()) / allowed

    return error


def _exact(results: Array, truth: Array) -> float:
    return 0.0 if np.array_equal(results, truth) else math.inf


def _uniform(*intervals: tuple[float, float], dtype: Any = np.float64) -> Make:
    def make(random: Random, size: int) -> Data:
        inputs = [random.uniform(low, high, size).astype(dtype) for low, high in intervals]
        return Data(size, inputs)

    return make


_SIDE = 1024


def _image(random: Random, size: int) -> Data:
    across = np.arange(_SIDE, dtype=np.float32) * np.float32(2.6) / np.float32(_SIDE)
    b, a = np.meshgrid(across - np.float32(1.3), across - np.float32(2), indexing="ij")
    return Data(size, [a.ravel(), b.ravel()])


def _shuffled(random: Random, size: int) -> Data:
    order = random.permutation(_SIDE * _SIDE)
    return Data(size, [v[order] for v in _image(random, _SIDE * _SIDE).inputs])


def _escaping(random: Random, size: int) -> Data:
    """Return the first of the shuffled points that escape: short, heavy-tailed counts."""
    a, b = _shuffled(random, _SIDE * _SIDE).inputs
    escapes = truths.mandelbrot_counts(a, b) < truths.MANDELBROT_LIMIT
    return Data(size, [a[escapes][:size], b[escapes][:size]])


def _no_arrays(random: Random, size: int) -> Data:
    return Data(size, [])


def _quotes(random: Random, size: int) -> Data:
    spot, strike = random.uniform(80, 120, (2, size))
    time = random.uniform(0.2, 2, size)
    volatility = random.uniform(0.1, 0.8, size)
    price = truths.call_price(volatility, spot, strike, time)[0]
    return Data(size, [price, spot, strike, time])


def _numbers(random: Random, size: int) -> Data:
    return Data(size, [random.permutation(size) + np.int64(1)])


def _integers(random: Random, size: int) -> Data:
    return Data(size, [random.integers(-(2**31), 2**31, size, dtype=np.int32)])


def _mandelbrot(make: Make, size: int) -> Program:
    return Program(
        "f32",
        "i32",
        size,
        make,
        truths.mandelbrot,
        mostly(0.005),
        step=7,
        by_hand=("hand", "free", "packets", "lanewise, fast"),
    )


def _ode(interval: tuple[float, float], truth: Truth) -> Program:
    make = _uniform(interval)
    return Program("f64", "f64", 10_000, make, truth, within(1e-2), by_hand=("packets",))


def _mean_passage(results: Array) -> float:
    mean = truths.FIRST_PASSAGE_DISTANCE**2
    return abs(float(results.mean()) / mean - 1) / 0.05


PROGRAMS = {
    "mandelbrot_image": _mandelbrot(_image, _SIDE * _SIDE),
    "mandelbrot_shuffled": _mandelbrot(_shuffled, _SIDE * _SIDE),
    "mandelbrot_escaping": _mandelbrot(_escaping, 800_000),
    "kepler": Program(
        "f64",
        "f64",
        1_000_000,
        _uniform((0, 2 * math.pi), (0, 0.9)),
        truths.kepler,
        within(1e-12),
        step=10,
        by_hand=("hand",),
    ),
    "ode_lorenz": _ode((20, 30), truths.ode(truths.lorenz_slope, (1, 1, 1), 5)),
    "ode_van_der_pol": _ode((1, 100), truths.ode(truths.van_der_pol_slope, (2, 0), 20)),
    "tree_ensemble": Program(
        "f32",
        "f32",
        10_000,
        make_ensemble,
        truths.tree_ensemble,
        within(1e-3),
        by_hand=("hand", "free"),
    ),
    "first_passage": Program(
        "i32",
        "i32",
        100_000,
        _no_arrays,
        truths.first_passage,
        _exact,
        step=100,
        other_generator=_mean_passage,
    ),
    "binomial_options": Program(
        "f32",
        "f32",
        20_000,
        _uniform((50, 150), (50, 150), (0.1, 2), dtype=np.float32),
        truths.binomial_options,
        within(2e-2),
    ),
    "implied_vol": Program(
        "f64", "f64", 200_000, _quotes, truths.implied_vol, within(1e-8), step=50
    ),
    "collatz": Program("i64", "i32", 1_000_000, _numbers, truths.collatz, _exact, step=10),
    "ray_bvh": Program(
        "f32", "f32", 512 * 512, make_rays, truths.ray_bvh, mostly(0.001, 1e-3), step=61
    ),
    "accumulate": Program("i32", "i32", 1_000_000, _integers, truths.accumulate, _exact),
}
