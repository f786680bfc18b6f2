"""Texts with elements in them: f-strings, ``str.format``, ``%``, `str`, `repr` and `format`.

They are put off until the values are known, which is where they are printed.
"""

import dataclasses
import operator
from types import FunctionType
from typing import Any

import numpy as np

from ..element import Element, Whole
from ..recorder import current
from ..source import is_users
from ..tables import Table
from ..texts import has_mark, put_off
from .state import is_number, take_apart

_CONVERSIONS = {-1: None, ord("s"): str, ord("r"): repr, ord("a"): ascii}


def text(function: Any, *args: Any, **kwargs: Any) -> Any:
    """Call a function that makes a text, later if elements are among its arguments."""
    recorder = current()
    if recorder is None or not any(map(_is_open, (*args, *kwargs.values()))):
        return function(*args, **kwargs)
    return put_off(recorder, function, *args, **kwargs)


def _is_open(value: Any) -> bool:
    """Say whether the text of a value is not known yet; captured numbers are."""
    if isinstance(value, Element):
        return not hasattr(value, "known")
    if isinstance(value, str):
        return has_mark(value)
    if is_number(value):
        return False
    if isinstance(value, (Whole, np.ndarray)):
        return isinstance(value, Whole) and not isinstance(value, Table)
    return any(map(_is_open, take_apart(value).numbers))


def formatted(value: Any, conversion: int, form: str) -> str:
    """Do what an f-string does with a value."""
    own = own_text(value)
    if own is not None:
        value = own
    convert = _CONVERSIONS[conversion]
    if convert is not None:
        value = text(convert, value)
    made: str = text(format, value, form)
    return made


def percent(form: Any, values: Any) -> Any:
    """Do `form % values`."""
    return text(operator.mod, form, values)


def own_text(value: Any) -> Any:
    """Return what an object of a user's class says of itself; None for anything else."""
    if isinstance(value, (Element, tuple, list, dict)):
        return None
    kind = type(value)
    method: Any = kind.__str__
    if method is object.__str__ and not dataclasses.is_dataclass(value):
        method = kind.__repr__
    if not isinstance(method, FunctionType) or not is_users(method.__module__):
        return None
    from .calls import call  # that knows these functions

    return call(method, value)


def str_(*args: Any, **kwargs: Any) -> Any:
    """Do `str`."""
    own = own_text(args[0]) if len(args) == 1 and not kwargs else None
    return text(str, *args, **kwargs) if own is None else own


def print_(*args: Any, **kwargs: Any) -> None:
    """Do `print`."""
    from .prints import print_ as print_elements  # seldom needed

    print_elements(*args, **kwargs)
