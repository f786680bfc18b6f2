"""What the arguments of datasets have to be."""

from collections.abc import Callable
from typing import Any

from ....errors import UsageTypeError
from ....recorder import current
from ....source import at_line
from .. import graph
from ..tensor import array_of
from .bound import bound

Function = Callable[..., Any]
AUTOTUNE = -1


def checked_count(call: str, name: str, value: Any, least: int = 1) -> int:
    """Return a whole number, which may be a tensor, or refuse it."""
    try:
        count = None if isinstance(value, bool) else int(value.__index__())
    except (AttributeError, TypeError, ValueError):
        count = None
    if count is None or count < least:
        raise ValueError(
            f"{call}: {name} is not a whole number in range; got {value!r}, expected at least "
            f"{least}."
        )
    return count


def check_iterable() -> None:
    """Refuse to iterate where elements would become parts of a program, or of a graph."""
    if current() is not None:
        raise UsageTypeError(
            at_line(
                "Dataset: iterated over inside of a function that is recorded; got a dataset, "
                "expected tensors. Use Dataset.flat_map, or iterate outside."
            )
        )
    if graph.building() is not None:
        raise graph.NeedsValueError(graph.fed("int64", (), "element"), "Dataset")


def function_of(call: str, function: Any) -> Function:
    """Return a function with what it captures at present, or refuse what is none."""
    if not callable(function):
        raise TypeError(
            f"{call}: not a function; got {type(function).__name__}, expected a callable."
        )
    return bound(function)  # type: ignore[no-any-return]


def check_parallel(call: str, calls: Any) -> None:
    """Refuse a number of calls below 1; it has no effect."""
    if calls is not None and calls != AUTOTUNE:
        checked_count(call, "num_parallel_calls", calls)


def seed_of(seed: Any) -> int | None:
    """Return a seed, which may be a tensor, as a number."""
    return None if seed is None else int(array_of(seed))
