"""What a `tf.function` is for an object, and for arguments of some types and shapes only."""

import types
from typing import TYPE_CHECKING, Any

from ... import flow
from .arguments import difference
from .graph_traces import GraphTrace
from .tracing import STALE, Trace

if TYPE_CHECKING:
    from .functions import Function


class BoundFunction:
    """A `tf.function` of an object."""

    __slots__ = ("_function", "_instance")

    def __init__(self, function: "Function", instance: Any) -> None:
        self._function = function
        self._instance = instance

    @property
    def __wrapped__(self) -> Any:
        return types.MethodType(self._function.python_function, self._instance)

    python_function = __wrapped__
    __self__ = property(lambda self: self._instance)

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Call the function."""
        return self._function.call_on(self._instance, args, kwargs)

    def call_inside(self, function: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """Call the function as a part of what lanewise is recording."""
        return flow.call(function, *args, **kwargs)

    def get_concrete_function(self, *args: Any, **kwargs: Any) -> "ConcreteFunction":
        """Trace the function for such arguments, of which specs stand for tensors."""
        return self._function.concrete(self.__wrapped__, args, kwargs)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._function, name)


class ConcreteFunction:
    """A `tf.function` for arguments of some types and shapes only."""

    def __init__(self, of: "Function", function: Any, trace: Trace, given: Any) -> None:
        self._of = of
        self._function = function
        self._trace = trace
        self.structured_input_signature = given
        self.name = of.name

    @property
    def structured_outputs(self) -> Any:
        """What the results are like; None where only a call shows it."""
        return getattr(self._trace, "structured_outputs", None)

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Call the function."""
        arguments = self._of.taken_apart(self._function, args, kwargs)
        wanted = self._trace.arguments
        is_same = arguments.key == wanted.key and self._trace.admits(arguments.leaves)
        if not is_same:
            got = difference(arguments, wanted) or "other shapes"
            raise TypeError(
                f"{self.name}: the arguments are not those of the concrete function; got {got}, "
                f"expected {self._trace.described()}."
            )
        result = STALE
        if isinstance(self._trace, GraphTrace):
            result = self._trace.run(self._function, arguments.leaves)
        return self._of(*args, **kwargs) if result is STALE else result

    def pretty_printed_signature(self, verbose: bool = True) -> str:
        """Return what it was traced for."""
        return f"{self.name}{self._trace.described()}"

    def __repr__(self) -> str:
        return f"<ConcreteFunction {self.pretty_printed_signature()}>"
