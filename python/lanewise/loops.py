"""``lw.while_loop``: a loop that each element leaves by itself.

In ordinary functions a ``while`` statement does the same. This one is for functions that are made
of others.
"""

from collections.abc import Callable
from typing import Any

from . import flow
from .element import is_operand, kind_of
from .errors import UsageError, UsageTypeError
from .flow.region_loops import RegionLoop
from .recorder import Recorder, current
from .source import at_line, user_line


def while_loop(cond: Callable[..., Any], body: Callable[..., Any], state: Any) -> Any:
    """Run ``body`` while ``cond`` holds, for each element by itself.

    Inside a vectorized function both are called on symbolic state and recorded. Elsewhere it is a
    plain Python loop, so that the plain function gives the same on plain numbers.

    Parameters
    ----------
    cond : callable
        Takes the state, unpacked, and says whether to go on.
    body : callable
        Takes the state, unpacked, and returns the next one. It may be called more than once while
        it is recorded.
    state : Element or number, or a tuple or list of them
        What the loop carries. Python numbers take the type of what they meet; write
        ``np.int32(0)`` for a counter of 32 bits.

    Returns
    -------
    Element or number, or a tuple of them
        The state when ``cond`` no longer holds.

    Examples
    --------
    Steps of the Collatz sequence down to 1:

    >>> import lanewise as lw, numpy as np
    >>> @lw.vectorize
    ... def collatz(n):
    ...     def step(n, count):
    ...         return lw.select(n % 2 == 0, n // 2, 3 * n + 1), count + 1
    ...     return lw.while_loop(lambda n, count: n != 1, step, (n, 0))[1]
    >>> collatz(np.array([1, 2, 3, 27]))
    array([  0,   1,   7, 111])
    """
    is_single = not isinstance(state, (tuple, list))
    values = [state] if is_single else list(state)
    recorder = current()
    if recorder is None:
        while cond(*values):
            values = _next_state(body(*values), is_single, len(values))
    else:
        values = _record(recorder, cond, body, values, is_single)
    return values[0] if is_single else tuple(values)


def _record(
    recorder: Recorder,
    cond: Callable[..., Any],
    body: Callable[..., Any],
    initial: list[Any],
    is_single: bool,
) -> list[Any]:
    _check_numbers("state", initial)
    names = tuple(f"part {index}" for index in range(len(initial)))
    loop = RegionLoop(recorder, recorder.visit(user_line()), names, False, tuple(initial))
    loop.can_be_plain = False
    values = loop.enter()
    with loop:
        loop.stops(flow.call(cond, *values), *values)
        following = _next_state(flow.call(body, *values), is_single, len(initial))
        _check_numbers("the state from body", following)
    loop.repeat(*following)
    return list(loop.done())


def _next_state(returned: Any, is_single: bool, count: int) -> list[Any]:
    """Return what ``body`` gave as a list of as many values as the loop carries."""
    if is_single:
        following = [returned]
        if returned is not None and not isinstance(returned, (tuple, list)):
            return following
        got = "None" if returned is None else f"{len(returned)} values"
    else:
        if isinstance(returned, (tuple, list)) and len(returned) == count:
            return list(returned)
        is_many = isinstance(returned, (tuple, list))
        got = f"{len(returned)} values" if is_many else type(returned).__name__
    raise UsageError(
        at_line(
            f"while_loop: body does not return the next state; got {got}, expected "
            f"{'one value' if is_single else f'a tuple of {count}'}, as in the state given. "
            "Return every part of the state from body."
        )
    )


def _check_numbers(what: str, values: list[Any]) -> None:
    for index, value in enumerate(values):
        if not is_operand(value):
            raise UsageTypeError(
                at_line(
                    f"while_loop: {what} is not made of numbers; got {type(value).__name__} "
                    f"(part {index}), expected elements and numbers."
                )
            )
        kind_of(value)
