"""Dr.Jit with its LLVM backend: traced and evaluated at every call; its pool reuses memory."""

import ctypes.util
import importlib
import os
import tempfile
from typing import Any

import numpy as np

from ..formulas import make_formula, make_scaled_wave
from . import MissingError, Prepared, Task

# It keeps compiled kernels in the home folder; the first call of a kernel is to be a first call.
_home = tempfile.TemporaryDirectory()
os.environ["HOME"] = _home.name
if "DRJIT_LIBLLVM_PATH" not in os.environ:
    for _name in ("LLVM-19", "LLVM-18", "LLVM-17", "LLVM"):
        if _found := ctypes.util.find_library(_name):
            os.environ["DRJIT_LIBLLVM_PATH"] = _found
            break

dr: Any = importlib.import_module("drjit")
llvm: Any = importlib.import_module("drjit.llvm")


class _Functions:
    sin, cos, exp, log, sqrt, erf, tanh = (
        dr.sin,
        dr.cos,
        dr.exp,
        dr.log,
        dr.sqrt,
        dr.erf,
        dr.tanh,
    )

    @staticmethod
    def pow(x: Any, y: Any) -> Any:
        return dr.power(x, y)


_ARRAYS = {
    "float32": llvm.Float,
    "float64": llvm.Float64,
    "int32": llvm.Int,
    "int64": llvm.Int64,
}


def _prepare_loop(task: Task, loop: Any) -> Prepared:
    arrays = [_ARRAYS[x.dtype.name](x) for x in [*task.inputs, *task.tables.values()]]
    dr.eval(arrays)
    arguments = arrays or [task.size]

    def call() -> Any:
        result = loop(*arguments)
        dr.eval(result)
        dr.sync_thread()
        return result

    return Prepared(call, np.array)


def prepare(task: Task) -> Prepared:
    if not dr.has_backend(dr.JitBackend.LLVM):
        raise MissingError("no shared library of LLVM; set DRJIT_LIBLLVM_PATH")
    dr.set_thread_count(task.threads)
    loops = importlib.import_module(f"{__package__}.drjit_loops").LOOPS
    if task.workload in loops:
        return _prepare_loop(task, loops[task.workload])
    number = {"f32": llvm.Float, "f64": llvm.Float64}[task.dtype]
    inputs = [number(x) for x in task.inputs]
    dr.eval(inputs)

    def call(function: Any) -> Any:
        result = function(*inputs)
        dr.eval(result)
        dr.sync_thread()
        return result

    if task.workload == "first_call":
        factors = iter(range(1_000_000))

        def first_call() -> Any:
            return call(make_scaled_wave(_Functions, 1 + next(factors) / 1024))

        return Prepared(first_call, np.array, once=True)
    formula = make_formula(task.workload, _Functions)
    return Prepared(lambda: call(formula), np.array)
