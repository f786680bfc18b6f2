"""A short tour: a few functions, their results, their times, and what lanewise did."""

import inspect
import math
from collections.abc import Callable
from time import perf_counter
from typing import Any

import numpy as np

from .arguments import Array
from .functions import select
from .loops import while_loop
from .vectorize import Vectorized, vectorize

_PLAIN_ELEMENTS = 5000  # of a plain Python loop: all of them would take too long
_REPEATS = 5


@vectorize
def square(x):  # type: ignore[no-untyped-def]
    """Multiply once: the least a map can do."""
    return x * x


@vectorize
def wave(x, damping):  # type: ignore[no-untyped-def]
    """Use NumPy's functions and a number that is shared by all elements."""
    return np.sin(x) * select(x > 0, 1 - damping * x, 1) + np.cos(3 * x)


@vectorize
def mandelbrot(a, b):  # type: ignore[no-untyped-def]
    """Loop until the point escapes, each element for itself."""
    return while_loop(
        lambda x, y, n: (x * x + y * y < 4) & (n < 200),
        lambda x, y, n: (x * x - y * y + a, 2 * x * y + b, n + 1),
        (0.0, 0.0, np.int32(0)),
    )[2]


def _plain_wave(x: float, damping: float) -> float:
    return math.sin(x) * (1 - damping * x if x > 0 else 1) + math.cos(3 * x)


def _plain_mandelbrot(a: float, b: float) -> int:
    x, y, n = 0.0, 0.0, 0
    while x * x + y * y < 4 and n < 200:
        x, y, n = x * x - y * y + a, 2 * x * y + b, n + 1
    return n


def tour() -> None:
    """Map the functions above and print what happened."""
    x = np.linspace(-3, 3, 1_000_000)
    _show(square, lambda x: x * x, x)
    _show(wave, _plain_wave, x, 0.25)
    a, b = np.meshgrid(np.linspace(-2.0, 0.6, 512), np.linspace(-1.2, 1.2, 512))
    _draw(_show(mandelbrot, _plain_mandelbrot, a, b))


def _show(function: Vectorized, plain: Callable[..., Any], *arguments: Any) -> Array:
    """Map one function, run the plain Python one beside it, and print both times."""
    result: Array
    first, result = _time(lambda: function(*arguments))
    best = min(_time(lambda: function(*arguments))[0] for _ in range(_REPEATS))
    chosen = np.linspace(0, result.size - 1, _PLAIN_ELEMENTS).astype(np.int64)
    rows = [np.broadcast_to(a, result.shape).ravel()[chosen].tolist() for a in arguments]
    seconds, values = _time(lambda: [plain(*element) for element in zip(*rows, strict=True)])
    seconds *= result.size / len(chosen)
    difference = np.abs(np.array(values) - result.ravel()[chosen]).max()

    print(inspect.getsource(function.__wrapped__).replace("  # type: ignore[no-untyped-def]", ""))
    got = ", ".join(str(a if np.ndim(a) == 0 else a.shape) for a in arguments)
    print(f"{function.name} of {got} gives {result.dtype} {result.shape}")
    print(f"  first call    {first * 1e3:8.2f} ms, with recording it; compiled beside")
    print(f"  best of {_REPEATS}     {best * 1e3:8.2f} ms")
    print(
        f"  plain Python  {seconds * 1e3:8.0f} ms, {seconds / best:.0f} times as long "
        f"(scaled up from {len(chosen)} elements, which differ by at most {difference:.1g})"
    )
    print(function.explain(*arguments))
    return result


def _time(call: Callable[[], Any]) -> tuple[float, Any]:
    start = perf_counter()
    result = call()
    return perf_counter() - start, result


def _draw(counts: Array) -> None:
    """Print an image of the counts, a character for each 32 x 8 elements."""
    shades = np.array(list(" .:-=+*#%@"))
    level = np.log2(counts[16::32, 4::8].astype(np.float64)) / np.log2(200)
    for row in shades[(level * (len(shades) - 1)).astype(np.int64)]:
        print("  " + "".join(row))
