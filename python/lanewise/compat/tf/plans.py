"""Running graphs: which calls are needed, in which order, and where their values are.

Numbers that are computed one by one in a row of calls are computed by one program (``fusing.py``).
A value is let go as soon as nobody needs it any more.
"""

from collections.abc import Callable, Iterable, Sequence
from typing import Any

from . import graph
from .bindings import has_symbols, is_node
from .fusing import Fused, groups_of
from .graph import Node, Symbolic

Values = list[Any]  # by place
Step = Callable[[Values], None]


class Plan:
    """Calls that give some tensors from others, which are fed."""

    def __init__(
        self,
        fetches: Sequence[Symbolic],
        feeds: Sequence[Symbolic],
        effects: Iterable[Node] = (),
        call: str = "Session.run",
    ) -> None:
        self._places = {id(symbol): place for place, symbol in enumerate(feeds)}
        self.fetches, self.feeds = list(fetches), list(feeds)  # so that addresses stay theirs
        fed = dict(self._places)
        nodes = graph.nodes_before(fetches, lambda one: id(one) in fed, effects)
        _check_fed(call, nodes, fetches, fed)
        for node in nodes:
            for result in node.results:
                self._places.setdefault(id(result), len(self._places))
        self._fetched = [self._places[id(symbol)] for symbol in fetches]
        self._rest = [None] * (len(self._places) - len(feeds))
        groups = groups_of(nodes, fetches, fed)
        self.parts = groups
        self._steps = [
            (self._step(part), drops)
            for part, drops in zip(groups, self._drops(groups, len(feeds)), strict=True)
        ]

    @property
    def direct(self) -> Fused | None:
        """The one program that takes what is fed and gives what is fetched, if that is all."""
        if len(self.parts) != 1 or not isinstance(self.parts[0], Fused):
            return None
        fused = self.parts[0]
        is_all = [*map(id, fused.inputs)] == [*map(id, self.feeds)]
        return fused if is_all and [*map(id, fused.outputs)] == [*map(id, self.fetches)] else None

    def _drops(self, parts: "list[Node | Fused]", fed: int) -> list[list[int]]:
        """Return which values nobody needs after each part."""
        last: dict[int, int] = {}
        for at, part in enumerate(parts):
            nodes = part.nodes if isinstance(part, Fused) else [part]
            for node in nodes:
                for symbol in (*node.inputs(), *node.results):
                    last[self._places[id(symbol)]] = at
        drops: list[list[int]] = [[] for _ in parts]
        for place, at in last.items():
            if place >= fed and place not in self._fetched:
                drops[at].append(place)
        return drops

    def run(self, values: Sequence[Any]) -> list[Any]:
        """Return the fetched values for those that are fed."""
        places = [*values, *self._rest]
        with graph.eagerly():
            for step, drops in self._steps:
                step(places)
                for place in drops:
                    places[place] = None
        return [places[place] for place in self._fetched]

    def _step(self, part: Node | Fused) -> Step:
        if isinstance(part, Fused):
            return self._fused(part)
        simple = self._simple(part)
        return self._general(part) if simple is None else simple

    def _fused(self, fused: Fused) -> Step:
        inputs = [self._places[id(symbol)] for symbol in fused.inputs]
        outputs = [self._places[id(symbol)] for symbol in fused.outputs]
        single = outputs[0] if len(outputs) == 1 else None
        nodes = [self._step(node) for node in fused.nodes]

        def step(values: Values) -> None:
            results = fused.run([values[place] for place in inputs])
            if results is None:
                for one in nodes:
                    one(values)
            elif single is not None:
                values[single] = results[0]
            else:
                for place, result in zip(outputs, results, strict=True):
                    values[place] = result

        return step

    def _simple(self, node: Node) -> Step | None:
        """Return the step of a node whose arguments are tensors, or have none in them."""
        arguments: list[tuple[int | None, Any]] = []
        for argument in node.args:
            place = self._places.get(id(argument)) if is_node(argument) else None
            if place is None and has_symbols(argument):
                return None
            arguments.append((place, argument))
        if len(node.results) != 1 or node.structure is not None:
            return None
        if any(map(has_symbols, node.kwargs.values())):
            return None
        function, kwargs, target = node.function, node.kwargs, self._places[id(node.results[0])]

        def step(values: Values) -> None:
            values[target] = function(
                *[value if place is None else values[place] for place, value in arguments],
                **kwargs,
            )

        return step

    def _general(self, node: Node) -> Step:
        targets = [self._places[id(result)] for result in node.results]

        def step(values: Values) -> None:
            leaves = node.run(lambda one: values[self._places[id(one)]])
            for target, leaf in zip(targets, leaves, strict=True):
                values[target] = leaf

        return step


def _check_fed(
    call: str, nodes: list[Node], fetches: Sequence[Symbolic], fed: dict[int, int]
) -> None:
    inputs = [one for node in nodes for one in node.inputs()]
    for one in (*fetches, *inputs):
        if one.node is None and id(one) not in fed:
            name = one.name.partition(":")[0]
            raise ValueError(
                f"{call}: a tensor was not fed; got no value for {one!r}, expected "
                f"feed_dict={{{name}: ...}}."
            )
