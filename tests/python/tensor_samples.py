"""Comparing a function of one tensor with NumPy, element by element, on both tiers."""

import warnings

import numpy as np

import lanewise as lw

COUNT = 5  # elements


def numbers(shape, dtype=np.float64, seed=0):
    """Return numbers of all sizes; small whole ones often, so that some are equal."""
    random = np.random.default_rng(seed)
    dtype = np.dtype(dtype)
    if dtype == np.bool_:
        return random.random(shape) < 0.5
    if dtype.kind in "iu":
        return random.integers(0 if dtype.kind == "u" else -9, 10, shape).astype(dtype)
    values = random.normal(size=shape)
    whole = random.random(shape) < 0.2
    return np.where(whole, np.round(values), values).astype(dtype)


def plain(function, *arguments):
    """Return what NumPy gives for every element, nested as the function nests it."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        results = [function(*(a[i].copy() for a in arguments)) for i in range(len(arguments[0]))]
    if isinstance(results[0], tuple):
        return tuple(np.stack(column) for column in zip(*results, strict=True))
    return np.stack(results)


def check(function, *arguments, ulp=0, rtol=None, tiers=("never", "now")):
    """Assert that a map gives what NumPy does, compiled or not."""
    expected = plain(function, *arguments)
    for compile in tiers:
        got = lw.map(function, *arguments, compile=compile)
        pairs = zip(got, expected, strict=True) if isinstance(got, tuple) else [(got, expected)]
        for a, b in pairs:
            assert a.dtype == b.dtype
            assert a.shape == b.shape
            if a.dtype.kind not in "fc" or (ulp == 0 and rtol is None):
                np.testing.assert_array_equal(a, b)
            elif rtol is not None:
                np.testing.assert_allclose(a, b, rtol=rtol, atol=rtol)
            else:
                scale = np.maximum(np.abs(b).max(), 1).astype(b.dtype)
                np.testing.assert_allclose(a, b, rtol=0, atol=float(ulp * np.spacing(scale)))
