"""Arrays as competitors get them: one file with all, and a line that tells them apart."""

import math
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

Array = np.ndarray[Any, np.dtype[Any]]

DTYPES: dict[str, Any] = {
    "f32": np.float32,
    "f64": np.float64,
    "i32": np.int32,
    "i64": np.int64,
    "u8": np.uint8,
    "u32": np.uint32,
}
_LINE = 64
_HUGE_PAGE = 2 << 20
_NAMES = {np.dtype(dtype): name for name, dtype in DTYPES.items()}


@dataclass(frozen=True)
class Data:
    """Inputs have a value, or a row, for each element, tables belong to all of them."""

    size: int  # elements
    inputs: list[Array]
    tables: dict[str, Array] = field(default_factory=dict)

    def write(self, path: Path) -> str:
        """Write all arrays and return their description, as bench/serve/serve.h has it."""
        named = [*(("input", x) for x in self.inputs), *self.tables.items()]
        with path.open("wb") as file:
            for _, array in named:
                np.ascontiguousarray(array).tofile(file)
        return " ".join(
            f"{name}:{describe(_NAMES[array.dtype], array.shape)}" for name, array in named
        )


def describe(dtype: str, shape: tuple[int, ...]) -> str:
    """Return type and shape as the protocol has them: f32:4096x1024."""
    return f"{dtype}:{'x'.join(str(length) for length in shape)}"


def new_array(description: str) -> Array:
    """Return memory that begins as that of competitors in C++: with a line, or a huge page."""
    dtype, _, lengths = description.partition(":")
    kind: np.dtype[Any] = np.dtype(DTYPES[dtype])
    shape = tuple(int(length) for length in lengths.split("x"))
    size = math.prod(shape) * kind.itemsize
    unit = _LINE if size < 2 * _HUGE_PAGE else _HUGE_PAGE  # which NumPy asks for then
    memory = np.empty(size + unit, np.uint8)
    first = -memory.ctypes.data % unit
    array: Array = memory[first : first + size].view(kind)
    return array.reshape(shape)


def read_data(path: Path, description: str, size: int) -> Data:
    """Read what `Data.write` has written; every array has memory of its own."""
    data = Data(size, [])
    with path.open("rb") as file:
        for word in description.split():
            name, _, description = word.partition(":")
            array = new_array(description)
            array[:] = np.fromfile(file, array.dtype, array.size).reshape(array.shape)
            if name == "input":
                data.inputs.append(array)
            else:
                data.tables[name] = array
    return data
