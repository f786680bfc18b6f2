"""NumPy, with SciPy's error function. One operation is given its output, as ours is."""

from functools import partial
from typing import Any

import numpy as np

from ..formulas import make_formula
from . import MissingError, Prepared, Task
from .numpy_tensors import BY_BLAS, TENSORS

_ONE_OPERATION: dict[str, Any] = {
    "exp": np.exp,
    "log": np.log,
    "sin": np.sin,
    "pow": np.power,
    "tanh": np.tanh,
}


class _Functions:
    sin, cos, exp, log, sqrt = np.sin, np.cos, np.exp, np.log, np.sqrt

    @property
    def erf(self) -> Any:
        from scipy.special import erf

        return erf


def _prepare_tensor(task: Task) -> Prepared:
    run = TENSORS[task.workload]
    out = task.new_output()

    def call() -> Any:
        run(*task.inputs, *task.tables.values(), out=out)
        return out

    return Prepared(call)


def prepare(task: Task) -> Prepared:
    if task.threads > 1 and task.workload not in BY_BLAS:
        raise MissingError("one thread only")
    if task.workload in TENSORS:
        return _prepare_tensor(task)
    out = np.empty_like(task.inputs[0])
    if task.workload == "first_call":
        return Prepared(partial(make_formula("wave", _Functions()), *task.inputs), once=True)
    if task.workload in _ONE_OPERATION:
        return Prepared(partial(_ONE_OPERATION[task.workload], *task.inputs, out=out))
    if task.workload == "square":
        return Prepared(partial(np.multiply, task.inputs[0], task.inputs[0], out=out))
    if task.workload == "saxpy":
        a = out.dtype.type(2.5)
        return Prepared(lambda: np.add(np.multiply(a, task.inputs[0], out), task.inputs[1], out))
    return Prepared(partial(make_formula(task.workload, _Functions()), *task.inputs))
