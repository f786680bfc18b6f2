"""Compiling a rewritten function and giving it what the original has: globals, cells, defaults."""

import ast
import dis
import inspect
import re
import sys
import weakref
from collections.abc import Iterator
from pathlib import Path
from types import CellType, CodeType, FunctionType, ModuleType
from typing import Any

import numpy as np

from ..errors import UsageTypeError
from ..source import is_ours, is_users, line_of
from .nodes import at
from .read import NoSourceError, read
from .rewrite import Rewriter

_FLOW = "_lw"
SUSPENDS = inspect.CO_GENERATOR | inspect.CO_COROUTINE | inspect.CO_ASYNC_GENERATOR
_DEEPEST = 4  # calls that are looked through for branches
_INNER = "_lw_inner"  # a name that the function does not use: its own is a global one
_JUMP = re.compile(
    b"[%s]"
    % b"".join(
        re.escape(bytes([code]))
        for name, code in dis.opmap.items()
        if code < 256
        and (("JUMP" in name and "IF_" in name) or name in ("FOR_ITER", "SEND", "GET_AITER"))
    )
)
_NUMPY = f"{Path(np.__file__).parent}/"
# By code object, as long as that lives: the rewritten code, or why there is none.
_made: dict[int, tuple["weakref.ref[CodeType]", CodeType | str]] = {}


def has_branches(code: CodeType) -> bool:
    """Say whether a function can go two ways, or prints."""
    return _JUMP.search(code.co_code[::2]) is not None or "print" in code.co_names


def may_branch(function: FunctionType, seen: frozenset[int] = frozenset()) -> bool:
    """Say whether a function, or one that it seems to call, can go two ways."""
    code = function.__code__
    if has_branches(code):
        return True
    if id(code) in seen or len(seen) == _DEEPEST:
        return False
    for inner in code.co_consts:
        if isinstance(inner, CodeType) and not _is_comprehension(inner) and has_branches(inner):
            return True
    if not code.co_names and not code.co_freevars:
        return False
    return any(may_branch(f, seen | {id(code)}) for f in _named(function))


def _is_comprehension(code: CodeType) -> bool:
    return code.co_name in ("<listcomp>", "<setcomp>", "<dictcomp>", "<genexpr>")


def _named(function: FunctionType) -> Iterator[FunctionType]:
    """Find the functions of users that a function names, also in modules and objects."""
    names = function.__code__.co_names
    for name in names:
        if name in function.__globals__:
            yield from _reached(function.__globals__[name], names)
    for cell in function.__closure__ or ():
        try:
            yield from _reached(cell.cell_contents, names)
        except ValueError:  # it is empty
            continue


def _reached(value: Any, names: tuple[str, ...]) -> Iterator[FunctionType]:
    """Find the functions in a value, or in its attributes of these names."""
    if isinstance(value, FunctionType):
        yield from _of_user(value)
    elif isinstance(value, ModuleType):
        if _is_users(value):
            for attribute in names:
                yield from _of_user(vars(value).get(attribute))
    elif is_users(type(value).__module__):
        for attribute in names:
            yield from _of_user(getattr(type(value), attribute, None))


def _is_users(module: ModuleType) -> bool:
    file = getattr(module, "__file__", None)
    return bool(file) and not _stays(str(file))


def _stays(file: str) -> bool:
    """Say whether the functions of a file are called as they are: ours, and those of NumPy."""
    return is_ours(file) or file.startswith(_NUMPY)


def _of_user(value: Any) -> Iterator[FunctionType]:
    is_function = isinstance(value, FunctionType) and not is_converted(value)
    if is_function and not _stays(value.__code__.co_filename):
        yield value


def is_converted(function: FunctionType) -> bool:
    """Say whether a function was rewritten, or is part of one that was."""
    return _FLOW in function.__code__.co_freevars


def convert(function: Any) -> Any:
    """Return the function with its control flow rewritten; itself, if that cannot be."""
    if not isinstance(function, FunctionType) or is_converted(function):
        return function
    if _stays(function.__code__.co_filename):
        return function
    code = _code_of(function)
    return function if isinstance(code, str) else _bind(function, code)


def reason(code: CodeType | None) -> str:
    """Say why a function could not be rewritten; empty if it could, or was never to be."""
    known = _made.get(id(code))
    return known[1] if known and isinstance(known[1], str) else ""


def _code_of(function: FunctionType) -> CodeType | str:
    original = function.__code__
    known = _made.get(id(original))
    if known is not None:
        return known[1]
    try:
        made: CodeType | str = _compile(function)
    except NoSourceError as error:
        made = str(error)
    key = id(original)
    _made[key] = (weakref.ref(original, lambda _: _made.pop(key, None)), made)
    return made


def refuse_generators(function: Any) -> None:
    """Refuse functions that are left and entered again."""
    code = getattr(function, "__code__", None)
    if code is not None and code.co_flags & SUSPENDS:
        raise UsageTypeError(
            f"{line_of(function)}{code.co_name}: is a generator; got yield or await in an element "
            "function, expected return. Return a tuple."
        )


def _compile(function: FunctionType) -> CodeType:
    original = function.__code__
    node = read(function)
    refuse_generators(function)
    private = _class_of(function)
    inner = Rewriter(private).definition(node, _INNER)
    outer = ast.parse("def _lw_outer(): pass").body[0]
    assert isinstance(outer, ast.FunctionDef)
    free = dict.fromkeys([_FLOW, *original.co_freevars])
    outer.args.args = [at(ast.arg(n), inner) for n in free]
    outer.body = [inner]
    module = ast.Module([outer], [])
    flags = original.co_flags & _FUTURE
    whole = compile(module, original.co_filename, "exec", flags, dont_inherit=True)
    return _inner(_inner(whole, "_lw_outer"), _INNER).replace(
        co_name=original.co_name, co_qualname=original.co_qualname
    )


_FUTURE = 0
for _feature in __import__("__future__").all_feature_names:
    _FUTURE |= getattr(__import__("__future__"), _feature).compiler_flag


def _class_of(function: FunctionType) -> str | None:
    """Return the class that a method was written in."""
    parts = function.__qualname__.split(".")
    return parts[-2] if len(parts) > 1 and parts[-2] != "<locals>" else None


def _inner(code: CodeType, name: str) -> CodeType:
    return next(c for c in code.co_consts if isinstance(c, CodeType) and c.co_name == name)


def _flow() -> ModuleType:
    return sys.modules[f"{__package__.split('.')[0]}.flow"]


def _bind(function: FunctionType, code: CodeType) -> FunctionType:
    cells = dict(zip(function.__code__.co_freevars, function.__closure__ or (), strict=True))
    cells[_FLOW] = CellType(_flow())
    closure = tuple(cells[name] for name in code.co_freevars)
    made = FunctionType(
        code, function.__globals__, function.__name__, function.__defaults__, closure
    )
    made.__kwdefaults__ = function.__kwdefaults__
    return made
