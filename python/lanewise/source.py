"""Where the user's code is: the line that errors and recorded programs name."""

import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

_PACKAGE = f"{Path(__file__).parent}/"


class Line(NamedTuple):
    """A line of the user's source."""

    file: str
    number: int


def user_line() -> Line | None:
    """Return the innermost line on the stack that is not in this package."""
    frame = sys._getframe(1)
    while frame.f_code.co_filename.startswith(_PACKAGE):
        if frame.f_back is None:
            return None
        frame = frame.f_back
    return Line(frame.f_code.co_filename, frame.f_lineno)


def at_line(message: str) -> str:
    """Put the user's file and line in front of a message."""
    line = user_line()
    return message if line is None else f"{line.file}:{line.number}: {message}"


def line_of(function: Callable[..., Any]) -> str:
    """Return the file and line of a function as errors begin with; empty for functions of C."""
    code = getattr(function, "__code__", None)
    return f"{code.co_filename}:{code.co_firstlineno}: " if code else ""
