"""Rows of different lengths for tests, and the order of their reductions, written with NumPy."""

import functools

import numpy as np

import lanewise as lw

FEW, STRIPES = 8, 64


def ragged(lengths, dtype=np.float64, seed=0):
    """Return rows of these lengths whose sums depend on the order."""
    rng = np.random.default_rng(seed)
    offsets = np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64)
    size = int(offsets[-1])
    if np.dtype(dtype).kind == "f":
        spread = 2 if dtype == np.float16 else 6
        values = rng.normal(size=size) * 10.0 ** rng.integers(-spread, spread // 2, size)
    else:
        values = rng.integers(0, 100, size)
    return lw.Ragged(values.astype(dtype), offsets)


def uneven(rows, seed=0, longest=500):
    """Return lengths that differ much."""
    lengths = np.random.default_rng(seed).geometric(1 / 40, rows) - 1
    return np.minimum(lengths, longest)


def combined(row, combine):
    """Return the numbers of a row combined in the documented order; there is at least one."""
    if len(row) <= FEW:
        return functools.reduce(combine, row)
    stripes = [functools.reduce(combine, row[s::STRIPES]) for s in range(min(len(row), STRIPES))]
    half = STRIPES // 2
    while half:
        for s in range(min(half, len(stripes) - half)):
            stripes[s] = combine(stripes[s], stripes[s + half])
        stripes = stripes[:half]
        half //= 2
    return stripes[0]


def bits(array):
    """Return the bytes of numbers; all NaNs are one."""
    array = np.asarray(array)
    if array.dtype.kind == "f":
        array = np.where(np.isnan(array), np.array(np.nan, array.dtype), array)
    return array.tobytes()
