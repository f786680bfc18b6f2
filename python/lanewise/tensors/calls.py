"""Which functions are recorded on tensors, with which options, and what others are told."""

import functools
from collections.abc import Callable
from typing import Any

import numpy as np

from ..element import options_of
from ..errors import UsageTypeError
from ..source import at_line

# NumPy functions of tensors, beside those that are done number by number.
FUNCTIONS: dict[Any, Callable[..., Any]] = {}
# And their methods: np.add.reduce.
METHODS: dict[tuple[Any, str], Callable[..., Any]] = {}


def unsupported_tensor(name: str) -> UsageTypeError:
    """Return the error for a function that is not recorded."""
    return UsageTypeError(
        at_line(
            f"{name}: not supported on tensors; got a call inside a vectorized function, expected "
            "a function that lanewise records. Write it with operators, slices, reductions and "
            "loops."
        )
    )


def checked(name: str, function: Callable[..., Any], inputs: Any, options: dict[str, Any]) -> Any:
    """Call what records a function, with the options that it knows."""
    known = options_of(function)
    options = {
        key: value
        for key, value in options.items()
        if value is not np._NoValue and (key in known or not is_default(value))
    }
    if left := set(options) - known:
        raise unsupported_tensor(f"{name} with {', '.join(sorted(left))}=")
    return function(*inputs, **options)


def is_default(value: Any) -> bool:
    """Say whether an option is as if it were not given."""
    return value is None or value is np._NoValue


def name_of(function: Any) -> str:
    """Return what a function is called in errors."""
    if isinstance(function, functools.partial):
        return str(function.args[0]) if function.args else "function"
    return str(getattr(function, "__name__", "function")).strip("_<>")
