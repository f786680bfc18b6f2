"""`range` with elements or captured numbers as bounds."""

import operator
from collections.abc import Iterator
from typing import Any

from ..element import Element, kind_of
from ..errors import UsageError, UsageTypeError
from ..source import at_line


class Range:
    """`range` with an element among its arguments."""

    def __init__(self, *arguments: Any) -> None:
        self.start, self.stop = (0, arguments[0]) if len(arguments) == 1 else arguments[:2]
        self.step = arguments[2] if len(arguments) == 3 else 1
        for argument in (self.start, self.stop, self.step):
            kind = kind_of(argument)
            if kind.dtype.name[0] not in "IU" and kind.dtype.name != "Bool":
                raise UsageTypeError(
                    at_line(
                        "range: a bound is not a whole number; got a float, expected integers. "
                        "Convert it with int(...)."
                    )
                )
        if _can_be_known(self.step):
            self.step = operator.index(self.step)
        else:
            raise UsageTypeError(
                at_line(
                    "range: the step is an element; got a value that differs between elements, "
                    "expected a plain number. Use a while loop."
                )
            )
        if self.step == 0:
            raise UsageError(at_line("range: the step is 0; got 0, expected another number."))

    def can_be_known(self) -> bool:
        """Say whether the bounds are plain or captured numbers."""
        return _can_be_known(self.start) and _can_be_known(self.stop)

    def known(self) -> range:
        """Return the range of plain bounds; captured ones are guards from now on."""
        return range(operator.index(self.start), operator.index(self.stop), self.step)

    def __iter__(self) -> Iterator[Any]:
        if self.can_be_known():
            return iter(self.known())
        raise UsageTypeError(
            at_line(
                "range: an element is among its bounds; got a use outside of a for statement, "
                "expected for i in range(...)."
            )
        )


def _can_be_known(number: Any) -> bool:
    """Say whether a number has a value that Python may ask for."""
    return not isinstance(number, Element) or hasattr(number, "known")
