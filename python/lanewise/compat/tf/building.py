"""Which graph is being built on this thread, and whether calls are done or written down."""

import threading
import types
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from .bindings import symbols_in

if TYPE_CHECKING:
    from .symbols import Node, Symbolic


class Graph:
    """Calls that are written down together: of a `tf.function`, or for a `Session`."""

    def __init__(self, is_function: bool = False) -> None:
        self.is_function = is_function  # what it does is done in every call
        self.effects: list[Node] = []  # calls that do something, in their order
        self.initial: list[Any] = []  # variables that were made while it was built
        self.collections: dict[Any, list[Any]] = {}
        self.named: dict[str, Symbolic] = {}  # placeholders, and others that have a name
        self.has_asked = False  # somebody has looked at a shape

    @contextmanager
    def as_default(self) -> Iterator["Graph"]:
        """Let what is called here be written down in this graph."""
        with _Building(self):
            yield self

    def get_tensor_by_name(self, name: str) -> "Symbolic":
        """Return a placeholder by its name, ``x:0`` or ``x``."""
        found = self.named.get(name.partition(":")[0])
        if found is None:
            known = ", ".join(self.named) or "none"
            raise KeyError(
                f"get_tensor_by_name: no tensor has this name; got {name!r}, expected one of: "
                f"{known}."
            )
        return found

    get_operation_by_name = get_tensor_by_name

    def add_to_collection(self, name: Any, value: Any) -> None:
        """Append a value to those of a name."""
        self.collections.setdefault(name, []).append(value)

    def get_collection(self, name: Any, scope: str | None = None) -> list[Any]:
        """Return the values of a name."""
        return list(self.collections.get(name, []))

    def finalize(self) -> None:
        """Do nothing."""


_UNSET = object()


class _State(threading.local):
    """Of a thread."""

    graph: Any = _UNSET
    around: Any = None


_state = _State()
_defaults = types.SimpleNamespace(is_lazy=False, graph=Graph())


def building() -> Graph | None:
    """Return the graph that is being built on this thread."""
    found = _state.graph
    if found is _UNSET:
        found = _defaults.graph if _defaults.is_lazy else None
    graph: Graph | None = found
    return graph


def default_graph() -> Graph:
    """Return the graph of calls outside of any function."""
    found = _state.around if _state.graph is _UNSET else _state.graph or _state.around
    graph: Graph = found if found is not None and not found.is_function else _defaults.graph
    return graph


def reset_default_graph() -> None:
    """Begin another one."""
    _defaults.graph = Graph()


def be_lazy(is_lazy: bool) -> None:
    """Let calls outside of any function be written down, or be done."""
    _defaults.is_lazy = is_lazy


def is_lazy() -> bool:
    """Say whether calls outside of any function are written down."""
    return bool(_defaults.is_lazy)


class _Building:
    """While it is open, this graph is the one that is being built; with None, calls are done."""

    __slots__ = ("_around", "_before", "_graph")

    def __init__(self, graph: Graph | None) -> None:
        self._graph = graph

    def __enter__(self) -> None:
        self._before = _state.graph
        self._around = _state.around
        _state.graph = self._graph
        if isinstance(self._before, Graph):
            _state.around = self._before

    def __exit__(self, *_: object) -> None:
        _state.around = self._around
        if self._before is _UNSET:
            del _state.graph
        else:
            _state.graph = self._before


def eagerly() -> _Building:
    """Let what is called be done."""
    return _Building(None)


def orders() -> list[tuple["Symbolic", ...]]:
    """Return what nodes that are written down now have to run after."""
    found: list[tuple[Symbolic, ...]] | None = getattr(_state, "orders", None)
    if found is None:
        found = _state.orders = []
    return found


@contextmanager
def control_dependencies(control_inputs: Any) -> Iterator[None]:
    """Let what is written down here run after other nodes; elsewhere calls run in their order."""
    before = orders()
    given = () if control_inputs is None else tuple(symbols_in(list(control_inputs)))
    _state.orders = [] if control_inputs is None else [*before, given]
    try:
        yield
    finally:
        _state.orders = before
