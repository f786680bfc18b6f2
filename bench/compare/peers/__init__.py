"""One file per Python library. Each has ``prepare``, which makes a competitor of a workload."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from ..arrays import Array, new_array


class MissingError(Exception):
    """A library cannot do a workload."""


@dataclass
class Prepared:
    """A competitor on its workload."""

    call: Callable[[], Any]  # returns when the result is there; the result
    to_numpy: Callable[[Any], Any] = lambda result: result
    once: bool = False  # a call cannot be repeated to be seen warm
    settle: Callable[[], Any] = lambda: None  # ends what a call leaves behind, for others' peace
    apart: Callable[[], int] = lambda: 0  # bytes of the first call that are the compiler's
    explain: Callable[[], Any] | None = None  # what lanewise says of its last call


@dataclass(frozen=True)
class Task:
    """What `prepare` is asked for."""

    competitor: str
    workload: str
    dtype: str  # of the arithmetic
    output: str  # its type and shape, as `new_array` takes them
    size: int  # elements; a workload may have no inputs
    threads: int
    inputs: list[Array]  # a value, or a row, for each element
    tables: dict[str, Array]  # shared by all elements

    def new_output(self) -> Array:
        """Return an array for the results, of memory that is there."""
        array = new_array(self.output)
        array.fill(0)
        return array
