"""``tf.function``: a function of Python that is traced once, and then run.

One trace serves all batch sizes and all numbers of Python that are passed or captured. `explain`
says what was traced, how it runs, and why it was traced again.
"""

import functools
import threading
import types
from collections.abc import Callable
from typing import Any

import numpy as np

from ... import flow
from ...errors import Cancelled, ElementError, InternalError, ResourceError, Timeout
from ...recorder import current
from . import graph
from .arguments import Arguments, OfObject, OfTensor, Parameters, difference
from .bindings import has_symbols
from .bound_functions import BoundFunction, ConcreteFunction
from .graph import NeedsValueError
from .graph_traces import Dims, GraphTrace, Static, StaticError
from .signatures import InputSignature, dims_of, placeholders
from .tensor import Tensor, array_of
from .tracing import STALE, ProgramTrace, PythonTrace, Trace, name_of

_MOST_TRACES = 64  # that are kept
_REAL = (ElementError, Cancelled, Timeout, ResourceError, InternalError)  # no fault of tracing
_settings = types.SimpleNamespace(runs_eagerly=False)


class Function:
    """What `tf.function` makes of a function; see `function`."""

    def __init__(
        self, python_function: Callable[..., Any], input_signature: Any = None, **options: Any
    ) -> None:
        functools.update_wrapper(self, python_function)
        self.python_function = python_function
        self.name = name_of(python_function)
        self._options = options
        self._parameters = Parameters(python_function)
        self._bound_parameters: Parameters | None = None
        self._signature = (
            None
            if input_signature is None
            else InputSignature(self.name, self._parameters, input_signature)
        )
        self._static = Static()
        self._traces: dict[Any, list[Trace]] = {}  # by key, the last one that was made last
        self._fast: dict[Any, Trace] = {}
        self._events: list[str] = []
        self._calls = 0
        self._count = 0  # of traces
        self._lock = threading.RLock()

    # --- calls ---

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Call the function."""
        return self._begin(self.python_function, None, args, kwargs)

    def call_on(self, instance: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """Call it as a method of an object."""
        function = types.MethodType(self.python_function, instance)
        return self._begin(function, OfObject(instance), args, kwargs)

    def _begin(
        self, function: Any, owner: OfObject | None, args: tuple[Any, ...], kwargs: dict[str, Any]
    ) -> Any:
        """Go straight to a trace, where arguments are tensors and numbers that are known."""
        if not kwargs and current() is None and graph.building() is None:
            key = _fast_key(args)
            trace = self._fast.get((owner, key)) if key is not None else None
            if trace is not None and trace.admits(args):
                result = trace.run(function, args)
                if result is not STALE:
                    self._calls += 1
                    return result
        return self._call(function, owner, args, kwargs)

    def call_inside(self, function: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """Call the function as a part of what lanewise is recording."""
        return flow.call(function, *args, **kwargs)

    def _call(
        self, function: Any, owner: OfObject | None, args: tuple[Any, ...], kwargs: dict[str, Any]
    ) -> Any:
        if current() is not None:
            return self.call_inside(function, args, kwargs)
        if graph.building() is not None or _settings.runs_eagerly or has_symbols((args, kwargs)):
            return function(*args, **kwargs)
        self._calls += 1
        arguments = self._bind(function, args, kwargs)
        result = self._run_known(function, arguments)
        if result is not STALE:
            return result
        with self._lock:  # of several threads one traces
            result = self._run_known(function, arguments)
            if result is not STALE:
                return result
            trace, result = self._trace(function, arguments)
        if not kwargs and self._signature is None and _is_flat(args, arguments, trace):
            self._fast[owner, _fast_key(args)] = trace
        return result

    def _run_known(self, function: Any, arguments: Arguments) -> Any:
        """Return what a trace that there is gives; `STALE` where there is none."""
        for trace in reversed(self._traces.get(self._key(function, arguments), [])):
            if trace.admits(arguments.leaves):
                result = trace.run(function, arguments.leaves)
                if result is not STALE:
                    return result
        return STALE

    def _bind(self, function: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Arguments:
        parameters = self._parameters_of(function)
        if self._signature is not None:
            args, kwargs = self._signature.checked(parameters, args, kwargs)
        return parameters.bind(args, kwargs, self._static.arguments)

    def taken_apart(
        self, function: Any, args: tuple[Any, ...], kwargs: dict[str, Any]
    ) -> Arguments:
        """Return the arguments of a call, whatever its signature says."""
        return self._parameters_of(function).bind(args, kwargs, self._static.arguments)

    def _parameters_of(self, function: Any) -> Parameters:
        if function is self.python_function:
            return self._parameters
        if self._bound_parameters is None:
            self._bound_parameters = Parameters(function)
        return self._bound_parameters

    def _key(self, function: Any, arguments: Arguments) -> Any:
        owner = None if function is self.python_function else OfObject(function.__self__)
        return owner, arguments.key

    # --- tracing ---

    def _trace(self, function: Any, arguments: Arguments) -> tuple[Trace, Any]:
        """Trace the function for such arguments, and call it."""
        parameters = self._parameters_of(function)
        why = self._why(function, arguments)
        self._count += 1
        reason: Exception = TypeError("results, or what it captures, change from call to call")
        trace: Trace
        try:
            trace = self._graph_trace(function, parameters, arguments)
        except StaticError as error:
            self._note(str(error))
            args = parameters.arranged(arguments.nested(arguments.leaves))
            return self._trace(function, self._bind(function, *args))
        except _REAL:
            raise
        except Exception as error:
            reason = error
        else:
            self._keep(function, trace, why)
            result = trace.run(function, arguments.leaves)
            if result is not STALE:
                return trace, result
        trace, result = self._other_way(function, parameters, arguments, reason)
        self._keep(function, trace, why)
        return trace, result

    def _graph_trace(
        self, function: Any, parameters: Parameters, arguments: Arguments
    ) -> GraphTrace:
        dims = self._dims(function, arguments)
        return GraphTrace(function, parameters, arguments, self._static, dims)

    def _dims(self, function: Any, arguments: Arguments) -> dict[int, Dims]:
        """Return which sizes a trace may know: not the first ones, nor those that have varied."""
        if self._signature is not None:
            return self._signature.dims(arguments)
        before = self._traces.get(self._key(function, arguments), [])
        known: dict[int, Dims] = {}
        for at, kind in enumerate(arguments.kinds):
            if isinstance(kind, OfTensor):
                shape = np.shape(array_of(arguments.leaves[at]))
                known[at] = tuple([None, *shape[1:]] if shape else [])
                for trace in before:
                    old = trace.dims.get(at, shape) if isinstance(trace, GraphTrace) else shape
                    pairs = zip(known[at], old, strict=True)
                    known[at] = tuple(new if new == size else None for new, size in pairs)
        return known

    def _other_way(
        self, function: Any, parameters: Parameters, arguments: Arguments, error: Exception
    ) -> tuple[Trace, Any]:
        """Run what cannot be a graph: as a program, or as Python."""
        reason = _reason("it cannot be a graph", error)
        trace: Trace
        try:
            trace = ProgramTrace(function, parameters, arguments, reason)
            return trace, trace.run(function, arguments.leaves)
        except _REAL:
            raise
        except Exception as second:
            both = f"{reason}; {_reason('nor a program', second)}"
            trace = PythonTrace(parameters, arguments, both)
            return trace, trace.run(function, arguments.leaves)

    def _keep(self, function: Any, trace: Trace, why: str) -> None:
        if why:
            self._note(why)
        key = self._key(function, trace.arguments)
        self._traces.setdefault(key, []).append(trace)
        while sum(map(len, self._traces.values())) > _MOST_TRACES:
            oldest = next(iter(self._traces))
            dropped = self._traces[oldest].pop(0)
            if not self._traces[oldest]:
                del self._traces[oldest]
            self._fast = {k: kept for k, kept in self._fast.items() if kept is not dropped}

    # --- what was done ---

    def _why(self, function: Any, arguments: Arguments) -> str:
        """Say why the function has to be traced again; nothing for the first time."""
        if not self._traces:
            return ""
        alike = self._traces.get(self._key(function, arguments))
        if alike is None:
            last = list(self._traces.values())[-1][-1]
            return difference(arguments, last.arguments) or "another object"
        last = alike[-1]
        if isinstance(last, GraphTrace):
            if last.admits(arguments.leaves):
                return last.changed(function)
            for at, dims in last.dims.items():
                shape = np.shape(array_of(arguments.leaves[at]))
                if any(d not in (None, size) for d, size in zip(dims, shape, strict=True)):
                    name = arguments.names[at]
                    return f"the shape of {name} changed from {_shown(dims)} to {_shown(shape)}"
        return "it was traced for something else"

    def _note(self, text: str) -> None:
        self._events.append(text)
        del self._events[:-_MOST_TRACES]

    def experimental_get_tracing_count(self) -> int:
        """Return how often the function of Python was traced."""
        return self._count

    def explain(self) -> str:
        """Say what was traced, how it runs, and why it was traced again.

        Examples
        --------
        >>> import lanewise.compat.tf as tf
        >>> @tf.function
        ... def wave(x, scale):
        ...     return tf.sin(x) * scale
        >>> for n in range(1, 5):
        ...     _ = wave(tf.zeros([n]), float(n))
        >>> print(wave.explain())
        wave: 1 trace in 4 calls
          graph: (x: float32(None,), scale: a number (float)) runs as one program of 2 calls
            no Python statement needs the value of a tensor
        """
        times = "1 trace" if self._count == 1 else f"{self._count} traces"
        lines = [f"{self.name}: {times} in {self._calls} calls"]
        for trace in (trace for kept in self._traces.values() for trace in kept):
            lines.append(f"  {trace.mode}: {trace.described()}")
            lines.append(f"    {trace.reason}")
        if self._events:
            lines.append("  traced again:")
            lines += [f"    {event}" for event in self._events]
        return "\n".join(lines)

    def pretty_printed_concrete_signatures(self, verbose: bool = True) -> str:
        """Return what it was traced for."""
        traces = (trace for kept in self._traces.values() for trace in kept)
        return "\n".join(f"{self.name}{trace.described()}" for trace in traces)

    def get_concrete_function(self, *args: Any, **kwargs: Any) -> ConcreteFunction:
        """Trace the function for such arguments, of which specs stand for tensors."""
        return self.concrete(self.python_function, args, kwargs)

    def concrete(
        self, function: Any, args: tuple[Any, ...], kwargs: dict[str, Any]
    ) -> ConcreteFunction:
        """Trace the function for such arguments."""
        if self._signature is not None and not args and not kwargs:
            args = self._signature.specs
        parameters = self._parameters_of(function)
        while True:
            static = self._static.arguments
            zeros = placeholders((args, kwargs))
            arguments = parameters.bind(zeros[0], zeros[1], static)
            dims = dims_of(parameters.bind(args, kwargs, static), arguments)
            try:
                trace: Trace = GraphTrace(
                    function, parameters, arguments, self._static, dims, keeps_dims=True
                )
            except StaticError:
                continue
            except Exception as error:
                reason = _reason("it cannot be a graph", error)
                trace = ProgramTrace(function, parameters, arguments, reason)
            return ConcreteFunction(self, function, trace, (args, kwargs))

    def __get__(self, instance: Any, owner: type | None = None) -> Any:
        """Return the function of an object, where this was defined in its class."""
        return self if instance is None else BoundFunction(self, instance)

    def __reduce__(self) -> Any:
        return _again, (self.python_function, self._options)

    def __repr__(self) -> str:
        return f"<tf.function {self.name}>"


def _again(python_function: Callable[..., Any], options: dict[str, Any]) -> Function:
    return Function(python_function, **options)


def _shown(dims: Any) -> str:
    return str(tuple(dims))


def _reason(what: str, error: Exception) -> str:
    text = str(error).partition("\n")[0]
    kind = "" if isinstance(error, NeedsValueError) else f"{type(error).__name__}: "
    return f"{what} ({kind}{text})"


def _fast_key(args: tuple[Any, ...]) -> Any:
    """Return what tells calls apart that have tensors and numbers only; None for others."""
    key: list[Any] = []
    for arg in args:
        kind = type(arg)
        if kind is Tensor:
            key.append(arg._value.dtype)
            key.append(arg._value.ndim)
        elif kind is float or (kind is int and -(2**31) <= arg < 2**31):
            key.append(kind)
        elif kind is np.ndarray or isinstance(arg, np.generic):
            key.append(arg.dtype)
            key.append(arg.ndim)
        else:
            return None
    return tuple(key)


def _is_flat(args: tuple[Any, ...], arguments: Arguments, trace: Trace) -> bool:
    """Say whether the arguments of a call are all that is fed, in this order."""
    leaves = arguments.leaves
    return len(args) == len(trace.arguments.fed) == len(leaves) and all(
        mine is its for mine, its in zip(args, leaves, strict=True)
    )


def function(
    func: Callable[..., Any] | None = None,
    input_signature: Any = None,
    autograph: bool = True,
    jit_compile: bool | None = None,
    reduce_retracing: bool = False,
    experimental_implements: Any = None,
    experimental_autograph_options: Any = None,
    experimental_attributes: Any = None,
    experimental_relax_shapes: bool | None = None,
    experimental_compile: bool | None = None,
    experimental_follow_type_hints: bool | None = None,
) -> Any:
    """Make a function one that is traced once, and then run.

    A trace is for all sizes of batches and all numbers of Python; types, ranks, and values that
    Python needs, tell traces apart. ``if``, ``while`` and ``for`` on tensors work. What it captures
    is never stale. Everything is compiled, so that ``jit_compile``, ``reduce_retracing``,
    ``autograph`` and what is experimental have nothing to change.

    Parameters
    ----------
    func : callable, optional
        A function, method or lambda; left out when options are given to the decorator.
    input_signature : list of TensorSpec, optional
        What the arguments have to be; others are a `TypeError`.
    autograph, jit_compile, reduce_retracing
        Without effect.

    Returns
    -------
    Function
        Is called as the function is; `Function.explain` says what was done.

    Examples
    --------
    >>> import lanewise.compat.tf as tf
    >>> @tf.function
    ... def step(x):
    ...     return tf.sin(x) + 1
    >>> step(tf.constant([0.0]))
    <tf.Tensor: shape=(1,), dtype=float32, numpy=array([1.], dtype=float32)>
    """
    options = {
        "input_signature": input_signature,
        "autograph": autograph,
        "jit_compile": jit_compile,
        "reduce_retracing": reduce_retracing,
    }
    if func is None:
        return lambda given: Function(given, **options)
    if not callable(func):
        raise TypeError(
            f"tf.function: not a function; got {type(func).__name__}, expected a callable."
        )
    return func if isinstance(func, Function) else Function(func, **options)


def run_functions_eagerly(run_eagerly: bool) -> None:
    """Let every `tf.function` be called as the Python function that it is, or no longer."""
    _settings.runs_eagerly = bool(run_eagerly)


def functions_run_eagerly() -> bool:
    """Say whether every `tf.function` is called as the Python function that it is."""
    return bool(_settings.runs_eagerly)


def do_not_convert(func: Any = None, **_: Any) -> Any:
    """Return a function as it is: Python's branches on tensors are recorded all the same."""
    return (lambda one: one) if func is None else func


NAMES = {
    "function": function,
    "autograph.experimental.do_not_convert": do_not_convert,
    "config.run_functions_eagerly": run_functions_eagerly,
    "config.functions_run_eagerly": functions_run_eagerly,
    "config.experimental_run_functions_eagerly": run_functions_eagerly,
}
