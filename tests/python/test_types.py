"""All types in and out, and the functions of real numbers against NumPy's."""

import math

import numpy as np
import pytest

import lanewise as lw

TYPES = ["int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64"]
FLOATS = ["float16", "float32", "float64"]


@pytest.mark.parametrize("a", TYPES + FLOATS)
@pytest.mark.parametrize("b", TYPES + FLOATS)
def test_sums_and_products_are_those_of_numpy(a, b):
    x = np.array([0, 1, 2, 100, 127], a)
    y = np.array([1, 3, 5, 2, 1], b)
    got = lw.vectorize(lambda x, y: x * y + x)(x, y)
    expected = x * y + x
    assert got.dtype == expected.dtype
    np.testing.assert_array_equal(got, expected)


@pytest.mark.parametrize("dtype", TYPES)
def test_integers_wrap_and_divide_as_in_numpy(dtype):
    limits = np.iinfo(dtype)
    x = np.array([limits.min, limits.max, 0, 7], dtype)
    np.testing.assert_array_equal(lw.vectorize(lambda x: x + 1)(x), x + np.array(1, dtype))
    np.testing.assert_array_equal(lw.vectorize(lambda x: x // 3)(x), x // np.array(3, dtype))
    np.testing.assert_array_equal(lw.vectorize(lambda x: x >> 1)(x), x >> np.array(1, dtype))


UNARY = {
    "exp": (-20, 20),
    "exp2": (-20, 20),
    "expm1": (-20, 20),
    "log": (1e-3, 1e3),
    "log2": (1e-3, 1e3),
    "log10": (1e-3, 1e3),
    "log1p": (-0.99, 1e3),
    "sin": (-1e6, 1e6),
    "cos": (-1e6, 1e6),
    "tan": (-1e3, 1e3),
    "arcsin": (-1, 1),
    "arccos": (-1, 1),
    "arctan": (-50, 50),
    "sinh": (-20, 20),
    "cosh": (-20, 20),
    "tanh": (-20, 20),
    "arcsinh": (-50, 50),
    "arccosh": (1, 50),
    "arctanh": (-0.99, 0.99),
    "cbrt": (-50, 50),
}


@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize("name", UNARY)
def test_functions_of_one_number_are_close_to_numpy(name, dtype):
    low, high = UNARY[name]
    x = np.linspace(low, high, 1001).astype(dtype)
    function = getattr(np, name)
    got = lw.vectorize(lambda x: function(x))(x)
    with np.errstate(over="ignore"):
        expected = function(x.astype(np.float64)).astype(dtype)
    assert got.dtype == np.dtype(dtype)
    np.testing.assert_allclose(got, expected, rtol=4 * np.finfo(dtype).eps)


@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize("name", ["arctan2", "hypot", "fmod", "fmin", "fmax", "power", "remainder"])
def test_functions_of_two_numbers_are_close_to_numpy(name, dtype):
    x = np.linspace(0.1, 7, 900).astype(dtype)
    y = np.linspace(2, -3, 900).astype(dtype)
    function = getattr(np, name)
    got = lw.vectorize(lambda x, y: function(x, y))(x, y)
    wide = function(x.astype(np.float64), y.astype(np.float64)).astype(dtype)
    assert got.dtype == np.dtype(dtype)
    np.testing.assert_allclose(got, wide, rtol=4 * np.finfo(dtype).eps)


@pytest.mark.parametrize("name", ["erf", "erfc", "lgamma"])
def test_functions_that_numpy_does_not_have(name):
    x = np.linspace(0.1, 5, 300)
    function = getattr(lw, name)
    expected = np.array([getattr(math, name)(v) for v in x])
    np.testing.assert_allclose(
        lw.vectorize(lambda x: function(x))(x), expected, rtol=2e-14, atol=1e-15
    )
    assert math.isclose(function(0.75), getattr(math, name)(0.75), rel_tol=1e-14)


def test_powers_and_remainders_by_operators():
    x = np.array([0.25, 2.0, 9.0])
    np.testing.assert_allclose(lw.vectorize(lambda x: x**0.5)(x), np.sqrt(x), rtol=1e-15)
    np.testing.assert_allclose(lw.vectorize(lambda x: 2**x)(x), 2**x, rtol=1e-15)
    np.testing.assert_array_equal(lw.vectorize(lambda x: -x % 0.75)(x), -x % 0.75)
