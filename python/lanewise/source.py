"""Where the user's code is: the line that errors and recorded programs name."""

import sys
from collections.abc import Callable
from pathlib import Path
from types import CodeType
from typing import Any, NamedTuple

from . import _core

_PACKAGE = f"{Path(__file__).parent}/"
_SAMPLES = f"{_PACKAGE}cli/workloads.py"  # functions as a user writes them
_core.set_package(_PACKAGE, _SAMPLES)


class Line(NamedTuple):
    """A line of the user's source."""

    file: str
    number: int


def is_ours(file: str) -> bool:
    """Say whether a file is of this package, and not a user's."""
    return file.startswith(_PACKAGE) and file != _SAMPLES


def is_users(module: str | None) -> bool:
    """Say whether a module may hold functions and numbers of the user."""
    root = (module or "").partition(".")[0]
    return root not in ("lanewise", "numpy", "builtins") and root not in sys.stdlib_module_names


def user_line() -> Line | None:
    """Return the innermost line on the stack that is not in this package."""
    frame = _core.user_frame()
    return None if frame is None else Line(frame.f_code.co_filename, frame.f_lineno)


def user_code() -> CodeType | None:
    """Return the code of that line."""
    frame = _core.user_frame()
    return None if frame is None else frame.f_code


def at_line(message: str) -> str:
    """Put the user's file and line in front of a message."""
    line = user_line()
    return message if line is None else f"{line.file}:{line.number}: {message}"


def say(message: str) -> None:
    """Let elements that fail in the user's present line say this."""
    if (line := user_line()) is not None:
        _core.set_message(line.file, line.number, message)


def line_of(function: Callable[..., Any]) -> str:
    """Return the file and line of a function as errors begin with; empty for functions of C."""
    code = getattr(function, "__code__", None)
    return f"{code.co_filename}:{code.co_firstlineno}: " if code else ""
