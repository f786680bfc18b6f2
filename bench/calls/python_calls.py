"""What a call from Python costs beside NumPy, in the same run: ratios, minimum of 15."""

import timeit
from collections.abc import Callable
from typing import Any

import numpy as np

import lanewise as lw

SCALE = 2.0


def nanoseconds(call: Callable[[], Any], number: int) -> float:
    return min(timeit.repeat(call, number=number, repeat=15)) / number * 1e9


def row(name: str, ours: Callable[[], Any], theirs: Callable[[], Any], number: int) -> None:
    ours()
    a, b = nanoseconds(ours, number), nanoseconds(theirs, number)
    print(f"{name:32} {a:12.0f} ns {b:12.0f} ns  {a / b:6.2f}")


def main() -> None:
    print(f"{'':32} {'lanewise':>15} {'NumPy':>15}   ratio")
    x = np.ones(8, np.float32)
    out = np.empty_like(x)
    square = lw.vectorize(lambda x: x * x, compile="now")
    scaled = lw.vectorize(lambda x: x * SCALE, compile="now")
    product = lw.vectorize(lambda x, y=2.0: x * y, compile="now")
    row("8 float32", lambda: square(x), lambda: np.multiply(x, x), 20_000)
    row("8 float32, a captured number", lambda: scaled(x), lambda: np.multiply(x, SCALE), 20_000)
    row("8 float32, two arrays", lambda: product(x, x), lambda: np.multiply(x, x), 20_000)
    row("8 float32, by name", lambda: product(x, y=x), lambda: np.multiply(x, x), 20_000)
    row("8 float32, out=", lambda: square(x, out=out), lambda: np.multiply(x, x, out=out), 20_000)
    large = np.linspace(0, 1, 1000)
    wave = lw.vectorize(lambda x: np.sin(x) + np.cos(x) * np.exp(x), compile="now")
    row("1000 float64, square", lambda: square(large), lambda: large * large, 5_000)
    row(
        "1000 float64, sin + cos * exp",
        lambda: wave(large),
        lambda: np.sin(large) + np.cos(large) * np.exp(large),
        1_000,
    )
    matrix, line = np.ones((1000, 1000)), np.ones(1000)
    add = lw.vectorize(lambda x, y: x + y, compile="now", threads=1)
    row("a matrix and a row", lambda: add(matrix, line), lambda: matrix + line, 5)
    row("transposed matrices", lambda: add(matrix.T, matrix.T), lambda: matrix.T + matrix.T, 5)


if __name__ == "__main__":
    main()
