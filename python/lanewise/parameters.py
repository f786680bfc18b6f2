"""The parameters of the user's function: arguments by name, defaults, and how many there are."""

import inspect
from collections.abc import Callable
from typing import Any

import numpy as np

from .errors import UsageTypeError
from .source import line_of


class Parameters:
    """Puts the arguments of a call in the order of the function's parameters."""

    def __init__(self, name: str, function: Callable[..., Any]) -> None:
        self._name = name
        self._signature = _signature_of(function)
        self._count = _fixed_count(self._signature)

    def bind(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> tuple[Any, ...]:
        """Return all arguments by position, defaults filled in."""
        if not kwargs and (self._signature is None or len(args) == self._count):
            return args
        if self._signature is None:
            raise UsageTypeError(
                f"{self._name}: takes its arguments by position only; got {', '.join(kwargs)}, "
                "expected none by name."
            )
        try:
            bound = self._signature.bind(*args, **kwargs)
        except TypeError as error:
            raise UsageTypeError(
                f"{self._name}: the arguments do not fit the function; got {len(args)} by position"
                f"{''.join(f', {key}=' for key in kwargs)} ({error}), expected "
                f"{self._name}{self._signature}."
            ) from None
        bound.apply_defaults()
        return bound.args


def _signature_of(function: Callable[..., Any]) -> inspect.Signature | None:
    """Return the signature; None for NumPy's functions, and those of C that do not say theirs."""
    if isinstance(function, np.ufunc):
        return None
    try:
        signature = inspect.signature(function)
    except ValueError:
        return None
    for parameter in signature.parameters.values():
        if parameter.kind in (parameter.KEYWORD_ONLY, parameter.VAR_KEYWORD):
            raise UsageTypeError(
                f"{line_of(function)}vectorize: a parameter goes by keyword only; got "
                f"{parameter}, expected parameters that may be given by position."
            )
        if parameter.name == "out":
            raise UsageTypeError(
                f"{line_of(function)}vectorize: a parameter is called out; got {signature}, "
                "expected another name, as out= says where the results go."
            )
    return signature


def _fixed_count(signature: inspect.Signature | None) -> int | None:
    """Return how many arguments fit without a look at their names; None for `*args`."""
    parameters = signature.parameters.values() if signature else ()
    is_open = any(parameter.kind is parameter.VAR_POSITIONAL for parameter in parameters)
    return None if is_open else len(parameters)
