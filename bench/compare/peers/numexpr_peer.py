"""numexpr: the formula as text; output reused."""

import importlib
from typing import Any

import numpy as np

from ..arrays import DTYPES
from . import MissingError, Prepared, Task

numexpr: Any = importlib.import_module("numexpr")


# Constants are variables of the inputs' type: one in the text would make doubles of all.
_CONSTANTS = {"a": 2.5} | {f"c{k}": 1 / k for k in range(1, 18)}


def _horner() -> str:
    text = "c17"
    for k in range(16, 0, -1):
        text = f"({text} * x + c{k})"
    return text


_TEXTS = {
    "wave": "sin(x) + cos(x) * exp(x)",
    "square": "x * x",
    "poly": _horner(),
    "sine_chain": "sin(" * 100 + "x" + ")" * 100,
    "saxpy": "a * x + y",
    "exp": "exp(x)",
    "log": "log(x)",
    "sin": "sin(x)",
    "pow": "x ** y",
    "tanh": "tanh(x)",
}


def prepare(task: Task) -> Prepared:
    numexpr.set_num_threads(task.threads)
    out = np.empty_like(task.inputs[0])
    number = DTYPES[task.dtype]
    values = dict(zip("xyz", task.inputs, strict=False))
    values |= {name: number(value) for name, value in _CONSTANTS.items()}
    if task.workload == "first_call":
        factors = iter(range(1_000_000))

        def first_call() -> Any:
            name = f"factor{next(factors)}"
            text = f"({_TEXTS['wave']}) * {name}"
            return numexpr.evaluate(text, {**values, name: number(1)}, out=out)

        return Prepared(first_call, once=True)
    if task.workload not in _TEXTS:
        raise MissingError("no error function")
    text = _TEXTS[task.workload]
    return Prepared(lambda: numexpr.evaluate(text, values, out=out))
