"""Graphs: calls that are written down now and run later, by a `Session` or a `tf.function`.

A node keeps the function that users call and its arguments; running it calls that function on
arrays (``plans.py``). Nodes and the tensors that they give are in ``symbols.py``, which graph is
being built in ``building.py``.
"""

import itertools
from collections.abc import Callable, Sequence
from typing import Any

from ...trees import unflatten
from . import sampling
from .bindings import has_symbols, resolved, symbols_in
from .building import (
    Graph,
    be_lazy,
    building,
    control_dependencies,
    default_graph,
    eagerly,
    is_lazy,
    reset_default_graph,
)
from .symbols import (
    DONE,
    NeedsValueError,
    Node,
    Number,
    Operation,
    OtherResultsError,
    Symbolic,
    fed,
    fed_number,
    nodes_before,
)
from .tensor import Tensor

__all__ = [
    "DONE",
    "Graph",
    "NeedsValueError",
    "Node",
    "Number",
    "Operation",
    "OtherResultsError",
    "Symbolic",
    "be_lazy",
    "building",
    "constant",
    "control_dependencies",
    "default_graph",
    "eagerly",
    "evaluate",
    "fed",
    "fed_number",
    "first_of",
    "is_lazy",
    "keeps_constants",
    "nodes_before",
    "record",
    "record_effect",
    "reset_default_graph",
    "sources_of",
    "value_of",
]


def record(function: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """Write a call down; return what it will give."""
    node = Node(function, args, kwargs)
    held = sampling.held()
    with sampling.on():
        leaves = node.run(lambda one: one.sample())
    node.results = [_kind_of(leaf)(node, [leaf]) for leaf in leaves]
    if node.structure is not None:
        _check_number(node)
    if sampling.held() != held:
        _add_effect(node)
    return unflatten(node.structure, iter(node.results))


def _kind_of(leaf: Any) -> type[Symbolic]:
    if leaf is DONE:
        return Operation
    return Number if type(leaf) in (int, float) else Symbolic


def _check_number(node: Node) -> None:
    """Ask for values where how many results there are depends on sizes that are not known."""
    graph = building()
    if graph is None or not node.results:
        return
    graph.has_asked = True
    try:
        node.results[0].sample(1)
    except OtherResultsError:
        raise NeedsValueError(node.results[0], node.name) from None
    except (ValueError, TypeError, IndexError):  # other sizes do not fit
        pass


def _add_effect(node: Node) -> None:
    graph = building()
    if not node.is_effect and graph is not None and graph.is_function:
        graph.effects.append(node)
    node.is_effect = True


def record_effect(
    function: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]
) -> Any:
    """Write down a call that does something; a graph that is being built will do it in order."""
    result = record(function, args, kwargs)
    for symbol in itertools.islice(symbols_in(result), 1):
        if symbol.node is not None:
            _add_effect(symbol.node)
    return result


def keeps_constants() -> bool:
    """Say whether constants are nodes too, as where eager execution was disabled."""
    graph = building()
    return graph is not None and not graph.is_function and not sampling.is_on()


def constant(value: Tensor) -> Symbolic:
    """Return a node that gives a tensor which is there."""
    result: Symbolic = record(_constant, (value,), {})
    return result


def _constant(value: Tensor) -> Tensor:
    return value


def sources_of(tensor: Symbolic) -> list[Symbolic]:
    """Return what is fed of which a tensor is computed."""
    if tensor.node is None:
        return [tensor]
    nodes = nodes_before([tensor], lambda _: False)
    inputs = itertools.chain(*(node.inputs() for node in nodes))
    return list({id(one): one for one in inputs if one.node is None}.values())


def value_of(value: Any) -> Any:
    """Return a value, computed if it is a node that needs nothing that is fed."""
    if not has_symbols(value):
        return value
    values = evaluate(list(symbols_in(value)), {})
    return resolved(value, values.__getitem__)


def evaluate(fetches: Sequence[Symbolic], feeds: dict[Symbolic, Any]) -> dict[Symbolic, Any]:
    """Return the values of tensors, given those of others."""
    from .plans import Plan

    values = Plan(fetches, list(feeds)).run(list(feeds.values()))
    return {**feeds, **dict(zip(fetches, values, strict=True))}


def first_of(value: Symbolic) -> Any:
    """Return what a variable begins with that a node gives: its value, if that can be known."""
    graph = building()
    fed = any(one.node is None for one in sources_of(value))
    return value.sample() if fed or (graph is not None and graph.is_function) else value_of(value)
