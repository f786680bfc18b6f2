"""Recording a function for one signature, and finding what was recorded before."""

import types
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, NamedTuple
from weakref import WeakKeyDictionary

import numpy as np

from . import _core, flow
from ._core import DType, ParamKind, Program, Value
from .arguments import Parameter, Signature, Static
from .captures import Captures, Source, plain_function
from .complex_element import NewParameter, as_values, new_parameters, of_values
from .convert import refuse_generators
from .dtypes import PARTS, WEAK_INT, Type, parts_of, settled
from .element import as_value, is_operand, kind_of
from .errors import UsageError, UsageTypeError
from .recorder import Recorder, record_function
from .source import at_line, line_of
from .stand_ins import captured
from .tables import Table
from .trees import Structure, flatten, split_result, unflatten

if TYPE_CHECKING:
    from .flow.prints import Site


class Request(NamedTuple):
    """What is to be recorded, without the function."""

    name: str
    signature: Signature
    otypes: tuple[Type, ...] | None  # of the results, where they are given
    refill: bool | None
    masked: tuple[Type, ...] | None = None  # with a mask: the types of the results
    finds_lines: bool = False  # the program that finds what a function prints


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


class Found(NamedTuple):
    """A recorded function with the present values of what it captures."""

    recorded: Recorded
    values: list[Any]
    sources: tuple[Source, ...]


def record_program(function: Callable[..., Any], request: Request) -> Recorded:
    """Call the user's function on symbolic elements."""
    _core.enter_recording()
    try:
        return record_function(request.name, lambda recorder: _record(function, request, recorder))
    finally:
        _core.leave_recording()


def _record(function: Callable[..., Any], request: Request, recorder: Recorder) -> Recorded:
    recording = recorder.recording

    def new_parameter(dtype: DType, role: ParamKind) -> Value:
        return _core.parameter(recording, "p", dtype, role)

    leaves = [_symbolic(recorder, new_parameter, leaf) for leaf in request.signature.leaves]
    if request.masked is not None:
        mask = new_parameter(DType.Bool, ParamKind.Mapped)
    if request.finds_lines:
        line, place = (new_parameter(DType.I32, ParamKind.Mapped) for _ in range(2))
    to_record, captures = captured(function, recorder, new_parameter)
    flow.fill_sequences(recorder)  # parameters come before everything else
    if request.finds_lines or recorder.session.prints:
        from .flow.prints import Counter, Finder  # seldom needed

        is_finder = request.finds_lines
        recorder.prints = Finder(recorder, line, place) if is_finder else Counter(recorder)
    if request.masked is not None:
        parts = [part for dtype in request.masked for part in parts_of(dtype)]
        slots = [recording.slot(as_value(recorder, 0, part)) for part in parts]
        recording.begin_branch(mask)
    nested = iter(leaves)
    arguments = [unflatten(structure, nested) for structure in request.signature.structures]
    results: list[Any] = []
    structure = flatten(flow.call(to_record, *arguments), results, split_result)
    if request.finds_lines:
        captures.settle(function)
        values = recorder.prints.results()
        dtypes = tuple(value.dtype for value in values)
        return _finished(request, recorder, captures, None, values, dtypes)
    dtypes = _result_types(function, request, results, structure)
    values = [
        value
        for result, dtype in zip(results, dtypes, strict=True)
        for value in as_values(recorder, _literal(result), dtype)
    ]
    captures.settle(function)
    if request.masked is not None:
        for slot, value in zip(slots, values, strict=True):
            recording.write(slot, value)
        recording.end_branch()
        values = [recording.read(slot) for slot in slots]
    return _finished(request, recorder, captures, structure, values, dtypes)


def _finished(
    request: Request,
    recorder: Recorder,
    captures: Captures,
    structure: Structure,
    values: list[Value],
    dtypes: tuple[Type, ...],
) -> Recorded:
    is_complex = [dtype in PARTS for dtype in dtypes]
    prints = None
    if recorder.prints is not None:
        prints = Prints(tuple(recorder.prints.sites), recorder.is_numbered)
        captures.keeps_alive = True  # what is printed may be anything
        if not request.finds_lines:
            _check_number(request.name, len(values))
            values = [*values, recorder.prints.result()]
            is_complex.append(False)
    refill = None if request.finds_lines else request.refill
    program = _core.finish(recorder.recording, values, request.name, refill, is_complex)
    return Recorded(program, captures, structure, dtypes, prints)


_MOST_RESULTS = 16  # of a program


def _check_number(name: str, results: int) -> None:
    if results >= _MOST_RESULTS:
        raise UsageError(
            f"{name}: returns too many values for a function that prints; got {results}, expected "
            f"at most {_MOST_RESULTS - 1}, as the number of lines is one more. Print less, or "
            "return less."
        )


def _symbolic(recorder: Recorder, new_parameter: NewParameter, leaf: Parameter | Static) -> Any:
    if isinstance(leaf, Static):
        return leaf.value
    values = new_parameters(new_parameter, leaf.kind, leaf.role)
    if leaf.role is ParamKind.Table:
        return Table(recorder, values[0], leaf.kind, leaf.row, _unknown_size)
    if leaf.kind == WEAK_INT:
        recorder.integers.add(values[0].id)
    return of_values(recorder, values, leaf.kind)


def _unknown_size() -> int:
    raise UsageTypeError(
        at_line(
            "table: the size of an argument is not known while its function is recorded; got a use "
            "as a Python integer, expected table.size. Capture the array instead, or pass the size."
        )
    )


def _result_types(
    function: Callable[..., Any], request: Request, results: list[Any], structure: Structure
) -> tuple[Type, ...]:
    """Return the types of what a function returns, or those that it should return."""
    name, otypes = request.name, request.otypes
    wrong = [result for result in results if not is_operand(result)]
    if wrong or not results:
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
        return tuple(settled(kind_of(result)) for result in results)
    if len(otypes) != len(results):
        raise UsageError(
            f"{line_of(function)}{name}: otypes does not fit the results; got {len(otypes)} types, "
            f"expected {len(results)}, one for each result."
        )
    return otypes


def _literal(result: Any) -> Any:
    return result[()] if isinstance(result, np.ndarray) else result


class Programs:
    """What was recorded of functions with one code, the latest of each request first."""

    MOST = 64  # in all
    MOST_ALIKE = 8  # of one request: with other captures

    def __init__(self) -> None:
        self._all: dict[Request, list[Recorded]] = {}

    def find(self, function: Any, request: Request) -> Found | None:
        """Return what was recorded for such a request, if its captures are as they were."""
        for recorded in self._all.get(request, ()):
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

    def requests(self) -> list[Request]:
        """Return what was recorded for."""
        return list(self._all)


_of_code: WeakKeyDictionary[types.CodeType, Programs] = WeakKeyDictionary()


def programs_of(function: Any) -> Programs:
    """Return the programs of all functions that were made by the same ``def`` or ``lambda``."""
    if not isinstance(function, types.FunctionType):
        return Programs()
    return _of_code.setdefault(function.__code__, Programs())
