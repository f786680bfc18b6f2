"""``lanewise bench``: a few functions against NumPy and other libraries that are there.

All take turns, so that what else the machine does meets everybody; the shortest call counts.
"""

import argparse
from collections.abc import Callable
from time import perf_counter
from typing import Any, NamedTuple

import numpy as np

import lanewise as lw

from ..arguments import Array
from .errors import CommandError
from .peers import peers_of
from .workloads import Workload, plain_seconds, workloads

_LEAST_TURNS = 5
_WHILE = 2.0  # seconds that the turns of one function take, if those are more
_TOLERANCE = 1e-9  # between results, where they are not whole numbers


class Entry(NamedTuple):
    """What one library took: seconds of the first and of the shortest call."""

    name: str
    first: float
    best: float
    is_equal: bool  # its results are those of lanewise


def run_bench(options: argparse.Namespace) -> int:
    """Time the workloads and print a table for each."""
    if options.elements < 1:
        raise CommandError(f"not a number of elements; got {options.elements}, expected 1 or more.")
    for workload in workloads(options.elements):
        entries = _measure(workload)
        best = entries[0].best
        size = np.broadcast(*workload.arguments).size
        print(f"{workload.function.__name__}, {size} elements")
        print(f"  {'':<14}{'first call':>14}{'best call':>14}{'times lanewise':>16}")
        for entry in entries:
            remark = "" if entry.is_equal else "   other results"
            print(
                f"  {entry.name:<14}{entry.first * 1e3:>11.2f} ms{entry.best * 1e3:>11.2f} ms"
                f"{entry.best / best:>15.1f}x{remark}"
            )
        seconds = plain_seconds(workload)
        print(f"  {'plain Python':<14}{'':>14}{seconds * 1e3:>11.0f} ms{seconds / best:>15.1f}x\n")
    print("plain Python is scaled up from some of the elements")
    return 0


def _measure(workload: Workload) -> list[Entry]:
    """Let all take turns on one workload; lanewise is the first entry."""
    arguments = workload.arguments
    calls = {"lanewise": lw.vectorize(workload.function), **peers_of(workload)}
    results: dict[str, Array] = {}
    firsts: dict[str, float] = {}
    for name, call in calls.items():
        firsts[name], result = _time(call, arguments)
        results[name] = np.array(result).reshape(-1)
    bests = dict.fromkeys(calls, float("inf"))
    end = perf_counter() + _WHILE
    turns = 0
    while turns < _LEAST_TURNS or perf_counter() < end:
        for name, call in calls.items():
            bests[name] = min(bests[name], _time(call, arguments)[0])
        turns += 1
    ours = results["lanewise"]
    return [
        Entry(name, firsts[name], bests[name], _are_equal(ours, results[name])) for name in calls
    ]


def _time(call: Callable[..., Any], arguments: tuple[Any, ...]) -> tuple[float, Any]:
    start = perf_counter()
    result = call(*arguments)
    return perf_counter() - start, result


def _are_equal(ours: Array, theirs: Array) -> bool:
    if ours.dtype.kind == "i":
        return np.array_equal(ours, theirs)
    return bool(np.allclose(ours, theirs, _TOLERANCE, _TOLERANCE))
