"""lanewise from Python; output reused."""

import importlib
from types import SimpleNamespace
from typing import Any

from ..formulas import is_formula, make_formula, make_scaled_wave
from . import MissingError, Prepared, Task
from .lanewise_loops import LOOPS, MAKERS

lw: Any = importlib.import_module("lanewise")
if not hasattr(lw, "vectorize"):  # the folder of the C++ library
    raise ModuleNotFoundError("the Python package of lanewise")

_NAMES = ("sin", "cos", "exp", "log", "sqrt", "erf", "tanh")
_FUNCTIONS = SimpleNamespace(**{name: getattr(lw, name) for name in _NAMES}, pow=lw.power)


def prepare(task: Task) -> Prepared:
    out = task.new_output()
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
    return Prepared(lambda: function(*task.inputs, out=out))
