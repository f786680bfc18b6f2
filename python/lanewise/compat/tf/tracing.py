"""What becomes of a `tf.function` for such arguments: a graph, a program, or a call of Python.

The function is called once on nodes, which gives a *graph* for all sizes (``graph_traces.py``).
Where Python needs the value of a tensor (``if``, ``while``, ``for``), the whole call is recorded as
a *program* of one element, in which these statements work. Where that cannot be, *Python* is called
as it is.
"""

from collections.abc import Callable, Sequence
from typing import Any, Protocol

import numpy as np

from ... import flow
from ...cores import ROWS
from ...trees import flatten, split_result, unflatten
from ...vectorize import Vectorized
from . import graph
from .arguments import Arguments, Parameters
from .dialect import TENSORFLOW
from .ops import is_numbers, wrapped
from .tensor import Tensor, array_of

Function = Callable[..., Any]
STALE = object()  # what a trace gives that does not hold any more


class Trace(Protocol):
    """A function made ready for such arguments."""

    mode: str
    reason: str
    arguments: Arguments

    def admits(self, leaves: Sequence[Any]) -> bool:
        """Say whether it is for tensors of these sizes."""

    def run(self, function: Function, leaves: Sequence[Any]) -> Any:
        """Return what the function returns; `STALE` if what it captures has changed."""

    def described(self) -> str:
        """Say what it is."""


def name_of(function: Function) -> str:
    """Return the name of a function."""
    return str(getattr(function, "__name__", "function"))


def as_result(value: Any) -> Any:
    """Return a result of a function as a tensor: variables are read where it ends."""
    if type(value) is Tensor:
        return value
    if value is graph.DONE:
        return None
    if hasattr(type(value), "read_value"):
        return value.read_value()
    if isinstance(value, (bool, int, float, complex, np.ndarray, np.generic)):
        return Tensor(np.asarray(array_of(value)))
    return value


def as_tensor(value: Any) -> Any:
    """Return an argument as a function gets it: arrays as tensors."""
    return value if type(value) in (Tensor, int, float) else Tensor(value)


class ProgramTrace:
    """The whole call as a program of one element."""

    mode = "program"

    def __init__(
        self, function: Function, parameters: Parameters, arguments: Arguments, reason: str
    ) -> None:
        self.reason = reason
        self._fed = arguments.fed
        for at in self._fed:
            array = array_of(arguments.leaves[at])
            if not np.size(array) or not is_numbers(array):
                raise TypeError(
                    f"{arguments.names[at]}: is empty, or not made of numbers; got {array!r}, "
                    "expected numbers."
                )
        leaves = [None if at in self._fed else leaf for at, leaf in enumerate(arguments.leaves)]
        self.arguments = arguments.with_leaves(leaves)
        self._program = Vectorized(
            _flat(function, parameters, self.arguments),
            name_of(function),
            core=ROWS,
            dialect=TENSORFLOW,
        )

    def admits(self, leaves: Sequence[Any]) -> bool:
        """Say that all sizes are fine: others are recorded anew."""
        return True

    def run(self, function: Function, leaves: Sequence[Any]) -> Any:
        """Return what the function returns."""
        values = [leaves[at] for at in self._fed]
        values = [v if type(v) in (int, float) else array_of(v) for v in values]
        is_mapped = any(np.ndim(value) for value in values)
        values = [value[None] if np.ndim(value) else value for value in values]
        result = self._program(*values) if is_mapped else self._program(*values, count=1)
        parts: list[Any] = []
        structure = flatten(result, parts, split_result)
        return wrapped(unflatten(structure, iter([part[0] for part in parts])))

    def described(self) -> str:
        """Say what it is."""
        return f"({', '.join(self.arguments.names)}) is one program for each shape"


def _flat(function: Function, parameters: Parameters, arguments: Arguments) -> Function:
    """Return a function of what is fed."""
    fed = arguments.fed

    def flat(*values: Any) -> Any:
        leaves = list(arguments.leaves)
        for at, value in zip(fed, values, strict=True):
            leaves[at] = value
        args, kwargs = parameters.arranged(arguments.nested(leaves))
        return flow.call(function, *args, **kwargs)

    return flat


class PythonTrace:
    """The function of Python as it is."""

    mode = "Python"

    def __init__(self, parameters: Parameters, arguments: Arguments, reason: str) -> None:
        self.arguments = arguments.with_leaves([])
        self.reason = reason
        self._parameters = parameters
        self._fed = arguments.fed

    def admits(self, leaves: Sequence[Any]) -> bool:
        """Say that all sizes are fine."""
        return True

    def run(self, function: Function, leaves: Sequence[Any]) -> Any:
        """Return what the function returns."""
        values = list(leaves)
        for at in self._fed:
            values[at] = as_tensor(values[at])
        args, kwargs = self._parameters.arranged(self.arguments.nested(values))
        with graph.eagerly():
            result = function(*args, **kwargs)
        parts: list[Any] = []
        structure = flatten(result, parts, split_result)
        return unflatten(structure, iter([as_result(part) for part in parts]))

    def described(self) -> str:
        """Say what it is."""
        return f"({', '.join(self.arguments.names)}) is called as it is"
