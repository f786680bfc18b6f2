"""Functions of elements, as lw.* and as np.*, give what NumPy gives."""

import math

import numpy as np
import pytest
from samples import DTYPES, FLOATS, assert_same, pairs, values

import lanewise as lw
from lanewise._core import called_ops
from lanewise.rules import OTHER_NAMES

ROUNDING = ["floor", "ceil", "trunc", "rint"]
EXACT = [*ROUNDING, "sqrt", "abs", "fabs", "negative", "square", "isnan", "isinf", "isfinite"]


def name(parameter):
    return getattr(parameter, "__name__", None)


@pytest.mark.parametrize("dtype", FLOATS, ids=name)
@pytest.mark.parametrize("function", EXACT)
def test_a_numpy_function_of_a_float_is_recorded_and_exact(function, dtype):
    x = values(dtype)
    assert_same(lw.vectorize(getattr(np, function))(x), getattr(np, function)(x))


@pytest.mark.parametrize("function", ["sqrt", "floor", "rint", "abs", "square", "isnan"])
def test_a_numpy_function_of_an_integer_has_the_type_that_numpy_gives(function):
    x = np.array([0, 1, 4, 9])
    numpy_function = getattr(np, function)
    # NumPy before 2.1 makes floats of whole numbers that it rounds.
    expected = x if function in ROUNDING else numpy_function(x)
    assert_same(lw.vectorize(numpy_function)(x), expected)


@pytest.mark.parametrize("dtype", DTYPES, ids=name)
@pytest.mark.parametrize("function", ["minimum", "maximum"])
def test_minimum_and_maximum_are_those_of_numpy(function, dtype):
    x, y = pairs(dtype, dtype)
    distinct = (x != y) | np.isnan(x)  # of -0 and 0 NumPy may give either
    x, y = x[distinct], y[distinct]
    assert_same(lw.vectorize(getattr(np, function))(x, y), getattr(np, function)(x, y))
    assert_same(lw.vectorize(getattr(lw, function))(x, y), getattr(np, function)(x, y))


@pytest.mark.parametrize("dtype", FLOATS, ids=name)
def test_copysign_is_that_of_numpy_and_the_sign_of_nan_is_plus(dtype):
    x, y = pairs(dtype, dtype)
    expected = np.copysign(x, np.where(np.isnan(y), 1, y)).astype(dtype)
    assert_same(lw.vectorize(np.copysign)(x, y), expected)


@pytest.mark.parametrize("dtype", FLOATS, ids=name)
@pytest.mark.parametrize("function", ["sin", "cos"])
def test_sine_and_cosine_agree_with_numpy_to_the_last_bits(function, dtype):
    x = np.linspace(-50, 50, 10_001, dtype=dtype)
    got = lw.vectorize(getattr(np, function))(x)
    assert got.dtype == dtype
    np.testing.assert_allclose(got, getattr(np, function)(x), rtol=0, atol=2 * np.finfo(dtype).eps)


def test_sine_of_an_integer_is_float64():
    assert lw.vectorize(lw.sin)(np.arange(3, dtype=np.int32)).dtype == np.float64


@pytest.mark.parametrize(
    "where", [np.where, lw.where, lw.select], ids=["np.where", "where", "select"]
)
@pytest.mark.parametrize("dtype", DTYPES, ids=name)
def test_selection_takes_either_value(where, dtype):
    x = values(dtype)
    condition = np.arange(x.size) % 3 == 0
    got = lw.vectorize(lambda c, x: where(c, x, 0))(condition, x)
    assert_same(got, np.where(condition, x, 0))


def test_a_condition_may_be_a_number_that_is_not_zero():
    x = np.array([0.0, 2.0, np.nan])
    assert_same(lw.vectorize(lambda x: np.where(x, 1, 2))(x), np.where(x, 1, 2))


@pytest.mark.parametrize("function", ["logical_and", "logical_or", "logical_xor"])
def test_logical_functions_take_numbers_for_bools(function):
    x, y = pairs(np.int64, np.float64)
    assert_same(lw.vectorize(getattr(np, function))(x, y), getattr(np, function)(x, y))


def test_logical_not_takes_numbers_for_bools():
    x = values(np.float64)
    assert_same(lw.vectorize(np.logical_not)(x), np.logical_not(x))


def test_clip_and_round_are_those_of_numpy():
    x = np.array([-1.5, 0.5, 1.5, 9.0])
    assert_same(lw.vectorize(lambda x: np.clip(x, 0, 2.0))(x), np.clip(x, 0, 2.0))
    assert_same(lw.vectorize(lambda x: np.round(x))(x), np.round(x))


def test_fma_rounds_once():
    x = values(np.float64)
    x = x[np.isfinite(x) & (np.abs(x) < 1e10)]
    got = lw.vectorize(lambda x: lw.fma(x, 0.1, -1.0))(x)
    assert_same(got, np.array([lw.fma(float(v), 0.1, -1.0) for v in x]))
    assert lw.vectorize(lambda x: lw.fma(x, x, -(x * x)))(np.array([1 + 2.0**-52]))[0] == 2.0**-104


def test_on_plain_numbers_the_functions_compute():
    assert lw.sqrt(2.25) == 1.5
    assert type(lw.sin(0.5)) is float
    assert lw.sin(0.5) == pytest.approx(math.sin(0.5))
    assert lw.select(True, 1, 2) == 1
    assert type(lw.maximum(1, 2)) is int
    assert lw.fma(2.0, 3.0, 1.0) == 7.0
    assert lw.abs(np.float32(-1)).dtype == np.float32


@pytest.mark.parametrize("op", called_ops(), ids=lambda op: op[0])
def test_every_op_that_is_called_by_name_has_a_function(op):
    name, arity, accepts, _ = op
    function = getattr(lw, OTHER_NAMES.get(name, name))
    operands = [[3, 5, 70][:arity], [1.5, 0.5, 2.5][:arity]][accepts == "Float"]
    arrays = [np.array([operand, operand]) for operand in operands]
    mapped = lw.vectorize(lambda *elements: function(*elements))(*arrays)
    assert function(*operands) == pytest.approx(mapped[0], nan_ok=True)
    assert function.__doc__


def test_a_function_that_only_its_row_has():
    assert lw.popcount(255) == 8
    assert lw.clamp(7.0, 0.0, 5.0) == 5.0
    assert lw.ieee_remainder(7.0, 4.0) == -1.0
    np.testing.assert_array_equal(lw.ctz(np.array([[1, 2], [4, 8]])), [[0, 1], [2, 3]])
    assert lw.vectorize(lambda x: lw.clz(x))(np.array([1], np.uint8)).tolist() == [7]
    with pytest.raises(TypeError, match="clamp: wrong number of operands; got 1, expected 3"):
        lw.clamp(1.0)
    with pytest.raises(AttributeError, match="has no attribute 'no_such_op'"):
        lw.no_such_op  # noqa: B018


def test_high_accuracy_of_float32_is_that_of_float64_rounded():
    x = np.linspace(-20, 20, 10001, dtype=np.float32)
    high = lw.vectorize(accuracy="high")(lambda x: lw.sin(x))
    exact = np.sin(x.astype(np.float64)).astype(np.float32)
    np.testing.assert_array_equal(high(x), exact)
    assert (lw.vectorize(lambda x: lw.sin(x))(x) != exact).any()
    with pytest.raises(ValueError, match="no such accuracy; got 'best'"):
        lw.vectorize(accuracy="best")
