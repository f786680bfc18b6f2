"""Recording a function for one signature, and finding what was recorded before."""

import types
from collections.abc import Callable
from typing import Any, NamedTuple
from weakref import WeakKeyDictionary

import numpy as np

from . import _core, flow
from ._core import DType, ParamKind, Program, Value
from .arguments import Parameter, Signature, Static
from .captures import Captures, Source
from .complex_element import NewParameter, as_values, new_parameters, of_values
from .dtypes import ComplexType, Type, parts_of, settled
from .element import as_value, is_operand, kind_of
from .errors import UsageError, UsageTypeError
from .recorder import Recorder, record_function
from .source import line_of
from .stand_ins import captured
from .tables import Table
from .trees import Structure, flatten, split_result, unflatten


class Request(NamedTuple):
    """What is to be recorded, without the function."""

    name: str
    signature: Signature
    otypes: tuple[Type, ...] | None  # of the results, where they are given
    refill: bool | None
    masked: tuple[Type, ...] | None = None  # with a mask: the types of the results


class Recorded(NamedTuple):
    """A function as it was recorded."""

    program: Program
    captures: Captures
    structure: Structure  # of the results
    dtypes: tuple[Type, ...]


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
    to_record, captures = captured(function, recorder, new_parameter)
    flow.fill_sequences(recorder)
    if request.masked is not None:
        parts = [part for dtype in request.masked for part in parts_of(dtype)]
        slots = [recording.slot(as_value(recorder, 0, part)) for part in parts]
        recording.begin_branch(mask)
    nested = iter(leaves)
    arguments = [unflatten(structure, nested) for structure in request.signature.structures]
    results: list[Any] = []
    structure = flatten(flow.call(to_record, *arguments), results, split_result)
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
    program = _core.finish(
        recording,
        values,
        request.name,
        request.refill,
        [isinstance(dtype, ComplexType) for dtype in dtypes],
    )
    return Recorded(program, captures, structure, dtypes)


def _symbolic(recorder: Recorder, new_parameter: NewParameter, leaf: Parameter | Static) -> Any:
    if isinstance(leaf, Static):
        return leaf.value
    values = new_parameters(new_parameter, leaf.kind, leaf.role)
    if leaf.role is ParamKind.Table:
        return Table(recorder, values[0], leaf.kind, leaf.row, _unknown_size)
    return of_values(recorder, values, leaf.kind)


def _unknown_size() -> int:
    raise UsageTypeError(
        "table: the size of an argument is not known while its function is recorded; got a use as "
        "a Python integer, expected table.size. Capture the array instead, or pass the size."
    )


def _result_types(
    function: Callable[..., Any], request: Request, results: list[Any], structure: Structure
) -> tuple[Type, ...]:
    """Return the types of what a function returns, or those that it should return."""
    name, otypes = request.name, request.otypes
    wrong = [result for result in results if not is_operand(result)]
    if wrong or not results:
        got = type(wrong[0]).__name__ if wrong else "an empty tuple"
        hint = " Is a return missing?" if structure is None and results == [None] else ""
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
