"""Maps without arrays: so many elements, and the number of each."""

import numpy as np
import pytest
from samples import assert_same

import lanewise as lw


def test_a_map_without_arrays_has_as_many_elements_as_are_asked_for():
    for count in (0, 1, 7, 100_000):
        assert_same(lw.map(lambda: lw.element() * 2, count=count), np.arange(count) * 2)
    f = lw.vectorize(lambda k: lw.element() + k)
    assert_same(f(0.5, count=3), np.array([0.5, 1.5, 2.5]))
    assert_same(f(0.5, count=2, first_element=2**40), 2**40 + np.array([0.5, 1.5]))
    assert f(0.5) == 0.5


def test_the_count_may_belong_to_the_function():
    f = lw.vectorize(lambda k: lw.element() * k, count=4)
    for _ in range(3):  # the later ones without Python
        assert_same(f(2.0), np.arange(4) * 2.0)
    assert_same(f(2.0, count=2), np.arange(2) * 2.0)


def test_results_go_into_out_where_the_mask_says():
    f = lw.vectorize(lambda: lw.element())
    out = np.full(4, -1)
    assert f(count=4, out=out) is out
    assert_same(out, np.arange(4))
    f(count=4, out=out[:4], where=np.array([True, False, True, False]))
    masked = np.full((2, 3), -1)
    f(count=3, out=masked, where=np.array([[True, True, False], [False, True, True]]))
    assert_same(masked, np.array([[0, 1, -1], [-1, 4, 5]]))
    with pytest.raises(lw.UsageError, match="expected"):
        f(count=4, out=np.zeros(3, int))


@pytest.mark.parametrize("dtype", [np.int8, np.int32, np.int64, np.uint32, np.uint64])
def test_numbers_have_the_type_that_is_asked_for(dtype):
    got = lw.map(lambda: lw.element(dtype), count=100)
    assert_same(got, np.arange(100, dtype=dtype))


def test_elements_of_arrays_have_numbers_in_c_order():
    x = np.zeros((3, 4))
    numbers = np.arange(12).reshape(3, 4)
    f = lw.vectorize(lambda x: lw.element() + x)
    assert_same(f(x), numbers + 0.0)
    assert_same(f(np.zeros((4, 3)).T), numbers + 0.0)
    assert_same(f(x[:, :1], first_element=5), numbers[:, :1] // 4 + 5.0)


def test_numbers_are_right_in_loops_and_branches():
    @lw.vectorize
    def f(n):
        total = 0
        for i in range(n):
            if lw.element() % 2 == i % 2:
                total += lw.element() + i
        return total

    def plain(e, n):
        return sum(e + i for i in range(n) if e % 2 == i % 2)

    assert_same(f(9, count=50), np.array([plain(e, 9) for e in range(50)]))


def test_tables_are_read_by_the_number():
    rows = np.arange(20.0).reshape(10, 2)
    got = lw.map(lambda t: t[lw.element(), 1] - t[lw.element(), 0], rows, in_axes=None, count=10)
    assert_same(got, np.ones(10))
    with pytest.raises(lw.ElementError, match="element 10"):
        lw.map(lambda: rows[lw.element(), 0], count=11)


def test_the_plain_function_of_one_element_has_its_number():
    f = lw.vectorize(lambda x: lw.element() * x)
    assert f.on(2, np.array([1.0, 2.0, 3.0])) == 6
    assert f.on((1, 0), np.ones((2, 3)), first_element=10) == 13
    assert f.on(4, 0.5, count=5) == 2
    assert lw.vectorize(lambda: lw.element(np.int16)).on(3, count=5).dtype == np.int16


def test_explain_and_lower_take_the_count():
    f = lw.vectorize(lambda: lw.element(np.int32), compile="now")
    f(count=10)
    assert f.explain(count=10).last_run["tier1_elements"] == 10
    assert "element u32 0" in f.lower(count=10)


def test_bits_are_32_random_ones():
    y = lw.map(lambda: lw.random.bits(), count=10_000, seed=3)
    assert y.dtype == np.uint32
    assert_same(y, lw.map(lambda: lw.random.bits(), count=10_000, seed=3))
    assert np.unique(y).size > 9_990
    for bit in range(32):
        assert 0.45 < (y >> np.uint32(bit) & 1).mean() < 0.55
    assert isinstance(lw.random.bits(), np.uint32)


def raises(call, message):
    with pytest.raises((lw.UsageError, lw.UsageTypeError)) as info:
        call()
    assert message in str(info.value)


def test_wrong_uses_are_refused():
    f = lw.vectorize(lambda x: x, name="f")
    raises(
        lambda: f(np.zeros((2, 3)), count=6),
        "f: count and an array; got 6 and the shape (2, 3) (argument 0), expected one of them. "
        "Leave count away where an argument is mapped.",
    )
    raises(lambda: f(1, count=-1), "f: count is not a whole number in range; got -1, expected 0")
    raises(lambda: f(1, count=2.0), "f: count is not a whole number in range; got 2.0")
    raises(
        lambda: lw.map(lambda: 1),
        "map: nothing to map over; got no mapped argument, expected at least one, or count=.",
    )
    raises(
        lambda: lw.element(),
        "element: no element has a number here; got a call outside of a vectorized function, "
        "expected one inside.",
    )
    raises(
        lambda: lw.map(lambda: lw.element(float), count=2),
        "element: unsupported type; got float64, expected an integer type.",
    )


def test_a_parameter_named_count_is_no_option():
    assert_same(lw.vectorize(lambda x, count: x + count)(np.arange(3), count=2), np.arange(3) + 2)


def test_a_row_is_an_array() -> None:
    f = lw.vectorize(lambda x: x.sum(), signature="(n)->()")
    assert f(np.arange(3.0)) == 3
    for _ in range(2):  # also when the call is known
        with pytest.raises(lw.UsageError, match=r"count and an array; got 5 and the shape \(3,\)"):
            f(np.arange(3.0), count=5)
