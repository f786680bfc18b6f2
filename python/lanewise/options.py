"""The options of a call: of the call itself, of the function, of the process, in this order."""

import functools
import sys
from collections.abc import Callable
from typing import Any, NamedTuple

from ._core import Accuracy, CancelToken, Compile, MapOptions, Math, OnError, forget_calls
from .errors import UsageError, UsageTypeError

_COMPILE = {"auto": Compile.Auto, "now": Compile.Now, "never": Compile.Never}
_ACCURACY = {"default": Accuracy.Default, "high": Accuracy.High}
_ON_ERROR = {"raise": OnError.Raise, "collect": OnError.Collect, "fill": OnError.Fill}
_ON_TIMEOUT = {"raise": False, "partial": True}
_MATH = {"strict": Math.Strict, "fast": Math.Fast}


def whole_number(call: str, option: str, value: Any, most: int) -> int:
    """Return a number from 0 to `most`, or refuse it."""
    if isinstance(value, int) and not isinstance(value, bool) and 0 <= value <= most:
        return value
    raise UsageError(
        f"{call}: {option} is not a whole number in range; got {value!r}, expected 0 to {most}."
    )


def choice(call: str, option: str, value: Any, choices: dict[Any, Any]) -> Any:
    """Return what a choice stands for, or refuse it."""
    if value in choices:
        return choices[value]
    raise UsageError(
        f"{call}: no such {option}; got {value!r}, expected one of "
        f"{', '.join(repr(one) for one in choices)}."
    )


def _seconds(call: str, option: str, value: Any) -> float:
    if value is None:
        return 0.0
    if isinstance(value, (int, float)) and not isinstance(value, bool) and value > 0:
        return float(value)
    raise UsageError(
        f"{call}: {option} is not a time; got {value!r}, expected seconds above 0, or None."
    )


def _progress(call: str, option: str, value: Any) -> Any:
    if value is None or isinstance(value, bool) or callable(value):
        return value or None
    raise UsageTypeError(
        f"{call}: {option} cannot be told anything; got {type(value).__name__}, expected True, or "
        "a function of a Progress."
    )


def _on_silence(call: str, option: str, value: Any) -> Any:
    if value is None or callable(value):
        return value
    raise UsageTypeError(
        f"{call}: {option} cannot be told anything; got {type(value).__name__}, expected a "
        "function of a Silence."
    )


def _token(call: str, option: str, value: Any) -> Any:
    if value is None or isinstance(value, CancelToken):
        return value
    raise UsageTypeError(
        f"{call}: {option} is no token; got {type(value).__name__}, expected a CancelToken."
    )


def _switch(call: str, option: str, value: Any) -> bool:
    if isinstance(value, bool):
        return value
    raise UsageTypeError(f"{call}: {option} is no switch; got {value!r}, expected True or False.")


# How each option is checked, and what it becomes.
_CHECKS: dict[str, Callable[[str, str, Any], Any]] = {
    "threads": lambda call, name, value: whole_number(call, name, value, 2**31 - 1),
    "memory": lambda call, name, value: whole_number(call, name, value, 2**63 - 1),
    "max_steps": lambda call, name, value: whole_number(call, name, value, 2**63 - 1),
    "count": lambda call, name, value: whole_number(call, name, value, 2**63 - 1),
    "seed": lambda call, name, value: whole_number(call, name, value, 2**64 - 1),
    "first_element": lambda call, name, value: whole_number(call, name, value, 2**63 - 1),
    "compile": lambda call, name, value: choice(call, name, value, _COMPILE),
    "accuracy": lambda call, name, value: choice(call, name, value, _ACCURACY),
    "math": lambda call, name, value: choice(call, name, value, _MATH),
    "timeout": _seconds,
    "on_timeout": lambda call, name, value: choice(call, name, value, _ON_TIMEOUT),
    "cancel": _token,
    "watchdog": _seconds,
    "on_silence": _on_silence,
    "progress": _progress,
    "max_prints": lambda call, name, value: whole_number(call, name, value, 2**63 - 1),
    "on_error": lambda call, name, value: choice(call, name, value, _ON_ERROR),
    "fill_value": lambda call, name, value: value,  # results are not known yet
    "max_failures": lambda call, name, value: whole_number(call, name, value, 2**31 - 1),
    "check_numerics": _switch,
}
_MOST_PRINTS = 1000  # unless something else is said
NAMES = frozenset(_CHECKS)


def _say(silence: Any) -> None:
    print(silence, file=sys.stderr)


class CallOptions(NamedTuple):
    """The options of one call."""

    map: MapOptions
    progress: Any  # None, True or a function
    max_prints: int  # lines that a call prints at most
    fill_value: Any = None  # of results of elements that fail; None: NaN and 0
    is_partial: bool = False  # a call that is late returns what is finished
    on_silence: Any = None  # None: stderr is told

    @property
    def goes_on(self) -> bool:
        """Whether elements may fail and the others end."""
        return self.map.on_error is not OnError.Raise

    @property
    def collects(self) -> bool:
        """Whether failures are told beside the results."""
        return self.map.on_error is OnError.Collect

    @property
    def is_watched(self) -> bool:
        """Whether somebody is told of the call while it runs."""
        return self.progress is not None or self.map.watchdog > 0

    @property
    def silence(self) -> Any:
        """The function that is told of a silence, if there is a watchdog."""
        return None if self.map.watchdog == 0 else self.on_silence or _say

    def but(self, given: dict[str, Any]) -> "CallOptions":
        """Return them with others, which are checked, in their place."""
        own = {name: given[name] for name in ("progress", "on_silence") if name in given}
        options = MapOptions(self.map)
        for name in given.keys() - own.keys():
            setattr(options, name, given[name])
        return self._replace(map=options, **own)


def checked(call: str, given: dict[str, Any]) -> dict[str, Any]:
    """Return options as the engine has them; `call` is named in errors."""
    for name in given:
        if name not in _CHECKS:
            raise UsageTypeError(
                f"{call}: no such option; got {name}=, expected one of {', '.join(_CHECKS)}."
            )
    return {name: _CHECKS[name](call, name, value) for name, value in given.items()}


def resolve(*levels: dict[str, Any]) -> CallOptions:
    """Put checked options together; later ones win over those of `config`."""
    merged: dict[str, Any] = dict(config._checked)
    for level in levels:
        merged |= level
    progress = merged.pop("progress", None)
    max_prints = merged.pop("max_prints", _MOST_PRINTS)
    fill_value = merged.pop("fill_value", None)
    is_partial = merged.pop("on_timeout", False)
    on_silence = merged.pop("on_silence", None)
    options = MapOptions()
    for name, value in merged.items():
        setattr(options, name, value)
    return CallOptions(options, progress, max_prints, fill_value, is_partial, on_silence)


@functools.lru_cache(maxsize=1)
def without_any(version: int) -> CallOptions:
    """Return the options of calls that give none, with such a version of `config`."""
    return resolve()


@functools.lru_cache(maxsize=1)
def without_more(version: int) -> MapOptions | None:
    """Return the same, if there is nothing to do for them but the map itself."""
    options = without_any(version)
    is_more = options.is_partial or options.goes_on or options.is_watched
    return None if is_more else options.map


class Config:
    """What calls do when they and their functions say nothing else.

    Attributes
    ----------
    threads, memory, max_steps, max_prints, max_failures, count, seed, first_element : int
    compile, accuracy, math, on_error, on_timeout : str
    fill_value : number
    check_numerics : bool
    timeout, watchdog : float or None
    cancel : CancelToken or None
    progress : bool or callable
    on_silence : callable
        As `vectorize` has them.

    Examples
    --------
    >>> import lanewise as lw
    >>> lw.config.compile = "now"
    >>> lw.config
    <config compile='now'>
    >>> del lw.config.compile
    """

    __slots__ = ("_checked", "_given", "version")
    _checked: dict[str, Any]
    _given: dict[str, Any]
    version: int  # counts changes

    def __init__(self) -> None:
        object.__setattr__(self, "_checked", {})
        object.__setattr__(self, "_given", {})
        object.__setattr__(self, "version", 0)

    def __setattr__(self, name: str, value: Any) -> None:
        self._checked.update(checked("config", {name: value}))
        self._given[name] = value
        self._changed()

    def __getattr__(self, name: str) -> Any:
        if name not in NAMES:
            raise AttributeError(f"config has no option {name!r}")
        return self._given.get(name)

    def __delattr__(self, name: str) -> None:
        self._checked.pop(name, None)
        self._given.pop(name, None)
        self._changed()

    def _changed(self) -> None:
        object.__setattr__(self, "version", self.version + 1)
        forget_calls()

    def __repr__(self) -> str:
        return f"<config{''.join(f' {key}={value!r}' for key, value in self._given.items())}>"


config = Config()
