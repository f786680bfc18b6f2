"""Operators on elements give what NumPy gives for the same two arrays, types and bits."""

import operator

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from samples import DTYPES, FLOATS, INTEGERS, assert_same, pairs, values

import lanewise as lw

ARITHMETIC = [operator.add, operator.sub, operator.mul, operator.truediv]
COMPARISONS = [operator.lt, operator.le, operator.gt, operator.ge, operator.eq, operator.ne]
BITS = [operator.and_, operator.or_, operator.xor]
SHIFTS = [operator.lshift, operator.rshift]


def name(parameter):
    return getattr(parameter, "__name__", None)


@pytest.mark.parametrize("b", DTYPES, ids=name)
@pytest.mark.parametrize("a", DTYPES, ids=name)
@pytest.mark.parametrize("function", ARITHMETIC + COMPARISONS, ids=name)
def test_two_arrays_of_any_types_give_what_numpy_gives(function, a, b):
    if function is operator.sub and a is b is np.bool_:
        pytest.skip("NumPy has no difference of bools")
    x, y = pairs(a, b)
    assert_same(lw.vectorize(function)(x, y), function(x, y))


@pytest.mark.parametrize("b", [np.bool_, *INTEGERS], ids=name)
@pytest.mark.parametrize("a", [np.bool_, *INTEGERS], ids=name)
@pytest.mark.parametrize("function", BITS, ids=name)
def test_bits_of_bools_and_integers_are_those_of_numpy(function, a, b):
    x, y = pairs(a, b)
    assert_same(lw.vectorize(function)(x, y), function(x, y))


@pytest.mark.parametrize("dtype", INTEGERS, ids=name)
@pytest.mark.parametrize("function", SHIFTS, ids=name)
def test_shifts_by_any_count_are_those_of_numpy(function, dtype):
    x, count = np.meshgrid(values(dtype), np.arange(70, dtype=dtype))
    assert_same(lw.vectorize(function)(x, count), function(x, count))


@pytest.mark.parametrize("dtype", INTEGERS, ids=name)
@pytest.mark.parametrize("function", [operator.floordiv, operator.mod], ids=name)
def test_integer_division_floors_as_in_python(function, dtype):
    x, y = pairs(dtype, dtype)
    x, y = x[y != 0], y[y != 0]
    assert_same(lw.vectorize(function)(x, y), function(x, y))


@pytest.mark.parametrize("dtype", DTYPES[1:], ids=name)
@pytest.mark.parametrize("function", [operator.neg, operator.pos, abs], ids=name)
def test_unary_operators_are_those_of_numpy(function, dtype):
    x = values(dtype)
    assert_same(lw.vectorize(function)(x), function(x))


@pytest.mark.parametrize("dtype", DTYPES[:3], ids=name)
def test_inversion_is_that_of_numpy(dtype):
    x = values(dtype)
    assert_same(lw.vectorize(lambda x: ~x)(x), ~x)


@pytest.mark.parametrize("literal", [2, -3, 0.1, True, np.float32(0.1), np.int64(5)], ids=repr)
@pytest.mark.parametrize("dtype", DTYPES, ids=name)
@pytest.mark.parametrize("function", ARITHMETIC + COMPARISONS, ids=name)
def test_literals_on_either_side_take_types_as_in_numpy(function, dtype, literal):
    if function is operator.sub and dtype is np.bool_ and literal is True:
        pytest.skip("NumPy has no difference of bools")
    x = values(dtype)
    assert_same(lw.vectorize(lambda x: function(x, literal))(x), function(x, literal))
    assert_same(lw.vectorize(lambda x: function(literal, x))(x), function(literal, x))


@given(number=st.floats() | st.integers(-(2**31), 2**31 - 1))
@pytest.mark.parametrize("dtype", DTYPES, ids=name)
@pytest.mark.parametrize("function", ARITHMETIC, ids=name)
def test_a_number_as_argument_is_as_weak_as_a_literal(function, dtype, number):
    x = values(dtype)
    with np.errstate(all="ignore"):
        assert_same(COMPILED[function](x, number), function(x, number))


COMPILED = {function: lw.vectorize(function) for function in ARITHMETIC}


def test_numbers_among_themselves_are_computed_as_python_does():
    x = np.array([1.0, 2.0], np.float32)
    scale = 0.1
    got = lw.vectorize(lambda x, scale: x * (scale * scale))(x, scale)
    assert_same(got, x * (scale * scale))
    rounded_each_time = x * (np.float32(scale) * np.float32(scale))
    assert np.any(got != rounded_each_time)


@pytest.mark.parametrize("dtype", FLOATS + INTEGERS, ids=name)
def test_literal_powers_are_multiplications(dtype):
    x = values(dtype)
    two, three, four = lw.vectorize(lambda x: (x**2, x**3, x**4))(x)
    assert_same(two, x * x)
    assert_same(three, x * x * x)
    assert_same(four, (x * x) * (x * x))


def test_a_float_exponent_makes_integers_float_as_in_numpy():
    x = values(np.int32)
    assert_same(lw.vectorize(lambda x: x**2.0)(x), x**2.0)


def test_conversion_to_integers_saturates_and_nan_gives_0():
    x = np.array([1.9, -1.9, np.nan, np.inf, -np.inf, 1e300])
    bounds = np.iinfo(np.int32)
    expected = np.array([1, -1, 0, bounds.max, bounds.min, bounds.max], np.int32)
    assert_same(lw.vectorize(lambda x: x.astype(np.int32))(x), expected)


def test_conversion_to_bool_tests_for_not_zero():
    x = np.array([0.0, -0.0, 0.5, np.nan])
    assert_same(lw.vectorize(lambda x: x.astype(bool))(x), np.array([False, False, True, True]))


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_floor_division_by_infinities_and_zeros_is_numpys(dtype):
    values = np.array([-np.inf, -2.5, -1, -0.0, 0.0, 0.4, 3.7, np.inf, np.nan], dtype)
    x, y = np.repeat(values, len(values)), np.tile(values, len(values))
    got = lw.vectorize(lambda x, y: x // y)(x, y)
    np.testing.assert_array_equal(got, x // y)
    is_number = ~np.isnan(got)
    np.testing.assert_array_equal(np.signbit(got)[is_number], np.signbit(x // y)[is_number])
