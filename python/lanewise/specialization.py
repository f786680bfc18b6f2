"""A function for one signature: recording it, and what its results are."""

from collections.abc import Callable
from typing import Any

from . import flow
from ._core import DType, ElementFunction, Recording, Value
from .arguments import Signature
from .dtypes import settled
from .element import Element, as_value, is_operand, kind_of
from .errors import UsageTypeError
from .recorder import Recorder, record_function
from .source import line_of


class Specialization:
    """A function as it was recorded for one signature."""

    def __init__(
        self, name: str, function: Callable[..., Any], signature: Signature, refill: bool | None
    ) -> None:
        self._name = name
        self._function = function
        self._signature = signature
        self.compiled = ElementFunction(self._record, name, refill)
        self.returns_tuple = False
        self.dtypes: list[DType] | None = None  # of the results, once recorded

    def _record(self, recording: Recording, parameters: list[Value]) -> list[Value]:
        """Call the user's function on symbolic elements."""

        def call(recorder: Recorder, parameters: list[Value]) -> list[Value]:
            elements = [
                Element(recorder, value, parameter.kind.weak)
                for value, parameter in zip(parameters, self._signature, strict=True)
            ]
            flow.fill_sequences(recorder)
            return self._results(recorder, flow.call(self._function, *elements))

        results: list[Value] = record_function(recording, parameters, call)
        return results

    def _results(self, recorder: Recorder, returned: Any) -> list[Value]:
        self.returns_tuple = isinstance(returned, (tuple, list))
        results = list(returned) if self.returns_tuple else [returned]
        wrong = [result for result in results if not is_operand(result)]
        if wrong or not results:
            got = type(wrong[0]).__name__ if wrong else "an empty tuple"
            hint = " Is a return missing?" if returned is None else ""
            raise UsageTypeError(
                f"{line_of(self._function)}{self._name}: the function does not return elements; "
                f"got {'None' if got == 'NoneType' else got}, expected an element, a number or a "
                f"tuple of them.{hint}"
            )
        return [as_value(recorder, result, settled(kind_of(result))) for result in results]
