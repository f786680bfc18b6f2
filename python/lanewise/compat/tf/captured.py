"""What a `tf.function` takes from outside: numbers and tensors are fed, as its arguments are.

They are read again at every call, so neither is stale. Anything else is a part of the trace: when
it changes, the function is traced again.
"""

import dis
import types
from typing import Any, cast

from ... import _core
from ...captures import MISSING, Captures, Path, Source, Step, parameter_of
from ...names import Names
from ...stand_ins import Copies
from . import graph
from .graph import Symbolic
from .tensor import Tensor

_STORES = {"STORE_GLOBAL", "STORE_DEREF", "DELETE_GLOBAL", "DELETE_DEREF"}


class Captured(Copies):
    """A copy of a function that finds what is fed in place of numbers and tensors."""

    def __init__(self, static: set[Path]) -> None:
        self.captures = Captures()
        super().__init__(cast("Any", None), cast("Any", None), self.captures)
        self.fed: dict[Path, Symbolic] = {}  # in the order of the captures
        self._static = static  # whose values Python needs

    def _stand_in(self, value: Any, path: Path, names: Names) -> Any:
        kind = parameter_of(value)
        if kind is None:
            return super()._stand_in(value, path, names)
        name = path[-1].name
        is_wide = type(value) is int and not -(2**31) <= value < 2**31
        if is_wide or path in self._static or type(value) not in (int, float, Tensor):
            self.captures.guard(path, value)
            return value
        self.captures.add(path, "value", kind)
        if type(value) is Tensor:
            array = value._value
            if array.ndim:
                self.captures.add(path, "shape", array.shape)
            self.fed[path] = graph.fed(array.dtype, array.shape, name)
        else:
            self.fed[path] = graph.fed_number(value, name)
        return self.fed[path]

    def _copy(self, function: types.FunctionType, path: Path) -> None:
        stored = _stored(function.__code__)
        if not stored:
            super()._copy(function, path)
            return
        self._done[id(function)] = function  # it has to change what is outside
        cells = zip(function.__code__.co_freevars, function.__closure__ or (), strict=True)
        for name, cell in cells:
            if name not in stored:
                self.captures.guard((*path, Step("cell", name)), cell.cell_contents)
        for name in function.__code__.co_names:
            value = function.__globals__.get(name, MISSING)
            if name not in stored and value is not MISSING:
                self.captures.guard((*path, Step("global", name)), value)


def _stored(code: types.CodeType) -> set[str]:
    """Return the names outside of a function that it assigns to."""
    inside = set(code.co_cellvars)
    found = {
        str(step.argval)
        for step in dis.get_instructions(code)
        if step.opname in _STORES and step.argval not in inside
    }
    for constant in code.co_consts:
        if isinstance(constant, types.CodeType):
            found |= _stored(constant) - inside
    return found


class Outside:
    """What was captured when a function was traced, to be looked at in every call."""

    def __init__(self, captured: Captured) -> None:
        self._captures = captured.captures
        self._sources: tuple[Source, ...] | None = None
        self.symbols = list(captured.fed.values())

    def values(self, function: Any) -> list[Any] | None:
        """Return the present values of what is fed; None where something else has changed."""
        if self._sources is not None:
            quick = _quick(self._sources)
            if quick is not None:
                return quick
        matched = self._captures.match(function)
        if matched is None:
            return None
        values, self._sources = matched
        return [_as_fed(value) for value in values]

    def changed(self, function: Any) -> str:
        """Say what has changed."""
        found = self._captures.changed(function)
        if found is None:
            return ""
        name, how, before, after = found
        if how in ("value", "shape"):  # `before` is a kind, or a shape
            return f"{name}, which it captures, is of another type or shape: {_short(after)}"
        return f"{name}, which it captures, changed from {_short(before)} to {_short(after)}"


def _as_fed(value: Any) -> Any:
    return value if type(value) in (int, float) else Tensor(value)


def _short(value: Any) -> str:
    text = "nothing" if value is MISSING or value is None else repr(value)
    return text if len(text) <= 60 else f"{text[:57]}..."


def _quick(sources: tuple[Source, ...]) -> list[Any] | None:
    """Return the values where everything is plainly as it was; None where one has to look."""
    values = []
    for holder, key, how, expected in sources:
        if key is not None:
            value = holder.get(key, MISSING)
        else:
            try:
                value = holder.cell_contents
            except ValueError:
                return None
        if how == "same":
            if value is not expected:
                return None
        elif how == "value":
            kind = type(value)
            if kind is not type(expected) and not (kind is Tensor and value._value is expected):
                return None
            values.append(value)
        elif how == "equal":
            if type(value) is not type(expected) or value != expected:
                return None
        elif how == "shape":
            if getattr(value, "_value", value).shape != expected:
                return None
        elif how == "items":
            if not _core.has_items(value, expected):
                return None
        else:
            return None
    return values
