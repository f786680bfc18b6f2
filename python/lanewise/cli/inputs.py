"""Inputs of a command: arrays of files, mapped into memory where the format allows it, and numbers.

``.npy`` files and members of ``.npz`` files that are not compressed are mapped; compressed members
are read. The columns of ``.csv`` files go, some rows at a time, to files that are mapped. A file
with several arrays gives them by name.
"""

import csv
import re
import tempfile
import warnings
import zipfile
from contextlib import ExitStack
from pathlib import Path
from typing import IO, Any, NamedTuple

import numpy as np

from ..arguments import Array
from .errors import CommandError
from .target import Target, describe

SUFFIXES = (".npy", ".npz", ".csv")
_ROWS = 65536  # of a .csv file that are read at once
_FILE = re.compile(r"(?P<path>.+\.(npy|npz|csv))(:(?P<part>.+))?", re.IGNORECASE)


class Input(NamedTuple):
    """One word of the command line: a number, or arrays by name."""

    word: str
    parameter: str | None  # that it was given for, as in a=file.npy
    path: Path | None
    arrays: dict[str, Any]


def read(word: str, names: list[str]) -> Input:
    """Read one input; `names` are those of the function's parameters."""
    parameter, _, rest = word.partition("=")
    if rest and parameter in names:
        return read(rest, [])._replace(word=word, parameter=parameter)
    for convert in (int, float):
        try:
            return Input(word, None, None, {"": convert(word)})
        except ValueError:
            continue
    found = _FILE.fullmatch(word)
    if found is None:
        raise CommandError(
            f"not an input; got {word}, expected a number or a {', '.join(SUFFIXES)} file."
        )
    path = Path(found["path"])
    if not path.is_file():
        raise CommandError(f"no such file; got {path}, expected an input to read.")
    try:
        arrays = _READ[path.suffix.lower()](path)
    except (ValueError, OSError, zipfile.BadZipFile, EOFError) as error:
        raise CommandError(
            f"cannot read {path}; got {' '.join(str(error).split())}, expected an array of numbers."
        ) from None
    if found["part"] is not None:
        arrays = {found["part"]: _part(path, arrays, found["part"])}
    return Input(word, None, path, arrays)


def bind(target: Target, inputs: list[Input]) -> tuple[Any, ...]:
    """Return the arguments of the function, by position."""
    names = [parameter.name for parameter in target.parameters]
    given: dict[str, Any] = {}
    queue = []
    for one in inputs:
        if one.parameter is not None:
            _give(target, given, {one.parameter: _single(one)})
        elif len(one.arrays) == 1:
            queue.append(_single(one))
        elif any(name in names for name in one.arrays):
            _give(target, given, {k: v for k, v in one.arrays.items() if k in names})
        else:
            queue.extend(one.arrays.values())
    for name in names:
        if name not in given and queue:
            given[name] = queue.pop(0)
    missing = [p.name for p in target.parameters if p.is_needed and p.name not in given]
    if missing or (queue and not target.takes_more):
        got = sum(len(one.arrays) for one in inputs)
        problem = f"no input for {', '.join(missing)}" if missing else "more inputs than parameters"
        raise CommandError(
            f"{problem}; got {got} ({', '.join(one.word for one in inputs) or 'none'}), expected "
            f"those of {describe(target)}."
        )
    return (*(given.get(p.name, p.default) for p in target.parameters), *queue)


def _give(target: Target, given: dict[str, Any], arrays: dict[str, Any]) -> None:
    twice = [name for name in arrays if name in given]
    if twice:
        raise CommandError(
            f"two inputs for one parameter; got {', '.join(twice)} twice, expected each of "
            f"{describe(target)} once."
        )
    given.update(arrays)


def _single(one: Input) -> Any:
    if len(one.arrays) == 1:
        return next(iter(one.arrays.values()))
    raise CommandError(
        f"several arrays for one parameter; got {one.word} with {', '.join(one.arrays)}, expected "
        f"one. Name it: {one.word}:{next(iter(one.arrays), 'name')}."
    )


def _part(path: Path, arrays: dict[str, Any], part: str) -> Any:
    if part in arrays:
        return arrays[part]
    if part.isdecimal() and int(part) < len(arrays):
        return list(arrays.values())[int(part)]
    raise CommandError(
        f"no such array in {path}; got {part}, expected one of {', '.join(filter(None, arrays))}."
    )


def _fields(array: Array) -> dict[str, Any]:
    """Return an array as it is, and one of records by the names of their fields."""
    if array.dtype.names is None:
        return {"": array}
    return {name: array[name] for name in array.dtype.names}


def _read_npy(path: Path) -> dict[str, Any]:
    return _fields(np.asarray(np.load(path, mmap_mode="r", allow_pickle=False)))


def _read_npz(path: Path) -> dict[str, Any]:
    with zipfile.ZipFile(path) as archive:
        return {
            member.filename.removesuffix(".npy"): _read_member(path, archive, member)
            for member in archive.infolist()
        }


def _read_member(path: Path, archive: zipfile.ZipFile, member: zipfile.ZipInfo) -> Array:
    if member.compress_type != zipfile.ZIP_STORED:
        with archive.open(member) as file:
            return np.asarray(np.lib.format.read_array(file, allow_pickle=False))
    with path.open("rb") as file:
        file.seek(member.header_offset + 26)  # lengths of the name and of what follows it
        name, extra = np.frombuffer(file.read(4), "<u2").tolist()
        file.seek(name + extra, 1)
        version = np.lib.format.read_magic(file)
        read_header = (
            np.lib.format.read_array_header_1_0
            if version == (1, 0)
            else np.lib.format.read_array_header_2_0
        )
        shape, is_fortran, dtype = read_header(file)
        offset = file.tell()
    if dtype.hasobject:
        raise ValueError(f"{member.filename} with Python objects")
    order = "F" if is_fortran else "C"
    return np.asarray(np.memmap(path, dtype, "r", offset, shape, order))  # type: ignore[call-overload]


def _read_csv(path: Path) -> dict[str, Any]:
    with path.open(newline="") as file:
        rows = csv.reader(line for line in file if line.strip())
        first = next(rows, [])
        second = next(rows, [])
    has_header = any(not _is(float, cell) for cell in first)
    cells = second if has_header else first
    names = [cell.strip() for cell in first] if has_header else [str(i) for i in range(len(first))]
    if len(set(names)) < len(names) or not names:
        raise ValueError(f"columns {', '.join(names) or 'none'}")
    whole = [_is(int, cell) for cell in cells] if cells else [False] * len(names)
    columns = _load(path, has_header, ["i8" if is_whole else "f8" for is_whole in whole])
    return dict(zip(names, columns, strict=True))


def _load(path: Path, has_header: bool, types: list[str]) -> list[Array]:
    """Read all columns; if whole numbers turn out not to be, all as floats."""
    with warnings.catch_warnings():
        warnings.simplefilter("error", DeprecationWarning)  # 0.5 as a whole number
        warnings.filterwarnings("ignore", message=".*no data")
        try:
            return _load_as(path, has_header, types)
        except (ValueError, DeprecationWarning):
            if "i8" not in types:
                raise
    return _load(path, has_header, ["f8"] * len(types))


def _load_as(path: Path, has_header: bool, types: list[str]) -> list[Array]:
    """Read columns of these types through files without a name, which memory need not hold."""
    fields = np.dtype([(f"f{i}", type_) for i, type_ in enumerate(types)])
    with path.open() as lines, ExitStack() as stack:
        files = [stack.enter_context(tempfile.TemporaryFile()) for _ in types]
        rows = _ROWS
        while rows == _ROWS:
            block = np.loadtxt(
                lines,
                fields,
                delimiter=",",
                skiprows=int(has_header),
                max_rows=_ROWS,
                ndmin=1,
                quotechar='"',
            )
            has_header = False
            rows = block.size
            for file, name in zip(files, fields.names or (), strict=True):
                file.write(block[name].tobytes())
        return [_mapped(file, type_) for file, type_ in zip(files, types, strict=True)]


def _mapped(file: IO[bytes], dtype: str) -> Array:
    file.flush()
    if file.tell() == 0:
        return np.zeros(0, dtype)
    return np.asarray(np.memmap(file, dtype, "r"))


def _is(convert: type, cell: str) -> bool:
    try:
        convert(cell)
    except ValueError:
        return False
    return True


_READ = {".npy": _read_npy, ".npz": _read_npz, ".csv": _read_csv}
