"""Texts about elements: made while a function is recorded, complete where they are printed.

What an element will be is not known yet, so a text has a mark in the place of it: the fourth that
is put off is ``<element float64 #3>``.
"""

import re
from collections.abc import Callable
from typing import Any, NamedTuple

from .errors import UsageTypeError
from .recorder import Recorder
from .source import at_line

_MARK = re.compile(r"<element (?:\w+ )?#(\d+)>")


class Later(NamedTuple):
    """A call that gives a text once its elements are known."""

    function: Callable[..., Any]
    args: tuple[Any, ...]
    kwargs: dict[str, Any]


class Text(NamedTuple):
    """Texts one after another, some of which come later."""

    parts: tuple[Any, ...]


class Mark(str):
    """Stands for a text that comes later: how long that is nobody knows."""

    __slots__ = ()

    def __len__(self) -> int:
        raise UsageTypeError(
            at_line(
                "len: the text of an element is not known while its function is recorded; got "
                f"len of {readable(self)}, expected a use in print."
            )
        )

    def __bool__(self) -> bool:
        return True


def put_off(recorder: Recorder, function: Callable[..., Any], *args: Any, **kwargs: Any) -> str:
    """Return a mark for the text that a call will give."""
    recorder.texts.append(Later(function, args, kwargs))
    dtype = getattr(args[0], "dtype", None)
    return Mark(f"<element {f'{dtype} ' if dtype else ''}#{len(recorder.texts) - 1}>")


def has_mark(text: Any) -> bool:
    """Say whether something is a text with marks in it."""
    return isinstance(text, str) and _MARK.search(text) is not None


def without_marks(recorder: Recorder, text: str) -> str | Text:
    """Return a text with the calls that its marks stand for."""
    parts: list[Any] = _MARK.split(text)
    if len(parts) == 1:
        return text
    for at in range(1, len(parts), 2):
        parts[at] = recorder.texts[int(parts[at])]
    return Text(tuple(parts))


def readable(text: Any) -> str:
    """Return a text that is not printed: elements are named where they stand."""
    return _MARK.sub(lambda mark: f"{mark[0].partition(' #')[0]}>", str(text))
