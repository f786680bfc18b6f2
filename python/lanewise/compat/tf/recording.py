"""Loops over functions of the user, run as one program of one element.

`body` is a function of whole tensors that calls other functions, which it finds in its cells. It is
recorded once for functions of the same code, and tensors of the same shapes.
"""

import types
from collections.abc import Callable, Hashable
from typing import Any

import numpy as np

from ...captures import plain_function
from ...cores import ROWS
from ...errors import OpError, UsageError
from ...trees import flatten, split_result, unflatten
from ...vectorize import Vectorized
from .dialect import TENSORFLOW
from .ops import is_numbers
from .tensor import Tensor

Function = Callable[..., Any]
_MOST = 1024  # codes that are known
_codes: dict[Hashable, types.CodeType] = {}
_refused: set[Hashable] = set()


class NotRecordedError(Exception):
    """The functions cannot be recorded: Python has to call them."""


def run_recorded(
    name: str, body: Function, functions: tuple[Any, ...], fixed: tuple[Any, ...], arrays: list[Any]
) -> Any:
    """Return what ``body(fixed, *arrays)`` gives, recorded; results are tensors.

    `functions` are those that the body calls. `fixed` is a part of the program: a tuple that begins
    with None, so that it is no array, of values of Python's own types.
    """
    codes = tuple(_code(function) for function in functions)
    key = (body.__code__, codes)
    if key in _refused or not all(map(_is_fit, arrays)):
        raise NotRecordedError
    if key not in _codes:
        if len(_codes) >= _MOST:
            _codes.clear()
            _refused.clear()
        # What was recorded is kept by code: each of these bodies needs one of its own.
        _codes[key] = body.__code__.replace(co_name=f"{name}_{len(_codes)}")
    own = types.FunctionType(
        _codes[key], body.__globals__, name, body.__defaults__, body.__closure__
    )
    program = Vectorized(own, name, excluded=(0,), core=ROWS, dialect=TENSORFLOW)
    is_mapped = any(np.ndim(array) for array in arrays)
    values = [array[None] if np.ndim(array) else array for array in arrays]
    try:
        result = program(fixed, *values, **({} if is_mapped else {"count": 1}))
    except UsageError as error:
        _refused.add(key)
        raise NotRecordedError from error
    except OpError:  # it was recorded, and has failed
        raise
    except Exception as error:
        _refused.add(key)
        raise NotRecordedError from error
    leaves: list[Any] = []
    structure = flatten(result, leaves, split_result)
    return unflatten(structure, iter([Tensor(leaf[0]) for leaf in leaves]))


def _code(function: Any) -> Hashable:
    plain = plain_function(function)
    code: Hashable = getattr(plain, "__code__", plain)
    return code


def _is_fit(array: Any) -> bool:
    return is_numbers(array) and bool(np.size(array))
