"""Functions that the tour and the benchmark run: here, in NumPy, and in plain Python."""

import math
from collections.abc import Callable
from time import perf_counter
from typing import Any, NamedTuple

import numpy as np

import lanewise as lw

from ..arguments import Array

STEPS = 200  # of the mandelbrot loop, at most
_WHILE = 0.3  # seconds in which calls are repeated
_PLAIN_ELEMENTS = 3000  # of a plain Python loop: all of them would take too long


def wave(x, damping):  # type: ignore[no-untyped-def]
    """Use NumPy's functions and a number that is shared by all elements."""
    scale = 1 - damping * x if x > 0 else 1
    return np.sin(x) * scale + np.cos(3 * x)


def mandelbrot(a, b):  # type: ignore[no-untyped-def]
    """Loop until the point escapes, each element for itself."""
    x = y = 0.0
    n = np.int32(0)
    while x * x + y * y < 4 and n < STEPS:
        x, y = x * x - y * y + a, 2 * x * y + b
        n += 1
    return n


def square(tf):  # type: ignore[no-untyped-def]
    """Square a thousand numbers."""
    arr = np.random.default_rng(1).random(1000)
    return lambda: tf.map_fn(lambda x: x**2, tf.constant(arr))


def pixels(tf):  # type: ignore[no-untyped-def]
    """Take roots pixel by pixel."""

    def process_image(image):  # type: ignore[no-untyped-def]
        for i in range(image.shape[0]):
            for j in range(image.shape[1]):
                image[i, j] = tf.math.sqrt(image[i, j])
        return image

    images = np.random.default_rng(2).random((100, 64, 64, 3), np.float32)
    return lambda: tf.map_fn(process_image, tf.constant(images))


def repeat_sum(tf):  # type: ignore[no-untyped-def]
    """Make much of each element, and sum it."""

    def process_element(element):  # type: ignore[no-untyped-def]
        large_tensor = tf.repeat(element, repeats=10000)
        return tf.reduce_sum(large_tensor)

    numbers = np.arange(1000, dtype=np.float32)
    return lambda: tf.map_fn(process_element, tf.constant(numbers))


def numpy_wave(x: Array, damping: float) -> Array:
    """Compute the wave array by array."""
    result: Array = np.sin(x) * np.where(x > 0, 1 - damping * x, 1) + np.cos(3 * x)
    return result


def numpy_mandelbrot(a: Array, b: Array) -> Array:
    """Step all points that have not escaped, until none is left."""
    count = np.zeros(a.size, np.int32)
    a, b = a.reshape(-1), b.reshape(-1)
    left = np.arange(a.size)
    x = np.zeros(a.size)
    y = np.zeros(a.size)
    for _ in range(STEPS):
        inside = x * x + y * y < 4
        left, a, b, x, y = left[inside], a[inside], b[inside], x[inside], y[inside]
        if left.size == 0:
            break
        count[left] += 1
        x, y = x * x - y * y + a, 2 * x * y + b
    return count


def plain_wave(x: float, damping: float) -> float:
    """Compute one element of the wave."""
    return math.sin(x) * (1 - damping * x if x > 0 else 1) + math.cos(3 * x)


def plain_mandelbrot(a: float, b: float) -> int:
    """Compute one point."""
    x, y, n = 0.0, 0.0, 0
    while x * x + y * y < 4 and n < STEPS:
        x, y, n = x * x - y * y + a, 2 * x * y + b, n + 1
    return n


class Workload(NamedTuple):
    """A function in three versions, and its arguments."""

    function: Callable[..., Any]
    numpy: Callable[..., Array]
    plain: Callable[..., Any]
    arguments: tuple[Any, ...]


class Times(NamedTuple):
    """Seconds that a workload took, and the result of lanewise."""

    first: float  # call of all, with recording
    best: float
    numpy: float
    plain: float  # scaled up from some elements
    difference: float  # of lanewise and plain Python, at most
    result: Array
    vectorized: lw.Vectorized


def workloads(elements: int) -> list[Workload]:
    """Return the workloads for about so many elements."""
    x = np.linspace(-3, 3, elements)
    height = max(1, math.isqrt(elements))
    width = max(1, elements // height)
    a, b = np.meshgrid(np.linspace(-2.0, 0.6, width), np.linspace(-1.2, 1.2, height))
    return [
        Workload(wave, numpy_wave, plain_wave, (x, 0.25)),
        Workload(mandelbrot, numpy_mandelbrot, plain_mandelbrot, (a, b)),
    ]


def measure(workload: Workload) -> Times:
    """Run the three versions and compare results."""
    vectorized = lw.vectorize(workload.function)
    arguments = workload.arguments
    first, result = _time(lambda: vectorized(*arguments))
    best = _best(lambda: vectorized(*arguments))
    by_numpy = _best(lambda: workload.numpy(*arguments))
    chosen, points = _some(workload)
    values = np.array([workload.plain(*point) for point in points])
    difference = float(np.abs(values - result.ravel()[chosen]).max())
    plain = plain_seconds(workload)
    return Times(first, best, by_numpy, plain, difference, result, vectorized)


def plain_seconds(workload: Workload) -> float:
    """Return how long a plain loop takes, scaled up from some elements."""
    size = np.broadcast(*workload.arguments).size
    points = _some(workload)[1]
    return _best(lambda: [workload.plain(*point) for point in points]) * size / len(points)


def _some(workload: Workload) -> tuple[Array, list[tuple[Any, ...]]]:
    """Return the numbers of some elements, and their arguments."""
    arguments = [a.ravel() for a in np.broadcast_arrays(*workload.arguments)]
    size = arguments[0].size
    chosen = np.linspace(0, size - 1, min(size, _PLAIN_ELEMENTS)).astype(np.int64)
    return chosen, list(zip(*(a[chosen].tolist() for a in arguments), strict=True))


def _best(call: Callable[[], Any]) -> float:
    """Return the shortest time of the calls in a while, in which machine code is ready too."""
    end = perf_counter() + _WHILE
    best = _time(call)[0]
    while perf_counter() < end:
        best = min(best, _time(call)[0])
    return best


def _time(call: Callable[[], Any]) -> tuple[float, Any]:
    start = perf_counter()
    result = call()
    return perf_counter() - start, result
