"""Runs the cases: prepares and checks each competitor, then asks all of them in turn."""

import math
import os
import sys
import tempfile
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from .arrays import DTYPES, Array
from .cases import Case
from .process import MissingError, Process, idlest_core

# All competitors, in the order of tables, and the process each lives in. "lanewise" is apart from
# the other C++ code: its memory is measured.
_PROCESSES = {
    "lanewise": "lanewise",
    "lanewise, new output": "lanewise",
    "lanewise, tier 0": "lanewise",
    "lanewise, packets": "lanewise",
    "lanewise, refill": "lanewise",
    "lanewise, fast": "lanewise",
    "lanewise from Python": "python:lanewise",
    "lanewise from Python, fast": "python:lanewise",
    "hand": "loops",
    "free": "loops",
    "packets": "loops",
    "bandwidth": "loops",
    "libmvec": "loops",
    "libmvec, new output": "loops",
    "scalar": "loops",
    "numpy": "python:numpy",
    "numba": "python:numba",
    "numexpr": "python:numexpr",
    "numba, fastmath": "python:numba",
    "numba, Cramer": "python:numba",
    "jax": "python:jax",
    "jax, vmap": "python:jax_vmap",
    "drjit": "python:drjit",
    "taichi": "python:taichi",
    "tensorflow": "python:tensorflow",
    "tensorflow, vectorized_map": "python:tensorflow",
    "torch": "python:torch",
}
_FROM_PYTHON = "lanewise from Python"
# Those that a table has without being told.
_ALWAYS = {"lanewise", _FROM_PYTHON, "scalar", "numba", "jax", "drjit"}
_OF_FORMULAS = _ALWAYS | {"hand", "free", "libmvec", "numpy", "numexpr"}
_OF_PROGRAMS = _ALWAYS | {"taichi", "jax, vmap"}
_OF_TENSORS = {_FROM_PYTHON, "numpy", "numba", "jax", "tensorflow", "torch"}

# A competitor that takes so long is as well known after a few turns.
_LONG = 1.0
_LONG_TURNS = 3

LABELS = {
    "lanewise": "lanewise",
    "hand": "C++ by hand, our rules",
    "free": "C++ by hand, free",
    "packets": "C++ by hand, packets",
    "bandwidth": "C++ that only reads and writes",
    "libmvec": "C++ with libmvec",
    "libmvec, new output": "C++ with libmvec, new output",
    "scalar": "C++ scalar",
    "numpy": "NumPy",
    "numba": "Numba",
    "numba, fastmath": "Numba, fastmath",
    "numba, Cramer": "Numba, Cramer's rule",
    "numexpr": "numexpr",
    "jax": "JAX",
    "jax, vmap": "JAX, vmap of all",
    "drjit": "Dr.Jit",
    "taichi": "Taichi",
    "tensorflow": "TensorFlow, XLA",
    "tensorflow, vectorized_map": "TensorFlow, vectorized_map",
    "torch": "PyTorch",
}


@dataclass
class Result:
    """Least seconds of a call by competitor, and why some have none."""

    case: Case
    seconds: dict[str, float] = field(default_factory=dict)
    growth: dict[str, int] = field(default_factory=dict)  # bytes above a warm process's, at most
    first: dict[str, float] = field(default_factory=dict)  # the same of the first call, in Python
    missing: dict[str, str] = field(default_factory=dict)


def _competitors(case: Case) -> list[str]:
    usual = _OF_TENSORS if case.is_tensor else _OF_PROGRAMS if case.program else _OF_FORMULAS
    return [name for name in _PROCESSES if name in usual or name in case.extra]


def all_competitors() -> list[str]:
    return list(_PROCESSES)


class Driver:
    """Owns the processes; each is started when it is first needed, once per number of threads."""

    def __init__(
        self, binary: Path, isa: str, repeats: int, competitors: list[str] | None = None
    ) -> None:
        self._wanted = competitors or list(_PROCESSES)
        self._binary = binary
        self._isa = isa
        self._repeats = repeats
        self._cores = {1: {idlest_core()}, 2: set(sorted(os.sched_getaffinity(0))[:2])}
        self._processes: dict[tuple[str, int], Process] = {}
        self._folder = tempfile.TemporaryDirectory()

    def run(self, case: Case) -> Result:
        result = Result(case)
        data = case.data()
        arrays = data.write(self._path("inputs"))
        judge = case.judge(data)
        for name in _competitors(case):
            if name not in self._wanted:
                continue
            try:
                process = self._process(name, case.threads)
                result.first[name] = self._prepare(process, name, case, arrays)
                self._check(name, judge, case.output_dtype)
                if case.is_tensor and name == _FROM_PYTHON:
                    result.first[name] = self._first_growth(case, arrays)
                result.seconds[name] = math.inf
            except MissingError as error:
                result.missing[name] = str(error)
        for turn in range(self._repeats):
            for name, seconds in list(result.seconds.items()):
                if turn >= _LONG_TURNS and seconds > _LONG:
                    continue
                try:
                    self._take_turn(name, result, first=turn == 0)
                except MissingError as error:
                    result.missing[name] = str(error)
                    del result.seconds[name]
        for process in self._processes.values():
            try:
                process.ask("release")
            except MissingError:
                continue  # it has ended; the tables say so
        return result

    def figure(self, what: str, of: object) -> float:
        """Return a number about lanewise alone, from a fresh process."""
        process = self._start("lanewise", 1)
        try:
            return process.ask("figure", what, of)
        finally:
            process.close()

    def close(self) -> None:
        for process in self._processes.values():
            process.close()
        self._folder.cleanup()

    def _take_turn(self, name: str, result: Result, *, first: bool) -> None:
        process = self._process(name, result.case.threads)
        if first:
            process.reset_peak()
        seconds = process.ask("run", name)
        result.seconds[name] = min(result.seconds[name], seconds)
        if first:
            result.growth[name] = process.peak_growth()

    def _first_growth(self, case: Case, arrays: str) -> float:
        """Measure again in a fresh process: one that has run others reuses their memory."""
        process = self._start(_PROCESSES[_FROM_PYTHON], case.threads)
        try:
            return self._prepare(process, _FROM_PYTHON, case, arrays)
        finally:
            process.close()

    def _prepare(self, process: Process, name: str, case: Case, arrays: str) -> float:
        """Have the competitor write its results; return the bytes its first call needed."""
        self._path("output").unlink(missing_ok=True)
        return process.ask(
            "prepare",
            name,
            case.workload,
            case.dtype,
            case.output,
            case.size,
            case.threads,
            arrays,
            self._path("inputs"),
            self._path("output"),
        )

    def _check(self, name: str, judge: Callable[[Array, bool], float], dtype: str) -> None:
        if name == "bandwidth":
            return  # it computes nothing
        results = np.fromfile(self._path("output"), DTYPES[dtype])
        ours = _PROCESSES[name] in ("lanewise", "loops", "python:lanewise")
        error = judge(results, ours)
        if not error <= 1:
            raise MissingError(f"not timed: its error is {error:.3g} times what is allowed")

    def _process(self, name: str, threads: int) -> Process:
        key = (_PROCESSES[name], threads)
        if key in self._processes and self._processes[key].has_ended():
            self._processes.pop(key).close()
        if key not in self._processes:
            self._processes[key] = self._start(*key)
        return self._processes[key]

    def _start(self, kind: str, threads: int) -> Process:
        group, _, library = kind.partition(":")
        if group == "python":
            command = [sys.executable, "-m", f"{__package__}.peers", library]
        else:
            command = [str(self._binary), "serve", self._isa]
        return Process(command, self._cores[threads])

    def _path(self, name: str) -> Path:
        return Path(self._folder.name) / name
