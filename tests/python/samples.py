"""Values and comparisons that the tests share."""

from typing import Any

import numpy as np

DTYPES = (np.bool_, np.int32, np.int64, np.float32, np.float64)
FLOATS = (np.float32, np.float64)
INTEGERS = (np.int32, np.int64)


def values(dtype: Any) -> np.ndarray:
    """Return some 40 values of the type, the awkward ones among them."""
    ordinary = [0, 1, 2, 3, -1, -2, -7, 10, 100, -1000]
    if dtype is np.bool_:
        return np.array([True, False] * 20)
    if np.issubdtype(dtype, np.integer):
        bounds = np.iinfo(dtype)
        return np.array([*ordinary, bounds.min, bounds.max, bounds.min + 1, 12345] * 3, dtype)
    bounds = np.finfo(dtype)
    awkward = [np.nan, np.inf, -np.inf, -0.0, bounds.max, bounds.tiny, bounds.smallest_subnormal]
    return np.array([*ordinary, 0.1, 0.5, 1.5, 2.5, -0.75, 1e-3, *awkward] * 2, dtype)


def pairs(a: Any, b: Any) -> tuple[np.ndarray, np.ndarray]:
    """Return every value of one type beside every value of another."""
    left, right = np.meshgrid(values(a), values(b))
    return left, right


def assert_same(got: Any, expected: Any) -> None:
    """Assert equal types, shapes and bits; all NaNs are one value, -0 and 0 are two."""
    got, expected = np.asarray(got), np.asarray(expected)
    assert got.dtype == expected.dtype
    np.testing.assert_array_equal(got, expected)
    if got.dtype.kind == "c":
        assert_same(got.real, expected.real)
        assert_same(got.imag, expected.imag)
    if got.dtype.kind == "f":
        is_number = ~np.isnan(expected)
        np.testing.assert_array_equal(np.signbit(got[is_number]), np.signbit(expected[is_number]))
