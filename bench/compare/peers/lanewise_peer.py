"""lanewise from Python; output reused."""

import importlib
from types import SimpleNamespace
from typing import Any

import numpy as np

from ..arrays import Array
from ..formulas import is_formula, make_formula, make_scaled_wave
from . import MissingError, Prepared, Task
from .lanewise_loops import LOOPS, MAKERS
from .lanewise_tensors import RAGGED, TENSORS

lw: Any = importlib.import_module("lanewise")
if not hasattr(lw, "vectorize"):  # the folder of the C++ library
    raise ModuleNotFoundError("the Python package of lanewise")

_NAMES = ("sin", "cos", "exp", "log", "sqrt", "erf", "tanh")
_FUNCTIONS = SimpleNamespace(**{name: getattr(lw, name) for name in _NAMES}, pow=lw.power)


def _prepare_tensor(task: Task, out: Array) -> Prepared:
    # What the process has after its first compile is not of this map.
    lw.map(lambda row: row.sum(), np.ones((2, 100), np.float32), compile="now")
    inputs: list[Any] = task.inputs
    tables = list(task.tables.values())
    target: Any = out
    if task.workload in RAGGED:
        make, signature = RAGGED[task.workload], None
        inputs = [lw.Ragged(*tables[:2])]
        del tables[:2]
        target = out if out.ndim == 1 else lw.Ragged(out.reshape(-1), inputs[0].offsets)
    else:
        make, signature = TENSORS[task.workload]
    function = lw.vectorize(
        make(*tables),
        signature=signature,
        threads=task.threads,
        compile="now",
        math="fast" if task.competitor.endswith(", fast") else "strict",
    )
    before: int = lw.memory_info().compiler.peak

    def call() -> Array:
        function(*inputs, out=target)
        return out

    return Prepared(
        call,
        apart=lambda: max(lw.memory_info().compiler.peak - before, 0),
        explain=lambda: function.explain(*inputs),
    )


def prepare(task: Task) -> Prepared:
    out = task.new_output()
    if task.workload in TENSORS or task.workload in RAGGED:
        return _prepare_tensor(task, out)
    if task.workload == "first_call":
        wave = make_scaled_wave(_FUNCTIONS, 1.0)
        factors = iter(range(1_000_000))

        def first_call() -> Any:
            nonlocal wave
            wave = make_scaled_wave(_FUNCTIONS, 1 + next(factors) / 1024)
            return lw.vectorize(wave, threads=task.threads)(*task.inputs, out=out)

        def settle() -> None:
            # The same program again: waits until its machine code is there.
            lw.vectorize(wave, threads=task.threads, compile="now")(*task.inputs, out=out)

        return Prepared(first_call, once=True, settle=settle)
    if task.workload in LOOPS:
        formula = LOOPS[task.workload]
    elif is_formula(task.workload):
        formula = make_formula(task.workload, _FUNCTIONS)
    elif task.workload in MAKERS:
        formula = MAKERS[task.workload](*task.tables.values())
    else:
        raise MissingError("not written")
    options = {} if task.inputs else {"count": task.size, "seed": 42}
    function = lw.vectorize(formula, threads=task.threads, compile="now", **options)
    return Prepared(
        lambda: function(*task.inputs, out=out), explain=lambda: function.explain(*task.inputs)
    )
