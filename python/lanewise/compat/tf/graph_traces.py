"""A `tf.function` as a graph: its Python is called once, on nodes, for all sizes and numbers.

The first size of tensors is not known to it, so that it serves batches of all sizes. Of the others
it knows what it is told, and serves those that it was told; all, if nobody has asked.
"""

import math
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from ...captures import Path
from ...trees import Structure, flatten, split_result, unflatten
from . import graph
from .arguments import Arguments, OfNumber, OfTensor, Parameters
from .bindings import has_symbols
from .captured import Captured, Outside
from .fusing import Fused
from .graph import Graph, NeedsValueError, OtherResultsError, Symbolic
from .plans import Plan
from .shapes import TensorShape
from .specs import TensorSpec
from .tensor import Tensor, array_of
from .tracing import STALE, Function, as_result, as_tensor, name_of

Dims = tuple[int | None, ...]


class Static:
    """Which numbers Python needs the value of, as earlier attempts have shown."""

    def __init__(self) -> None:
        self.arguments: frozenset[str] = frozenset()  # by name
        self.captured: set[Path] = set()


class StaticError(Exception):
    """Python needs the value of these: they are a part of the trace from now on."""


class _Built(NamedTuple):
    """What the function gave on nodes."""

    graph: Graph
    captured: Captured
    outputs: list[Any]
    structure: Structure


class GraphTrace:
    """A graph of the calls that a function makes."""

    mode = "graph"
    reason = "no Python statement needs the value of a tensor"

    def __init__(
        self,
        function: Function,
        parameters: Parameters,
        arguments: Arguments,
        static: Static,
        dims: dict[int, Dims],
        keeps_dims: bool = False,
    ) -> None:
        self.arguments = arguments.with_leaves([])
        self._fed = arguments.fed
        built, symbols = _build(function, parameters, arguments, static, dims)
        self._outside = Outside(built.captured)
        self._structure = built.structure
        self._outputs = built.outputs
        fetches = {id(one): one for one in built.outputs if isinstance(one, Symbolic)}
        order = {number: place for place, number in enumerate(fetches)}
        self._places = [order.get(id(one)) for one in built.outputs]
        feeds = [*symbols, *self._outside.symbols]
        effects = built.graph.effects
        self.plan = Plan(list(fetches.values()), feeds, effects, name_of(function))
        self.dims = dims
        if not built.graph.has_asked and not keeps_dims:
            self.dims = {at: (None,) * len(one) for at, one in dims.items()}
        self._is_free = all(size is None for one in self.dims.values() for size in one)
        self._direct = self.plan.direct if built.structure is None else None
        _release(self.plan)

    def admits(self, leaves: Sequence[Any]) -> bool:
        """Say whether it is for tensors of these sizes."""
        return self._is_free or all(_fits(d, leaves[at]) for at, d in self.dims.items())

    def run(self, function: Function, leaves: Sequence[Any]) -> Any:
        """Return what the function returns; `STALE` if what it captures has changed."""
        outside = self._outside.values(function)
        if outside is None:
            return STALE
        values = [leaves[at] for at in self._fed]
        if self._direct is not None:
            results = self._direct.run(values + outside)
            if results is not None:
                return results[0]
        try:
            found = self.plan.run([*map(as_tensor, values), *outside])
        except OtherResultsError:
            return STALE
        if self._structure is None and self._places[0] is not None:
            return as_result(found[0])
        results = [
            output if place is None else as_result(found[place])
            for output, place in zip(self._outputs, self._places, strict=True)
        ]
        return unflatten(self._structure, iter(results))

    @property
    def structured_outputs(self) -> Any:
        """What the results are like, nested as they are."""
        return unflatten(self._structure, iter([_spec(one) for one in self._outputs]))

    def changed(self, function: Function) -> str:
        """Say what of what it captures has changed."""
        return self._outside.changed(function)

    def described(self) -> str:
        """Say what it is."""
        pairs = zip(self.arguments.names, self.arguments.kinds, strict=True)
        given = [
            f"{name}: {_described(kind, self.dims.get(at))}"
            for at, (name, kind) in enumerate(pairs)
        ]
        joined = [len(part.nodes) for part in self.plan.parts if isinstance(part, Fused)]
        alone = len(self.plan.parts) - len(joined)
        runs = [f"one program of {count} calls" for count in joined]
        runs += [f"{alone} calls one by one" if alone > 1 else "one call"] if alone else []
        return f"({', '.join(given)}) runs as {', '.join(runs) or 'nothing'}"


def _described(kind: Any, dims: Dims | None) -> str:
    return f"{kind.dtype}{TensorShape(dims)}" if isinstance(kind, OfTensor) else str(kind)


def _spec(output: Any) -> Any:
    """Return what a result is like: its shape and type, if it is a tensor."""
    if isinstance(output, graph.Operation) or not isinstance(output, Tensor):
        return None
    return TensorSpec(output.shape, output.dtype)


def _fits(dims: Dims, value: Any) -> bool:
    shape = np.shape(array_of(value))
    return all(dim is None or dim == size for dim, size in zip(dims, shape, strict=True))


def _release(plan: Plan) -> None:
    for part in plan.parts:
        for node in part.nodes if isinstance(part, Fused) else [part]:
            for result in node.results:
                result.release()


# --- calling the function on nodes ---


def _build(
    function: Function,
    parameters: Parameters,
    arguments: Arguments,
    static: Static,
    dims: dict[int, Dims],
) -> tuple[_Built, list[Symbolic]]:
    """Call a function on nodes, of which samples are small at first where tensors are large."""
    for is_small in (True, False) if _are_many(arguments, dims) else (False,):
        try:
            symbols = _symbols(arguments, dims, is_small)
            built = _call(function, parameters, arguments, symbols, static)
            if built.graph.initial:
                built = _call_again(built, function, parameters, arguments, symbols, static)
        except (NeedsValueError, StaticError):
            raise
        except Exception:
            if not is_small:
                raise
        else:
            break
    return built, symbols


def _call(
    function: Function,
    parameters: Parameters,
    arguments: Arguments,
    symbols: list[Symbolic],
    static: Static,
) -> _Built:
    captured = Captured(static.captured)
    copy = captured.copy(function, ())
    leaves = list(arguments.leaves)
    for at, symbol in zip(arguments.fed, symbols, strict=True):
        leaves[at] = symbol
    built = Graph(is_function=True)
    try:
        with built.as_default():
            args, kwargs = parameters.arranged(arguments.nested(leaves))
            result = copy(*args, **kwargs)
            outputs: list[Any] = []
            structure = flatten(result, outputs, split_result)
            captured.captures.settle(function, ("items", "equal", "same"))
            return _Built(built, captured, list(map(as_result, outputs)), structure)
    except NeedsValueError as error:
        names = {id(s): arguments.names[at] for s, at in zip(symbols, arguments.fed, strict=True)}
        _make_static(error, names, captured, static)
        raise


def _call_again(
    first: _Built,
    function: Function,
    parameters: Parameters,
    arguments: Arguments,
    symbols: list[Symbolic],
    static: Static,
) -> _Built:
    """Call a function that has made variables again, to see whether it does in every call.

    Variables that it makes in the first call only begin with their value in that call.
    """
    second = _call(function, parameters, arguments, symbols, static)
    if not second.graph.initial:
        for variable in first.graph.initial:
            initial = variable.initial_value
            if has_symbols(initial):
                values = [as_tensor(arguments.leaves[at]) for at in arguments.fed]
                feeds = [*symbols, *first.captured.fed.values()]
                outside = Outside(first.captured).values(function) or []
                variable.begin(Plan([initial], feeds).run([*values, *outside])[0])
    return second


def _make_static(
    error: NeedsValueError, names: dict[int, str], captured: Captured, static: Static
) -> None:
    """Let numbers be parts of the trace, if they are all that a needed value comes from."""
    paths = {id(symbol): path for path, symbol in captured.fed.items()}
    sources = graph.sources_of(error.node)
    if not sources or not all(one.is_number or id(one) in paths for one in sources):
        return
    static.arguments |= {names[id(one)] for one in sources if id(one) in names}
    static.captured |= {paths[id(one)] for one in sources if id(one) in paths}
    needed = ", ".join(one.name.removesuffix(":0") for one in sources)
    raise StaticError(f"Python needs the value of {needed} ({str(error).partition(':')[0]})")


# --- what is fed ---

_MANY = 1 << 16  # numbers beyond which samples are smaller than what was given


def _are_many(arguments: Arguments, dims: dict[int, Dims]) -> bool:
    sizes = (math.prod(np.shape(array_of(arguments.leaves[at]))) for at in dims)
    return sum(sizes) > _MANY


def _symbols(arguments: Arguments, dims: dict[int, Dims], is_small: bool) -> list[Symbolic]:
    shapes = {at: np.shape(array_of(arguments.leaves[at])) for at in dims}
    rest = {size for shape in shapes.values() for size in shape[1:]}
    symbols: list[Symbolic] = []
    for at in arguments.fed:
        kind, name = arguments.kinds[at], arguments.names[at]
        if isinstance(kind, OfNumber):
            symbols.append(graph.fed_number(arguments.leaves[at], name))
            continue
        assert isinstance(kind, OfTensor)
        sizes = shapes[at]
        if is_small and sizes and dims[at][0] is None and sizes[0] > 4 and sizes[0] not in rest:
            sizes = (2, *sizes[1:])
        symbols.append(graph.fed(kind.dtype, dims[at], name, sizes))
    return symbols
