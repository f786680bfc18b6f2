"""Numba: a compiled loop over the elements, with prange on several threads; output reused."""

import importlib
import math
from typing import Any

import numpy as np

from ..arrays import DTYPES
from ..formulas import make_formula, make_scaled_wave
from . import Prepared, Task
from .numba_loops import LOOPS, OPTIONS
from .numba_tensors import FASTMATH, TENSORS, solve_by_cramer

numba: Any = importlib.import_module("numba")


def _loop(function: Any, inputs: int, parallel: bool) -> Any:
    prange = numba.prange

    def one(out: Any, x: Any) -> None:
        for i in prange(out.size):
            out[i] = function(x[i])

    def two(out: Any, x: Any, y: Any) -> None:
        for i in prange(out.size):
            out[i] = function(x[i], y[i])

    def three(out: Any, x: Any, y: Any, z: Any) -> None:
        for i in prange(out.size):
            out[i] = function(x[i], y[i], z[i])

    # Without this a division is followed by a look at its divisor, and no loop is vectorised.
    return numba.njit((one, two, three)[inputs - 1], parallel=parallel, error_model="numpy")


def _prepare_loop(task: Task, function: Any, parallel: bool) -> Prepared:
    options = FASTMATH if task.competitor == "numba, fastmath" else OPTIONS
    loop = numba.njit(function, parallel=parallel, **options)
    out = task.new_output()
    arguments = (out, *task.inputs, *task.tables.values())

    def call() -> Any:
        loop(*arguments)
        return out

    return Prepared(call)


def prepare(task: Task) -> Prepared:
    numba.set_num_threads(min(task.threads, numba.config.NUMBA_NUM_THREADS))
    parallel = task.threads > 1
    if task.workload in LOOPS:
        return _prepare_loop(task, LOOPS[task.workload], parallel)
    if task.competitor == "numba, Cramer":
        return _prepare_loop(task, solve_by_cramer, parallel)
    if task.workload in TENSORS:
        return _prepare_loop(task, TENSORS[task.workload], parallel)
    number = DTYPES[task.dtype]
    out = np.empty_like(task.inputs[0])

    def call_loop(loop: Any) -> Any:
        loop(out, *task.inputs)
        return out

    if task.workload == "first_call":
        factors = iter(range(1_000_000))

        def first_call() -> Any:
            factor = number(1 + next(factors) / 1024)
            wave = numba.njit(make_scaled_wave(math, factor))
            return call_loop(_loop(wave, 1, parallel))

        return Prepared(first_call, once=True)
    function = numba.njit(make_formula(task.workload, math, number), error_model="numpy")
    loop = _loop(function, len(task.inputs), parallel)
    return Prepared(lambda: call_loop(loop))
