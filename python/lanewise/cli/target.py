"""The function of a command: an expression, or one from a file."""

import importlib.util
import inspect
import re
import sys
import traceback
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import lanewise as lw

from ..source import line_of
from .errors import CommandError
from .expression import parse

_IN_FILE = re.compile(r"(?P<file>.+\.py):(?P<name>[A-Za-z_]\w*)")


class Parameter(NamedTuple):
    """A parameter of the function, and its default if it has one."""

    name: str
    default: Any = inspect.Parameter.empty

    @property
    def is_needed(self) -> bool:
        """Whether there must be an input for it."""
        return self.default is inspect.Parameter.empty


class Target(NamedTuple):
    """The function to map and what it takes."""

    function: lw.Vectorized
    parameters: list[Parameter]
    takes_more: bool  # as *args does


def find(text: str, options: dict[str, Any], **defaults: Any) -> Target:
    """Return the function that the command names; options are those of `vectorize`."""
    in_file = _IN_FILE.fullmatch(text)
    function = _from_file(in_file["file"], in_file["name"]) if in_file else parse(text)
    if not isinstance(function, lw.Vectorized):
        return _target(lw.vectorize(function, **(defaults | options)))
    if options:
        raise CommandError(
            f"options for a function that is vectorized already; got {', '.join(sorted(options))}, "
            "expected none. Give them to lw.vectorize in the file."
        )
    return _target(function)


def _target(function: lw.Vectorized) -> Target:
    plain = function.__wrapped__
    try:
        found = inspect.signature(plain).parameters.values()
    except ValueError:  # functions of C that do not say theirs
        return Target(function, [], takes_more=True)
    return Target(
        function,
        [Parameter(p.name, p.default) for p in found if p.kind is not p.VAR_POSITIONAL],
        any(p.kind is p.VAR_POSITIONAL for p in found),
    )


def _from_file(file: str, name: str) -> Callable[..., Any]:
    path = Path(file)
    if not path.is_file():
        raise CommandError(f"no such file; got {file}, expected a Python file with {name}.")
    spec = importlib.util.spec_from_file_location(path.stem, path.resolve())
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[path.stem] = module  # by this name it is found when it is pickled
    sys.path.insert(0, str(path.resolve().parent))
    try:
        spec.loader.exec_module(module)
    except Exception as error:
        raise CommandError(in_one_line(error)) from None
    function = getattr(module, name, None)
    if callable(function):
        return function  # type: ignore[no-any-return]
    known = [
        key
        for key, value in vars(module).items()
        if callable(value) and getattr(value, "__module__", "") == path.stem
    ]
    raise CommandError(
        f"no such function in {file}; got {name}, expected one of {', '.join(known) or 'none'}."
    )


def in_one_line(error: BaseException) -> str:
    """Return an error with the last line of a file of the user's that it came through."""
    message = " ".join(str(error).split())
    if isinstance(error, (lw.UsageError, lw.ElementError, lw.ResourceError, lw.Cancelled)):
        return message  # those name the line themselves
    package = str(Path(__file__).parent.parent)
    lines = [
        f"{frame.filename}:{frame.lineno}: "
        for frame in traceback.extract_tb(error.__traceback__)
        if not frame.filename.startswith((package, "<frozen"))
    ]
    if isinstance(error, SyntaxError):
        lines, message = [f"{error.filename}:{error.lineno}: "], error.msg
    return f"{lines[-1] if lines else ''}{type(error).__name__}: {message}"


def describe(target: Target) -> str:
    """Return the function's name and parameters, for errors."""
    names = [parameter.name for parameter in target.parameters]
    where = line_of(target.function.__wrapped__).removesuffix(": ")
    signature = f"{target.function.name}({', '.join(names + ['*'] * target.takes_more)})"
    return signature if where.startswith("<") or not where else f"{signature} of {where}"
