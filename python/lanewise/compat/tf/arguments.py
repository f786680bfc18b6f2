"""The arguments of a `tf.function`: which are fed, and which are a part of what was traced.

Tensors and arrays are fed: their type and rank tell calls apart, their sizes do not. Numbers of
Python are fed too, unless Python needs their value. Anything else is a part of the trace: plain
values by equality, objects by identity.
"""

import enum
import inspect
import weakref
from collections.abc import Callable, Hashable
from typing import Any, NamedTuple

import numpy as np

from ...trees import Structure, flatten, leaf_names, parts_of, unflatten
from .dtypes import DType
from .tensor import Tensor, array_of, is_tensor

_MOST_NUMBERS = 16  # of Python in one argument that are fed
_PLAIN = (bool, str, bytes, complex, type(None), DType, np.dtype, type, enum.Enum)


class OfTensor(NamedTuple):
    """A tensor is fed."""

    dtype: Any
    rank: int

    def __str__(self) -> str:
        return f"a tensor of {self.dtype} with {self.rank} dimensions"


class OfNumber(NamedTuple):
    """A number of Python is fed."""

    name: str

    def __str__(self) -> str:
        return f"a number ({self.name})"


class OfValue(NamedTuple):
    """A plain value is a part of the trace."""

    type: type
    value: Hashable

    def __str__(self) -> str:
        return repr(self.value)


class OfObject:
    """An object is a part of the trace, by identity."""

    __slots__ = ("_name", "_number", "_of")

    def __init__(self, value: Any) -> None:
        self._number = id(value)
        self._name = type(value).__name__
        try:
            self._of: Any = weakref.ref(value)
        except TypeError:
            self._of = lambda: value

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, OfObject) or self._number != other._number:
            return False
        mine = self._of()
        return mine is not None and mine is other._of()

    def __hash__(self) -> int:
        return self._number

    def __str__(self) -> str:
        return f"the object {self._name} at {self._number:#x}"


Kind = OfTensor | OfNumber | OfValue | OfObject


def is_array(value: Any) -> bool:
    """Say whether a value is fed as a tensor."""
    return type(value) is Tensor or isinstance(value, (np.ndarray, np.generic))


def kind_of(value: Any, is_static: bool = False) -> Kind:
    """Return what is known of an argument before the call."""
    if is_array(value):
        array = array_of(value)
        return OfTensor(array.dtype, array.ndim)
    if type(value) in (int, float):
        if is_static:
            return OfValue(type(value), value)
        is_wide = type(value) is int and not -(2**31) <= value < 2**31
        return OfNumber("wide int" if is_wide else type(value).__name__)
    if isinstance(value, _PLAIN):
        return OfValue(type(value), value)
    return OfObject(value)


def split(value: Any) -> tuple[type, tuple[Any, ...], list[Any]] | None:
    """Take nested arguments apart; ragged and sparse tensors into their own."""
    if is_tensor(value) and not hasattr(type(value), "is_composite"):
        return None
    found = parts_of(value)
    return None if found is None else (type(value), *found)


class Arguments(NamedTuple):
    """The arguments of a call, taken apart."""

    structures: tuple[tuple[str, Structure], ...]  # by parameter
    leaves: list[Any]
    names: list[str]  # as users would write them
    kinds: tuple[Kind, ...]

    @property
    def key(self) -> Hashable:
        """What tells calls apart."""
        return self.structures, self.kinds

    def nested(self, leaves: list[Any]) -> dict[str, Any]:
        """Return arguments by parameter, with other leaves."""
        rest = iter(leaves)
        return {name: unflatten(structure, rest) for name, structure in self.structures}

    @property
    def fed(self) -> list[int]:
        """Which leaves are fed."""
        return [at for at, kind in enumerate(self.kinds) if isinstance(kind, (OfTensor, OfNumber))]

    def with_leaves(self, leaves: list[Any]) -> "Arguments":
        """Return the same with other leaves."""
        return self._replace(leaves=leaves)


class Parameters:
    """The parameters of a function of Python."""

    def __init__(self, function: Callable[..., Any]) -> None:
        try:
            self.signature = inspect.signature(function)
        except ValueError:
            self.signature = inspect.Signature([inspect.Parameter("args", _REST)])

    def bind(
        self, args: tuple[Any, ...], kwargs: dict[str, Any], static: frozenset[str] = frozenset()
    ) -> Arguments:
        """Return the arguments of a call; `static` names numbers whose value is needed."""
        bound = self.signature.bind(*args, **kwargs)
        bound.apply_defaults()
        structures: list[tuple[str, Structure]] = []
        leaves: list[Any] = []
        names: list[str] = []
        kinds: list[Kind] = []
        for name, value in bound.arguments.items():
            parts: list[Any] = []
            structure = flatten(value, parts, split)
            structures.append((name, structure))
            numbers = sum(type(part) in (int, float) for part in parts)
            for part, part_name in zip(parts, leaf_names(structure, name), strict=True):
                is_static = part_name in static or numbers > _MOST_NUMBERS
                kinds.append(kind_of(part, is_static))
                names.append(part_name)
            leaves += parts
        return Arguments(tuple(structures), leaves, names, tuple(kinds))

    def arranged(self, arguments: dict[str, Any]) -> tuple[tuple[Any, ...], dict[str, Any]]:
        """Return arguments by parameter as a call takes them."""
        bound = inspect.BoundArguments(self.signature, arguments)
        return bound.args, bound.kwargs


_REST = inspect.Parameter.VAR_POSITIONAL


def difference(new: Arguments, old: Arguments) -> str:
    """Say in what the arguments of two calls differ."""
    if new.structures != old.structures:
        return "the arguments are nested otherwise"
    changed = [
        f"{name} changed from {before} to {after}"
        for name, after, before in zip(new.names, new.kinds, old.kinds, strict=True)
        if after != before
    ]
    return ", ".join(changed)
