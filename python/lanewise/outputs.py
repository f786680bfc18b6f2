"""Arrays for the results that a caller gives."""

from typing import Any

import numpy as np

from .arguments import Array
from .dtypes import TO_NUMPY, Type
from .errors import UsageError, UsageTypeError
from .trees import Structure, flatten, leaf_names, parts_of


def check_outputs(
    call: str,
    out: Any,
    shape: tuple[int, ...],
    dtypes: tuple[Type, ...],
    rows: list[tuple[int, ...]],
    structure: Structure,
) -> tuple[Array, ...]:
    """Return `out` as arrays that results fit into.

    `shape` is mapped over; `rows` are the shapes of the results' elements.
    """
    outputs: list[Any] = []
    given = flatten(out, outputs, split)
    if len(outputs) != len(dtypes):
        raise UsageError(
            f"{call}: wrong number of outputs; got {len(outputs)}, expected {len(dtypes)}, "
            "one for each result."
        )
    if structure is not None and not _fits(given, structure):
        raise UsageError(
            f"{call}: out is nested in another way than the results; got "
            f"{', '.join(leaf_names(given, 'out'))}, expected "
            f"{', '.join(leaf_names(structure, 'out'))}."
        )
    for index, (array, dtype, row) in enumerate(zip(outputs, dtypes, rows, strict=True)):
        what = f"{call}: output {index}" if len(outputs) > 1 else f"{call}: out"
        _check(what, array, shape + row, dtype)
    return tuple(outputs)


def _fits(given: Structure, expected: Structure) -> bool:
    """Say whether outputs are nested like the results; those without names go by position."""
    if given is None or expected is None:
        return given is expected
    is_named = bool(given.names) or issubclass(expected.type, dict)
    if len(given.parts) != len(expected.parts) or (is_named and given.names != expected.names):
        return False
    return all(map(_fits, given.parts, expected.parts))


def split(value: Any) -> tuple[type, tuple[Any, ...], list[Any]] | None:
    """Return the parts of what is nested as results are."""
    found = parts_of(value)
    return None if found is None else (type(value), *found)


def _check(what: str, array: Any, shape: tuple[int, ...], dtype: Type) -> None:
    if not isinstance(array, np.ndarray):
        raise UsageTypeError(
            f"{what} is not an array; got {type(array).__name__}, expected a NumPy array."
        )
    if array.dtype != TO_NUMPY[dtype]:
        raise UsageTypeError(
            f"{what} has another type; got {array.dtype}, expected {TO_NUMPY[dtype]}."
        )
    if array.shape != shape:
        raise UsageError(
            f"{what} has another shape; got {array.shape}, expected {shape}, that of the arguments."
        )
    if not array.flags.writeable:
        raise UsageError(
            f"{what} is read-only; got an array that may not be written, expected one that may."
        )
