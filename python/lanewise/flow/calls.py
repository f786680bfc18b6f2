"""Calls inside of rewritten functions: others are rewritten too, builtins take elements."""

import functools
from types import BuiltinMethodType, FunctionType, MethodType
from typing import Any

from ..convert import convert, may_branch
from ..recorder import current
from .builtins import FUNCTIONS
from .containers import Place
from .formats import text


def call(function: Any, /, *args: Any, **kwargs: Any) -> Any:
    """Call a function as one that may be recorded."""
    kind = type(function)
    if kind is FunctionType and function not in FUNCTIONS:
        return _converted(function)(*args, **kwargs)
    if kind is MethodType:
        return call(function.__func__, function.__self__, *args, **kwargs)
    if kind is functools.partial:
        return call(function.func, *function.args, *args, **{**function.keywords, **kwargs})
    try:
        replacement = FUNCTIONS.get(function)
    except TypeError:  # it has no hash
        replacement = None
    if replacement is not None:
        return replacement(*args, **kwargs)
    if isinstance(function, type):
        return _make(function, args, kwargs)
    method = kind.__call__ if callable(function) else None
    if isinstance(method, FunctionType):
        if hasattr(kind, "call_inside"):
            return function.call_inside(function.__wrapped__, args, kwargs)
        return _converted(method)(function, *args, **kwargs)
    if (
        kind is BuiltinMethodType
        and type(function.__self__) is str
        and function.__name__ == "format"
    ):
        return text(str.format, function.__self__, *args, **kwargs)
    return function(*args, **kwargs)


def _make(cls: type, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """Make an object; where nothing but its ``__init__`` has a say, that is rewritten too."""
    begin, new = getattr(cls, "__init__", None), getattr(cls, "__new__", None)
    is_ordinary = type(cls) is type and new is object.__new__
    if not isinstance(begin, FunctionType) or not is_ordinary:
        return cls(*args, **kwargs)
    made: Any = object.__new__(cls)
    recorder = current()
    if recorder is not None:
        recorder.made[id(made)] = Place(recorder, cls, made)
    _converted(begin)(made, *args, **kwargs)
    return made


def _converted(function: FunctionType) -> Any:
    recorder = current()
    if recorder is None or not (recorder.session.converts or may_branch(function)):
        return function
    return convert(function)
