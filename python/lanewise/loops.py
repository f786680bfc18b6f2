"""``lw.while_loop``: a loop that each element leaves by itself.

What a loop carries has one type. Where the state's types change from step to step (an ``int`` 0 to
which floats are added) the loop is recorded again with the types they have in common, until they
stay.
"""

from collections.abc import Callable
from typing import Any

from ._core import DType
from .dtypes import Kind, promote
from .element import Element, as_value, is_operand, kind_of
from .errors import UsageError, UsageTypeError
from .recorder import Recorder, current
from .source import at_line


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
    kinds = _kinds("state", initial)
    while True:
        with recorder.loop(
            [
                as_value(recorder, value, kind.dtype)
                for value, kind in zip(initial, kinds, strict=True)
            ]
        ) as loop:
            arguments = [
                Element(recorder, value, kind.weak)
                for value, kind in zip(loop.arguments, kinds, strict=True)
            ]
            go_on = as_value(recorder, cond(*arguments), DType.Bool)
            loop.break_if(recorder.op("not", [go_on]))
            following = _next_state(body(*arguments), is_single, len(initial))
            common = [
                promote(kind, other)
                for kind, other in zip(kinds, _kinds("the state from body", following), strict=True)
            ]
            if common == kinds:
                loop.end(
                    [
                        as_value(recorder, value, kind.dtype)
                        for value, kind in zip(following, kinds, strict=True)
                    ]
                )
        if loop.ended:
            return [
                Element(recorder, value, kind.weak)
                for value, kind in zip(loop.results(), kinds, strict=True)
            ]
        kinds = common


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


def _kinds(what: str, values: list[Any]) -> list[Kind]:
    for index, value in enumerate(values):
        if not is_operand(value):
            raise UsageTypeError(
                at_line(
                    f"while_loop: {what} is not made of numbers; got {type(value).__name__} "
                    f"(part {index}), expected elements and numbers."
                )
            )
    return [kind_of(value) for value in values]
