"""`while` and `for`: loops of the program where elements take part, plain Python loops elsewhere.

A loop of the program (``region_loops.py``) has its variables in slots. In a plain loop
(``plain_loops.py``) every step is recorded by itself; elements that leave it, or a step, early meet
the others behind it.

A loop over a short `range`, over a container, or one in which no element takes part is plain.
`range` and `while` else are loops of the program, until something in them needs a plain value that
they have not: then the function is recorded again with the loop plain.
"""

import math
from typing import Any

from ..element import Element, Varying, Whole
from ..errors import UsageTypeError
from ..recorder import Recorder
from ..source import at_line
from .containers import PlainArray
from .plain_loops import PLAIN, REGION, Items, Loop, PlainLoop
from .ranges import Range
from .region_loops import ItemLoop, RangeLoop, RegionLoop, RowLoop
from .state import has_element

MOST_UNROLLED = 8  # steps of a range that are recorded one by one, in all loops together


def begin_while(
    recorder: Recorder,
    site: int,
    names: tuple[str, ...],
    has_else: bool,
    values: tuple[Any, ...],
    used: tuple[Any, ...],
) -> Loop:
    """Begin a `while` statement; `used` are the variables that its test and body read."""
    passage = recorder.visit(site)
    mode = recorder.session.mode(passage)
    if mode is None:
        takes_part = any(map(has_element, used)) or any(map(has_element, values))
        mode = REGION if takes_part else PLAIN
    if mode == REGION:
        return RegionLoop(recorder, passage, names, has_else, values)
    return PlainLoop(recorder, passage, names, has_else, None, 1)


def begin_for(
    recorder: Recorder,
    site: int,
    names: tuple[str, ...],
    has_else: bool,
    values: tuple[Any, ...],
    used: tuple[Any, ...],
    items: Any,
) -> Loop:
    """Begin a `for` statement."""
    passage = recorder.visit(site)
    if isinstance(items, PlainArray) and items.numbers is not None:
        items = items.numbers
    if isinstance(items, Range):
        if recorder.session.mode(passage) == PLAIN:
            return PlainLoop(recorder, passage, names, has_else, Items(items.known()), 1)
        return RangeLoop(recorder, passage, names, has_else, values, items)
    if isinstance(items, Element):
        raise UsageTypeError(
            at_line(
                "for: an element is not a container; got a number, expected range(...) or a Python "
                "container. Write for i in range(x)."
            )
        )
    if isinstance(items, Varying):
        return RowLoop(recorder, passage, names, has_else, values, items)
    trips = 1
    if isinstance(items, Whole):
        around = math.prod(loop.trips for loop in recorder.plain_loops)
        is_plain = recorder.session.mode(passage) == PLAIN
        if not is_plain and around * len(items) > MOST_UNROLLED:
            return ItemLoop(recorder, passage, names, has_else, values, items)
        trips = len(items)
    if isinstance(items, range):
        around = 1
        for loop in recorder.plain_loops:
            around *= loop.trips
        mode = recorder.session.mode(passage)
        takes_part = any(map(has_element, used)) or any(map(has_element, values))
        if mode is None and takes_part and around * len(items) > MOST_UNROLLED:
            return RangeLoop(recorder, passage, names, has_else, values, items)
        trips = max(len(items), 1) if takes_part else 1
    return PlainLoop(recorder, passage, names, has_else, Items(items), trips)
