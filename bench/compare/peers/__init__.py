"""One file per Python library. Each has ``prepare``, which makes a competitor of a workload."""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np


class MissingError(Exception):
    """A library cannot do a workload."""


@dataclass
class Prepared:
    """A competitor on its workload."""

    call: Callable[[], Any]  # returns when the result is there; the result
    to_numpy: Callable[[Any], Any] = lambda result: result
    once: bool = False  # a call cannot be repeated to be seen warm
    settle: Callable[[], Any] = lambda: None  # ends what a call leaves behind, for others' peace


@dataclass(frozen=True)
class Task:
    """What `prepare` is asked for."""

    workload: str
    dtype: str
    threads: int
    inputs: list[Any]  # NumPy arrays
    tables: dict[str, Any] = field(default_factory=dict)  # NumPy arrays that all elements share
    size: int = 0  # of the result; 0: of the first input
    output_dtype: str = ""  # "": the dtype

    def new_output(self) -> Any:
        """Return an array for the results."""
        dtypes = {"f32": np.float32, "f64": np.float64, "i32": np.int32, "i64": np.int64}
        size = self.size or self.inputs[0].size
        return np.empty(size, dtypes[self.output_dtype or self.dtype])
