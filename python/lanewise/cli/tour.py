"""``lanewise tour``: in a minute, what is slow elsewhere and what happens here, measured."""

import argparse
import html
import inspect
import textwrap
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

import lanewise as lw

from ..arguments import Array
from .errors import CommandError
from .pictures import Bar, bars, coloured, image_tag, lanes
from .questions import answer_all
from .workloads import STEPS, Times, Workload, measure, workloads

_ELEMENTS = 512 * 512
_LANES = 8
_SHOWN = 48  # elements in the picture of lanes

_INTRODUCTION = """\
A function for one element is called for a million. Plain Python interprets every step of every
element. NumPy runs each operation over whole arrays: fast where there are no loops, but every
operation reads and writes memory, and a loop that each element leaves at its own time has to be
turned inside out. lanewise records the function once and runs it in SIMD lanes, on every core."""
_REFILL = """\
Neighbouring elements take different numbers of steps. In packets, all lanes of a register wait for
the slowest; with refill, a lane that is done takes the next element inside the loop. Which of the
two is better is decided from counts of the real elements."""
_NEXT = """\
Next: lanewise map 'sin(x) * y' x.npy y.npy out.npy, lanewise explain, lanewise doctor."""


def run_tour(options: argparse.Namespace) -> int:
    """Run the workloads, print what happened, and write the page."""
    print(f"{_INTRODUCTION}\n")
    measured = []
    for workload in workloads(_ELEMENTS):
        times = measure(workload)
        _print(workload, times)
        measured.append((workload, times))
    counts = measured[-1][1].result
    _draw(counts)
    print(f"\n{_REFILL}\n\n{measured[-1][1].vectorized.explain(*measured[-1][0].arguments)}")
    answer_all()
    print(_NEXT)
    if options.html != "-":
        try:
            Path(options.html).write_text(_page(measured, counts), encoding="utf-8")
        except OSError as error:
            raise CommandError(
                f"the page cannot be written; got {error}, expected a file. Try --html -."
            ) from None
        print(f"Pictures: {options.html}")
    return 0


def source_of(function: Callable[..., Any]) -> str:
    """Return the source of a function as a user would write it."""
    source = textwrap.dedent(inspect.getsource(function))
    return "@lw.vectorize\n" + source.replace("  # type: ignore[no-untyped-def]", "")


def _print(workload: Workload, times: Times) -> None:
    print(source_of(workload.function))
    arguments = ", ".join(str(a if np.ndim(a) == 0 else a.shape) for a in workload.arguments)
    name = times.vectorized.name
    print(f"{name} of {arguments} gives {times.result.dtype} {times.result.shape}")
    print(f"  first call    {times.first * 1e3:9.2f} ms, with recording it; compiled beside")
    print(f"  best call     {times.best * 1e3:9.2f} ms")
    print(f"  NumPy         {times.numpy * 1e3:9.2f} ms, {_ratio(times.numpy, times)}")
    print(
        f"  plain Python  {times.plain * 1e3:9.0f} ms, {_ratio(times.plain, times)} (scaled up "
        f"from some elements, which differ by at most {times.difference:.1g})\n"
    )


def _ratio(seconds: float, times: Times) -> str:
    return f"{seconds / times.best:.0f} times as long"


def _draw(counts: Array) -> None:
    """Print an image of the counts, a character for each 32 x 8 elements."""
    shades = np.array(list(" .:-=+*#%@"))
    for row in shades[(_level(counts[16::32, 4::8]) * (len(shades) - 1)).astype(np.int64)]:
        print("  " + "".join(row))


def _level(counts: Array) -> Array:
    """Return counts as numbers from 0 to 1."""
    level: Array = np.log2(np.maximum(counts, 1).astype(np.float64)) / np.log2(STEPS)
    return level


def _page(measured: list[tuple[Workload, Times]], counts: Array) -> str:
    """Return the page: text, code, bars, the image and the lanes."""
    parts = [f"<p>{html.escape(_INTRODUCTION)}</p>"]
    for workload, times in measured:
        name = workload.function.__name__
        parts.append(f"<h2>{name}</h2><pre>{html.escape(source_of(workload.function))}</pre>")
        rows = [
            Bar("plain Python", times.plain, f"{times.plain * 1e3:.0f} ms"),
            Bar("NumPy", times.numpy, f"{times.numpy * 1e3:.1f} ms"),
            Bar("lanewise", times.best, f"{times.best * 1e3:.2f} ms"),
        ]
        parts.append(bars(rows))
        parts.append(
            f"<p>{times.result.size} elements; first call {times.first * 1e3:.1f} ms. The scale is "
            "logarithmic; plain Python is scaled up from some of the elements.</p>"
        )
    parts.append(image_tag(coloured(_level(counts)), "steps until each point escapes"))
    row = counts[counts.shape[0] // 3]
    begin = int(np.argmax(row == row.max())) - _SHOWN // 2
    some = row[max(begin, 0) :][:_SHOWN]
    parts.append(
        f"<h2>Lanes</h2><p>{html.escape(_REFILL)}</p><p>{len(some)} points, as packets:</p>"
    )
    parts.append(lanes(some, _LANES, refill=False))
    parts.append("<p>and with refill:</p>" + lanes(some, _LANES, refill=True))
    workload, times = measured[-1]
    explained = html.escape(str(times.vectorized.explain(*workload.arguments)))
    parts.append(f"<h2>What it says it did</h2><pre>{explained}</pre>")
    return _PAGE.format(version=lw.__version__, body="\n".join(parts))


_PAGE = """<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<title>lanewise {version}: tour</title>
<style>
body {{ font: 16px/1.5 sans-serif; max-width: 46em; margin: 2em auto; padding: 0 1em; color: #222 }}
pre {{ background: #f4f5f7; padding: 0.8em; overflow-x: auto; font-size: 13px }}
svg {{ max-width: 100%; font: 13px sans-serif }}
img {{ max-width: 100% }}
</style>
</head>
<body>
<h1>lanewise {version}</h1>
{body}
</body>
</html>
"""
