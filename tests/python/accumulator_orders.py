"""The order of accumulators, written with NumPy: what results have to be equal to, bit for bit."""

import numpy as np

BLOCK, STRIPES = 1024, 64


def combined(values, first, combine, neutral):
    """Return the fold of what elements from number `first` on have, in the documented order."""
    blocks = {}
    numbers = np.arange(first, first + len(values))
    for block in np.unique(numbers // BLOCK):
        padded = np.full(BLOCK, neutral, values.dtype)
        here = numbers // BLOCK == block
        padded[numbers[here] % BLOCK] = values[here]
        blocks[int(block)] = _block(padded, combine)
    while len(blocks) > 1:
        pairs = {}
        for number, value in sorted(blocks.items()):
            parent = number // 2
            pairs[parent] = combine(pairs[parent], value) if parent in pairs else value
        blocks = pairs
    return next(iter(blocks.values()), values.dtype.type(neutral))


def _block(padded, combine):
    stripes = padded[:STRIPES]
    for begin in range(STRIPES, BLOCK, STRIPES):
        stripes = combine(stripes, padded[begin : begin + STRIPES])
    half = STRIPES // 2
    while half:
        stripes = combine(stripes[:half], stripes[half : 2 * half])
        half //= 2
    return stripes[0]


def summed(values, first=0):
    """Return the sum."""
    return combined(values, first, np.add, -0.0) + values.dtype.type(0)


def least(values, first=0):
    """Return the least value; of two zeros the later one."""
    return combined(values, first, lambda a, b: np.where((a < b) | np.isnan(a), a, b), np.inf)
