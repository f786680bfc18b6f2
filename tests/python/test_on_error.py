"""Calls in which elements fail and the others go on, and checks of numbers."""

import math
import time

import numpy as np
import pytest

import lanewise as lw

WAYS = [
    {"compile": "never"},
    {"compile": "now"},
    {"compile": "now", "schedule": "packets"},
    {"compile": "now", "schedule": "refill"},
]


def halve(x):
    steps = 0
    while x > 1:
        assert x % 7 != 3, "three modulo seven"
        x = x // 2
        steps += 1
    return steps, x * 0.5


def plain(x):
    try:
        return halve(x)
    except AssertionError:
        return 0, math.nan


@pytest.mark.parametrize("way", WAYS)
def test_all_others_end_and_failures_are_told(way):
    x = np.arange(70_000)
    expected = [plain(int(one)) for one in x]
    failing = [i for i, one in enumerate(expected) if math.isnan(one[1])]
    f = lw.vectorize(halve, **way)
    tables = []
    for threads in (1, 2, 3):
        (steps, rest), failures = f(x, on_error="collect", threads=threads)
        np.testing.assert_array_equal(steps, [one[0] for one in expected])
        np.testing.assert_array_equal(rest, [one[1] for one in expected])
        assert failures.count == len(failures) == len(failing)
        np.testing.assert_array_equal(failures.table["element"], failing[:1000])
        tables.append(failures.table)
    assert all((table == tables[0]).all() for table in tables)
    first = tables[0][0]
    assert first["kind"] == "check"
    assert first["file"] == __file__
    assert first["message"] == (
        f"map: element 3 failed ({__file__}:{first['line']}): three modulo seven; got 3 and 3."
    )
    assert first["values"] == (3, 3)


@pytest.mark.parametrize("compile", ["never", "now", "auto"])
def test_a_million_that_fail_end_in_seconds(compile):
    f = lw.vectorize(lambda a, b: a // b, compile=compile)
    start = time.monotonic()
    result, failures = f(np.arange(1_000_000), np.int64(0), on_error="collect", max_failures=3)
    assert time.monotonic() - start < 20
    assert failures.count == 1_000_000
    assert len(failures.table) == 3
    assert not result.any()
    assert repr(failures) == "<1000000 elements failed: 0, 1, 2, ...>"


def test_values_of_failed_elements():
    f = lw.vectorize(halve)
    x = np.array([8, 3, 17])
    steps, rest = f(x, on_error="fill")
    assert list(steps) == [3, 0, 0]
    assert np.isnan(rest[1:]).all()
    steps, rest = f(x, on_error="fill", fill_value=-1)
    assert list(steps) == [3, -1, -1]
    assert list(rest) == [0.5, -1, -1]
    steps, rest = f(x, on_error="fill", fill_value=(9, 0.25))
    assert list(steps) == [3, 9, 9]
    assert list(rest) == [0.5, 0.25, 0.25]


def test_options_of_the_function_and_nothing_fails():
    f = lw.vectorize(lambda x: x // 2, on_error="collect")
    for _ in range(2):  # the second time the program is known
        result, failures = f(np.arange(4))
        assert list(result) == [0, 0, 1, 1]
        assert not failures
        failures.raise_first()
    g = lw.vectorize(lambda x: 8 // x, on_error="fill", fill_value=7)
    for _ in range(2):
        assert list(g(np.arange(3))) == [7, 8, 4]


def test_dimensions_are_counted_in_c_order():
    f = lw.vectorize(lambda x: 8 // x)
    x = np.ones((5, 6), np.int64, order="F")
    x[1, 2] = x[3, 0] = 0
    result, failures = f(x, on_error="collect")
    assert list(failures.table["element"]) == [8, 18]
    assert result[1, 2] == result[3, 0] == 0
    assert (result != 0).sum() == 28
    with pytest.raises(lw.ElementError) as raised:
        failures.raise_first()
    assert raised.value.element == 8


def test_one_element():
    result, failures = lw.vectorize(lambda x: 8 // x)(0, on_error="collect")
    assert result == 0
    assert failures.count == 1


def test_complex_results():
    def f(x):
        assert x > 0
        return x * 1j

    x = np.array([1.0, -1.0])
    assert np.isnan(lw.vectorize(f)(x, on_error="fill")[1])
    assert list(lw.vectorize(f)(x, on_error="fill", fill_value=2 - 3j)) == [1j, 2 - 3j]


def test_rows_as_results():
    def f(row):
        assert row.sum() < 5
        return row * 2

    rows = np.array([[1.0, 2.0], [3.0, 4.0], [0.0, 1.0]])
    result, failures = lw.map(f, rows, on_error="collect")
    assert list(failures.table["element"]) == [1]
    np.testing.assert_array_equal(result, [[2, 4], [math.nan] * 2, [0, 2]])
    result, failures = lw.map(f, rows, on_error="collect", fill_value=-1, out_axes=1)
    np.testing.assert_array_equal(result, [[2, -1, 0], [4, -1, 2]])


def test_into_arrays_and_masks():
    f = lw.vectorize(lambda x: 8 // x)
    x = np.array([0, 1, 0, 2])
    out = np.full(4, 77)
    result, failures = f(x, out=out, on_error="collect")
    assert result is out
    assert list(out) == [0, 8, 0, 4]
    out[:] = 77
    result, failures = f(
        x, out=out, where=[True, True, False, False], on_error="collect", fill_value=-1
    )
    assert list(out) == [-1, 8, 77, 77]
    assert failures.count == 1


def test_accumulators_leave_failed_elements_out():
    total, most, seen = lw.Sum(), lw.ArgMax(), lw.Histogram(4)

    @lw.vectorize
    def f(x):
        total.add(x)
        most.add(x * 1.0)
        seen.add(x % 4)
        assert x % 3 != 0
        return x

    for compile in ("never", "now"):
        for one in (total, most, seen):
            one.reset()
        f(np.arange(100_000), on_error="fill", compile=compile)
        left = [i for i in range(100_000) if i % 3]
        assert total.value == sum(left)
        assert most.value == 99_998
        np.testing.assert_array_equal(seen.value, np.bincount(np.array(left) % 4))


def test_failed_elements_print_nothing(capsys):
    @lw.vectorize
    def f(x):
        print("saw", x)
        return 8 // x

    result, _ = f(np.array([1, 0, 2]), on_error="collect", fill_value=5)
    assert list(result) == [8, 5, 4]
    assert capsys.readouterr().out == "saw 1\nsaw 2\n"


def test_step_limits_are_failures():
    @lw.vectorize(max_steps=10)
    def f(x):
        while x > 0:
            x = x - 1
        return x + 1

    result, failures = f(np.array([3, 11, 10]), on_error="collect")
    assert list(result) == [1, 0, 1]
    assert list(failures.table["kind"]) == ["step limit"]


def test_what_cannot_be():
    f = lw.vectorize(halve)
    x = np.arange(3)
    with pytest.raises(lw.UsageError, match="halve: no such on_error; got 'skip', expected one of"):
        f(x, on_error="skip")
    with pytest.raises(lw.UsageError, match="fill_value does not fit the results; got 3"):
        f(x, on_error="fill", fill_value=(1, 2, 3))
    with pytest.raises(
        lw.UsageError, match=r"fill does not fit result 0; got 0\.5, expected a value"
    ):
        f(x, on_error="fill", fill_value=0.5)
    with pytest.raises(lw.UsageTypeError, match="fill_value is no value of result 0; got 'a'"):
        f(x, on_error="fill", fill_value="a")
    with pytest.raises(lw.UsageTypeError, match="check_numerics is no switch; got 1, expected"):
        f(x, check_numerics=1)
    with pytest.raises(lw.UsageError, match="fill_value of a tensor of complex numbers; got 0"):
        lw.map(lambda row: row * 1j, np.ones((2, 3)), on_error="fill", fill_value=0)


def test_check_numerics_names_the_line_where_it_began():
    def f(x):
        y = np.log(x)  # here
        for _ in range(2):
            y = y * 0.5
        return y + 1

    line = f.__code__.co_firstlineno + 1
    for compile in ("never", "now"):
        g = lw.vectorize(f, compile=compile)
        x = np.array([1.0, 0.0, -1.0, np.inf])
        assert not np.isfinite(g(x)[1:]).any()
        _result, failures = g(x, on_error="collect", check_numerics=True)
        assert list(failures.table["element"]) == [1, 2, 3]
        assert list(failures.table["line"][:2]) == [line, line]
        assert list(failures.table["kind"]) == ["not finite"] * 3
        with pytest.raises(
            lw.ElementError, match=f"element 1 has a value that is not finite .*:{line}"
        ):
            g(x, check_numerics=True)


def test_check_numerics_looks_at_conversions():
    f = lw.vectorize(lambda x: x.astype(np.int8))
    x = np.array([127.5, 128.0, np.nan, -128.5, -129.0])
    _result, failures = f(x, on_error="collect", check_numerics=True)
    assert list(failures.table["element"]) == [1, 2, 4]
    assert list(failures.table["kind"]) == ["conversion"] * 3


def test_check_numerics_leaves_accumulators_alone():
    least = lw.Min()

    @lw.vectorize
    def f(x):
        if x > 1:
            least.add(x)
        return x

    f(np.array([0.5, 3.0]), check_numerics=True)
    assert least.value == 3


def test_check_numerics_of_one_value():
    @lw.vectorize
    def f(x):
        return np.exp(-lw.check_numerics(np.exp(x), "too hot"))

    with pytest.raises(lw.ElementError, match="too hot; got inf, expected a finite one"):
        f(np.array([1.0, 1000.0]))
    assert lw.check_numerics(2.0) == 2
    with pytest.raises(AssertionError):
        lw.check_numerics(np.nan)

    def of_rows(row):
        return lw.check_numerics(1 / row).sum()

    with pytest.raises(lw.ElementError, match="element 1"):
        lw.map(of_rows, np.array([[1.0, 2.0], [0.0, 1.0]]))


def test_an_error_shows_the_line():
    @lw.vectorize
    def f(x):
        return 8 // x

    with pytest.raises(lw.ElementError) as raised:
        f(np.array([1, 0]))
    assert raised.value.__notes__[0].endswith("\n  return 8 // x\n  ^^^^^^^^^^^^^")


def test_rows_of_different_lengths_are_filled_and_told():
    rng = np.random.default_rng(1)
    lengths = rng.integers(0, 60, 20_000)
    offsets = np.concatenate([[0], np.cumsum(lengths)])
    values = rng.integers(1, 9, offsets[-1])
    bad = np.sort(rng.choice(np.flatnonzero(lengths), 30, replace=False))
    values[offsets[bad]] = 0
    rows = lw.Ragged(values, offsets)

    @lw.vectorize
    def parts(row):
        quotients = 360 // row
        return quotients.sum(), quotients, row / 2

    expected = 360 // np.where(values == 0, 1, values)
    is_bad = np.isin(np.repeat(np.arange(len(rows)), lengths), bad)
    for compile in ("never", "now"):
        (sums, quotients, halves), failures = parts(
            rows, on_error="collect", fill_value=(-1, -2, 0.5), max_failures=7, compile=compile
        )
        assert failures.count == 30
        assert list(failures.table["element"]) == list(bad[:7])
        assert failures.table["message"][3].startswith(f"map: element {bad[3]} divides an integer")
        assert (sums[bad] == -1).all()
        good = np.setdiff1d(np.arange(len(rows)), bad)
        totals = np.add.reduceat(np.append(expected, 0), offsets[:-1]) * (lengths > 0)
        assert (sums[good] == totals[good]).all()
        assert (quotients.values == np.where(is_bad, -2, expected)).all()
        assert (halves.values == np.where(is_bad, 0.5, values / 2)).all()


def test_rows_that_fail_without_a_fill_value():
    rows = lw.Ragged.from_lists([[4.0, -1.0], [], [9.0]])

    @lw.vectorize
    def root(row):
        assert (row >= 0).all(), "negative"
        return np.sqrt(row), row > 1

    (roots, large), failures = root(rows, on_error="collect")
    assert np.isnan(roots[0]).all()
    assert list(roots[2]) == [3.0]
    assert large.to_list() == [[False, False], [], [True]]
    assert list(failures.table["element"]) == [0]
    assert lw.map(lambda row: row.max(), rows, on_error="fill", fill_value=7).tolist() == [4, 7, 9]


def test_rows_that_fail_keep_others_under_a_mask():
    rows = lw.Ragged.from_lists([[0, 2], [0], [5]])
    out = lw.Ragged(np.full(4, 7), rows.offsets)
    f = lw.vectorize(lambda row: 10 // row)
    result, failures = f(rows, out=out, where=[True, False, True], on_error="collect")
    assert result is out
    assert out.to_list() == [[0, 0], [7], [2]]
    assert list(failures.table["element"]) == [0]


def test_what_cannot_be_of_rows():
    rows = lw.Ragged.from_lists([[1, 2], [0]])
    f = lw.vectorize(lambda row: (row.sum(), 10 // row), name="f")
    with pytest.raises(lw.UsageError, match="fill_value does not fit the results; got 3 values, e"):
        f(rows, on_error="fill", fill_value=(1, 2, 3))
    with pytest.raises(
        lw.UsageError, match=r"f: fill_value does not fit result 1; got 0\.5, expected a value of i"
    ):
        f(rows, on_error="fill", fill_value=(0, 0.5))
    refused = "on_error with rows whose lengths only the function knows, or that print or add up"
    with pytest.raises(lw.UsageError, match=refused):
        lw.map(lambda row: row[:1], rows, on_error="fill")
