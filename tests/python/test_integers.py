"""Python integers and bools that meet arrays of integers: what NumPy 2 makes of them."""

import numpy as np
import pytest
from samples import assert_same

import lanewise as lw

TYPES = [np.dtype(t) for t in ("int8", "int16", "int32", "int64", "uint8", "uint16", "uint32")]
ALL_TYPES = [*TYPES, np.dtype("uint64")]


def outside(dtype):
    """Return integers around the bounds of a type: those that fit, and those that do not."""
    bounds = np.iinfo(dtype)
    low, high = int(bounds.min), int(bounds.max)
    fits = [low, high, 0, 1]
    others = [n for n in (low - 1, high + 1) if -(2**63) <= n < 2**63]
    return fits, others


@pytest.mark.parametrize("dtype", ALL_TYPES, ids=str)
def test_integers_that_fit_keep_the_type(dtype):
    x = np.array([0, 1, 7], dtype)
    for n in outside(dtype)[0]:
        if n >= 2**63:
            continue
        got = lw.vectorize(lambda x, n: x + n)(x, n)
        assert got.dtype == dtype
        np.testing.assert_array_equal(got, x + n)
        np.testing.assert_array_equal(lw.vectorize(lambda x: x * n)(x), x * n)  # noqa: B023


@pytest.mark.parametrize("dtype", ALL_TYPES, ids=str)
def test_arguments_that_do_not_fit_are_refused_where_they_meet_the_type(dtype):
    f = lw.vectorize(lambda x, n: x + n)
    for n in outside(dtype)[1]:
        with pytest.raises(OverflowError):
            np.add(np.ones(3, dtype), n)
        with pytest.raises((lw.ElementError, OverflowError), match=f"does not fit {dtype}"):
            f(np.ones(3, dtype), n)
    f(np.ones(3, dtype), 1)
    for n in outside(dtype)[1]:  # also when calls with such arguments are known
        with pytest.raises((lw.ElementError, OverflowError), match=f"does not fit {dtype}"):
            f(np.ones(3, dtype), n)


@pytest.mark.parametrize("dtype", ALL_TYPES, ids=str)
def test_captured_integers_that_do_not_fit_are_refused(dtype):
    for n in outside(dtype)[1]:
        with pytest.raises((lw.ElementError, OverflowError), match=r"does not fit"):
            lw.vectorize(lambda x: x - n)(np.ones(3, dtype))  # noqa: B023


def test_the_words():
    def f(x, n):
        return x + n

    with pytest.raises(lw.ElementError) as error:
        lw.vectorize(f)(np.ones(3, np.uint8), -1)
    line = f"{__file__}:{f.__code__.co_firstlineno + 1}"
    assert str(error.value) == (
        f"map: element 0 failed ({line}): a Python integer does not fit uint8, the type it meets; "
        "expected 0 to 255. Convert the element with .astype, or pass np.int64(value)"
    )


def test_an_integer_that_no_element_meets_does_no_harm():
    def f(x, n):
        count = 0
        while count < n:
            count += 1
        if x > 3:
            x = x + n
        return x + np.int8(count > 100)

    f = lw.vectorize(f)
    np.testing.assert_array_equal(f(np.array([1, 2], np.int8), 300), [2, 3])
    with pytest.raises(lw.ElementError) as error:
        f(np.array([1, 7], np.int8), 300)
    assert error.value.element == 1


@pytest.mark.parametrize("dtype", [t for t in TYPES if t != np.int32], ids=str)
@pytest.mark.parametrize("compare", [np.less, np.greater_equal, np.equal, np.not_equal])
def test_comparisons_take_any_integer(dtype, compare):
    bounds = np.iinfo(dtype)
    x = np.array([bounds.min, 0, 5, bounds.max], dtype)
    fits, others = outside(dtype)
    for n in (*fits, *others):
        expected = compare(x, n)
        np.testing.assert_array_equal(lw.vectorize(lambda x, n: compare(x, n))(x, n), expected)
        got = lw.vectorize(lambda x: compare(n, x))(x)  # noqa: B023
        np.testing.assert_array_equal(got, compare(n, x))


@pytest.mark.parametrize("dtype", [*ALL_TYPES, *map(np.dtype, ("bool", "f2", "f4", "f8"))], ids=str)
@pytest.mark.parametrize("flag", [False, True])
def test_a_python_bool_is_a_bool(dtype, flag):
    x = np.array([0, 1, 1], dtype)
    for function in (np.add, np.multiply, np.less, np.maximum, np.logical_and):
        got = lw.vectorize(lambda x, b: function(x, b))(x, flag)  # noqa: B023
        expected = function(x, flag)
        assert got.dtype == expected.dtype
        np.testing.assert_array_equal(got, expected)
        got = lw.vectorize(lambda x: function(x, flag))(x)  # noqa: B023
        assert got.dtype == expected.dtype
        np.testing.assert_array_equal(got, expected)


def numbers_of(dtype):
    """Return all numbers of a byte; of others those around powers of two and the ends."""
    limits = np.iinfo(dtype)
    if limits.bits == 8:
        return np.arange(limits.min, limits.max + 1).astype(dtype)
    powers = [1 << k for k in range(0, limits.bits, 3)] + [3, 5, 7, 10, 641, limits.max]
    near = {sign * power + by for power in powers for sign in (1, -1) for by in (-1, 0, 1)}
    near |= {limits.min, limits.min + 1, limits.max - 1}
    return np.array(sorted(n for n in near if limits.min <= n <= limits.max), dtype)


@pytest.mark.parametrize("compile", ["now", "never"])
@pytest.mark.parametrize("dtype", ALL_TYPES, ids=str)
def test_quotients_and_remainders_round_down(dtype, compile):
    numbers = numbers_of(dtype)
    a, b = (x.ravel() for x in np.meshgrid(numbers, numbers[numbers != 0]))
    quotient, remainder = lw.vectorize(lambda a, b: (a // b, a % b), compile=compile)(a, b)
    exact = [divmod(x, y) for x, y in zip(a.tolist(), b.tolist(), strict=True)]
    bits = np.iinfo(dtype).bits
    for got, expected in zip((quotient, remainder), zip(*exact, strict=True), strict=True):
        wrapped = np.array([n % (1 << bits) for n in expected], f"u{bits // 8}")  # MIN // -1
        assert_same(got, wrapped.view(dtype))
