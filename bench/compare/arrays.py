"""Arrays as competitors get them: one file with all, and a line that tells them apart."""

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
}
_LINE = 64
_NAMES = {np.dtype(dtype): name for name, dtype in DTYPES.items()}


@dataclass(frozen=True)
class Data:
    """Inputs have a value for each element, tables belong to all of them."""

    size: int  # elements
    inputs: list[Array]
    tables: dict[str, Array] = field(default_factory=dict)

    def write(self, path: Path) -> str:
        """Write all arrays and return their description, as bench/serve/serve.h has it."""
        named = [*(("input", x) for x in self.inputs), *self.tables.items()]
        with path.open("wb") as file:
            for _, array in named:
                np.ascontiguousarray(array).tofile(file)
        return " ".join(f"{name}:{_NAMES[array.dtype]}:{array.size}" for name, array in named)


def new_array(size: int, dtype: Any) -> Array:
    """Return memory that begins with a cache line, as competitors in C++ have it."""
    kind = np.dtype(dtype)
    memory = np.empty(size * kind.itemsize + _LINE, np.uint8)
    first = -memory.ctypes.data % _LINE
    return memory[first : first + size * kind.itemsize].view(kind)


def read_data(path: Path, description: str, size: int) -> Data:
    """Read what `Data.write` has written; every array has memory of its own."""
    data = Data(size, [])
    with path.open("rb") as file:
        for word in description.split():
            name, dtype, length = word.split(":")
            array = new_array(int(length), DTYPES[dtype])
            array[:] = np.fromfile(file, DTYPES[dtype], int(length))
            if name == "input":
                data.inputs.append(array)
            else:
                data.tables[name] = array
    return data
