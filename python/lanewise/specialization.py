"""Recording a function for one signature, and finding what was recorded before."""

import functools
import math
import types
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol
from weakref import WeakKeyDictionary

import numpy as np

from . import _core, flow
from ._core import DType, ParamKind, Program, Recording, Value
from .arguments import Leaf, Parameter, Signature, Static, woven
from .captures import Captures, Source, is_inlined, plain_function
from .complex_element import NewParameter, as_values, new_parameters, of_values
from .convert import SUSPENDS, has_branches, refuse_generators
from .dtypes import FROM_NUMPY, PARTS, WEAK_INT, WEAK_NARROW, Type, parts_of, settled
from .element import Element, Varying, as_value, is_operand, is_tensor, kind_of
from .errors import UsageError, UsageTypeError
from .recorder import Recorder, Retrace, record_function
from .source import line_of
from .stand_ins import captured, is_closed
from .tables import Table
from .trees import Structure, flatten, split_result, unflatten

if TYPE_CHECKING:
    from .flow.prints import Site
    from .folds import Folds
    from .ragged.results import RaggedResults


class Dialect(Protocol):
    """What else holds inside of a function that was written for another library."""

    def call(self, function: Any, arguments: list[Any]) -> Any:
        """Call the function that is being recorded; return its results as elements."""

    def shape(self, shape: tuple[int, ...]) -> tuple[int, ...]:
        """Return a shape as the function is to find it."""

    def operands(self, operands: tuple[Any, ...]) -> Sequence[Any]:
        """Return the operands of a function of numbers as it is to find them."""

    def divide(self, a: Any, b: Any) -> Any:
        """Record ``a / b``."""

    def floor_divide(self, a: Any, b: Any) -> Any:
        """Record ``a // b`` of floats."""

    def seed(self, noted: tuple[Any, ...]) -> int:
        """Return the seed of a call whose elements draw, by what was noted of the draws."""


class Request(NamedTuple):
    """What is to be recorded, without the function."""

    name: str
    signature: Signature
    otypes: tuple[Type, ...] | None  # of the results, where they are given
    refill: bool | None
    is_masked: bool = False  # only elements run for which a further parameter holds
    finds_lines: bool = False  # the program that finds what a function prints
    dialect: Dialect | None = None  # what else holds inside of the function


class Prints(NamedTuple):
    """What a function prints: the number of lines is one more result of its program."""

    sites: tuple["Site", ...]
    is_numbered: bool  # which number an element has makes a difference


class Recorded(NamedTuple):
    """A function as it was recorded."""

    program: Program
    captures: Captures
    structure: Structure  # of the results
    dtypes: tuple[Type, ...]
    prints: Prints | None = None
    sizes: tuple[int, ...] | None = None  # of tables among the arguments, where they were asked for
    folds: "Folds | None" = None  # what it adds to accumulators
    ragged: "RaggedResults | None" = None  # which results are rows, and how they are computed
    is_numbered: bool = False  # which number an element has makes a difference
    drawing: tuple[Any, ...] | None = None  # what a dialect has noted, where elements draw

    @property
    def shapes(self) -> list[tuple[int, ...]]:
        """The shapes of the results' elements."""
        shapes = self.program.result_shapes[: len(self.dtypes)]
        pairs = zip(shapes, self.dtypes, strict=True)
        return [shape[:-1] if dtype in PARTS else shape for shape, dtype in pairs]

    def woven(self, arrays: tuple[Any, ...]) -> tuple[Any, ...]:
        """Return arrays for the results as the program has them: complex ones as their parts."""
        pairs = zip(arrays, self.shapes, strict=True)
        return tuple(woven(a) if row and a.dtype.kind == "c" else a for a, row in pairs)

    @property
    def is_simple(self) -> bool:
        """Whether the program's results are those of the function, and there is nothing else."""
        return self.prints is None and self.folds is None and not self.has_woven

    @property
    def has_woven(self) -> bool:
        """Whether a result is a tensor of complex numbers."""
        if not any(map(PARTS.__contains__, self.dtypes)):
            return False
        pairs = zip(self.shapes, self.dtypes, strict=True)
        return any(shape and dtype in PARTS for shape, dtype in pairs)


class Found(NamedTuple):
    """A recorded function with the present values of what it captures."""

    recorded: Recorded
    values: list[Any]
    sources: tuple[Source, ...]


def record_program(
    function: Callable[..., Any], request: Request, sizes: tuple[int, ...] = ()
) -> Recorded:
    """Call the user's function on symbolic elements; `sizes` are those of tables."""
    _core.enter_recording()
    try:
        return record_function(
            request.name, lambda recorder: _record(function, request, sizes, recorder)
        )
    finally:
        _core.leave_recording()


def _new_parameter(
    recording: Recording,
    shapes: list[tuple[int, ...]],
    dtype: DType,
    role: ParamKind,
    shape: tuple[int, ...] = (),
) -> Value:
    """Add a parameter to the program, and the shape of its elements to those of others."""
    shapes.append(shape)
    return _core.parameter(recording, "p", dtype, role, math.prod(shape) if shape else 0)


class _Sizes:
    """The sizes of the tables among the arguments, and whether they are asked for."""

    def __init__(self, sizes: tuple[int, ...]) -> None:
        self._left = iter(sizes)
        self.all = sizes
        self.are_asked = False

    def next(self) -> Callable[[], int]:
        """Return what asks for the size of the next table."""
        size = next(self._left)

        def ask() -> int:
            self.are_asked = True
            return size

        return ask


def _straight_types(function: Any, request: Request) -> list[DType] | None:
    """Return the types of the arguments of a function that goes straight; None if it does not.

    It is one of numbers that takes nothing from outside and does not branch.
    """
    if type(function) is not types.FunctionType or not is_closed(function.__code__):
        return None
    if request.otypes or request.is_masked or request.finds_lines:
        return None
    if any(request.signature.structures) or has_branches(function.__code__):
        return None
    if function.__code__.co_flags & SUSPENDS:
        return None
    found = []
    for leaf in request.signature.leaves:
        if not isinstance(leaf, Parameter) or leaf.row or leaf.role is not ParamKind.Mapped:
            return None
        if not isinstance(leaf.kind.dtype, DType):
            return None
        found.append(leaf.kind.dtype)
    return found


def _record_straight(
    function: Callable[..., Any], dtypes: list[DType], request: Request, recorder: Recorder
) -> Recorded:
    """Record such a function, with less ado than any other needs."""
    recording = recorder.recording
    shapes: list[tuple[int, ...]] = [()] * len(dtypes)
    arguments = [
        Element(recorder, _core.parameter(recording, "p", dtype, ParamKind.Mapped, 0))
        for dtype in dtypes
    ]
    result = function(*arguments)
    if type(result) is not Element or result.kind.weak:
        raise Retrace
    value = as_value(recorder, result, result.value.dtype)
    program = _core.finish(
        recording, [value], request.name, request.refill, [False], shapes, [()], []
    )
    return Recorded(program, Captures(), None, (value.dtype,))


def _record(
    function: Callable[..., Any], request: Request, sizes: tuple[int, ...], recorder: Recorder
) -> Recorded:
    recording = recorder.recording
    recorder.dialect = request.dialect
    if recorder.session.is_first_trial():
        dtypes_in = _straight_types(function, request)
        if dtypes_in is not None:
            return _record_straight(function, dtypes_in, request, recorder)
    shapes: list[tuple[int, ...]] = []
    new_parameter = functools.partial(_new_parameter, recording, shapes)
    tables = _Sizes(sizes)
    bounds: dict[int, tuple[Value, Value]] = {}  # of rows
    leaves = [
        _symbolic(recorder, new_parameter, leaf, tables, bounds)
        for leaf in request.signature.leaves
    ]
    if request.is_masked:
        mask = new_parameter(DType.Bool, ParamKind.Mapped)
    if request.finds_lines:
        line, place = (new_parameter(DType.I32, ParamKind.Mapped) for _ in range(2))
    to_record, captures = captured(function, recorder, new_parameter)
    recorder.constant_table = functools.partial(_constant_table, new_parameter, captures)
    flow.fill_sequences(recorder)  # parameters come before everything else
    if bounds:
        from .ragged.parameters import of_arguments

        leaves = of_arguments(recorder, leaves, bounds)
    if request.finds_lines or recorder.session.prints:
        from .flow.prints import Counter, Finder  # seldom needed

        is_finder = request.finds_lines
        recorder.prints = Finder(recorder, line, place) if is_finder else Counter(recorder)
    if request.is_masked:
        recording.begin_region(mask)
    nested = iter(leaves)
    arguments = [unflatten(structure, nested) for structure in request.signature.structures]
    results: list[Any] = []
    if request.dialect is None:
        result = flow.call(to_record, *arguments)
    else:
        result = request.dialect.call(to_record, arguments)
    if type(result) is Element:  # what most functions return
        structure: Structure = None
        results.append(result)
    else:
        structure = flatten(result, results, split_result)
    asked = sizes if tables.are_asked else None
    if request.finds_lines:
        captures.settle(function)
        values = recorder.prints.results()
        dtypes: tuple[Type, ...] = tuple(value.dtype for value in values)
        rows = _Rows(shapes, [], asked)
        return _finished(request, recorder, captures, None, values, dtypes, rows)
    if recorder.accumulated and structure is None and results == [None]:
        results = []  # it is called for what it adds
    ragged = None
    if any(map(_is_varying, results)):
        from .ragged.results import split

        ragged = split(request, results, new_parameter, captures)
        results = ragged.results
    if request.otypes is None and all(map(_is_number, results)) and results:
        dtypes = tuple(result.value.dtype for result in results)
        values = [as_value(recorder, result, result.value.dtype) for result in results]
        result_shapes: list[tuple[int, ...]] = [()] * len(results)
    else:
        results = [_as_tensor(recorder, result) for result in results]
        dtypes = _result_types(function, request, results, structure, bool(recorder.accumulated))
        values = _result_values(recorder, results, dtypes)
        result_shapes = [
            () if is_operand(result) else (*result.shape, *([2] if dtype in PARTS else []))
            for result, dtype in zip(results, dtypes, strict=True)
        ]
    captures.settle(function)
    if captures.has_changed_constants():
        if not recorder.converts:
            recorder.session.converts = True
            raise Retrace
        raise UsageError(
            f"{line_of(function)}{request.name}: an array changes after its use; got other values "
            "than before, expected the same. Copy it before it is changed."
        )
    if request.is_masked:
        values = recording.end_region(values)
    rows = _Rows(shapes, result_shapes, sizes if tables.are_asked else None)
    found = _finished(request, recorder, captures, structure, values, dtypes, rows)
    return found if ragged is None else found._replace(ragged=ragged.recorded())


def _is_varying(result: Any) -> bool:
    return isinstance(result, Varying)


def _is_number(result: Any) -> bool:
    """Say whether a result is a real element of a type that it has outside, too."""
    return type(result) is Element and result.kind != WEAK_NARROW


class _Rows(NamedTuple):
    """The shapes of the elements of parameters and results, and the sizes of tables."""

    shapes: list[tuple[int, ...]]
    result_shapes: list[tuple[int, ...]]
    sizes: tuple[int, ...] | None


def _finished(
    request: Request,
    recorder: Recorder,
    captures: Captures,
    structure: Structure,
    values: list[Value],
    dtypes: tuple[Type, ...],
    rows: _Rows,
) -> Recorded:
    is_complex = are_pairs(dtypes, rows.result_shapes)
    prints = None
    if recorder.prints is not None:
        prints = Prints(tuple(recorder.prints.sites), recorder.is_numbered)
        captures.keeps_alive = True  # what is printed may be anything
        if not request.finds_lines:
            _check_number(request.name, len(values))
            values = [*values, recorder.prints.result()]
            is_complex.append(False)
    folds = None
    if recorder.accumulated and not request.finds_lines:
        from .folds import Folds  # seldom needed

        folds, added = Folds.of(recorder, captures)
        values = [*values, *added]
        _check_results(request.name, len(values))
    refill = None if request.finds_lines else request.refill
    program = _core.finish(
        recorder.recording,
        values,
        request.name,
        refill,
        is_complex,
        rows.shapes,
        rows.result_shapes,
        [] if folds is None else folds.described(),
    )
    is_numbered = recorder.is_numbered
    is_drawing = recorder.draws > 0 and recorder.dialect is not None
    drawing = tuple(recorder.notes.get("draws", ())) if is_drawing else None
    return Recorded(
        program, captures, structure, dtypes, prints, rows.sizes, folds, None, is_numbered, drawing
    )


def are_pairs(dtypes: Sequence[Type], shapes: list[tuple[int, ...]]) -> list[bool]:
    """Say which results are two values of the program: single complex numbers."""
    return [
        dtype in PARTS and not (at < len(shapes) and shapes[at]) for at, dtype in enumerate(dtypes)
    ]


_MOST_RESULTS = 16  # of a program


def _check_number(name: str, results: int) -> None:
    if results >= _MOST_RESULTS:
        raise UsageError(
            f"{name}: returns too many values for a function that prints; got {results}, expected "
            f"at most {_MOST_RESULTS - 1}, as the number of lines is one more. Print less, or "
            "return less."
        )


def _check_results(name: str, results: int) -> None:
    if results > _MOST_RESULTS:
        raise UsageError(
            f"{name}: returns too much, or adds to accumulators at too many places; got {results} "
            f"values of an element, expected at most {_MOST_RESULTS}. Add at fewer places, or in "
            "several calls."
        )


def _constant_table(
    new_parameter: NewParameter, captures: Captures, array: Any, dtype: DType
) -> Value:
    captures.add_constant(array)
    return new_parameter(dtype, ParamKind.Table)


def _symbolic(
    recorder: Recorder,
    new_parameter: NewParameter,
    leaf: Leaf,
    tables: _Sizes,
    bounds: dict[int, tuple[Value, Value]],
) -> Any:
    if isinstance(leaf, Parameter):
        is_number = leaf.role is ParamKind.Mapped and not leaf.row
        if is_number and isinstance(leaf.kind.dtype, DType):  # most arguments are such
            return Element(recorder, new_parameter(leaf.kind.dtype, leaf.role))
    elif isinstance(leaf, Static):
        return leaf.value
    else:
        from .ragged.parameters import of_parameter

        return of_parameter(new_parameter, leaf, bounds)
    if leaf.row and leaf.role is not ParamKind.Table:
        from .tensors import row

        parts = parts_of(leaf.kind.dtype)  # those of a complex number follow one another
        shape = leaf.row if len(parts) == 1 else (*leaf.row, 2)
        value = new_parameter(parts[0], leaf.role, shape)
        return row(recorder, value, leaf.row, leaf.kind.dtype)
    values = new_parameters(new_parameter, leaf.kind, leaf.role)
    if leaf.role is ParamKind.Table:
        return Table(recorder, values[0], leaf.kind, leaf.row, tables.next())
    if leaf.kind == WEAK_INT:
        recorder.integers.add(values[0].id)
    return of_values(recorder, values, leaf.kind)


def _result_types(
    function: Callable[..., Any],
    request: Request,
    results: list[Any],
    structure: Structure,
    is_enough: bool,
) -> tuple[Type, ...]:
    """Return the types of what a function returns, or those that it should return.

    `is_enough`: it need not return anything.
    """
    name, otypes = request.name, request.otypes
    wrong = [result for result in results if not is_operand(result) and not is_tensor(result)]
    if wrong or not (results or is_enough):
        if wrong and isinstance(wrong[0], types.CoroutineType):
            wrong[0].close()  # nobody waits for it
        refuse_generators(plain_function(function))
        got = type(wrong[0]).__name__ if wrong else "an empty tuple"
        hint = " Is a return missing?" if structure is None and results == [None] else ""
        if wrong and isinstance(wrong[0], types.GeneratorType):
            hint = " Make it a tuple: tuple(...)."
        raise UsageTypeError(
            f"{line_of(function)}{name}: the function does not return elements; "
            f"got {'None' if got == 'NoneType' else got}, expected an element, a number or a "
            f"tuple of them.{hint}"
        )
    if otypes is None:
        return tuple(_type_of(result) for result in results)
    if len(otypes) != len(results):
        raise UsageError(
            f"{line_of(function)}{name}: otypes does not fit the results; got {len(otypes)} types, "
            f"expected {len(results)}, one for each result."
        )
    return otypes


def _result_values(recorder: Recorder, results: list[Any], dtypes: tuple[Type, ...]) -> list[Value]:
    taken: set[int] = set()  # arrays, each of which is returned once
    values: list[Value] = []
    for result, dtype in zip(results, dtypes, strict=True):
        if is_tensor(result):
            is_complex = dtype in PARTS
            values += [result.woven(dtype, taken)] if is_complex else result.as_result(dtype, taken)
        else:
            values += as_values(recorder, _literal(result), dtype)
    return values


def _as_tensor(recorder: Recorder, result: Any) -> Any:
    """Return tables and arrays of plain numbers as tensors."""
    if is_tensor(result) or (isinstance(result, np.ndarray) and result.ndim):
        from .tensors import as_tensor

        tensor = as_tensor(recorder, result)
        return tensor if tensor.shape else tensor.at([])
    return result


def _type_of(result: Any) -> Type:
    if is_tensor(result):
        return FROM_NUMPY[result.dtype]
    return settled(kind_of(result))


def _literal(result: Any) -> Any:
    return result[()] if isinstance(result, np.ndarray) else result


class Programs:
    """What was recorded of functions with one code, the latest of each request first."""

    MOST = 64  # in all
    MOST_ALIKE = 8  # of one request: with other captures

    def __init__(self) -> None:
        self._all: dict[Request, list[Recorded]] = {}

    def find(
        self, function: Any, request: Request, sizes: tuple[int, ...] | None = None
    ) -> Found | None:
        """Return what was recorded for such a request, if its captures are as they were."""
        if not self._all:  # a request takes long to look up
            return None
        for recorded in self._all.get(request, ()):
            if sizes is not None and recorded.sizes not in (None, sizes):
                continue
            matched = recorded.captures.match(function)
            if matched is not None:
                return Found(recorded, *matched)
        return None

    def add(self, request: Request, recorded: Recorded) -> None:
        """Keep something recorded; the oldest goes when there are too many."""
        alike = self._all.setdefault(request, [])
        alike.insert(0, recorded)
        del alike[self.MOST_ALIKE :]
        while len(self._all) > self.MOST:
            del self._all[next(iter(self._all))]

    def clear(self) -> None:
        """Forget everything."""
        self._all.clear()

    def is_empty(self) -> bool:
        """Say whether nothing was recorded."""
        return not self._all

    def requests(self) -> list[Request]:
        """Return what was recorded for."""
        return list(self._all)


_of_code: WeakKeyDictionary[types.CodeType, Programs] = WeakKeyDictionary()


def programs_of(function: Any) -> Programs:
    """Return the programs of all functions that were made by the same ``def`` or ``lambda``."""
    while is_inlined(function):
        function = function.__wrapped__
    if not isinstance(function, types.FunctionType):
        return Programs()
    return _of_code.setdefault(function.__code__, Programs())
