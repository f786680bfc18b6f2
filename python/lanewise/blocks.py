"""Going through a large array in parts whose elements follow one another.

A part that is a contiguous run of the whole, in C order, is described by the number of its first
element alone: with that, draws and errors in it are those of the whole.
"""

import math
from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np

Index = tuple[int | slice, ...]


class Block(NamedTuple):
    """A contiguous run of elements: where it is, and the number of its first element."""

    place: Index
    first: int
    size: int


def split(shape: tuple[int, ...], most: int) -> Iterator[Block]:
    """Go through an array of this shape in contiguous blocks of at most so many elements.

    Examples
    --------
    >>> from lanewise.blocks import split
    >>> [(block.first, block.size) for block in split((3, 4), 8)]
    [(0, 8), (8, 4)]
    """
    axis = 0  # the one that is cut; those after it are whole, those before it are single
    while axis < len(shape) - 1 and math.prod(shape[axis + 1 :]) > most:
        axis += 1
    if math.prod(shape) == 0:
        return
    if not shape:
        yield Block((), 0, 1)
        return
    row = math.prod(shape[axis + 1 :])
    step = max(1, most // row)
    first = 0
    for outer in np.ndindex(*shape[:axis]):
        for begin in range(0, shape[axis], step):
            end = min(begin + step, shape[axis])
            yield Block((*outer, slice(begin, end)), first, (end - begin) * row)
            first += (end - begin) * row


def runs(
    shape: tuple[int, ...], offset: tuple[int, ...], part: tuple[int, ...]
) -> Iterator[tuple[Index, int]]:
    """Cut a rectangular part of an array into runs that are contiguous in the array.

    Gives where each run is in the part, and the number of its first element in the array.

    Examples
    --------
    >>> from lanewise.blocks import runs
    >>> list(runs((4, 6), (2, 0), (2, 6)))
    [((), 12)]
    >>> list(runs((4, 6), (2, 3), (2, 3)))
    [((0,), 15), ((1,), 21)]
    """
    if math.prod(part) == 0:
        return
    axis = len(shape)  # runs begin at this axis
    while axis > 0 and part[axis:] == shape[axis:]:
        axis -= 1
    strides = [math.prod(shape[i + 1 :]) for i in range(len(shape))]
    base = sum(o * s for o, s in zip(offset, strides, strict=True))
    for outer in np.ndindex(*part[:axis]):
        yield outer, base + sum(i * s for i, s in zip(outer, strides, strict=False))


def numbered(first: int, seed: int | None) -> dict[str, Any]:
    """Return the options of a call whose first element has this number."""
    return {"first_element": first} | ({} if seed is None else {"seed": seed})
