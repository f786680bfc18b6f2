"""What a function takes from outside: where it is, and whether it is what it was.

A captured number is a parameter that all elements share, a captured array one that they read by
index; both are read again at every call, so neither is ever stale. Anything else, and a number
whose value Python needs while the function is recorded, is a *guard*: when it changes, the function
is recorded again. What the function meets while it is recorded is in ``stand_ins.py``.

Where a captured value is found is a *path* from the function: the cell or global of this name, and
from a function found there on to its own. So a program serves every function that was made by the
same ``def`` or ``lambda``.
"""

import functools
import types
import weakref
from typing import Any, NamedTuple

import numpy as np

from . import _core
from ._core import DType, ParamKind
from .dtypes import BOUNDS, FROM_NUMPY, WEAK_COMPLEX, WEAK_FLOAT, WEAK_INT, ComplexType, Kind


class Step(NamedTuple):
    """From a function to a value."""

    kind: str  # "cell", "global", "attribute"; "self" to the object that a method is bound to
    name: str


Path = tuple[Step, ...]

MISSING = object()


class Place(NamedTuple):
    """Where a value is: in a cell, or in a dict under a key."""

    holder: Any
    key: str | None

    def read(self) -> Any:
        """Return the value; `MISSING` where there is none."""
        if self.key is not None:
            return self.holder.get(self.key, MISSING)
        try:
            return self.holder.cell_contents
        except ValueError:
            return MISSING


class Capture(NamedTuple):
    """A value that is looked at in every call.

    ``how``: "value" for a parameter of this kind; "same" object; "equal" and of the same type; a
    container with these "items"; "shape" of an array, where -1 is any size; "code", a function made
    by the same ``def``; "constant", an array that the function makes, the value of a parameter; an
    "accumulator" of this sort.
    """

    path: Path
    how: str
    expected: Any


Source = tuple[Any, str | None, str, Any]  # as `Caller._remember` takes it


class Captures:
    """What a recorded program needs from outside, in the order of its parameters."""

    def __init__(self) -> None:
        self._all: dict[tuple[Path, str], Capture] = {}
        self.keeps_alive = False  # something of the user's that may be large
        self._constants: list[tuple[Any, Any]] = []  # and how they were
        self.accumulators: dict[Any, tuple[int, Path]] = {}  # while the function is recorded

    def add(self, path: Path, how: str, expected: Any) -> None:
        """Take down a capture; of the same path and kind there is one."""
        try:
            expected = weakref.ref(expected)
        except TypeError:
            self.keeps_alive = self.keeps_alive or not _is_plain(expected)
        self._all[path, how] = Capture(path, how, expected)

    def add_constant(self, array: Any) -> None:
        """Take down an array of plain numbers that is the value of the next parameter."""
        path = (Step("constant", str(len(self._all))),)
        self._all[path, "constant"] = Capture(path, "constant", array)
        self.keeps_alive = True
        self._constants.append((array, array.copy()))

    def add_accumulator(self, path: Path, accumulator: Any) -> None:
        """Take down an accumulator: another one of the same sort will do as well."""
        place = self.accumulators.setdefault(accumulator, (len(self.accumulators), path))[0]
        self.add(path, "accumulator", (accumulator.sort, place))

    def count_values(self) -> int:
        """Return how many are values of parameters so far."""
        return sum(how in ("value", "constant") for _, how in self._all)

    def has_changed_constants(self) -> bool:
        """Say whether the function has changed such an array after it was taken."""
        constants, self._constants = self._constants, []
        return bool(constants) and any(a.tobytes() != copy.tobytes() for a, copy in constants)

    def guard(self, path: Path, value: Any) -> None:
        """Take down a value that is no parameter: plain ones by value, others by identity.

        Lists, tuples and dicts are looked into, unless they are large.
        """
        if type(value) in (bool, int, float, complex, str):
            self.add(path, "equal", value)
            return
        if type(value) is not tuple:
            self.add(path, "same", value)
        if type(value) in (tuple, list, dict):
            left = [_MOST_ITEMS]
            copy = _copy(value, left)
            if left[0] >= 0:
                self.add(path, "items", copy)
            elif type(value) is tuple:
                self.add(path, "same", value)

    def settle(self, function: Any, guards: tuple[str, ...] = ("items",)) -> None:
        """Look no further at guards that the function itself has changed: inside containers."""
        for key, (path, how, kept) in list(self._all.items()):
            expected = kept() if isinstance(kept, weakref.ref) else kept
            if how in guards and not _holds(how, expected, _walk(function, path)[1]):
                del self._all[key]

    def match(self, function: Any) -> tuple[list[Any], tuple[Source, ...]] | None:
        """Return the values of parameters, and where they are; None where a guard fails."""
        values: list[Any] = []
        sources: list[Source] = []
        seen: dict[int, int] = {}  # accumulators, by address: the first place of each
        for path, how, kept in self._all.values():
            if how == "constant":
                values.append(_as_parameter(kept))
                sources.append(({"": kept}, "", "value", kept))
                continue
            expected = kept() if isinstance(kept, weakref.ref) else kept
            place, value = _walk(function, path)
            if value is MISSING or not _holds(how, expected, value):
                return None
            if how == "accumulator":
                if seen.setdefault(id(value), len(seen)) != kept[1]:
                    return None  # two have become one, or one has become two
                how, expected = "same", value
            if place is None:  # the object of a method, which is an argument of the call
                continue
            if how == "value":
                expected = held(value)
                values.append(_as_parameter(expected))
            elif how == "code":
                how, expected = "same", value
            sources.append((*place, how, expected))
        return values, tuple(sources)

    def changed(self, function: Any) -> tuple[str, str, Any, Any] | None:
        """Name a capture that is not as it was, how, and what it was and is; None if all are."""
        for path, how, kept in self._all.values():
            expected = kept() if isinstance(kept, weakref.ref) else kept
            value = _walk(function, path)[1]
            if how not in ("constant", "accumulator") and not _holds(how, expected, value):
                name = ".".join(step.name for step in path if step.name)
                return name, how, expected, value
        return None


_MOST_ITEMS = 256  # that are looked at in every call


def _copy(value: Any, left: list[int]) -> Any:
    """Copy a container and those in it; `left` counts the items that may still come."""
    left[0] -= len(value)
    if left[0] < 0:
        return value

    def part(item: Any) -> Any:
        return _copy(item, left) if type(item) in (tuple, list, dict) else item

    if type(value) is dict:
        return {key: part(item) for key, item in value.items()}
    return type(value)(part(item) for item in value)


_PLAIN = (bool, int, float, complex, str, DType, ComplexType, ParamKind)


def _is_plain(value: Any) -> bool:
    """Say whether nothing of the user's hangs on a value."""
    if isinstance(value, tuple):
        return all(_is_plain(part) for part in value)
    return value is None or isinstance(value, _PLAIN)


def is_inlined(value: Any) -> bool:
    """Say whether calls of an object are calls of its ``__wrapped__`` inside of others.

    It is a vectorized function, or one that another library wraps: its type has
    ``call_inside(function, args, kwargs)``, which is given the function to call.
    """
    return hasattr(type(value), "call_inside")


def plain_function(value: Any) -> Any:
    """Return the function of Python inside of a vectorized one, a method or a partial."""
    while True:
        if isinstance(value, types.MethodType):
            value = value.__func__
        elif isinstance(value, functools.partial):
            value = value.func
        elif is_inlined(value):
            value = value.__wrapped__
        else:
            return value


def held(value: Any) -> Any:
    """Return the array in a value whose type says that it only holds one."""
    return value.held_array if getattr(type(value), "holds_array", False) else value


def parameter_of(value: Any) -> tuple[Kind, ParamKind] | None:
    """Return the kind of parameter that a captured value is; None: it is a guard."""
    value = held(value)
    if type(value) is float:
        return WEAK_FLOAT, ParamKind.Shared
    if type(value) is int:
        bounds = BOUNDS[DType.I64]
        return (WEAK_INT, ParamKind.Shared) if bounds.min <= value <= bounds.max else None
    if type(value) is complex:
        return WEAK_COMPLEX, ParamKind.Shared
    if isinstance(value, np.generic) or type(value) is np.ndarray:
        dtype = FROM_NUMPY.get(value.dtype)
        if dtype is None:
            return None
        if value.ndim == 0:
            return Kind(dtype), ParamKind.Shared
        return (Kind(dtype), ParamKind.Table) if value.size else None
    return None


def value_at(function: Any, path: Path) -> Any:
    """Return what is at the end of a path; `MISSING` where it leads nowhere."""
    return _walk(function, path)[1]


def _walk(function: Any, path: Path) -> tuple[Place | None, Any]:
    """Follow a path; no place where it leads nowhere."""
    place: Place | None = None
    value = function
    for step in path:
        if step.kind == "self":
            value = getattr(value, "__self__", MISSING)
            continue
        place = _place(value, step)
        if place is None:
            return None, MISSING
        value = place.read()
    return place, value


def _place(owner: Any, step: Step) -> Place | None:
    if step.kind == "attribute":
        try:
            return Place(vars(owner), step.name)
        except TypeError:
            return None
    function = plain_function(owner)
    if not isinstance(function, types.FunctionType):
        return None
    if step.kind == "global":
        return Place(function.__globals__, step.name)
    names = function.__code__.co_freevars
    if step.name not in names or function.__closure__ is None:
        return None
    return Place(function.__closure__[names.index(step.name)], None)


def _holds(how: str, expected: Any, value: Any) -> bool:
    if how == "same":
        return value is expected
    value = held(value)
    if how == "equal":
        return type(value) is type(expected) and bool(value == expected)
    if how == "items":
        return _core.has_items(value, expected)
    if how == "accumulator":
        return bool(getattr(value, "sort", None) == expected[0])
    if how == "shape":
        return type(value) is np.ndarray and _has_shape(value.shape, expected)
    if how == "code":
        function = plain_function(value)
        return isinstance(function, types.FunctionType) and function.__code__ is expected
    return value is not MISSING and parameter_of(value) == expected


def _has_shape(shape: tuple[int, ...], expected: tuple[int, ...]) -> bool:
    return len(shape) == len(expected) and all(
        wanted in (-1, size) for size, wanted in zip(shape, expected, strict=True)
    )


def _as_parameter(value: Any) -> Any:
    return np.ascontiguousarray(value) if isinstance(value, np.ndarray) and value.ndim else value
