"""The file that results go to.

Results are written to files under other names in a directory of their own beside it, mapped into
memory; the last step gives them the name that was asked for. A run that fails leaves nothing.
"""

import csv
import os
import tempfile
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np

from ..arguments import Array
from ..blocks import split
from .errors import CommandError
from .inputs import SUFFIXES

_ROWS = 65536  # of a .csv file that are made text at once


class Files:
    """Arrays in files that do not have their name yet."""

    def __init__(
        self, directory: Path, names: list[str], dtypes: list[Any], shape: tuple[int, ...]
    ) -> None:
        self.files = [directory / f"{name}.npy" for name in names]
        self.arrays: list[Array] = [
            _make(file, dtype, shape) for file, dtype in zip(self.files, dtypes, strict=True)
        ]


def _make(file: Path, dtype: Any, shape: tuple[int, ...]) -> Array:
    """Make a file for an array, with all its bytes, so that a full disk is an error here."""
    mapped = np.lib.format.open_memmap(file, "w+", dtype, shape)
    with file.open("r+b") as opened:
        os.posix_fallocate(opened.fileno(), 0, file.stat().st_size)
    return np.asarray(mapped)


def check(path: Path, inputs: list[Path]) -> None:
    """Refuse outputs that cannot be written, or that would replace an input."""
    if path.suffix.lower() not in SUFFIXES:
        raise CommandError(
            f"not an output; got {path}, expected a name that ends in {', '.join(SUFFIXES)}."
        )
    if path.is_dir() or not path.parent.is_dir():
        raise CommandError(
            f"cannot be written; got {path}, expected a file in a directory that is there."
        )
    for one in inputs:
        if path.exists() and path.samefile(one):
            raise CommandError(
                f"the output is an input; got {path}, expected another file. Write to a new one "
                "and rename it."
            )


def check_fits(path: Path, names: list[str], shape: tuple[int, ...]) -> None:
    """Refuse results that the format cannot hold."""
    suffix = path.suffix.lower()
    if suffix == ".npy" and len(names) > 1:
        raise CommandError(
            f"several results in one .npy file; got {len(names)}, expected 1. Write to a .npz file."
        )
    if suffix == ".csv" and len(shape) > 1:
        raise CommandError(
            f"not a table; got results of shape {shape}, expected one dimension. Write to a .npy "
            "or .npz file."
        )


@contextmanager
def results_for(
    path: Path, names: list[str], dtypes: list[Any], shape: tuple[int, ...]
) -> Iterator[list[Array]]:
    """Give arrays for the results; at the end of the block they become the file."""
    check_fits(path, names, shape)
    with tempfile.TemporaryDirectory(prefix=".lanewise-", dir=path.parent) as directory:
        results = Files(Path(directory), names, dtypes, shape)
        yield results.arrays
        ready = _FINISH[path.suffix.lower()](Path(directory), names, results)
        ready.replace(path)


def _finish_npy(directory: Path, names: list[str], results: Files) -> Path:
    return results.files[0]


def _finish_npz(directory: Path, names: list[str], results: Files) -> Path:
    ready = directory / "ready"
    with zipfile.ZipFile(ready, "w", zipfile.ZIP_STORED) as archive:
        for file in results.files:
            archive.write(file, file.name)
            file.unlink()
    return ready


def _finish_csv(directory: Path, names: list[str], results: Files) -> Path:
    ready = directory / "ready"
    columns = [array.reshape(-1) for array in results.arrays]
    with ready.open("w", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(names)
        for block in split(columns[0].shape, _ROWS):
            writer.writerows(zip(*(map(str, c[block.place]) for c in columns), strict=True))
    return ready


_FINISH = {".npy": _finish_npy, ".npz": _finish_npz, ".csv": _finish_csv}
