"""Nodes of a graph inside of other values: nested, in slices, and captured by functions.

A call that is written down keeps its arguments as they are, functions among them. When it runs,
these have to find values where they found nodes.

A type of its own that holds tensors says so by ``graph_parts()``, which returns them nested, and
``with_graph_parts(parts)``, which returns the same with others.
"""

import functools
import types
from collections.abc import Callable, Iterator
from typing import Any
from weakref import WeakKeyDictionary

from ...captures import is_inlined
from ...source import is_users
from ...trees import flatten, split_result, unflatten

Of = Callable[[Any], Any]  # the value of a node
_MOST_PARTS = 4096  # of a container that are looked at: beyond, all are like the first


def is_node(value: Any) -> bool:
    """Say whether a value is a node of a graph."""
    return getattr(type(value), "is_graph", False) is True


def symbols_in(value: Any) -> Iterator[Any]:
    """Find the nodes in an argument."""
    return _symbols(value, set())


def has_symbols(value: Any) -> bool:
    """Say whether there is a node in an argument."""
    return next(_symbols(value, set()), None) is not None


def _symbols(value: Any, seen: set[int]) -> Iterator[Any]:
    """Find nodes; `seen` are the functions that were looked at, which may refer to themselves."""
    if is_node(value):
        yield value
    elif isinstance(value, (list, tuple)):
        for part in value if len(value) <= _MOST_PARTS else value[:1]:
            yield from _symbols(part, seen)
    elif isinstance(value, dict):
        if len(value) <= _MOST_PARTS:
            for part in value.values():
                yield from _symbols(part, seen)
    elif isinstance(value, slice):
        yield from _symbols((value.start, value.stop, value.step), seen)
    elif isinstance(value, types.FunctionType):
        if id(value) not in seen:
            seen.add(id(value))
            for part in _captured(value).values():
                yield from _symbols(part, seen)
    elif isinstance(value, functools.partial):
        yield from _symbols((value.func, value.args, value.keywords), seen)
    elif isinstance(value, types.MethodType):
        yield from _symbols(value.__func__, seen)
    elif is_inlined(value):
        yield from _symbols(value.__wrapped__, seen)
    elif hasattr(type(value), "graph_parts"):
        yield from _symbols(value.graph_parts(), seen)
    elif hasattr(type(value), "__dataclass_fields__"):
        yield from _symbols(list(vars(value).values()), seen)


def _captured(function: types.FunctionType) -> dict[tuple[str, Any], Any]:
    """Return what a function finds in cells, in globals and as defaults."""
    found: dict[tuple[str, Any], Any] = {}
    cells = zip(function.__code__.co_freevars, function.__closure__ or (), strict=True)
    for name, cell in cells:
        try:
            found["cell", name] = cell.cell_contents
        except ValueError:
            continue
    if is_users(function.__module__):
        for name in _names(function.__code__):
            if name in function.__globals__:
                found["global", name] = function.__globals__[name]
    for place, value in enumerate(function.__defaults__ or ()):
        found["default", place] = value
    return found


_names_of: WeakKeyDictionary[types.CodeType, frozenset[str]] = WeakKeyDictionary()


def _names(code: types.CodeType) -> frozenset[str]:
    """Return the names that a function with this code may look up."""
    found = _names_of.get(code)
    if found is None:
        inner = (_names(one) for one in code.co_consts if isinstance(one, types.CodeType))
        found = _names_of[code] = frozenset(code.co_names).union(*inner)
    return found


def resolved(value: Any, of: Of) -> Any:
    """Return an argument with values in place of nodes, also in what functions capture."""
    return of(value) if is_node(value) else _Resolver(of).value(value)


class _Resolver:
    """Puts values in place of nodes; a function that is met again is the same again."""

    def __init__(self, of: Of) -> None:
        self._of = of
        self._made: dict[int, types.FunctionType] = {}

    def value(self, value: Any) -> Any:
        """Return a value without nodes."""
        if is_node(value):
            return self._of(value)
        if not has_symbols(value):
            return value
        if isinstance(value, types.FunctionType):
            return self._function(value)
        if isinstance(value, slice):
            return slice(*(self.value(part) for part in (value.start, value.stop, value.step)))
        if isinstance(value, functools.partial):
            arguments = [self.value(part) for part in (value.func, value.args, value.keywords)]
            return functools.partial(arguments[0], *arguments[1], **arguments[2])
        if isinstance(value, types.MethodType):
            return types.MethodType(self.value(value.__func__), value.__self__)
        if is_inlined(value):
            return self.value(value.__wrapped__)
        if hasattr(type(value), "graph_parts"):
            return value.with_graph_parts(self.value(value.graph_parts()))
        leaves: list[Any] = []
        structure = flatten(value, leaves, split_result)
        return unflatten(structure, iter([self.value(leaf) for leaf in leaves]))

    def _function(self, function: types.FunctionType) -> types.FunctionType:
        """Return a function that finds values where this one finds nodes."""
        if id(function) in self._made:
            return self._made[id(function)]
        changed = {key: one for key, one in _captured(function).items() if has_symbols(one)}
        code = function.__code__
        cells = tuple(
            types.CellType() if ("cell", name) in changed else cell
            for name, cell in zip(code.co_freevars, function.__closure__ or (), strict=True)
        )
        scope = function.__globals__
        if any(kind == "global" for kind, _ in changed):
            scope = scope.copy()
        made = types.FunctionType(code, scope, function.__name__, function.__defaults__, cells)
        made.__kwdefaults__ = function.__kwdefaults__
        made.__module__ = function.__module__
        made.__qualname__ = function.__qualname__
        self._made[id(function)] = made  # it may refer to itself
        defaults = list(function.__defaults__ or ())
        for (kind, name), one in changed.items():
            value = self.value(one)
            if kind == "cell":
                cells[code.co_freevars.index(name)].cell_contents = value
            elif kind == "global":
                scope[name] = value
            else:
                defaults[name] = value
        if defaults:
            made.__defaults__ = tuple(defaults)
        return made
