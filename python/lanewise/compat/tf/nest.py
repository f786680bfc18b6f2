"""``tf.nest``: values in lists, tuples, named tuples and dicts; those of dicts by sorted keys."""

from collections.abc import Iterator
from typing import Any

from ...trees import Structure, parts_of
from ...trees import flatten as take_apart
from .names import listed
from .tensor import is_tensor


def _split(value: Any) -> tuple[type, tuple[Any, ...], list[Any]] | None:
    if is_tensor(value):
        return None
    if isinstance(value, dict):
        keys = sorted(value)
        return type(value), tuple(keys), [value[key] for key in keys]
    found = parts_of(value) if isinstance(value, (list, tuple)) else None
    return None if found is None else (type(value), *found)


def flatten(structure: Any, expand_composites: bool = False) -> list[Any]:
    """Return nested values as a list.

    Examples
    --------
    >>> import lanewise.compat.tf as tf
    >>> tf.nest.flatten({"b": [1, 2], "a": (3,)})
    [3, 1, 2]
    """
    leaves: list[Any] = []
    take_apart(structure, leaves, _split)
    return leaves


def is_nested(seq: Any) -> bool:
    """Say whether a value has others in it."""
    return _split(seq) is not None


def _structure(value: Any) -> Structure:
    return take_apart(value, [], _split)


def _nested(like: Any, values: Iterator[Any]) -> Any:
    """Nest values as others are; dicts keep the order of their keys."""
    found = _split(like)
    if found is None:
        return next(values)
    _, names, parts = found
    made = [_nested(part, values) for part in parts]
    if isinstance(like, dict):
        by_key = dict(zip(names, made, strict=True))
        return type(like)((key, by_key[key]) for key in like)
    return type(like)(*made) if names else type(like)(made)


def pack_sequence_as(structure: Any, flat_sequence: Any, expand_composites: bool = False) -> Any:
    """Return a list of values nested as another structure is."""
    values = list(flat_sequence)
    wanted = len(flatten(structure))
    if len(values) != wanted:
        raise ValueError(
            f"pack_sequence_as: another number of values; got {len(values)}, expected {wanted}."
        )
    return _nested(structure, iter(values))


def assert_same_structure(
    nest1: Any, nest2: Any, check_types: bool = True, expand_composites: bool = False
) -> None:
    """Raise an error if values are nested differently."""
    if not _is_same(_structure(nest1), _structure(nest2), check_types):
        kind = TypeError if _is_same(_structure(nest1), _structure(nest2), False) else ValueError
        raise kind(
            f"assert_same_structure: nested differently; got {nest1!r} and {nest2!r}, expected "
            "one structure."
        )


def _is_same(one: Structure, other: Structure, check_types: bool) -> bool:
    if one is None or other is None:
        return one is other
    if (check_types and one.type is not other.type) or len(one.parts) != len(other.parts):
        return False
    if one.names != other.names and (check_types or issubclass(one.type, dict)):
        return False
    pairs = zip(one.parts, other.parts, strict=True)
    return all(_is_same(a, b, check_types) for a, b in pairs)


def map_structure(func: Any, *structure: Any, **kwargs: Any) -> Any:
    """Return what a function gives for each of nested values, nested as they are.

    Examples
    --------
    >>> import lanewise.compat.tf as tf
    >>> tf.nest.map_structure(lambda x: x + 1, {"a": 1, "b": [2, 3]})
    {'a': 2, 'b': [3, 4]}
    """
    if not callable(func):
        raise TypeError(
            f"map_structure: no function; got {type(func).__name__}, expected a callable."
        )
    check_types = kwargs.pop("check_types", True)
    kwargs.pop("expand_composites", None)
    for other in structure[1:]:
        assert_same_structure(structure[0], other, check_types)
    columns = zip(*(flatten(one) for one in structure), strict=True)
    return _nested(structure[0], iter([func(*column) for column in columns]))


NAMES = {
    **listed(
        "nest",
        [flatten, is_nested, pack_sequence_as, assert_same_structure, map_structure],
        top=False,
    )
}
