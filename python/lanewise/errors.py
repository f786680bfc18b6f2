"""The kinds of error a caller can meet.

Every message has one form, ``call: problem; got values, expected rule. Hint.``, with the user's
file and line in front where a function is being recorded.
"""

import linecache
import re
from typing import Any


class OpError(Exception):
    """What ends a call, under the name and with the arguments that it has in TensorFlow."""

    def __init__(self, *args: Any, message: str | None = None, **_: Any) -> None:
        if message is not None:
            args = (message,)
        elif len(args) >= 3:  # a node, an operation, and what is said
            args = args[2:3]
        super().__init__(*args)

    @property
    def message(self) -> str:
        """What is said."""
        return str(self)


class InvalidArgumentError(OpError):
    """Numbers, shapes or options that a call cannot take."""


class UsageError(InvalidArgumentError, ValueError):
    """The call was wrong: sizes, options, a function that cannot be recorded."""


class UsageTypeError(UsageError, TypeError):
    """The call was wrong about types."""


class UsageOverflowError(UsageError, OverflowError):
    """A Python integer does not fit the type it meets."""


class ElementError(InvalidArgumentError, RuntimeError):
    """A failure inside an element.

    Attributes
    ----------
    element : int
        The number of the failing element in the mapped shape, in C order; the lowest one if
        several fail.
    """

    def __init__(self, message: str, element: int) -> None:
        super().__init__(message, element)
        self.element = element
        place = re.search(r" \((.*):(\d+)\)", message)
        code = linecache.getline(place[1], int(place[2])).strip() if place else ""
        if place and code:
            self.add_note(f"{place[1]}:{place[2]}\n  {code}\n  {'^' * len(code)}")

    def __str__(self) -> str:
        return str(self.args[0])


class Cancelled(OpError, RuntimeError):  # noqa: N818  # its name in C++ too
    """The map was cancelled before it ended."""


class Timeout(OpError, TimeoutError):  # noqa: N818  # its name in C++ too
    """The map did not end within its time."""


class ResourceError(OpError, MemoryError):
    """Not enough memory within the budget, or from the system."""


class InternalError(OpError, RuntimeError):
    """A fault of lanewise itself; please report it."""
