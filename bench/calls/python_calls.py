"""What a call from Python costs beside NumPy, Dr.Jit and a plain loop in the same run: minima."""

import ctypes.util
import importlib
import itertools
import math
import os
import tempfile
import timeit
from collections.abc import Callable
from importlib.util import find_spec
from time import perf_counter
from typing import Any

import numpy as np

import lanewise as lw
from lanewise import _core

SCALE = 2.0


def nanoseconds(call: Callable[[], Any], number: int) -> float:
    return min(timeit.repeat(call, number=number, repeat=15)) / number * 1e9


def row(name: str, ours: Callable[[], Any], theirs: Callable[[], Any], number: int) -> None:
    ours()
    a, b = nanoseconds(ours, number), nanoseconds(theirs, number)
    print(f"{name:32} {a:12.0f} ns {b:12.0f} ns  {a / b:6.2f}")


_numbers = itertools.count()


def new_function(text: str) -> Callable[..., Any]:
    """Return a function whose code has not been seen before."""
    name = f"f{next(_numbers)}"
    made: dict[str, Any] = {"np": np}
    exec(f"def {name}(x):\n    return {text}\n", made)
    return made[name]  # type: ignore[no-any-return]


def first_call(name: str, text: str, plain: Callable[[float], float]) -> None:
    """Print the time of the first call ever of a function, beside that of a plain loop."""
    x = np.linspace(0, 1, 1000)
    values = x.tolist()
    ours = []
    for _ in range(31):
        lw.clear_cache()
        _core.clear_disk_cache()
        function = new_function(text)
        start = perf_counter()
        lw.vectorize(function)(x)
        ours.append(perf_counter() - start)
        lw.vectorize(function, compile="now")(x)  # waits for its machine code
    loop = nanoseconds(lambda: [plain(v) for v in values], 20)
    print(f"{name:32} {min(ours) * 1e9:12.0f} ns {loop:12.0f} ns  {min(ours) * 1e9 / loop:6.2f}")


def frozen_wave(x: Any) -> Callable[[], Any] | None:
    """Return the wave of Dr.Jit, frozen, on its own array; None if it is not there."""
    if find_spec("drjit") is None:
        return None
    if "DRJIT_LIBLLVM_PATH" not in os.environ:
        names = ("LLVM-20", "LLVM-19", "LLVM-18", "LLVM-17", "LLVM")
        library = next(filter(None, map(ctypes.util.find_library, names)), None)
        if library is None:
            return None
        os.environ["DRJIT_LIBLLVM_PATH"] = library
    dr: Any = importlib.import_module("drjit")
    llvm: Any = importlib.import_module("drjit.llvm")

    @dr.freeze  # type: ignore[untyped-decorator]
    def wave(x: Any) -> Any:
        return dr.sin(x) + dr.cos(x) * dr.exp(x)

    array = llvm.Float64(x)
    dr.eval(array)

    def call() -> Any:
        result = wave(array)
        dr.eval(result)
        dr.sync_thread()
        return result

    expected = np.sin(x) + np.cos(x) * np.exp(x)
    assert np.allclose(np.array(call()), expected, rtol=1e-12)
    return call


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
    frozen = frozen_wave(large)
    if frozen is not None:
        row("the same, Dr.Jit frozen beside", lambda: wave(large), frozen, 1_000)
    matrix, line = np.ones((1000, 1000)), np.ones(1000)
    add = lw.vectorize(lambda x, y: x + y, compile="now", threads=1)
    row("a matrix and a row", lambda: add(matrix, line), lambda: matrix + line, 5)
    row("transposed matrices", lambda: add(matrix.T, matrix.T), lambda: matrix.T + matrix.T, 5)


def first_calls() -> None:
    print(f"\n{'first call ever, n = 1000':32} {'lanewise':>15} {'plain loop':>15}   ratio")
    first_call("x * x", "x * x", lambda x: x * x)
    first_call(
        "sin + cos * exp",
        "np.sin(x) + np.cos(x) * np.exp(x)",
        lambda x: math.sin(x) + math.cos(x) * math.exp(x),
    )


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as folder:  # which first calls find empty
        os.environ["LANEWISE_CACHE_DIR"] = folder
        main()
        first_calls()
