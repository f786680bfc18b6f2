"""``python -m bench.maps``: all figures of programs that were written for TensorFlow's maps.

Every result is compared before it is timed; times are the least of several, in one process for
both modules. Without TensorFlow only what needs none is measured.
"""

import importlib
import os
import statistics
import subprocess
import sys
import time
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

import lanewise.compat.tf as ours

from . import programs

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")


class Figure(NamedTuple):
    """A ratio, and what it has to be."""

    what: str
    value: float
    bar: float
    is_most: bool = False  # the bar is an upper one
    unit: str = ""

    def __str__(self) -> str:
        met = self.value <= self.bar if self.is_most else self.value >= self.bar
        sign = "at most" if self.is_most else "at least"
        verdict = "" if met else "  MISSED"
        return f"{self.what:66} {self.value:12.4g}{self.unit:3} {sign} {self.bar:g}{verdict}"


def least(function: Callable[[], Any], seconds: float = 0.5, most: int = 1000) -> float:
    """Return the least time of a call, of as many as there is time for."""
    best = float("inf")
    end = time.perf_counter() + seconds
    for _ in range(most):
        start = time.perf_counter()
        function()
        now = time.perf_counter()
        best = min(best, now - start)
        if now > end:
            break
    return best


def alone(module: str, *arguments: str) -> list[float]:
    """Return the numbers that a module prints which runs in a process of its own."""
    command = [sys.executable, "-m", f"bench.maps.{module}", *arguments]
    run = subprocess.run(command, capture_output=True, text=True, check=True)
    return [float(word) for word in run.stdout.split()]


def first_calls() -> list[Figure]:
    found = []
    for name, count in (("square", 1000), ("wave", 1000), ("wave", 10000)):
        runs = [alone("first_call", name, str(count)) for _ in range(7)]
        ratio = statistics.median(plain / mapped for plain, mapped in runs)
        found.append(Figure(f"{name}, n = {count}: first call, times the Python loop", ratio, 1))
    return found


def own_figures() -> list[Figure]:
    values = ours.constant(programs.images(100))
    loop, whole = programs.pixel_loop(ours), programs.whole_images(ours)
    expected = np.sqrt(values.numpy())
    for function in (loop, whole):
        for _ in range(3):  # machine code is there then
            assert np.array_equal(ours.map_fn(function, values).numpy(), expected)
            time.sleep(0.2)
    by_pixel = least(lambda: ours.map_fn(loop, values))
    at_once = least(lambda: ours.map_fn(whole, values))
    return [
        Figure(
            "images, loop over pixels: of the time of whole images", by_pixel / at_once, 1.5, True
        ),
        Figure(
            "repeat 10,000 and sum, 100,000 elements: memory",
            alone("memory")[0] / 1e6,
            16,
            True,
            "MB",
        ),
    ]


def against(theirs: Any) -> list[Figure]:
    array = programs.numbers(1000)
    own, other = ours.constant(array), theirs.constant(array)
    square = programs.square
    in_graph = theirs.function(lambda x: theirs.map_fn(square, x))
    at_once = theirs.function(lambda x: theirs.vectorized_map(square, x))
    ways: list[tuple[str, Callable[[], Any], float, float]] = [
        ("eager map_fn", lambda: theirs.map_fn(square, other), 1.0, 100_000),
        ("map_fn in a graph", lambda: in_graph(other), 0.5, 3_000),
        ("eager vectorized_map", lambda: theirs.vectorized_map(square, other), 1.0, 500),
        ("vectorized_map in a graph", lambda: at_once(other), 0.5, 10),
    ]
    for _ in range(3):
        result = ours.map_fn(square, own).numpy()
        time.sleep(0.1)
    mine = least(lambda: ours.map_fn(square, own), most=20000)
    found = []
    for name, run, seconds, bar in ways:
        assert np.allclose(run().numpy(), result, rtol=1e-14, atol=0)
        found.append(Figure(f"x ** 2, n = 1000: times {name}", least(run, seconds) / mine, bar))
    return [*found, *slow_programs(theirs), *datasets(theirs)]


def slow_programs(theirs: Any) -> list[Figure]:
    count = 50
    numbers = np.arange(count, dtype=np.float32)
    own, other = programs.repeat_sum(ours), programs.repeat_sum(theirs)
    expected = theirs.map_fn(other, theirs.constant(numbers)).numpy()
    tensor = ours.constant(numbers)
    for _ in range(3):
        assert np.allclose(ours.map_fn(own, tensor).numpy(), expected, rtol=1e-4)
        time.sleep(0.1)
    slow = least(lambda: theirs.map_fn(other, theirs.constant(numbers)), 1.0)
    quick = least(lambda: ours.map_fn(own, tensor))
    pictures = programs.images(2)
    stacked, loop = programs.stacked_pixel_loop(theirs), programs.pixel_loop(ours)
    mine = ours.constant(pictures)
    yours = theirs.map_fn(stacked, theirs.constant(pictures)).numpy()
    for _ in range(3):
        assert np.allclose(ours.map_fn(loop, mine).numpy(), yours)
        time.sleep(0.1)
    slow_images = least(lambda: theirs.map_fn(stacked, theirs.constant(pictures)), 1.0)
    quick_images = least(lambda: ours.map_fn(loop, mine))
    return [
        Figure("repeat 10,000 and sum: times map_fn", slow / quick, 100),
        Figure("loop over pixels: times map_fn of stacked pixels", slow_images / quick_images, 100),
    ]


def datasets(theirs: Any) -> list[Figure]:
    own, other = programs.dataset(ours, 1000), programs.dataset(theirs, 1000)
    assert [float(x) for x in own] == [float(x) for x in other]
    slow, quick = least(lambda: programs.drain(other), 2.0), least(lambda: programs.drain(own), 1.0)
    return [Figure("a mapped Dataset of 1000 elements: times TensorFlow's", slow / quick, 10)]


def main() -> None:
    figures = [*first_calls(), *own_figures()]
    try:
        theirs = importlib.import_module("tensorflow")
    except ImportError:
        print("without TensorFlow, which is not installed: pip install tensorflow-cpu")
    else:
        figures += against(theirs)
    print(*figures, sep="\n")


if __name__ == "__main__":
    main()
