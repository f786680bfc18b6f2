"""``lw.vectorize``: the decorator and the path of a call."""

import functools
import re
import threading
import types
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any, Self, overload

import numpy as np

from . import flow, pickles
from . import options as _options
from ._core import Caller, Explanation, MapOptions
from .arguments import Arguments, describe
from .cores import Core, Cores, core_of
from .dtypes import FROM_NUMPY, SUPPORTED, Type
from .element import Whole
from .errors import UsageError, UsageTypeError
from .fixed import Missing
from .numbering import running
from .options import CallOptions, choice, config
from .parameters import Parameters
from .recorder import current
from .running import Run, nest
from .single import arguments_of_element
from .source import at_line
from .specialization import (
    Dialect,
    Found,
    Programs,
    Recorded,
    Request,
    programs_of,
    record_program,
)

_REFILL = {None: None, "packets": False, "refill": True}


class Vectorized(Caller):
    """A function for one element that is called on arrays; made by `vectorize`.

    Calls from several threads are fine. Inside another vectorized function it is the plain one.

    Parameters of a call
    --------------------
    *args, **kwargs : array_like or number
        Arrays are mapped and broadcast as in NumPy; numbers and arrays of rank 0 are shared by all
        elements, and may change from call to call at no cost. Tuples, lists, dicts, named tuples,
        dataclasses, structured arrays and data frames are taken apart, and the function gets them
        with elements in them.
    out : ndarray, or nested as the results are, optional
        Where the results go: of the right type and shape, apart from the inputs.
    where : array_like of bool, optional
        Which elements are computed; elsewhere `out`, which must be given, stays as it is.
    threads, memory, accuracy, math, compile, max_steps, max_prints, timeout, on_timeout, \
cancel, progress, watchdog, on_silence, count, seed, first_element, on_error, fill_value, \
max_failures, check_numerics
        As `vectorize` has them, for this call.
    """

    __wrapped__: Callable[..., Any]

    def __init__(
        self,
        function: Callable[..., Any],
        name: str | None = None,
        given: dict[str, Any] | None = None,
        schedule: str | None = None,
        excluded: Iterable[int | str] = (),
        otypes: tuple[Type, ...] | None = None,
        core: Cores = None,
        dialect: Dialect | None = None,
    ) -> None:
        _look_like(self, function)
        self.name = identifier(name or str(getattr(function, "__name__", "f")))
        self._raw_options = given or {}
        self._schedule = schedule
        self._refill = choice("vectorize", "schedule", schedule, _REFILL)
        self._given = _options.checked("vectorize", given) if given else {}
        self._options: tuple[int, CallOptions] | None = None  # and the version of config
        self._parameters = Parameters(self.name, function)
        self._excluded = frozenset(map(self._position, excluded))
        self._otypes = otypes
        self._core = core
        self._dialect = dialect
        self._programs = Programs()  # of its own
        self._shared_programs = programs_of(function)
        self._lock = threading.RLock()
        self._is_method = False

    def __set_name__(self, owner: type, name: str) -> None:
        self._is_method = isinstance(self.__wrapped__, types.FunctionType)

    def __get__(self, instance: Any, owner: type | None = None) -> Any:
        """Return the function of an object, where this was defined in its class."""
        if instance is None or not self._is_method:
            return self
        return types.MethodType(self, instance)

    # --- the path of a call; C calls this when its cache does not know the arguments ---

    def _call_general(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """Map over the arguments, which C found nothing for in its cache."""
        given = kwargs
        kwargs = dict(kwargs)
        out = kwargs.pop("out", None)
        where = None if self._parameters.has("where") else kwargs.pop("where", None)
        options = self._call_options(kwargs)
        arguments = self._parameters.bind(args, kwargs)
        if current() is not None:
            return self._inside(self.__wrapped__, arguments, out)
        function, described = self._describe(arguments, options)
        if where is not None:
            return self._call_where(function, described, where, out, options)
        found = self._find(function, described)
        recorded = found.recorded
        values = (*described.values, *found.values)
        is_seeded = recorded.drawing is not None and "seed" not in given
        if is_seeded:
            options = self._seeded(options, recorded)
        going = self._going(options, recorded)
        if going is not None:
            options = going.options
        is_ragged = bool(described.ragged) or recorded.ragged is not None
        is_watched = options.is_watched or options.is_partial
        is_direct = recorded.is_simple and not is_ragged and not is_watched
        if is_direct and out is None:
            result = nest(recorded.structure, recorded.program.call(values, options.map))
        else:
            run = self._run(function, described, described.shape, recorded, values, options)
            if options.is_partial:
                return run.partially(out)
            result = run.over_rows(out) if is_ragged else run.whole(out)
        if going is not None:
            return going.with_failures(result)
        if is_direct and described.is_plain and not is_seeded:
            self._remember_call(args, given, kwargs, found, options)
        return result

    def _seeded(self, options: CallOptions, recorded: Recorded) -> CallOptions:
        """Return options with the seed that the library has which the function was written for."""
        assert self._dialect is not None
        assert recorded.drawing is not None
        options = options._replace(map=MapOptions(options.map))
        options.map.seed = self._dialect.seed(recorded.drawing)
        return options

    def _going(self, options: CallOptions, recorded: Recorded) -> Any:
        """Return what a call needs in which elements may fail; None: it ends with the first."""
        if not options.goes_on:
            return None
        from .failures import Going  # seldom needed

        return Going(self.name, options, recorded)

    def _call_options(self, kwargs: dict[str, Any]) -> CallOptions:
        """Take the options of a call out of its keywords."""
        if kwargs:
            given = {
                key: kwargs.pop(key)
                for key in list(kwargs)
                if key in _options.NAMES and not self._parameters.has(key)
            }
            if given:
                return _options.resolve(self._given, _options.checked(self.name, given))
        if not self._given:
            return _options.without_any(config.version)
        if self._options is None or self._options[0] != config.version:
            self._options = config.version, _options.resolve(self._given)
        return self._options[1]

    def _describe(
        self, arguments: tuple[Any, ...], options: CallOptions
    ) -> tuple[Callable[..., Any], Arguments]:
        """Return the function, bound to its object if it is a method, and its arguments."""
        core = None if self._core is None else self._core.begin()
        count = options.map.count
        is_bound = self._is_method and not isinstance(
            arguments[0], (np.ndarray, int, float, complex)
        )
        if not is_bound:
            return self.__wrapped__, describe(self.name, arguments, self._excluded, core, count)
        excluded = frozenset(position - 1 for position in self._excluded)
        function = types.MethodType(self.__wrapped__, arguments[0])
        return function, describe(self.name, arguments[1:], excluded, core, count)

    def _find(
        self,
        function: Callable[..., Any],
        described: Arguments,
        is_masked: bool = False,
        finds_lines: bool = False,
    ) -> Found:
        """Return the function as recorded for such arguments; it is recorded if it is new."""
        request = Request(
            self.name,
            described.signature,
            self._otypes,
            self._refill,
            is_masked,
            finds_lines,
            self._dialect,
        )
        sizes = described.sizes
        found = self._find_recorded(function, request, sizes)
        if found is None:
            found = self._record(function, request, sizes)
        if described.core is not None and not finds_lines and found.recorded.dtypes:
            described.core.check_results(self.name, found.recorded.shapes)
        return found

    def find_for(self, *arguments: Any) -> Found:
        """Return the function as recorded for such arguments."""
        function, described = self._describe(arguments, self._call_options({}))
        return self._find(function, described)

    def _record(
        self, function: Callable[..., Any], request: Request, sizes: tuple[int, ...]
    ) -> Found:
        with self._lock:  # of several threads one records
            found = self._find_recorded(function, request, sizes)
            if found is None:
                recorded = record_program(function, request, sizes)
                # Programs for all functions of this code must not keep what one captures alive.
                is_own = recorded.captures.keeps_alive
                (self._programs if is_own else self._shared_programs).add(request, recorded)
                found = _found(recorded, function)
        return found

    def _find_recorded(
        self, function: Callable[..., Any], request: Request, sizes: tuple[int, ...]
    ) -> Found | None:
        own = self._programs.find(function, request, sizes)
        return own or self._shared_programs.find(function, request, sizes)

    def _remember_call(
        self,
        args: tuple[Any, ...],
        given: dict[str, Any],
        kwargs: dict[str, Any],
        found: Found,
        options: CallOptions,
    ) -> None:
        """Let calls with such arguments go straight to the program.

        `given` are all keywords of the call, `kwargs` those of the function.
        """
        structure = found.recorded.structure
        is_tuple = structure is not None and structure.type is tuple
        if structure is not None and not (is_tuple and all(p is None for p in structure.parts)):
            return
        names = tuple(given)
        out = len(args) + names.index("out") if "out" in given else -1
        if len(given) != len(kwargs) + (out >= 0) or (out >= 0 and structure is not None):
            return  # there are options
        order = self._parameters.order(len(args), tuple(kwargs))
        if order is None:
            return
        positions = order[0]
        if out >= 0:  # arguments by name behind it have moved
            positions = tuple(at + (at >= out) for at in positions)
        self._remember(
            (*args, *given.values()),
            names,
            out,
            positions,
            order[1],
            found.recorded.program,
            found.sources,
            is_tuple,
            options.map,
        )

    def _call_where(
        self,
        function: Callable[..., Any],
        described: Arguments,
        where: Any,
        out: Any,
        options: CallOptions,
    ) -> Any:
        found = self._find(function, described, is_masked=True)
        if out is None and (found.recorded.dtypes or found.recorded.ragged is not None):
            raise UsageTypeError(
                f"{self.name}: where without out; got a mask and no array for the results, "
                "expected both. Give out=, which keeps its values where the mask is False."
            )
        mask = np.asarray(where)
        if mask.dtype != np.bool_:
            raise UsageTypeError(
                f"{self.name}: where is not a mask; got {mask.dtype}, expected bool."
            )
        shape = _shape_with(self.name, described.shape, mask)
        if found.recorded.ragged is not None and shape != described.shape:
            raise UsageError(
                f"{self.name}: where does not fit rows of results; got {mask.shape}, expected "
                f"{described.shape}, one bool for each row."
            )
        mask = np.broadcast_to(mask, shape)
        going = self._going(options, found.recorded)
        if going is not None:
            options = going.options
        options = options._replace(map=MapOptions(options.map))
        options.map.count = None  # the mask has as many
        options.map.mask = described.signature.parameters
        values = (*described.values, mask, *found.values)
        run = self._run(function, described, shape, found.recorded, values, options)
        if options.is_partial:
            return run.partially(out)
        if found.recorded.ragged is not None:
            run.over_rows(out, mask)
        else:
            run.whole(out)
        return out if going is None else going.with_failures(out)

    def _run(self, function: Callable[..., Any], described: Arguments, *given: Any) -> Run:
        def find_lines() -> Found:
            return self._find(function, described, finds_lines=True)

        return Run(self.name, function, described, find_lines, *given)

    # --- inside another vectorized function ---

    def call_inside(
        self, function: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]
    ) -> Any:
        """Record the plain function as a part of the one that is being recorded."""
        out = kwargs.pop("out", None)
        return self._inside(function, self._parameters.bind(args, kwargs), out)

    def _inside(self, function: Callable[..., Any], arguments: tuple[Any, ...], out: Any) -> Any:
        is_whole = any(isinstance(a, (np.ndarray, Whole)) and a.ndim for a in arguments)
        if out is None and (is_whole or self._core is not None):
            return self._on_tensors(function, arguments)
        if out is not None:
            raise UsageTypeError(
                at_line(
                    f"{self.name}: out= inside a vectorized function; got an array for the "
                    "results, expected none. Assign the result."
                )
            )
        return flow.call(function, *arguments)

    def _on_tensors(self, function: Callable[..., Any], arguments: tuple[Any, ...]) -> Any:
        """Map over tensors of the function that is being recorded."""
        from .tensors.nested import call_on_tensors  # seldom needed, and long to import

        core = None if self._core is None else self._core.begin()
        ranks: list[int | None] = []
        place = 0
        for position, argument in enumerate(arguments):
            if position in self._excluded:
                ranks.append(None)
                continue
            shape = getattr(argument, "shape", ())
            name = f"argument {position}"
            ranks.append(0 if core is None else core.rank(self.name, name, place, shape))
            place += 1
        return call_on_tensors(function, arguments, ranks)

    # --- looking at it ---

    def explain(self, *args: Any, **kwargs: Any) -> Explanation:
        """Say what happens, or happened, with such arguments: schedule and reason, code, counts.

        Returns
        -------
        Explanation
            Prints as text that begins with why it takes the time it takes, and is a page with
            pictures in notebooks; ``json()``, ``to_dict()`` and ``html()`` give all of it, and
            ``save(path)`` writes the page. Its attributes are the data: ``name``, the ``answer``
            that the text begins with, ``math``, ``program`` as it was
            recorded, ``instructions`` of the one that runs, ``bytes_in`` and ``bytes_out`` of an
            element, ``scratch_bytes`` of a worker, ``projected_bytes`` of all of them in such a
            call (with what sorts and spreads rows of different lengths), or a ``refusal`` by the
            budget; of machine code ``compiled``, ``schedule``, ``refill``, ``lanes``,
            ``interleave``, ``reason``, ``source``, ``times`` in milliseconds, ``code_bytes`` and
            ``error``; ``copied`` arguments, with the reason; and the ``last_run``, if there was
            one.

        Examples
        --------
        >>> import lanewise as lw, numpy as np
        >>> square = lw.vectorize(lambda x: x * x, name="square", compile="now")
        >>> x = np.arange(4.0)
        >>> square(x)
        array([0., 1., 4., 9.])
        >>> e = square.explain(x)
        >>> e.reason
        'no loop: every element takes the same steps'
        >>> e.bytes_in, e.bytes_out, e.last_run["tier1_elements"]
        (8, 8, 4)
        """
        described, found, options = self._look(args, kwargs)
        values = (*described.values, *found.values)
        if described.ragged or found.recorded.ragged is not None:
            from .ragged.running import Run  # seldom needed

            run = Run(self.name, described, found.recorded, values, options)
            return run.explained(described.copied)
        return found.recorded.program.explain(values, options.map, described.copied)

    def lower(self, *args: Any, **kwargs: Any) -> str:
        """Return the element program for such arguments as text.

        Examples
        --------
        >>> import lanewise as lw, numpy as np
        >>> square = lw.vectorize(lambda x: x * x, name="square")
        >>> print(square.lower(np.arange(4.0)).splitlines()[0])
        function square(%0: f64) -> (f64) {
        """
        _, found, options = self._look(args, kwargs)
        return found.recorded.program.lower(options.map)

    def _look(
        self, args: tuple[Any, ...], kwargs: dict[str, Any]
    ) -> tuple[Arguments, Found, CallOptions]:
        options = self._call_options(kwargs)
        function, described = self._describe(self._parameters.bind(args, kwargs), options)
        return described, self._find(function, described), options

    def on(self, index: int | tuple[int, ...], *args: Any, **kwargs: Any) -> Any:
        """Run the plain function on one element, where ``breakpoint()`` and ``print`` work.

        Parameters
        ----------
        index : int or tuple of int
            The element: its number in C order, as errors name it, or its place in each dimension.

        Examples
        --------
        >>> import lanewise as lw, numpy as np
        >>> f = lw.vectorize(lambda x, k: x * k)
        >>> f.on(2, np.array([1.0, 2.0, 4.0]), 10)
        np.float64(40.0)
        """
        options = self._call_options(kwargs)
        function, described = self._describe(self._parameters.bind(args, kwargs), options)
        number, arguments = arguments_of_element(self.name, index, described)
        with running(options.map.first_element + number):
            return function(*arguments)

    def save(self, path: str | Path) -> None:
        """Write what was recorded of the function to a file, with what it captures now.

        Parameters
        ----------
        path : str or Path
            The file: an ``npz`` that `load` reads, here or elsewhere, without the function.

        Examples
        --------
        >>> import lanewise as lw, numpy as np, tempfile, pathlib
        >>> scale = 3.0
        >>> f = lw.vectorize(lambda x: x * scale, name="scaled")
        >>> f(np.arange(3.0))
        array([0., 3., 6.])
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     f.save(pathlib.Path(folder) / "scaled.npz")
        ...     g = lw.Vectorized.load(pathlib.Path(folder) / "scaled.npz")
        >>> g(np.ones(2))
        array([3., 3.])
        """
        from . import saved  # seldom needed, and long to import

        signature = self._core.text if isinstance(self._core, Core) else None
        saved.save(path, self.name, signature, self._recorded_now())

    def _recorded_now(self) -> list[tuple[Request, Found]]:
        """Return what was recorded, as far as captures are as they were then."""
        programs = []
        for kept in (self._programs, self._shared_programs):
            for request in kept.requests():
                found = kept.find(self.__wrapped__, request)
                if found is not None and request.name == self.name:
                    programs.append((request, found))
        return programs

    @classmethod
    def load(cls, path: str | Path, **options: Any) -> Self:
        """Read what `save` wrote; reading runs no code.

        Parameters
        ----------
        path : str or Path
            The file.
        **options
            As `vectorize` has them. Programs with loops need ``max_steps``, since a file is not
            trusted to end.
        """
        from . import saved

        given = _options.checked("load", options)
        name, signature, programs = saved.load(path, given.get("max_steps", 0))
        core = None if signature is None else core_of(signature)
        loaded = cls(Missing(name), name, options, core=core)
        for request, recorded in programs:
            loaded._programs.add(request, recorded)
        return loaded

    def __reduce__(self) -> Any:
        for request, found in self._recorded_now():
            if found.recorded.prints is not None:
                finder = request._replace(is_masked=False, finds_lines=True)
                sizes = found.recorded.sizes or ()
                if self._find_recorded(self.__wrapped__, finder, sizes) is None:
                    self._record(self.__wrapped__, finder, sizes)
        reference = pickles.reference_of(self)
        carried = []
        for request, found in self._recorded_now():
            if found.recorded.folds is None and found.recorded.ragged is None:
                carried.append(pickles.carry(request, found))
            elif reference is None:
                raise UsageError(
                    f"{self.name}: cannot be pickled; got a function that adds to accumulators, or "
                    "returns rows, expected one that can be imported by name, or one that returns "
                    "numbers. Define it in a module."
                )
        given = self._raw_options, self._schedule, tuple(self._excluded), self._otypes, self._core
        return _restore, (type(self), reference, self.name, given, carried)

    def clear_cache(self) -> None:
        """Forget what was recorded; the next call records the function again.

        Examples
        --------
        >>> import lanewise as lw, numpy as np
        >>> f = lw.vectorize(lambda x: x + 1)
        >>> f(np.zeros(1))
        array([1.])
        >>> f.clear_cache()
        """
        self._forget()
        self._programs.clear()
        self._shared_programs.clear()

    def __repr__(self) -> str:
        return f"<vectorized {self.name}>"

    def _position(self, one: int | str) -> int:
        """Return the position of a parameter that is excluded from mapping."""
        found = one if isinstance(one, int) else self._parameters.position(one)
        if found is None or found < 0:
            raise UsageError(
                f"vectorize: excluded names no parameter; got {one!r}, expected positions from 0 "
                f"on, or names of {self.name}{self._parameters.signature}."
            )
        return found


def _restore(
    kind: type[Vectorized],
    reference: tuple[str, str] | None,
    name: str,
    given: tuple[Any, ...],
    carried: list[pickles.Carried],
) -> Vectorized:
    """Make a function from a pickle."""
    function = pickles.import_by(reference, name)
    if isinstance(function, Vectorized):
        return function
    vectorized = kind(function, name, *given)
    if isinstance(function, Missing):
        for one in carried:
            vectorized._programs.add(one.request, pickles.arrive(one))
    return vectorized


@functools.lru_cache(256)
def _request_of_one(name: str, dtype: np.dtype[Any], dialect: Any) -> Request:
    """Return what asks for a function of one array of numbers."""
    signature = describe(name, (np.empty(1, dtype),)).signature
    return Request(name, signature, None, None, dialect=dialect)


def map_once(function: Callable[..., Any], array: Any, dialect: Any) -> Any:
    """Map a function that takes nothing from outside, and that may never be called again.

    Nothing is made for further calls but its program, which a `Vectorized` of the same code finds.
    None: it takes such a one, for its results, for options, or as it was mapped before.
    """
    options = _options.without_more(config.version)
    programs = programs_of(function)
    if options is None or not programs.is_empty():
        return None
    request = _request_of_one(identifier(function.__name__), array.dtype, dialect)
    recorded = record_program(function, request)
    programs.add(request, recorded)
    if recorded.structure is not None or not recorded.is_simple or recorded.ragged is not None:
        return None
    return recorded.program.call((array,), options)[0]


def _found(recorded: Recorded, function: Any) -> Found:
    """Return what was just recorded with its captures."""
    matched = recorded.captures.match(function)
    if matched is None:
        raise UsageError(
            f"{recorded.program.name}: what the function captures changed while it was recorded; "
            "got other values than at the beginning, expected the same. Return such values instead."
        )
    return Found(recorded, *matched)


def _shape_with(call: str, shape: tuple[int, ...], mask: Any) -> tuple[int, ...]:
    try:
        return np.broadcast_shapes(shape, mask.shape)
    except ValueError:
        raise UsageError(
            f"{call}: where does not fit the arguments; got {mask.shape}, expected a shape that "
            f"broadcasts with {shape}."
        ) from None


@overload
def vectorize(fn: Callable[..., Any], /) -> Vectorized: ...
@overload
def vectorize(
    fn: Callable[..., Any] | None = None,
    /,
    *,
    name: str | None = None,
    excluded: Iterable[int | str] | None = None,
    otypes: Any = None,
    signature: str | None = None,
    schedule: str | None = None,
    **options: Any,
) -> Any: ...
def vectorize(
    fn: Callable[..., Any] | None = None,
    /,
    *,
    name: str | None = None,
    excluded: Iterable[int | str] | None = None,
    otypes: Any = None,
    signature: str | None = None,
    schedule: str | None = None,
    **options: Any,
) -> Any:
    """Make a function for one element one for arrays.

    The function is called once per signature, on symbolic elements, and recorded; see `Element`
    for what it may do. The program then runs over all elements in SIMD lanes, on every core.
    Numbers and arrays that the function takes from outside are read at every call.

    Parameters
    ----------
    fn : callable, optional
        A function of elements that returns an element, or elements in tuples, lists, dicts, named
        tuples and dataclasses. Left out when options are given to the decorator.
    name : str, optional
        What it is called in errors and `Vectorized.explain`; the function's own name if not given.
    excluded : set of int or str, optional
        Positions or names of parameters that are not mapped: numbers are shared by all elements,
        arrays are read by index, everything else is passed as it is.
    otypes : str or list of dtype, optional
        The types of the results; those the function gives if not given.
    signature : str, optional
        As `numpy.vectorize` has it: with ``"(n),(n)->()"`` the function gets the last dimension of
        both arguments whole, as a tensor. Elements are single numbers if not given.
    schedule : {"packets", "refill"}, optional
        How loops run in lanes; chosen if not given.
    threads : int, optional
        How many may take part; 0 for what `set_num_threads` says.
    max_steps : int, optional
        Loop steps an element may take before it fails with `ElementError`; 0 for no limit.
    memory : int, optional
        Bytes that a call may use beyond its arguments and results; 0 for a small part of what the
        process may use. A call that cannot do with so little is refused with `ResourceError`.
    compile : {"auto", "now", "never"}, optional
        Machine code beside the first call (of a short map without loops: beside the second),
        before it, or never.
    math : {"strict", "fast"}, optional
        Fast: a product and a sum may become one fma, a division by a literal a multiplication, and
        quotients and square roots may be two units in the last place off. Faster, with other bits,
        also from one processor to another; NaN, infinities and signed zeros keep their meaning.
    accuracy : {"default", "high"}, optional
        With "high", mathematical functions of float32 are computed in float64, those of float64 in
        pairs: within one unit in the last place, and several times slower.
    timeout : float, optional
        Seconds after which a call ends with `Timeout`.
    on_timeout : {"raise", "partial"}, optional
        With "partial" a call returns a `Partial`, also when it is cancelled: what is finished, and
        the way to go on with the rest.
    cancel : CancelToken, optional
        Stops the call from another thread: it ends with `Cancelled`.
    watchdog : float, optional
        Seconds without an element that ends, after which a line on stderr says which elements
        run, where, and since when.
    on_silence : callable, optional
        A function that is told the `Silence` instead.
    max_prints : int, optional
        Lines that elements may print in a call, 1000 if not given; 0 for none.
    progress : bool or callable, optional
        True for a progress bar (by tqdm if that is there), or a function that is told the
        `Progress` now and then and at the end; an exception of its ends the call.
    on_error : {"raise", "collect", "fill"}, optional
        What becomes of a call in which elements fail: it ends with `ElementError` for the lowest
        one; or all others end, the results of those that fail are `fill_value`, and they are left
        out of accumulators. With "collect" a call returns its results and `Failures`.
    fill_value : number, or nested as the results are, optional
        NaN, and 0 of integers, if not given.
    max_failures : int, optional
        How many failures "collect" says the reason of, 1000 if not given; it counts all.
    check_numerics : bool, optional
        Elements fail whose results are not finite, and name the line in which that began; likewise
        those that convert a float to an integer that does not have it.
    count : int, optional
        How many elements there are, where no argument is an array; `element` tells them apart.
    seed, first_element : int, optional
        The seed of random draws, and the number of the first element.

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
    types = None if otypes is None else _dtypes(otypes)
    positions = () if excluded is None else tuple(excluded)
    core = None if signature is None else core_of(signature)
    given = name, options, schedule, positions, types, core
    if fn is not None:
        return _vectorized(fn, *given)
    _options.checked("vectorize", options)
    choice("vectorize", "schedule", schedule, _REFILL)
    return lambda function: _vectorized(function, *given)


def _vectorized(function: Any, *given: Any) -> Vectorized:
    if not callable(function):
        raise UsageTypeError(
            f"vectorize: not a function; got {type(function).__name__}, expected a callable."
        )
    return Vectorized(function, *given)


def _look_like(vectorized: Vectorized, function: Any) -> None:
    """Do what `functools.update_wrapper` does, for functions of Python in less time."""
    if type(function) is not types.FunctionType:
        functools.update_wrapper(vectorized, function, updated=())
        return
    own = vars(vectorized)
    for name in functools.WRAPPER_ASSIGNMENTS:  # such a function has them all
        own[name] = getattr(function, name)
    own["__wrapped__"] = function


@functools.lru_cache(256)
def identifier(name: str) -> str:
    """Return a name as programs can have it; that of a lambda is in angle brackets."""
    if name.isidentifier() and name.isascii():
        return name
    return re.sub(r"\W", "_", name).strip("_") or "f"


def _dtypes(otypes: Any) -> tuple[Type, ...]:
    """Return the types that `otypes` names."""
    found = []
    for one in otypes if isinstance(otypes, (str, list, tuple)) else [otypes]:
        dtype = FROM_NUMPY.get(np.dtype(one))
        if dtype is None:
            raise UsageTypeError(
                f"vectorize: unsupported type in otypes; got {np.dtype(one)}, expected {SUPPORTED}."
            )
        found.append(dtype)
    return tuple(found)
