"""``tf.compat.v1.Session``: runs what was written down, and hands out what is there already."""

import threading
from collections import OrderedDict
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np

from ...trees import flatten, unflatten
from . import graph
from .arguments import split
from .bindings import resolved, symbols_in
from .graph import DONE, Graph, Symbolic
from .names import listed
from .plans import Plan
from .shapes import TensorShape
from .tensor import Tensor, array_of

_open = threading.local()
_MOST_PLANS = 64  # that a session keeps


def _stack() -> list["Session"]:
    found: list[Session] | None = getattr(_open, "sessions", None)
    if found is None:
        found = _open.sessions = []
    return found


def get_default_session() -> "Session | None":
    """Return the session whose ``with`` is open; None where there is none."""
    stack = _stack()
    return stack[-1] if stack else None


def default_session(call: str) -> "Session":
    """Return that session, which has to be there."""
    found = get_default_session()
    if found is None:
        raise ValueError(
            f"{call}: no session is the default one; got none, expected `with Session():` around "
            "it, or session=."
        )
    return found


class Session:
    """Runs what was written down.

    Examples
    --------
    >>> import lanewise.compat.tf as tf
    >>> x = tf.compat.v1.placeholder(tf.float32, [None])
    >>> y = tf.sqrt(x) + 1
    >>> with tf.compat.v1.Session() as session:
    ...     session.run(y, {x: [4.0, 9.0]})
    array([3., 4.], dtype=float32)
    """

    def __init__(self, target: str = "", graph: Graph | None = None, config: Any = None) -> None:
        self._graph = graph
        self._is_closed = False
        self._scopes: list[Any] = []
        self._plans: OrderedDict[Any, Plan] = OrderedDict()

    @property
    def graph(self) -> Graph:
        """The graph that it runs."""
        return graph.default_graph() if self._graph is None else self._graph

    def run(
        self, fetches: Any, feed_dict: Any = None, options: Any = None, run_metadata: Any = None
    ) -> Any:
        """Return the values of tensors, nested as they are given.

        Parameters
        ----------
        fetches : tensor, variable, operation or name, or nested
            What is wanted. Tensors that are there give their value, operations None.
        feed_dict : dict, optional
            Values of placeholders, or of any other tensor.
        options, run_metadata
            Without effect.
        """
        if self._is_closed:
            raise RuntimeError("Session.run: the session is closed; got a call, expected it open.")
        leaves: list[Any] = []
        structure = flatten(fetches, leaves, split)
        leaves = [self._named(leaf) for leaf in leaves]
        feeds = self._feeds(feed_dict)
        wanted = list({id(one): one for one in symbols_in(leaves)}.values())
        values = dict(zip(map(id, wanted), self._values(wanted, feeds), strict=True))
        results = [_fetched(_with_values(leaf, values)) for leaf in leaves]
        return unflatten(structure, iter(results))

    def _named(self, leaf: Any) -> Any:
        return self.graph.get_tensor_by_name(leaf) if isinstance(leaf, str) else leaf

    def _feeds(self, feed_dict: Any) -> dict[Symbolic, Any]:
        feeds: dict[Symbolic, Any] = {}
        for key, value in (feed_dict or {}).items():
            tensor = self._named(key)
            if hasattr(tensor, "deref"):
                tensor = tensor.deref()
            if isinstance(tensor, Symbolic):
                feeds[tensor] = _fed(tensor, value)
            elif hasattr(type(tensor), "graph_parts"):
                feeds |= _fed_parts(tensor, value)
            else:
                raise TypeError(
                    f"Session.run: what is fed is no placeholder; got {tensor!r}, expected a "
                    "tensor of a graph as a key."
                )
        return feeds

    def _values(self, wanted: list[Symbolic], feeds: dict[Symbolic, Any]) -> list[Any]:
        if not wanted:
            return []
        key = tuple(map(id, wanted)), tuple(map(id, feeds))
        plan = self._plans.get(key)
        if plan is None:
            plan = self._plans[key] = Plan(wanted, _with_defaults(wanted, feeds))
            if len(self._plans) > _MOST_PLANS:
                self._plans.popitem(last=False)
        others = plan.feeds[len(feeds) :]
        defaults = [one.default for one in others if isinstance(one, Defaulted)]
        return plan.run([*feeds.values(), *defaults])

    def make_callable(self, fetches: Any, feed_list: Any = ()) -> Any:
        """Return a function of what is fed."""
        return lambda *values: self.run(fetches, dict(zip(feed_list, values, strict=True)))

    @contextmanager
    def as_default(self) -> Iterator["Session"]:
        """Let it be the session of `Tensor.eval` here."""
        _stack().append(self)
        try:
            yield self
        finally:
            _stack().remove(self)

    def __enter__(self) -> "Session":
        scopes = [self.as_default()]
        if self._graph is not None:
            scopes.append(self._graph.as_default())  # type: ignore[arg-type]
        for scope in scopes:
            scope.__enter__()
        self._scopes.append(scopes)
        return self

    def __exit__(self, *error: Any) -> None:
        for scope in reversed(self._scopes.pop()):
            scope.__exit__(*error)
        if not self._scopes:
            self.close()

    def close(self) -> None:
        """Let it not be used any more."""
        self._is_closed = True
        self._plans.clear()

    def list_devices(self) -> list[Any]:
        """Return no devices: there is one."""
        return []


class InteractiveSession(Session):
    """A session that is the default one from the beginning, until it is closed."""

    def __init__(self, target: str = "", graph: Graph | None = None, config: Any = None) -> None:
        super().__init__(target, graph, config)
        _stack().append(self)

    def close(self) -> None:
        """Let it not be used any more."""
        super().close()
        if self in _stack():
            _stack().remove(self)


def _with_defaults(wanted: list[Symbolic], feeds: dict[Symbolic, Any]) -> list[Symbolic]:
    """Return what is fed, and what has a value if it is not."""
    known = set(map(id, feeds))
    nodes = graph.nodes_before(wanted, lambda one: id(one) in known)
    found = [*wanted, *(one for node in nodes for one in node.inputs())]
    others = {id(one): one for one in found if isinstance(one, Defaulted) and id(one) not in known}
    return [*feeds, *others.values()]


def _with_values(leaf: Any, values: dict[int, Any]) -> Any:
    return resolved(leaf, lambda one: values[id(one)])


def _fetched(value: Any) -> Any:
    """Return a value as NumPy has it."""
    if value is None or value is DONE:
        return None
    if hasattr(type(value), "is_composite"):
        return value
    if isinstance(value, Symbolic) or not (isinstance(value, Tensor) or _is_arraylike(value)):
        raise TypeError(
            f"Session.run: cannot be fetched; got {value!r}, expected a tensor, a variable or an "
            "operation, or nested ones."
        )
    array = np.array(array_of(value))
    return array[()] if array.ndim == 0 else array


def _is_arraylike(value: Any) -> bool:
    is_plain = isinstance(value, (np.ndarray, np.generic, bool, int, float, complex))
    return is_plain or hasattr(type(value), "held_array")


def _fed(tensor: Symbolic, value: Any) -> Any:
    """Return what is fed as a tensor of the right type; its shape has to fit."""
    try:
        array = np.asarray(array_of(value, tensor.dtype))
    except (TypeError, ValueError):
        raise ValueError(
            f"Session.run: what is fed is no tensor; got {value!r} for {tensor.name}, expected "
            f"{tensor.dtype.name} of shape {tensor.shape}."
        ) from None
    if not tensor.shape.is_compatible_with(array.shape):
        raise ValueError(
            f"Session.run: what is fed has another shape; got {TensorShape(array.shape)} for "
            f"{tensor.name}, expected {tensor.shape}."
        )
    return Tensor(array)


def _fed_parts(composite: Any, value: Any) -> dict[Symbolic, Any]:
    """Return what is fed for the parts of something that has several."""
    keys = list(symbols_in(composite.graph_parts()))
    parts: list[Any] = []
    flatten(value.graph_parts(), parts, split)
    return dict(zip(keys, parts, strict=True))


class Defaulted(Symbolic):
    """A placeholder that has a value where none is fed."""

    __slots__ = ("default",)

    def __init__(self, samples: list[Any], default: Tensor, name: str) -> None:
        super().__init__(None, samples, name)
        self.default = default


def placeholder(dtype: Any, shape: Any = None, name: str | None = None) -> Symbolic:
    """Return a tensor that is fed when a session runs.

    Examples
    --------
    >>> import lanewise.compat.tf as tf
    >>> tf.compat.v1.placeholder(tf.int32, [None, 2], name="pairs")
    <tf.Tensor 'pairs:0' shape=(None, 2) dtype=int32>
    """
    return _registered(graph.fed(dtype, shape, _unique(name or "Placeholder")))


def placeholder_with_default(input: Any, shape: Any, name: str | None = None) -> Symbolic:
    """Return a tensor that is fed when a session runs, or has a value if it is not."""
    default = Tensor(np.asarray(array_of(graph.value_of(input))))
    like = graph.fed(default.dtype, shape, sizes=None if shape else default.numpy().shape)
    made = Defaulted(
        [like.sample(0), like.sample(1)], default, _unique(name or "PlaceholderWithDefault")
    )
    made.set_shape(shape)
    return _registered(made)


def _unique(name: str) -> str:
    named = graph.default_graph().named
    found, number = name, 0
    while found in named:
        number += 1
        found = f"{name}_{number}"
    return found


def _registered(made: Symbolic) -> Symbolic:
    graph.default_graph().named[made.name.removesuffix(":0")] = made
    return made


_ALL = [Session, InteractiveSession, placeholder, placeholder_with_default, get_default_session]
NAMES = {**listed("compat.v1", _ALL)}
