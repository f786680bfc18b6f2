"""What accumulators refuse, and how they say it."""

import re

import numpy as np
import pytest

import lanewise as lw


def message(error, function, *args, **kwargs):
    with pytest.raises(error) as caught:
        lw.map(function, *args, **kwargs)
    return str(caught.value)


X = np.arange(5.0)


def test_what_is_no_number_is_refused_with_its_line():
    total = lw.Sum()
    said = message(lw.UsageTypeError, lambda x: total.add("one"), X)
    assert re.match(
        r".*test_accumulator_errors.py:\d+: Sum.add: wrong kind of value; got str", said
    )
    said = message(lw.UsageTypeError, lambda x: total.add(None), X)
    assert "got NoneType, expected a number" in said
    where = lw.ArgMin()
    said = message(lw.UsageTypeError, lambda row: where.add(row), np.ones((4, 3)))
    assert "got values of the shape (3,), expected a number. Add its sum" in said


def test_rows_have_one_shape_and_not_too_many_values():
    total = lw.Sum()
    rows = np.ones((4, 3))

    @lw.vectorize(signature="(n)->()")
    def two(row):
        total.add(row)
        total.add(row.sum())
        return row[0]

    with pytest.raises(
        lw.UsageTypeError, match=r"another shape than elsewhere; got \(\), expected"
    ):
        two(rows)
    lw.map(lambda row: total.add(row), rows)
    with pytest.raises(lw.UsageError, match=r"another shape than in earlier calls; got \(2,\)"):
        lw.map(lambda row: total.add(row[:2]), rows)
    assert total.value.tolist() == [4, 4, 4]
    said = message(lw.UsageError, lambda row: total.add(row), np.ones((2, 5000)))
    assert "Sum.add: too many values at once; got 5000, expected at most 4096" in said


def test_conditions_keys_and_orders_have_their_types():
    n, h, low = lw.Count(), lw.Histogram(4), lw.Min()
    assert "Count.add: wrong kind of value; got float64, expected a bool" in message(
        lw.UsageTypeError, lambda x: n.add(x), X
    )
    assert "got float64, expected a whole number as the key" in message(
        lw.UsageTypeError, lambda x: h.add(x), X
    )
    assert "Min.add: wrong kind of value; got complex128, expected a real number" in message(
        lw.UsageTypeError, lambda x: low.add(x + 1j), X
    )
    assert "Use lw.Count" in message(lw.UsageTypeError, lambda x: low.add(x > 1), X)


def test_adding_outside_of_a_function_is_refused():
    total = lw.Sum()
    lw.map(lambda x: total.add(x), X)
    with pytest.raises(lw.UsageError, match=r"\.py:\d+: Sum.add: outside of a vectorized function"):
        total.add(3.0)
    assert total.value == 10.0


def test_a_key_outside_is_a_failure_of_its_element():
    h, k = lw.Histogram(4), lw.KeyedSum(4)
    for dtype in (np.int32, np.int64, np.uint8, np.uint64):
        keys = np.array([0, 3, 4, 9]).astype(dtype)
        said = message(lw.ElementError, lambda i: h.add(i), keys)
        assert re.search(r"element 2 uses an index that is out of range \(.*errors.py:\d+\)", said)
        assert "got 4, expected 0 to 3" in said
        message(lw.ElementError, lambda i: k.add(i, 1.0), keys)
    message(lw.ElementError, lambda i: h.add(i), np.array([0, -1]))
    assert "no such key; got 7, expected 0 to 3" in message(lw.UsageError, lambda x: h.add(7), X)
    assert h.value.sum() == 0
    assert k.value.sum() == 0


def test_an_element_adds_once_to_a_keyed_sum_at_a_place():
    k = lw.KeyedSum(4)

    @lw.vectorize
    def f(n):
        while n > 0:
            k.add(n, 1.0)
            n -= 1

    f(np.array([0, 1]))
    with pytest.raises(lw.ElementError, match="a second time by the same element"):
        f(np.array([0, 1, 2]))
    assert k.value.tolist() == [0, 1, 0, 0]


def test_histograms_in_loops_have_few_bins():
    h = lw.Histogram(1000)

    @lw.vectorize
    def f(n):
        while n > 0:
            h.add(n)
            n -= 1

    with pytest.raises(
        lw.UsageTypeError, match=r"Histogram.add: inside of a loop with many bins; got 1000"
    ):
        f(np.arange(3))


def test_nested_maps_do_not_add():
    total = lw.Sum()
    said = message(
        lw.UsageTypeError,
        lambda row: lw.map(lambda x: total.add(x) or x, row).sum(),
        np.ones((4, 3)),
    )
    assert "Sum.add: inside of a nested map" in said


def test_sizes_and_types_are_checked_when_they_are_made():
    with pytest.raises(lw.UsageError, match="Histogram: wrong number of keys; got 0"):
        lw.Histogram(0)
    with pytest.raises(lw.UsageTypeError, match="KeyedSum: wrong number of keys; got float"):
        lw.KeyedSum(3.0)
    with pytest.raises(lw.UsageTypeError, match="Sum: unsupported dtype; got float16"):
        lw.Sum(dtype=np.float16)
    with pytest.raises(lw.UsageTypeError, match="Mean: unsupported dtype; got int64"):
        lw.Mean(dtype=int)


def test_too_many_places_are_refused():
    k = lw.KeyedSum(4)

    @lw.vectorize
    def f(x):
        for i in (0, 1, 2, 3, 0, 1, 2, 3, 0):
            k.add(i, x)

    said = "returns too much, or adds to accumulators at too many places; got 18"
    with pytest.raises(lw.UsageError, match=said):
        f(X)


def test_accumulators_that_a_function_makes_are_refused():
    with pytest.raises(lw.UsageError, match="an accumulator is gone; got one that the function"):
        lw.map(lambda x: lw.Sum().add(x), X)


def test_a_function_that_neither_returns_nor_adds_is_refused():
    assert "Is a return missing?" in message(lw.UsageTypeError, lambda x: None, X)


@pytest.mark.parametrize("make", [lw.Sum, lambda: lw.Fold(lambda a, b: a + b)])
def test_rows_of_complex_numbers_are_refused(make):
    total = make()
    rows = np.ones((3, 2), np.complex64)
    said = message(lw.UsageTypeError, lambda row: total.add(row), rows)
    assert "expected real numbers. Add z.real and z.imag." in said
