"""Programs in files: what was recorded of a function, without the function.

A file is an ``npz`` with a description in JSON, the programs as text and the arrays they captured.
Reading one runs no code: the text is parsed and verified, and nothing is unpickled.
"""

import json
import zipfile
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import numpy as np

from . import _core
from ._core import DType, ParamKind, Program
from .arguments import Leaf, Parameter, RaggedParameter, Signature, Static
from .cores import core_of
from .dtypes import FROM_NUMPY, Kind, Type, parts_of, type_named
from .errors import InternalError, UsageError
from .fixed import Fixed
from .records import Record
from .specialization import Found, Recorded, Request, are_pairs
from .trees import Node, Structure, leaf_names

_FORMAT = 3
_CONTAINERS = {"tuple": tuple, "list": list, "dict": dict, "record": Record}
_KEYS = (str, int, float, bool)  # of dicts: JSON has others as lists, or not at all
_MOST_BYTES = 1 << 30  # of the description: files are not trusted


def save(
    path: str | Path, name: str, core: str | None, programs: Iterable[tuple[Request, Found]]
) -> None:
    """Write programs to a file; `core` is the signature that `vectorize` was given."""
    arrays: dict[str, Any] = {}
    described = [
        _describe(name, request, found, arrays)
        for request, found in programs
        if not request.finds_lines
    ]
    if not described:
        raise UsageError(
            f"{name}: nothing to save; got a function that was not called yet, expected a program. "
            "Call it, or .lower, with such arguments first."
        )
    header = json.dumps(
        {"lanewise": _FORMAT, "name": name, "signature": core, "programs": described}
    )
    with Path(path).open("wb") as file:
        np.savez(file, header=np.frombuffer(header.encode(), np.uint8), **arrays)


def load(
    path: str | Path, max_steps: int
) -> tuple[str, str | None, list[tuple[Request, Recorded]]]:
    """Read the programs of a file, and verify them."""
    with Path(path).open("rb") as stream:
        try:
            return _load(stream, str(path), max_steps)
        except (UsageError, InternalError):
            raise
        except Exception as error:  # whatever readers make of bytes that are not a file of theirs
            raise UsageError(
                f"load: {path} is not a file of programs; got {type(error).__name__} ({error}), "
                "expected what Vectorized.save writes."
            ) from None


def _load(
    stream: Any, path: str, max_steps: int
) -> tuple[str, str | None, list[tuple[Request, Recorded]]]:
    with np.load(stream, allow_pickle=False) as file:
        members = file.zip.infolist()
        if any(member.compress_type != zipfile.ZIP_STORED for member in members):
            raise UsageError(
                f"load: {path} is compressed; got data that may unpack to any size, expected what "
                "Vectorized.save writes."
            )
        size = file.zip.getinfo("header.npy").file_size
        if size > _MOST_BYTES:
            raise UsageError(
                f"load: {path} is too large; got {size} bytes, expected at most {_MOST_BYTES}."
            )
        header = json.loads(file["header"].tobytes())
        if header["lanewise"] != _FORMAT:
            raise UsageError(
                f"load: {path} has another format; got {header['lanewise']}, expected "
                f"{_FORMAT}. Save it again with this version."
            )
        name = str(header["name"])
        signature = header["signature"]
        if signature is not None:
            core_of(signature)
        programs = [_read(name, one, file, max_steps) for one in header["programs"]]
        return name, signature, programs


def _describe(name: str, request: Request, found: Found, arrays: dict[str, Any]) -> Any:
    recorded = found.recorded
    if recorded.prints is not None:
        raise UsageError(
            f"{name}: cannot be saved; got a function that prints, expected one that does not: a "
            "file holds programs only. Save it without its print."
        )
    if recorded.folds is not None:
        raise UsageError(
            f"{name}: cannot be saved; got a function that adds to accumulators, expected one that "
            "does not: a file holds programs only. Return the values instead."
        )
    if any(isinstance(leaf, RaggedParameter) for leaf in request.signature.leaves):
        raise UsageError(
            f"{name}: cannot be saved; got rows of different lengths as an argument, expected "
            "arrays. Pass their values and offsets."
        )
    if any(isinstance(leaf, Static) for leaf in request.signature.leaves):
        raise UsageError(
            f"{name}: cannot be saved; got an excluded argument that is neither number nor array, "
            "expected arguments that a file can hold. Capture it instead."
        )
    captured = []
    for value in found.values:
        key = f"captured{len(arrays)}"
        arrays[key] = np.asarray(value)
        captured.append(
            [key, isinstance(value, (int, float, complex)) and not isinstance(value, np.generic)]
        )
    return {
        "is_masked": request.is_masked,
        "leaves": [_from_leaf(leaf) for leaf in request.signature.leaves],
        "structures": [_from_structure(name, s) for s in request.signature.structures],
        "types": [dtype.name for dtype in recorded.dtypes],
        "result": _from_structure(name, recorded.structure),
        "captured": captured,
        "program": recorded.program.text(checked=True),
        "shapes": recorded.program.shapes,
        "result_shapes": recorded.program.result_shapes,
        "sizes": recorded.sizes,
    }


def _from_leaf(leaf: Leaf) -> Any:
    assert isinstance(leaf, Parameter)
    return [leaf.kind.dtype.name, leaf.kind.weak, leaf.role.name, list(leaf.row)]


def _to_leaf(leaf: Any) -> Parameter:
    dtype, weak, role, row = leaf
    return Parameter(Kind(type_named(dtype), bool(weak)), ParamKind[role], tuple(map(int, row)))


def _from_structure(name: str, structure: Structure) -> Any:
    if structure is None:
        return None
    kind = structure.type.__name__.lower()
    if _CONTAINERS.get(kind) is not structure.type:
        raise UsageError(
            f"{name}: cannot be saved; got {structure.type.__name__}, expected tuples, lists and "
            "dicts: a file holds no classes."
        )
    for key in structure.names:
        if type(key) not in _KEYS:
            raise UsageError(
                f"{name}: cannot be saved; got a dict with the key {key!r}, expected strings and "
                "numbers of Python as keys."
            )
    return [kind, list(structure.names), [_from_structure(name, p) for p in structure.parts]]


def _to_structure(described: Any) -> Structure:
    if described is None:
        return None
    kind, names, parts = described
    container = _CONTAINERS[kind]
    expected = len(parts) if container in (dict, Record) else 0
    if not len(names) == len(set(names)) == expected:
        raise UsageError(
            f"load: a {kind} has other names than parts; got {len(names)}, expected {expected} "
            "that differ."
        )
    return Node(container, tuple(names), tuple(_to_structure(part) for part in parts))


def _check_leaves(what: str, structures: Iterable[Structure], expected: int) -> None:
    found = sum(len(leaf_names(structure, "")) for structure in structures)
    if found != expected:
        raise UsageError(
            f"load: containers hold other {what} than there are; got {found}, expected {expected}."
        )


def _read(name: str, described: Any, file: Any, max_steps: int) -> tuple[Request, Recorded]:
    types = tuple(type_named(name) for name in described["types"])
    shapes, result_shapes = (
        [tuple(shape) for shape in described[which]] for which in ("shapes", "result_shapes")
    )
    pairs = are_pairs(types, result_shapes)
    program = _core.parse(described["program"], None, pairs, shapes, result_shapes)
    expected = [
        part
        for dtype, is_pair in zip(types, pairs, strict=True)
        for part in parts_of(dtype)[: 2 if is_pair else 1]
    ]
    found = program.results(_core.MapOptions())
    if found != expected:
        raise UsageError(
            f"load: {program.name} has other results than the file says; got {len(found)}, "
            f"expected {len(expected)} of the types it lists."
        )
    if not program.is_checked:
        raise UsageError(
            "load: a program uses unchecked indices; got one that could read any memory, expected "
            "checked ones."
        )
    if program.has_loops and max_steps == 0:
        raise UsageError(
            f"load: {program.name} has loops, which may never end; got no limit, expected "
            "max_steps=. Give the steps that an element may take."
        )
    captured = []
    for key, is_number in described["captured"]:
        value = file[key]
        captured.append(value.item() if is_number else value if value.ndim else value[()])
    leaves = tuple(_to_leaf(leaf) for leaf in described["leaves"])
    structures = tuple(_to_structure(one) for one in described["structures"])
    result = _to_structure(described["result"])
    _check_leaves("arguments", structures, len(leaves))
    _check_leaves("results", [result], len(types))
    sizes = None if described["sizes"] is None else tuple(map(int, described["sizes"]))
    is_masked = bool(described["is_masked"])
    _check_parameters(program, leaves, is_masked, captured)
    recorded = Recorded(program, Fixed(captured), result, types, sizes=sizes)
    return Request(name, Signature(structures, leaves), None, None, is_masked), recorded


def _check_parameters(
    program: Program, leaves: tuple[Parameter, ...], is_masked: bool, captured: list[Any]
) -> None:
    """Refuse programs whose parameters are not those that the file describes."""
    expected = [
        each for leaf in leaves for each in _parameters(leaf.kind.dtype, leaf.role, leaf.row)
    ]
    if is_masked:
        expected.append((DType.Bool, ParamKind.Mapped, ()))
    for value in captured:
        array = np.asarray(value)
        role = ParamKind.Table if array.ndim else ParamKind.Shared
        expected += _parameters(FROM_NUMPY[array.dtype], role)
    found = [
        (*parameter, shape)
        for parameter, shape in zip(program.parameters, program.shapes, strict=True)
    ]
    if found != expected:
        raise UsageError(
            f"load: {program.name} has other parameters than the file says; got {len(found)}, "
            f"expected {len(expected)} of the types it lists."
        )


def _parameters(
    dtype: Type, role: ParamKind, row: tuple[int, ...] = ()
) -> list[tuple[DType, ParamKind, tuple[int, ...]]]:
    """Return the parameters of a program for an argument of this type, and their shapes."""
    parts = parts_of(dtype)
    if role is ParamKind.Table:
        return [(parts[0], role, ())]
    if row:  # parts of a complex number follow one another
        return [(parts[0], role, row if len(parts) == 1 else (*row, len(parts)))]
    return [(part, role, ()) for part in parts]
