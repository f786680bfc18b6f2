"""Calls of a graph that compute number by number, joined to one program.

Calls are put on levels: on one level are those that compute number by number and depend on nothing
but others of it, and on what comes before. Those that hang together there are one program, which
reads each number once and keeps what is between in registers. What does something keeps its place.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np

from ...vectorize import Vectorized
from . import sampling
from .bindings import has_symbols, is_node
from .dialect import TENSORFLOW, settled
from .graph import Node, Symbolic
from .ops import OPS, is_numbers
from .tensor import Tensor, array_of

_MOST_OUTPUTS = 12
_MOST_INPUTS = 32


class Fused:
    """A program in place of several calls."""

    def __init__(
        self, nodes: list[Node], inputs: list[Symbolic], outputs: list[Symbolic], is_full: bool
    ) -> None:
        self.nodes = nodes
        self.inputs = inputs
        self.outputs = outputs
        self._is_full = is_full  # every result depends on all arrays
        self._is_single = len(outputs) == 1
        self._constants = _constants(nodes)
        replay = _Replay(nodes, inputs, self._constants, outputs)
        self._program = Vectorized(replay, "graph", dialect=TENSORFLOW)

    def run(self, values: list[Any]) -> list[Any] | None:
        """Return the results; None where sizes differ in a way that calls one by one allow."""
        arrays = [
            value._value if type(value) is Tensor else _as_argument(value) for value in values
        ]
        if self._constants:
            arrays += map(array_of, self._constants)
        if not self._is_full and _differ(arrays):
            return None
        if sampling.is_on():
            results = self._program(*arrays, on_error="fill")
        else:
            results = self._program(*arrays)
        if self._is_single:
            return [Tensor(results)]
        return [Tensor(result) for result in results]


def _as_argument(value: Any) -> Any:
    is_plain = type(value) in (float, int, bool) or isinstance(value, (np.ndarray, np.generic))
    return value if is_plain else array_of(value)


def _differ(arrays: list[Any]) -> bool:
    """Say whether arrays have different shapes."""
    shapes = {shape for array in arrays if (shape := getattr(array, "shape", ()))}
    return len(shapes) > 1


class _Replay:
    """Makes calls again, on elements."""

    __slots__ = ("_inputs", "_nodes", "_outputs")

    def __init__(
        self,
        nodes: list[Node],
        inputs: list[Symbolic],
        constants: list[Any],
        outputs: list[Symbolic],
    ) -> None:
        self._nodes = nodes
        self._inputs = [*inputs, *constants]
        self._outputs = outputs

    def __call__(self, *elements: Any) -> Any:
        values = {id(one): element for one, element in zip(self._inputs, elements, strict=True)}
        for node in self._nodes:
            args = [values.get(id(arg), arg) for arg in node.args]
            if not any(map(_has_type, node.args)):
                args = [settled(arg) for arg in args]  # numbers of Python only
            values[id(node.results[0])] = node.function(*args)
        results = tuple(values[id(output)] for output in self._outputs)
        return results if len(results) > 1 else results[0]


def _has_type(argument: Any) -> bool:
    if is_node(argument):
        return not isinstance(argument.sample(), (bool, int, float))
    return not isinstance(argument, (bool, int, float))


def _is_constant(argument: Any) -> bool:
    """Say whether an argument is an array, or may change from call to call."""
    return not is_node(argument) and not isinstance(argument, (bool, int, float, np.generic))


def _constants(nodes: list[Node]) -> list[Any]:
    found = {id(arg): arg for node in nodes for arg in node.args if _is_constant(arg)}
    return list(found.values())


def groups_of(
    nodes: list[Node], fetches: Sequence[Symbolic], fed: dict[int, int]
) -> list[Node | Fused]:
    """Return calls in an order in which they can be made, some of them joined.

    `fed` has the places of what is fed.
    """
    needed = _uses(nodes, fetches)
    parts: list[Node | Fused] = []
    segment: list[Node] = []
    for node in nodes:
        if node.is_effect:
            parts += _grouped(segment, needed, fed)
            parts.append(node)
            segment = []
        else:
            segment.append(node)
    return parts + _grouped(segment, needed, fed)


_OUTSIDE = -1


def _uses(nodes: list[Node], fetches: Sequence[Symbolic]) -> dict[int, set[int]]:
    """Return who uses each tensor, by the numbers of nodes."""
    uses: dict[int, set[int]] = {}
    for node in nodes:
        for one in node.inputs():
            uses.setdefault(id(one), set()).add(node.number)
    for one in fetches:
        uses.setdefault(id(one), set()).add(_OUTSIDE)
    return uses


def _grouped(
    nodes: list[Node], uses: dict[int, set[int]], fed: dict[int, int]
) -> list[Node | Fused]:
    levels: dict[int, int] = {}  # of tensors that are made here
    smooth: set[int] = set()  # tensors of calls that can be joined
    on_level: dict[int, tuple[list[Node], list[Node]]] = {}
    for node in nodes:
        can_join = _can_join(node, fed)
        level = 0
        for one in node.inputs():
            if id(one) in levels:
                is_step = not can_join and id(one) in smooth
                level = max(level, levels[id(one)] + is_step)
        for result in node.results:
            levels[id(result)] = level
            if can_join:
                smooth.add(id(result))
        on_level.setdefault(level, ([], []))[can_join].append(node)
    parts: list[Node | Fused] = []
    for level in sorted(on_level):
        alone, together = on_level[level]
        parts += alone
        for group in _connected(together):
            parts += _joined(group, uses, fed)
    return parts


def _can_join(node: Node, fed: dict[int, int]) -> bool:
    op = OPS.get(node.function)
    if op is None or not op.is_elementwise or node.kwargs or node.after:
        return False
    if any(id(result) in fed for result in node.results):
        return False
    return all(map(_is_fit, node.args)) and _is_fit(node.results[0])


def _is_fit(argument: Any) -> bool:
    if is_node(argument):
        argument = argument.sample()
    elif has_symbols(argument):
        return False
    if isinstance(argument, (bool, int, float)):
        return True
    try:
        return is_numbers(array_of(argument))
    except (TypeError, ValueError):
        return False


def _rank(value: Any) -> int:
    return int(np.ndim(array_of(value.sample() if is_node(value) else value)))


def _connected(nodes: list[Node]) -> list[list[Node]]:
    """Return nodes that hang together; those of single numbers come first."""
    group_of: dict[int, list[Node]] = {}  # by tensor
    groups: dict[int, list[Node]] = {}
    for is_array in (False, True):
        for node in nodes:
            if (_rank(node.results[0]) > 0) is not is_array:
                continue
            group = [node]
            for arg in node.args:
                other = group_of.get(id(arg)) if is_node(arg) else None
                is_alike = other is not None and (_rank(arg) > 0) is is_array
                if other is not None and is_alike and other is not group:
                    groups.pop(id(other))
                    group = [*other, *group]
            groups[id(group)] = group
            for one in group:
                group_of[id(one.results[0])] = group
    return [sorted(group, key=lambda node: node.number) for group in groups.values()]


def _joined(
    nodes: list[Node], uses: dict[int, set[int]], fed: dict[int, int]
) -> list[Node | Fused]:
    """Return a group as one program, if it can be."""
    if len(nodes) < 2:
        return list(nodes)
    numbers = {node.number for node in nodes}
    made = {id(node.results[0]) for node in nodes}
    found = {
        id(arg): arg for node in nodes for arg in node.args if is_node(arg) and id(arg) not in made
    }
    inputs = sorted(found.values(), key=lambda one: fed.get(id(one), len(fed)))
    outputs = [node.results[0] for node in nodes if uses.get(id(node.results[0]), set()) - numbers]
    given = [*inputs, *_constants(nodes)]
    if not outputs or len(outputs) > _MOST_OUTPUTS or not 0 < len(given) <= _MOST_INPUTS:
        return list(nodes)
    arrays = {id(one) for one in given if _rank(one)}
    reached = {one: {one} for one in arrays}
    for node in nodes:
        below = [reached.get(id(arg), set()) for arg in node.args]
        reached[id(node.results[0])] = set().union(*below)
    below_outputs = [reached[id(output)] for output in outputs]
    if arrays and not all(below_outputs):
        return list(nodes)
    is_full = all(one == arrays for one in below_outputs)
    return [Fused(nodes, inputs, outputs, is_full)]
