"""``tf.numpy_function`` and ``tf.py_function``: Python that is called with values.

A map that calls one runs for one element after the other: such a function cannot be recorded.
"""

from collections.abc import Callable
from typing import Any

import numpy as np

from ...errors import UsageError
from ...recorder import current
from ...source import at_line
from . import graph, sampling
from .dtypes import as_dtype
from .names import listed
from .tensor import Tensor, array_of, has_graph


def _called(call: str, func: Callable[..., Any], values: list[Any], outputs: Any) -> Any:
    """Call a function of Python; its results get the types that were said."""
    is_sample = sampling.holds_back()
    if outputs is None or (isinstance(outputs, (list, tuple)) and not outputs):
        if not is_sample:
            func(*values)
        return graph.DONE if is_sample else None
    several = isinstance(outputs, (list, tuple))
    kinds = [as_dtype(one) for one in (outputs if several else [outputs])]
    if is_sample:
        found = [np.zeros((), kind.dtype) for kind in kinds]
    else:
        result = func(*values)
        parts = list(result) if several else [result]
        if len(parts) != len(kinds):
            raise UsageError(
                f"{call}: another number of results; got {len(parts)}, expected {len(kinds)} as "
                "Tout says."
            )
        found = [np.asarray(array_of(part, kind)) for part, kind in zip(parts, kinds, strict=True)]
    tensors = [Tensor(one) for one in found]
    return tensors if several else tensors[0]


def _refuse_inside(call: str) -> None:
    if current() is not None:
        raise UsageError(
            at_line(
                f"{call}: calls Python with values; got a call for one element, expected functions "
                "of tensors. Write it with these, and it runs in lanes."
            )
        )


def numpy_function(
    func: Callable[..., Any],
    inp: Any = (),
    Tout: Any = None,  # noqa: N803
    stateful: bool = True,
    name: Any = None,
) -> Any:
    """Call a function of Python with arrays of NumPy; `Tout` says the types of its results."""
    _refuse_inside("numpy_function")
    if graph.building() is not None or has_graph(inp):
        return graph.record(numpy_function, (func, list(inp), Tout), {})
    return _called("numpy_function", func, [array_of(one) for one in inp], Tout)


def py_function(
    func: Callable[..., Any],
    inp: Any = (),
    Tout: Any = None,  # noqa: N803
    name: Any = None,
) -> Any:
    """Call a function of Python with tensors; `Tout` says the types of its results."""
    _refuse_inside("py_function")
    if graph.building() is not None or has_graph(inp):
        return graph.record(py_function, (func, list(inp), Tout), {})
    return _called("py_function", func, [Tensor(np.asarray(array_of(one))) for one in inp], Tout)


NAMES = {**listed("", [numpy_function, py_function])}
