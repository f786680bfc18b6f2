"""The kinds of error a caller can meet.

Every message has one form, ``call: problem; got values, expected rule. Hint.``, with the user's
file and line in front where a function is being recorded.
"""

import re
from typing import ClassVar


class UsageError(ValueError):
    """The call was wrong: sizes, options, a function that cannot be recorded."""


class UsageTypeError(UsageError, TypeError):
    """The call was wrong about types."""


class UsageOverflowError(UsageError, OverflowError):
    """A Python integer does not fit the type it meets."""


class ElementError(RuntimeError):
    """A failure inside an element.

    Attributes
    ----------
    element : int
        The number of the failing element in the mapped shape, in C order; the lowest one if
        several fail.
    """

    # What checks say when they fail, by file and line.
    messages: ClassVar[dict[str, str]] = {}

    def __init__(self, message: str, element: int) -> None:
        place = re.search(r" failed \((.*)\)\.$", message)
        said = place and self.messages.get(place[1])
        super().__init__(f"{message[:-1]}: {said}" if said else message, element)
        self.element = element

    def __str__(self) -> str:
        return str(self.args[0])


class Cancelled(RuntimeError):  # noqa: N818  # its name in C++ too
    """The map was cancelled before it ended."""


class Timeout(TimeoutError):  # noqa: N818  # its name in C++ too
    """The map did not end within its time."""


class ResourceError(MemoryError):
    """Not enough memory within the budget, or from the system."""


class InternalError(RuntimeError):
    """A fault of lanewise itself; please report it."""
