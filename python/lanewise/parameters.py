"""The parameters of the user's function: arguments by name, defaults, and how many there are."""

import inspect
from collections.abc import Callable
from types import FunctionType
from typing import Any

import numpy as np

from .errors import UsageTypeError
from .source import line_of

_VARIADIC = inspect.CO_VARARGS | inspect.CO_VARKEYWORDS


class Parameters:
    """Puts the arguments of a call in the order of the function's parameters."""

    def __init__(self, name: str, function: Callable[..., Any]) -> None:
        self._name = name
        self._function = function
        self._signature: inspect.Signature | None = None
        # A plain function tells how many it has without a look at all of them.
        if _is_simple(function):
            self._count: int | None = function.__code__.co_argcount
            self._is_known = False
            _check_names(function, function.__code__.co_varnames[: self._count])
        else:
            self._signature = _signature_of(function)
            self._count = _fixed_count(self._signature)
            self._is_known = True

    @property
    def signature(self) -> inspect.Signature | None:
        """The signature; None for functions that do not say theirs."""
        if not self._is_known:
            self._signature = _signature_of(self._function)
            self._is_known = True
        return self._signature

    def has(self, name: str) -> bool:
        """Say whether there is a parameter of this name."""
        if not self._is_known:
            return name in self._function.__code__.co_varnames[: self._count]
        return self._signature is not None and name in self._signature.parameters

    def position(self, name: str) -> int | None:
        """Return where a parameter of this name stands."""
        names = list(self.signature.parameters) if self.signature is not None else []
        return names.index(name) if name in names else None

    def bind(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> tuple[Any, ...]:
        """Return all arguments by position, defaults filled in."""
        if not kwargs and len(args) == self._count:
            return args
        signature = self.signature
        if signature is None:
            if not kwargs:
                return args
            raise UsageTypeError(
                f"{self._name}: takes its arguments by position only; got {', '.join(kwargs)}, "
                "expected none by name."
            )
        if not kwargs and self._count is None:
            return args
        try:
            bound = signature.bind(*args, **kwargs)
        except TypeError as error:
            raise UsageTypeError(
                f"{self._name}: the arguments do not fit the function; got {len(args)} by position"
                f"{''.join(f', {key}=' for key in kwargs)} ({error}), expected "
                f"{self._name}{signature}."
            ) from None
        bound.apply_defaults()
        return bound.args


def _is_simple(function: Callable[..., Any]) -> bool:
    """Say whether a function has nothing but parameters that may be given by position."""
    if type(function) is not FunctionType or hasattr(function, "__wrapped__"):
        return False
    code = function.__code__
    return not code.co_flags & _VARIADIC and not code.co_kwonlyargcount


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
    _check_names(function, tuple(signature.parameters))
    return signature


def _check_names(function: Callable[..., Any], names: tuple[str, ...]) -> None:
    if "out" in names:
        raise UsageTypeError(
            f"{line_of(function)}vectorize: a parameter is called out; got "
            f"{inspect.signature(function)}, expected another name, as out= says where the results "
            "go."
        )


def _fixed_count(signature: inspect.Signature | None) -> int | None:
    """Return how many arguments fit without a look at their names; None for `*args`."""
    if signature is None:
        return None
    parameters = signature.parameters.values()
    is_open = any(parameter.kind is parameter.VAR_POSITIONAL for parameter in parameters)
    return None if is_open else len(parameters)
