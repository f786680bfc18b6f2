"""What is measured: formulas with their inputs and true results, and the cases of a run.

Workloads with loops are in `programs`, those whose elements are rows and images in `tensors`.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from .arrays import DTYPES, Array, Data, describe
from .formulas import make_formula
from .programs import PROGRAMS, Program, make_judge
from .tensors import TENSORS

_MEGA = 1_000_000
LONG = 25 * _MEGA  # floats in an array of 100 MB


@dataclass(frozen=True)
class Workload:
    """Intervals that inputs are drawn from, and how far results may be from the truth.

    The tolerance counts in units of 2**-24 (2**-53 in f64) of `scale`, which says how large the
    terms are that a result is the sum of. It is what libraries of 4 ULP need.
    """

    intervals: tuple[tuple[float, float], ...]
    tolerance: float
    scale: Callable[..., Any] | None = None  # of the inputs; the true result if not given


WORKLOADS = {
    "wave": Workload(((-5, 5),), 16, lambda x: 1 + np.exp(x)),
    "square": Workload(((-5, 5),), 2),
    "poly": Workload(((-1, 1),), 16, lambda x: 4),
    "black_scholes": Workload(((50, 150), (50, 150), (0.1, 2)), 32, lambda s, k, t: s + k),
    "sine_chain": Workload(((-3, 3),), 200, lambda x: 1),
    "saxpy": Workload(((-5, 5), (-5, 5)), 4, lambda x, y: 2.5 * np.abs(x) + np.abs(y)),
    "exp": Workload(((-10, 10),), 8),
    "log": Workload(((0.01, 100),), 8, lambda x: np.maximum(np.abs(np.log(x)), 0.01)),
    "sin": Workload(((-10, 10),), 8, lambda x: np.maximum(np.abs(np.sin(x)), 0.01)),
    "pow": Workload(((0.1, 10), (-5, 5)), 16),
    "tanh": Workload(((-5, 5),), 12),
    "first_call": Workload(((-5, 5),), 16, lambda x: 1 + np.exp(x)),
}


class _Truth:
    """NumPy's functions, and an error function that is slow."""

    sin, cos, exp, log, sqrt, tanh, pow = np.sin, np.cos, np.exp, np.log, np.sqrt, np.tanh, np.power

    @staticmethod
    def erf(x: Array) -> Array:
        return np.array([math.erf(v) for v in x])


@dataclass(frozen=True)
class Case:
    """One table: a workload at one size, with the competitors that only some tables have."""

    workload: str
    dtype: str = "f32"
    size: int = _MEGA
    threads: int = 1
    extra: tuple[str, ...] = ()
    title: str = ""

    def __str__(self) -> str:
        threads = "1 thread" if self.threads == 1 else f"{self.threads} threads"
        return f"{self.title or self.workload} {self.dtype}, n = {self.size}, {threads}"

    @property
    def output_dtype(self) -> str:
        return self.dtype if self.program is None else self.program.output

    @property
    def output(self) -> str:
        """Type and shape of all results."""
        shape = () if self.program is None else self.program.shape
        return describe(self.output_dtype, (self.size, *shape))

    @property
    def program(self) -> Program | None:
        return PROGRAMS.get(self.workload) or TENSORS.get(self.workload)

    @property
    def is_tensor(self) -> bool:
        return self.workload in TENSORS

    def data(self) -> Data:
        random = np.random.default_rng(1)
        if self.program is not None:
            return self.program.make(random, self.size)
        intervals = WORKLOADS[self.workload].intervals
        dtype = DTYPES[self.dtype]
        inputs = [random.uniform(low, high, self.size).astype(dtype) for low, high in intervals]
        return Data(self.size, inputs)

    def judge(self, data: Data) -> Callable[[Array, bool], float]:
        """Return a function of results, and of whether they come from C++ or lanewise.

        It gives the largest error of a sample, in tolerances: above 1 is wrong.
        """
        if self.program is not None:
            return make_judge(self.program, data)
        error = self._error(data)
        return lambda results, _: error(results) if results.size == self.size else math.inf

    def _error(self, data: Data) -> Callable[[Array], float]:
        workload = WORKLOADS[self.workload]
        step = max(1, self.size // 100_000)
        # The 80-bit format of x86 for f64, whose truth must be better than f64.
        wide = np.float64 if self.dtype == "f32" else np.longdouble
        sample = [x[::step].astype(wide) for x in data.inputs]
        name = "wave" if self.workload == "first_call" else self.workload
        truth = make_formula(name, _Truth)(*sample)
        scale = np.abs(truth) if workload.scale is None else workload.scale(*sample)
        unit = 2.0**-24 if self.dtype == "f32" else 2.0**-53

        def error(results: Array) -> float:
            found = np.abs(results[::step] - truth) / (workload.tolerance * unit * scale)
            return math.inf if np.isnan(found).any() else float(found.max())

        return error


def all_cases(threads: int) -> list[Case]:
    """Return the cases of a whole run; those for two threads only where there are two."""
    fresh = ("lanewise, new output", "libmvec, new output")
    cases = [
        Case("wave", "f32", 1000),
        Case("wave", "f32", 10_000),
        Case("wave", "f32", 100_000),
        Case("wave", "f32", _MEGA, extra=("lanewise, tier 0",)),
        Case("wave", "f32", 10 * _MEGA, extra=fresh),
        Case("wave", "f32", 10 * _MEGA, 2),
        Case("wave", "f64", 1000),
        Case("wave", "f64", 10_000),
        Case("wave", "f64", 100_000),
        Case("wave", "f64", _MEGA),
        Case("wave", "f64", 10 * _MEGA),
        Case("square", "f32", 1000),
        Case("square", "f32", _MEGA),
        Case("square", "f32", LONG),
        Case("square", "f32", LONG, 2),
        Case("poly"),
        Case("black_scholes"),
        Case("black_scholes", "f32", 10 * _MEGA, extra=fresh),
        Case("sine_chain"),
        Case("sine_chain", "f64"),
        Case("saxpy"),
        Case("saxpy", "f32", LONG),
        Case("saxpy", "f32", LONG, 2),
        *(Case(name, title=f"single_functions: {name}") for name in SINGLE_FUNCTIONS),
        Case("square", "f32", 8, title="call_overhead: square"),
        Case("first_call", "f32", 1000),
        *(
            Case(name, program.dtype, program.size, count, (*SCHEDULES, *program.by_hand))
            for name, program in PROGRAMS.items()
            for count in (1, 2)
        ),
        *(
            Case(name, program.dtype, program.size, count, program.by_hand)
            for name, program in TENSORS.items()
            for count in (1, 2)
        ),
    ]
    return [case for case in cases if case.threads <= threads]


SCHEDULES = ("lanewise, packets", "lanewise, refill")
SINGLE_FUNCTIONS = ("exp", "log", "sin", "pow", "tanh")


def group_of(case: Case) -> str:
    """Return the name under which a case is asked for on the command line."""
    return (case.title or case.workload).partition(":")[0]
