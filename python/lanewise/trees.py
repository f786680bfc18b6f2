"""Nested arguments and results: tuples, lists, dicts, named tuples, dataclasses and records.

A structure says how values are nested; it is hashable, and a part of a signature. None stands for
a value that is not nested.
"""

import dataclasses
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

from .records import Record


class Node(NamedTuple):
    """A container: its type, the names of its parts, and their structures."""

    type: type
    names: tuple[Any, ...]  # of a dict, record, dataclass or named tuple; empty for others
    parts: tuple["Structure", ...]


Structure = Node | None


def parts_of(value: Any) -> tuple[tuple[Any, ...], list[Any]] | None:
    """Return names and parts of a container; None for anything else."""
    if isinstance(value, (tuple, list)):
        return getattr(value, "_fields", ()), list(value)
    if isinstance(value, dict):
        return tuple(value), list(value.values())
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        names = tuple(field.name for field in dataclasses.fields(value) if field.init)
        return names, [getattr(value, name) for name in names]
    return None


def flatten(
    value: Any,
    leaves: list[Any],
    split: Callable[[Any], tuple[type, tuple[Any, ...], list[Any]] | None],
) -> Structure:
    """Append the values that are not nested to `leaves`; `split` takes a container apart."""
    found = split(value)
    if found is None:
        leaves.append(value)
        return None
    kind, names, parts = found
    return Node(kind, names, tuple(flatten(part, leaves, split) for part in parts))


def unflatten(structure: Structure, leaves: Iterator[Any]) -> Any:
    """Nest values as a structure says."""
    if structure is None:
        return next(leaves)
    parts = [unflatten(part, leaves) for part in structure.parts]
    return _make(structure, parts)


def _make(structure: Node, parts: list[Any]) -> Any:
    kind, names = structure.type, structure.names
    if kind is Record:
        return Record(dict(zip(names, parts, strict=True)))
    if issubclass(kind, dict):
        return dict(zip(names, parts, strict=True))
    if names:
        return kind(**dict(zip(names, parts, strict=True)))
    return list(parts) if issubclass(kind, list) else tuple(parts)


def leaf_names(structure: Structure, name: str) -> list[str]:
    """Return how a user would write each value, for errors: ``result[0]["x"].y``."""
    if structure is None:
        return [name]
    names = []
    for index, part in enumerate(structure.parts):
        if issubclass(structure.type, dict) or structure.type is Record:
            step = f"[{structure.names[index]!r}]"
        elif structure.names:
            step = f".{structure.names[index]}"
        else:
            step = f"[{index}]"
        names += leaf_names(part, name + step)
    return names


def split_result(value: Any) -> tuple[type, tuple[Any, ...], list[Any]] | None:
    """Take apart what a function returns: every container is nested."""
    found = parts_of(value)
    if found is None:
        return None
    # Lists and dicts that a function makes for itself are of types of their own.
    kind = next((plain for plain in (list, dict) if isinstance(value, plain)), type(value))
    return (kind, *found)
