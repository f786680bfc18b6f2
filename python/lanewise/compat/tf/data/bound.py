"""Functions as they are when they are given to a dataset.

TensorFlow traces them at once, so numbers that they capture count as they are then; here they run
when somebody iterates. In ``for i in range(3): ds = ds.map(lambda x: x + i)`` each has its own.
"""

import dis
import operator
import types
from typing import Any

import numpy as np

_PLAIN = (bool, int, float, complex, str, bytes, np.generic)


def bound(function: Any) -> Any:
    """Return a function that keeps the numbers and texts which it captures at present."""
    if type(function) is not types.FunctionType:
        return function
    code = function.__code__
    names, stored = _names(code)
    cells = tuple(
        types.CellType(cell.cell_contents) if name not in stored and _is_plain_cell(cell) else cell
        for name, cell in zip(code.co_freevars, function.__closure__ or (), strict=True)
    )
    scope = function.__globals__
    if any(name not in stored and isinstance(scope.get(name), _PLAIN) for name in names):
        scope = dict(scope)
    elif all(map(operator.is_, cells, function.__closure__ or ())):
        return function
    copy = types.FunctionType(code, scope, function.__name__, function.__defaults__, cells)
    copy.__kwdefaults__ = function.__kwdefaults__
    copy.__qualname__ = function.__qualname__
    copy.__module__ = function.__module__
    return copy


def _is_plain_cell(cell: Any) -> bool:
    try:
        return isinstance(cell.cell_contents, _PLAIN)
    except ValueError:  # it is empty
        return False


def _names(code: types.CodeType) -> tuple[set[str], set[str]]:
    """Return the names that a function reads from outside, and those that it assigns there."""
    read, stored = set(), set()
    for step in dis.get_instructions(code):
        if step.opname in ("LOAD_GLOBAL", "LOAD_NAME"):
            read.add(step.argval)
        elif step.opname in ("STORE_GLOBAL", "STORE_DEREF", "DELETE_GLOBAL", "DELETE_DEREF"):
            stored.add(step.argval)
    for inner in code.co_consts:
        if isinstance(inner, types.CodeType):
            inner_read, inner_stored = _names(inner)
            read |= inner_read
            stored |= inner_stored
    return read, stored
