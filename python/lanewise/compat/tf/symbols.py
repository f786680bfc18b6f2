"""Nodes of a graph, and the tensors that they give.

What a node gives, its type, rank and nesting, is seen from a sample: arrays of zeros. Which sizes
are known shows in a second sample, in which those that are not are others.
"""

import itertools
import operator
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

import numpy as np

from ...trees import Structure, flatten, split_result
from . import sampling
from .bindings import resolved, symbols_in
from .building import Graph, building, default_graph, eagerly, orders
from .dtypes import DType, as_dtype
from .shapes import TensorShape, joined
from .tensor import Tensor, array_of

_numbers = itertools.count()
_SIZES = (2, 3)  # of dimensions in samples whose size is not known


class NeedsValueError(TypeError):
    """Python asked for the value of a node that has none yet."""

    def __init__(self, node: "Symbolic", what: str) -> None:
        super().__init__(
            f"{what}: the value of a tensor is not known while its graph is built; got {node!r}, "
            "expected a plain value. Use tf.cond, tf.while_loop or tf.map_fn, or a tf.function; "
            "Session.run gives values."
        )
        self.node = node


class OtherResultsError(ValueError):
    """A node gives other results than when its graph was built, since sizes are others."""


class Node:
    """A call that is written down."""

    __slots__ = (
        *("after", "args", "function", "is_effect", "kwargs", "number", "results", "structure"),
    )

    def __init__(self, function: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
        self.function = function
        self.args = args
        self.kwargs = kwargs
        self.number = next(_numbers)
        self.is_effect = False  # it does something beside giving results
        self.after: tuple[Symbolic, ...] = tuple(itertools.chain(*orders()))
        self.results: list[Symbolic] = []
        self.structure: Structure = None

    @property
    def name(self) -> str:
        """What is called."""
        return str(getattr(self.function, "__name__", "call")).strip("_")

    def inputs(self) -> "Iterator[Symbolic]":
        """Find the tensors that it needs."""
        return itertools.chain(symbols_in(self.args), symbols_in(self.kwargs), self.after)

    def run(self, value: "Callable[[Symbolic], Any]") -> list[Any]:
        """Call the function on values of its arguments."""
        args = [resolved(arg, value) for arg in self.args]
        kwargs = {key: resolved(arg, value) for key, arg in self.kwargs.items()}
        with eagerly():
            return self.leaves(self.function(*args, **kwargs))

    def leaves(self, result: Any) -> list[Any]:
        """Return what a call gave as a list."""
        leaves: list[Any] = []
        structure = flatten(result, leaves, split_result)
        if self.results and structure != self.structure:
            raise OtherResultsError(
                f"{self.name}: gives another number of results than when its graph was built; got "
                f"{len(leaves)}, expected {len(self.results)}."
            )
        self.structure = structure
        return leaves


class Done:
    """What a call gives that is there for what it does."""

    def __repr__(self) -> str:
        return "<done>"


DONE = Done()


class Symbolic(Tensor):
    """A tensor that a node will give, or that is fed."""

    __slots__ = ("_name", "_node", "_samples", "_spec")
    is_graph = True
    is_number = False  # a number of Python is fed
    holds_array = False

    def __init__(self, node: Node | None, samples: list[Any], name: str = "") -> None:
        super().__init__(None)
        self._node = node  # None: it is fed
        self._samples = samples
        self._spec: TensorShape | None = None  # the shape, where it was said
        self._name = name or f"{node.name if node else 'Placeholder'}_{next(_numbers)}"

    @property
    def node(self) -> Node | None:
        """The call that gives it."""
        return self._node

    @property
    def name(self) -> str:
        """Its name."""
        return f"{self._name}:0"

    @property
    def op(self) -> "Symbolic":
        """What gives it: for those who fetch it."""
        return self

    @property
    def graph(self) -> "Graph":
        """The graph that it is in."""
        return building() or default_graph()

    def sample(self, at: int = 0) -> Any:
        """Return what it is like for the first or second size of what is not known."""
        while len(self._samples) <= at:
            self._samples.append(_sample_of(self, len(self._samples)))
        return self._samples[at]

    def release(self) -> None:
        """Forget samples, which are computed anew if somebody asks again."""
        if self._node is not None:
            self._samples = []

    @property
    def dtype(self) -> DType:
        """The type of its numbers."""
        return as_dtype(array_of(self.sample()).dtype)

    @property
    def shape(self) -> TensorShape:
        """The sizes of its dimensions, as far as they are known."""
        graph = building()
        if graph is not None:
            graph.has_asked = True
        if self._spec is None:
            self._spec = TensorShape(self._seen_shape())
        return self._spec

    def _seen_shape(self) -> tuple[int | None, ...] | None:
        first = np.shape(array_of(self.sample()))
        try:
            return joined((first, np.shape(array_of(self.sample(1)))))
        except (ValueError, TypeError, IndexError):  # other sizes do not fit
            return (None,) * len(first)

    def set_shape(self, shape: Any) -> None:
        """Say what is known of its shape."""
        self._spec = self.shape.merge_with(shape)

    def be_of_shape(self, shape: Any) -> None:
        """Have this shape, whatever samples say."""
        self._spec = TensorShape(shape)

    @property
    def ndim(self) -> int:
        """The number of dimensions."""
        return int(np.ndim(array_of(self.sample())))

    def numpy(self) -> Any:
        """Raise an error: there is no value yet."""
        raise NeedsValueError(self, "numpy")

    def eval(self, feed_dict: Any = None, session: Any = None) -> Any:
        """Run what is needed for it, in the default session if none is given."""
        from .session import default_session

        return (session or default_session("eval")).run(self, feed_dict)

    def __getitem__(self, index: Any) -> Any:
        from .arranging import item

        return item(self, index)

    def __setitem__(self, index: Any, value: Any) -> None:
        raise NeedsValueError(self, "item assignment")

    def __array__(self, dtype: Any = None, copy: Any = None) -> Any:
        raise NeedsValueError(self, "array")

    def _first_size(self, what: str) -> int:
        size = self.shape[0] if self.ndim else None
        if size is None:
            raise NeedsValueError(self, what)
        return int(size)

    def __iter__(self) -> Iterator[Any]:
        return (self[index] for index in range(self._first_size("for")))

    def __len__(self) -> int:
        return self._first_size("len")

    def __bool__(self) -> bool:
        raise NeedsValueError(self, "bool")

    def __int__(self) -> int:
        raise NeedsValueError(self, "int")

    def __float__(self) -> float:
        raise NeedsValueError(self, "float")

    def __complex__(self) -> complex:
        raise NeedsValueError(self, "complex")

    def __index__(self) -> int:
        raise NeedsValueError(self, "index")

    def __format__(self, form: str) -> str:
        return repr(self)

    def __hash__(self) -> int:
        return id(self)

    def __deepcopy__(self, memo: Any) -> "Symbolic":
        return self

    def __reduce__(self) -> Any:
        raise TypeError("graph: a node of a graph cannot be pickled; got one, expected a value.")

    def __repr__(self) -> str:
        return f"<tf.Tensor {self.name!r} shape={self._known_shape()} dtype={self.dtype.name}>"

    def _known_shape(self) -> TensorShape:
        return TensorShape(self._seen_shape()) if self._spec is None else self._spec

    __str__ = __repr__


class Operation(Symbolic):
    """What gives nothing, and is fetched for what it does."""

    __slots__ = ()

    def run(self, feed_dict: Any = None, session: Any = None) -> None:
        """Do it, in the default session if none is given."""
        self.eval(feed_dict, session)

    def __repr__(self) -> str:
        return f"<tf.Operation {self._name!r}>"

    __str__ = __repr__


def _numeric(name: str) -> tuple[Callable[..., Any], Callable[..., Any]]:
    """Return the methods of an operator: among numbers it is Python's."""
    compute = getattr(operator, name)

    def forward(self: "Number", other: Any) -> Any:
        if isinstance(other, (Number, int, float)):
            return _later(compute, self, other)
        return getattr(Tensor, f"__{name}__")(self, other)

    def reflected(self: "Number", other: Any) -> Any:
        if isinstance(other, (int, float)):
            return _later(compute, other, self)
        return getattr(Tensor, f"__r{name}__")(self, other)

    return forward, reflected


def _later(compute: Callable[..., Any], *numbers: Any) -> Any:
    from .graph import record

    return record(compute, numbers, {})


class Number(Symbolic):
    """A number of Python, as what is computed with it; who wants to see it needs its value."""

    __slots__ = ()
    is_number = True

    __add__, __radd__ = _numeric("add")
    __sub__, __rsub__ = _numeric("sub")
    __mul__, __rmul__ = _numeric("mul")
    __truediv__, __rtruediv__ = _numeric("truediv")
    __floordiv__, __rfloordiv__ = _numeric("floordiv")
    __mod__, __rmod__ = _numeric("mod")
    __pow__, __rpow__ = _numeric("pow")

    def __neg__(self) -> Any:
        return _later(operator.neg, self)

    def __format__(self, form: str) -> str:
        raise NeedsValueError(self, "format")

    def __str__(self) -> str:
        raise NeedsValueError(self, "str")

    def __hash__(self) -> int:
        raise NeedsValueError(self, "hash")

    def __round__(self, digits: int | None = None) -> Any:
        raise NeedsValueError(self, "round")

    def __repr__(self) -> str:
        return f"<a number {self._name!r}>"


def fed(dtype: Any, shape: Any, name: str = "", sizes: Sequence[int] | None = None) -> Symbolic:
    """Return a tensor that is fed; `sizes` are those that it has in the first sample."""
    known = TensorShape(shape)
    kind = as_dtype(dtype).dtype
    if sizes is None:
        sizes = (2,) if known.rank is None else [_SIZES[0] if n is None else n for n in known]
    dims = [None] * len(sizes) if known.rank is None else list(known)
    others = [
        (n + 1 if n else n) if dim is None else dim for dim, n in zip(dims, sizes, strict=True)
    ]
    others = [*others, 1] if known.rank is None else others
    samples = [_zeros(sizes, kind), _zeros(others, kind)]
    made = Symbolic(None, samples, name)
    made._spec = known
    return made


def _zeros(sizes: Sequence[int], kind: Any) -> Tensor:
    array = np.zeros(sizes, kind)
    if array.dtype.kind == "O":
        array.fill(b"")
    return Tensor(array)


def fed_number(value: Any, name: str = "") -> Number:
    """Return a number of Python that is fed."""
    return Number(None, [value, value], name)


def _sample_of(tensor: Symbolic, at: int) -> Any:
    """Return the sample of a tensor, and keep those of all that it comes from."""
    if tensor.node is None:
        return tensor.sample(0)
    for node in nodes_before([tensor], lambda one: len(one._samples) > at):
        with sampling.on():
            leaves = node.run(lambda one: one.sample(at))
        for result, leaf in zip(node.results, leaves, strict=True):
            if len(result._samples) == at and result is not tensor:
                result._samples.append(leaf)
            elif result is tensor:
                own = leaf
    return own


def nodes_before(
    tensors: Iterable[Symbolic], is_known: Callable[[Symbolic], bool], nodes: Iterable[Node] = ()
) -> list[Node]:
    """Return the nodes that tensors, and other nodes, need, in the order of calls."""
    found: dict[int, Node] = {}
    left = [one.node for one in tensors if one.node is not None and not is_known(one)]
    left.extend(nodes)
    while left:
        node = left.pop()
        if node.number in found:
            continue
        found[node.number] = node
        left.extend(one.node for one in node.inputs() if one.node and not is_known(one))
    return [found[number] for number in sorted(found)]
