"""``lw.while_loop``: a loop that each element leaves by itself.

In ordinary functions a ``while`` statement does the same. This one is for functions that are made
of others.
"""

from collections.abc import Callable
from typing import Any

from . import flow
from .element import is_operand, is_tensor, kind_of
from .errors import UsageError, UsageTypeError
from .flow.region_loops import RangeLoop, RegionLoop
from .flow.slots import is_whole
from .flow.state import describe, take_apart
from .recorder import Recorder, current
from .source import at_line, user_line
from .trees import flatten, split_result


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
    state : Element, tensor or number, or a tuple or list of parts
        What the loop carries; parts may be nested, and tensors keep their shape. Python numbers
        take the type of what they meet; write ``np.int32(0)`` for a counter of 32 bits.

    Returns
    -------
    Element, tensor or number, or a tuple of parts
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
    _check_numbers("while_loop", "state", initial)
    names = tuple(f"part {index}" for index in range(len(initial)))
    loop = RegionLoop(recorder, recorder.visit(user_line()), names, False, tuple(initial))
    loop.can_be_plain = False
    values = loop.enter()
    with loop:
        loop.stops(flow.call(cond, *values), *values)
        following = _next_state(flow.call(body, *values), is_single, len(initial))
        _check_next("while_loop", initial, following)
    loop.repeat(*following)
    return list(loop.done())


MOST_UNROLLED = 8  # steps that are recorded one by one


def count_loop(
    call: str, count: int, body: Callable[[Any, list[Any]], list[Any]], state: list[Any]
) -> list[Any]:
    """Run ``body(index, state)`` for so many indices, where a function is being recorded.

    It is for functions that are made of others; errors name `call`.
    """
    recorder = current()
    assert recorder is not None
    _check_numbers(call, "state", state)
    if count <= MOST_UNROLLED:
        for index in range(count):
            following = body(index, state)
            _check_next(call, state, following)
            state = following
        return state
    names = tuple(f"part {index}" for index in range(len(state)))
    passage = recorder.visit((user_line(), call))
    loop = RangeLoop(recorder, passage, names, False, tuple(state), range(count))
    loop.can_be_plain = False
    values = loop.enter()
    with loop:
        following = body(loop.item, list(values))
        _check_next(call, state, following)
    loop.repeat(*following)
    return list(loop.done())


def _check_next(call: str, initial: list[Any], following: list[Any]) -> None:
    """Refuse a state after a step that is not made as the one before it."""
    _check_numbers(call, "the state from body", following)
    for index, (before, after) in enumerate(zip(initial, following, strict=True)):
        if take_apart(before).shape != take_apart(after).shape:
            raise UsageError(
                at_line(
                    f"{call}: the state from body is made otherwise; got {describe(after)} (part "
                    f"{index}), expected {describe(before)}, as in the state given. Tensors keep "
                    "their shape from step to step."
                )
            )


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


def _check_numbers(call: str, what: str, values: list[Any]) -> None:
    for index, value in enumerate(values):
        leaves: list[Any] = []
        flatten(value, leaves, split_result)
        for leaf in leaves:
            if is_tensor(leaf) or is_whole(leaf) or getattr(type(leaf), "is_carried", False):
                continue
            if not is_operand(leaf):
                raise UsageTypeError(
                    at_line(
                        f"{call}: {what} is not made of numbers; got {type(leaf).__name__} "
                        f"(part {index}), expected elements, tensors and numbers."
                    )
                )
            kind_of(leaf)
