"""Numbers made of loop counters: as narrow as their bounds allow, right beyond them."""

import numpy as np
import pytest
from samples import assert_same

import lanewise as lw

TABLE = np.arange(1000.0)


def program(function, *arguments):
    return lw.vectorize(function).lower(*arguments)


def test_sums_and_products_of_counters_stay_narrow():
    def f(x):
        total = x
        for i in range(100):
            for j in range(i + 1):
                total += TABLE[3 * i + j]
        return total

    x = np.zeros(4)
    text = program(f, x)
    assert "i64" not in text
    assert "lt bool" not in text  # no index counts from the end
    expected = sum(TABLE[3 * i + j] for i in range(100) for j in range(i + 1))
    assert_same(lw.vectorize(f)(x), np.full(4, expected))


def test_beyond_int32_they_are_as_python_has_them():
    def f(x):
        total = x
        for i in range(2_000_000_000, 2_000_000_020):
            total += i * 5 + i - (3 - i) * 2
        return total

    expected = sum(i * 5 + i - (3 - i) * 2 for i in range(2_000_000_000, 2_000_000_020))
    assert_same(lw.vectorize(f)(np.zeros(3, np.int64)), np.full(3, expected))


@pytest.mark.parametrize("bounds", [(-3, 40, 1), (40, -41, -4), (2**31 - 30, 2**31 - 1, 3)])
def test_counters_of_any_range_are_right(bounds):
    def f(x):
        total = 0
        for i in range(*bounds):
            total += TABLE[i % 7 - 3] * (i - 1)
        return total + x

    expected = sum(TABLE[i % 7 - 3] * (i - 1) for i in range(*bounds))
    assert_same(lw.vectorize(f)(np.zeros(2)), np.full(2, float(expected)))


def test_negative_indices_made_of_counters_count_from_the_end():
    def f(x):
        total = x
        for i in range(20):
            total += TABLE[i - 10]
        return total

    expected = sum(TABLE[i - 10] for i in range(20))
    assert_same(lw.vectorize(f)(np.zeros(2)), np.full(2, expected))


def test_a_choice_between_small_literals_takes_no_64_bits():
    f = lw.vectorize(lambda x, c: x + (1 if c else -1))
    x, c = np.zeros(4, np.int32), np.array([True, False, True, False])
    assert "i64" not in f.lower(x, c)
    assert_same(f(x, c), np.array([1, -1, 1, -1], np.int32))
    alone = lw.vectorize(lambda c: 1 if c else -1)
    assert_same(alone(c), np.array([1, -1, 1, -1]))
    assert alone(c).dtype == np.int64


def test_what_is_assigned_before_a_loop_takes_part_in_it():
    def f(x):
        row = x * 2
        total = 0.0
        for i in range(100):
            total += TABLE[row + i]
        return total

    x = np.array([0, 5, 100], np.int32)
    assert program(f, x).count("loop") == 1
    assert_same(lw.vectorize(f)(x), np.array([TABLE[2 * e : 2 * e + 100].sum() for e in x]))


def test_a_local_array_of_zeros_is_not_written_place_by_place():
    def f(x):
        values = np.zeros(50)
        for i in range(1, 50):
            values[i] = values[i - 1] + x
        return values[7]

    text = program(f, np.ones(2))
    assert text.count("array_write") == 1
    assert_same(lw.vectorize(f)(np.arange(3.0)), np.arange(3.0) * 7)


def test_places_that_are_written_in_any_order_are_no_memory():
    def f(x):
        values = np.zeros(50)
        for i in range(50):
            values[i] = x * i
        return values[7]

    text = program(f, np.ones(2))
    assert "array" not in text
    assert_same(lw.vectorize(f)(np.arange(3.0)), np.arange(3.0) * 7)
