"""``lw.vectorize``: the decorator and the path of a call."""

import functools
import re
from collections.abc import Callable
from typing import Any, overload

import numpy as np

from . import flow
from ._core import Accuracy, Compile, Explanation, MapOptions, Math, empty
from .arguments import Arguments, Signature, describe
from .dtypes import TO_NUMPY
from .errors import UsageError, UsageTypeError
from .outputs import check_outputs
from .parameters import Parameters
from .recorder import current
from .source import at_line
from .specialization import Specialization

_COMPILE = {"auto": Compile.Auto, "now": Compile.Now, "never": Compile.Never}
_ACCURACY = {"default": Accuracy.Default, "high": Accuracy.High}
_MATH = {"strict": Math.Strict, "fast": Math.Fast}
_REFILL = {None: None, "packets": False, "refill": True}


class Vectorized:
    """A function for one element that is called on arrays; made by `vectorize`.

    Calls from several threads are fine. Inside another vectorized function it is the plain one.
    """

    __wrapped__: Callable[..., Any]

    def __init__(
        self,
        function: Callable[..., Any],
        name: str | None,
        options: MapOptions,
        refill: bool | None,
    ) -> None:
        functools.update_wrapper(self, function)
        self.name = _identifier(name or str(getattr(function, "__name__", "f")))
        self._refill = refill
        self._options = options
        self._parameters = Parameters(self.name, function)
        self._specializations: dict[Signature, Specialization] = {}

    def __call__(self, *args: Any, out: Any = None, **kwargs: Any) -> Any:
        """Map over the arguments.

        Parameters
        ----------
        *args, **kwargs : array_like or number
            Arrays are mapped and broadcast as in NumPy; numbers and arrays of rank 0 are shared by
            all elements, and may change from call to call at no cost.
        out : ndarray or tuple of ndarray, optional
            Where the results go: C-contiguous, of the right type and shape, apart from the inputs.

        Returns
        -------
        ndarray or tuple of ndarray
            As the function returns one element or a tuple of them.
        """
        arguments = self._parameters.bind(args, kwargs)
        if current() is not None:
            return self._call_inside(arguments, out)
        described = describe(self.name, arguments)
        specialization = self._specialize(described)
        assert specialization.dtypes is not None
        if out is None:
            outputs = [empty(described.shape, TO_NUMPY[d]) for d in specialization.dtypes]
        else:
            outputs = check_outputs(self.name, out, described.shape, specialization.dtypes)
        specialization.compiled.map_into(outputs, described.arrays, self._options)
        if out is None and described.shape == ():
            outputs = [output[()] for output in outputs]
        return tuple(outputs) if specialization.returns_tuple else outputs[0]

    def explain(self, *args: Any, **kwargs: Any) -> Explanation:
        """Say what happens, or happened, with such arguments: schedule and reason, code, counts.

        Returns
        -------
        Explanation
            Prints as text; its attributes are the data: ``name``, ``math``, ``program`` as it was
            recorded, ``instructions`` of the one that runs, ``bytes_in`` and ``bytes_out`` of an
            element, ``scratch_bytes`` of a worker; of machine code ``compiled``, ``schedule``,
            ``refill``, ``lanes``, ``interleave``, ``reason``, ``source``, ``times`` in
            milliseconds, ``code_bytes`` and ``error``; and the ``last_run``, if there was one.

        Examples
        --------
        >>> import lanewise as lw, numpy as np
        >>> square = lw.vectorize(lambda x: x * x, name="square", compile="now")
        >>> x = np.arange(4.0)
        >>> square(x)
        array([0., 1., 4., 9.])
        >>> e = square.explain(x)
        >>> print(str(e).splitlines()[1])
          because   no loop: every element takes the same steps
        >>> e.bytes_in, e.bytes_out, e.last_run["tier1_elements"]
        (8, 8, 4)
        """
        described = describe(self.name, self._parameters.bind(args, kwargs))
        return self._specialize(described).compiled.explain(described.arrays, self._options)

    def lower(self, *args: Any, **kwargs: Any) -> str:
        """Return the element program for such arguments as text.

        Examples
        --------
        >>> import lanewise as lw, numpy as np
        >>> square = lw.vectorize(lambda x: x * x, name="square")
        >>> print(square.lower(np.arange(4.0)).splitlines()[0])
        function square(%0: f64) -> (f64) {
        """
        described = describe(self.name, self._parameters.bind(args, kwargs))
        return self._specialize(described).compiled.lower(described.arrays, self._options)

    def __repr__(self) -> str:
        return f"<vectorized {self.name}>"

    def _call_inside(self, arguments: tuple[Any, ...], out: Any) -> Any:
        """Record the plain function as a part of the one that is being recorded."""
        if out is not None or any(isinstance(a, np.ndarray) and a.ndim for a in arguments):
            raise UsageTypeError(
                at_line(
                    f"{self.name}: called on arrays inside a vectorized function; got an array, "
                    "expected elements and numbers. Pass the array as an argument of the outer "
                    "function."
                )
            )
        return flow.call(self.__wrapped__, *arguments)

    def _specialize(self, arguments: Arguments) -> Specialization:
        """Return the function for this signature, recorded if it is new."""
        signature = arguments.signature
        found = self._specializations.get(signature)
        if found is None:
            # Of several threads one wins here, and one records: `compiled` has the lock.
            new = Specialization(self.name, self.__wrapped__, signature, self._refill)
            found = self._specializations.setdefault(signature, new)
        if found.dtypes is None:
            found.dtypes = found.compiled.result_types(arguments.arrays, self._options)
        return found


@overload
def vectorize(fn: Callable[..., Any], /) -> Vectorized: ...
@overload
def vectorize(
    fn: Callable[..., Any] | None = None,
    /,
    *,
    name: str | None = None,
    threads: int = 0,
    max_steps: int = 0,
    memory: int = 0,
    compile: str = "auto",
    math: str = "strict",
    schedule: str | None = None,
    accuracy: str = "default",
) -> Any: ...
def vectorize(
    fn: Callable[..., Any] | None = None,
    /,
    *,
    name: str | None = None,
    threads: int = 0,
    max_steps: int = 0,
    memory: int = 0,
    compile: str = "auto",
    math: str = "strict",
    schedule: str | None = None,
    accuracy: str = "default",
) -> Any:
    """Make a function for one element one for arrays.

    The function is called once per signature, on symbolic elements, and recorded; see `Element`
    for what it may do. The program then runs over all elements in SIMD lanes, on every core.
    Numbers that the function takes from outside are read when it is recorded; pass what changes as
    an argument.

    Parameters
    ----------
    fn : callable, optional
        A function of elements that returns an element or a tuple of them. Left out when options are
        given to the decorator.
    name : str, optional
        What it is called in errors and `Vectorized.explain`; the function's own name if not given.
    threads : int, optional
        How many may take part; 0 for what `set_num_threads` says.
    max_steps : int, optional
        Loop steps an element may take before it fails with `ElementError`; 0 for no limit.
    memory : int, optional
        Bytes that a call may use beyond its arguments and results; 0 for a small part of what the
        process may use. A call that cannot do with so little is refused with `ResourceError`.
    compile : {"auto", "now", "never"}, optional
        Machine code beside the first call, before it, or never.
    math : {"strict", "fast"}, optional
        Fast: a product and a sum may become one fma, a division by a literal a multiplication.
        Faster, with other bits; NaN, infinities and signed zeros keep their meaning.
    schedule : {"packets", "refill"}, optional
        How loops run in lanes; chosen if not given.
    accuracy : {"default", "high"}, optional
        With "high", mathematical functions of float32 are computed in float64, those of float64 in
        pairs: within one unit in the last place, and several times slower.

    Examples
    --------
    >>> import lanewise as lw, numpy as np
    >>> @lw.vectorize
    ... def wave(x, scale):
    ...     return np.sin(x) * scale
    >>> wave(np.array([0.0, 0.5, 1.0]), 2.0).round(6)
    array([0.      , 0.958851, 1.682942])

    With options:

    >>> @lw.vectorize(max_steps=1000, threads=1)
    ... def halvings(x):
    ...     return lw.while_loop(lambda x, n: x > 1, lambda x, n: (x / 2, n + 1), (x, 0))[1]
    >>> halvings(np.array([1.0, 10.0, 1e6]))
    array([ 0,  4, 20])
    """
    options = MapOptions()
    options.threads = _whole_number("threads", threads, 2**31 - 1)
    options.max_steps = _whole_number("max_steps", max_steps, 2**63 - 1)
    options.memory = _whole_number("memory", memory, 2**63 - 1)
    options.compile = _choice("compile", compile, _COMPILE)
    options.accuracy = _choice("accuracy", accuracy, _ACCURACY)
    options.math = _choice("math", math, _MATH)
    refill = _choice("schedule", schedule, _REFILL)

    def decorate(function: Callable[..., Any]) -> Vectorized:
        if not callable(function):
            raise UsageTypeError(
                f"vectorize: not a function; got {type(function).__name__}, expected a callable."
            )
        return Vectorized(function, name, options, refill)

    return decorate if fn is None else decorate(fn)


def _identifier(name: str) -> str:
    """Return a name as programs can have it; that of a lambda is in angle brackets."""
    return re.sub(r"\W", "_", name).strip("_") or "f"


def _whole_number(option: str, value: Any, most: int) -> int:
    if isinstance(value, int) and not isinstance(value, bool) and 0 <= value <= most:
        return value
    raise UsageError(
        f"vectorize: {option} is not a whole number in range; got {value!r}, expected 0 to {most}."
    )


def _choice(option: str, value: Any, choices: dict[Any, Any]) -> Any:
    if value in choices:
        return choices[value]
    raise UsageError(
        f"vectorize: no such {option}; got {value!r}, expected one of "
        f"{', '.join(repr(choice) for choice in choices)}."
    )
