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
        self._names: tuple[str, ...] | None = None  # of a function that has no others
        self._defaults: tuple[Any, ...] = ()
        self._signature: inspect.Signature | None = None
        if _is_simple(function):  # inspect.signature takes longer than all else
            code = function.__code__
            self._names = code.co_varnames[: code.co_argcount]
            self._defaults = function.__defaults__ or ()
            _check_names(function, self._names)
        else:
            self._signature = _signature_of(function)

    @property
    def signature(self) -> inspect.Signature | None:
        """The signature; None for functions that do not say theirs."""
        if self._signature is None and self._names is not None:
            self._signature = _signature_of(self._function)
        return self._signature

    def has(self, name: str) -> bool:
        """Say whether there is a parameter of this name."""
        if self._names is not None:
            return name in self._names
        return self._signature is not None and name in self._signature.parameters

    def position(self, name: str) -> int | None:
        """Return where a parameter of this name stands."""
        names = list(self.signature.parameters) if self.signature is not None else []
        return names.index(name) if name in names else None

    def order(
        self, count: int, keywords: tuple[str, ...]
    ) -> tuple[tuple[int, ...], tuple[Any, ...]] | None:
        """Say for each parameter which argument of a call it gets, and give the defaults.

        Arguments by name follow those by position; -1 is the first default. None: there are other
        parameters than those, or arguments do not fit.
        """
        if self._names is None:
            return (tuple(range(count)), ()) if not keywords else None
        if not keywords and count == len(self._names):
            return tuple(range(count)), self._defaults
        if count > len(self._names) or any(name not in self._names[count:] for name in keywords):
            return None
        order = []
        first_default = len(self._names) - len(self._defaults)
        for index, name in enumerate(self._names):
            if index < count:
                order.append(index)
            elif name in keywords:
                order.append(count + keywords.index(name))
            elif index >= first_default:
                order.append(first_default - index - 1)
            else:
                return None
        return tuple(order), self._defaults

    def bind(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> tuple[Any, ...]:
        """Return all arguments by position, defaults filled in."""
        if self._names is not None:
            if not kwargs and len(args) == len(self._names):
                return args
            order = self.order(len(args), tuple(kwargs))
            if order is not None:
                values = (*args, *kwargs.values())
                return tuple(values[at] if at >= 0 else self._defaults[-1 - at] for at in order[0])
        return self._bind_any(args, kwargs)

    def _bind_any(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> tuple[Any, ...]:
        signature = self.signature
        if signature is None:
            if not kwargs:
                return args
            raise UsageTypeError(
                f"{self._name}: takes its arguments by position only; got {', '.join(kwargs)}, "
                "expected none by name."
            )
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
