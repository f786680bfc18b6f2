"""Options of calls, of functions and of the process; the entry points that take them."""

import re
import sys
import time

import numpy as np
import pytest
from samples import assert_same

import lanewise as lw

X = np.arange(6.0)


@lw.vectorize
def plus_one(x):
    return x + 1


def countdown(x):
    return lw.while_loop(lambda v: v > 0, lambda v: v - 1, x)


def test_options_are_given_to_a_call():
    f = lw.vectorize(lambda x: x * x - 1)
    x = np.array([1 + 2.0**-12], np.float32)
    strict = f(x)
    assert f(x, math="fast")[0] != strict[0]
    assert f(x, compile="now", threads=1, memory=10**9)[0] == strict[0]
    assert f(x)[0] == strict[0]
    assert "fma" in f.lower(x, math="fast")
    assert "fma" not in f.lower(x)


def test_options_of_a_call_win_over_those_of_the_function_and_of_the_process():
    f = lw.vectorize(countdown, max_steps=10)
    with pytest.raises(lw.ElementError, match="got a limit of 10 steps"):
        f(np.full(3, 20.0))
    assert_same(f(np.full(3, 20.0), max_steps=30), np.zeros(3))
    g = lw.vectorize(countdown)
    assert_same(g(np.full(3, 20.0)), np.zeros(3))
    lw.config.max_steps = 5
    try:
        assert lw.config.max_steps == 5
        with pytest.raises(lw.ElementError, match="got a limit of 5 steps"):
            g(np.full(3, 20.0))
        with pytest.raises(lw.ElementError, match="got a limit of 10 steps"):
            f(np.full(3, 20.0))
    finally:
        del lw.config.max_steps
    assert lw.config.max_steps is None
    assert_same(g(np.full(3, 20.0)), np.zeros(3))


def test_a_parameter_of_that_name_is_no_option():
    f = lw.vectorize(lambda x, seed, where: x + seed + where)
    assert_same(f(X, seed=1, where=2), X + 3)


def test_a_timeout_ends_a_loop_that_never_does():
    endless = lw.vectorize(lambda x: lw.while_loop(lambda v: v > 0, lambda v: v * 0.5 + 1, x))
    start = time.perf_counter()
    with pytest.raises(TimeoutError, match=r"map: ran out of time; got a timeout of 0\.1 s") as e:
        endless(np.ones(10), timeout=0.1)
    assert isinstance(e.value, lw.Timeout)
    assert time.perf_counter() - start < 2
    assert_same(endless(-np.ones(3), timeout=5), -np.ones(3))


def test_progress_is_told_what_is_done():
    told = []
    f = lw.vectorize(countdown, compile="never")
    n = 2000
    got = f(np.full(n, 3e4), progress=told.append, threads=1)
    assert_same(got, np.zeros(n))
    assert all(isinstance(one, lw.Progress) and one.total == n for one in told)
    assert (told[-1].done, told[-1].left) == (n, 0.0)
    assert [one.done for one in told] == sorted(one.done for one in told)
    for one in told[1:]:
        assert one.rate == pytest.approx(one.done / one.seconds, rel=0.2)
        assert one.left == pytest.approx((n - one.done) / one.rate)


def test_an_exception_of_progress_ends_the_map():
    def stop(told):
        raise KeyError("enough")

    f = lw.vectorize(lambda x: lw.while_loop(lambda v: v > 0, lambda v: v * 0.5 + 1, x))
    with pytest.raises(KeyError, match="enough"):
        f(np.ones(10), progress=stop)


def test_progress_is_shown_without_tqdm(monkeypatch, capsys):
    monkeypatch.setitem(sys.modules, "tqdm.auto", None)
    assert_same(plus_one(X, progress=True), X + 1)
    said = capsys.readouterr().err
    assert re.fullmatch(r"\rplus_one: 100\.0%, [0-9.e+]+ elements/s *\n", said), said


def test_progress_is_shown_by_tqdm():
    pytest.importorskip("tqdm")
    assert_same(plus_one(X, progress=True), X + 1)


# --- where ---


def test_where_keeps_what_it_leaves_out():
    mask = np.array([True, False, True, False, False, True])
    out = np.full(6, -1.0)
    assert plus_one(X, out=out, where=mask) is out
    assert_same(out, np.where(mask, X + 1, -1.0))


def test_where_broadcasts_and_takes_several_results():
    x = np.arange(12.0).reshape(3, 4)
    mask = np.array([[True], [False], [True]])
    out = np.zeros((3, 4)), np.zeros((3, 4), bool)
    lw.vectorize(lambda x: (x * 2, x > 4))(x, out=out, where=mask)
    assert_same(out[0], np.where(mask, x * 2, 0))
    assert_same(out[1], np.where(mask, x > 4, False))
    column = np.zeros((3, 4))
    plus_one(1.0, out=column, where=np.arange(12).reshape(3, 4) % 2 == 0)
    assert column.sum() == 12


def test_elements_that_are_left_out_neither_fail_nor_run():
    f = lw.vectorize(lambda x: 10 // x)
    x = np.array([5, 0, 2])
    out = np.full(3, -7)
    f(x, out=out, where=x != 0)
    assert_same(out, np.array([2, -7, 5]))
    endless = lw.vectorize(lambda x: lw.while_loop(lambda v: v != 0, lambda v: v - 1, x))
    y = np.array([3.0, 0.5, 2.0])
    out = np.full(3, -7.0)
    endless(y, out=out, where=y != 0.5, timeout=20)
    assert_same(out, np.array([0.0, -7, 0]))


def test_where_of_one_number():
    out = np.zeros(())
    plus_one(2.0, out=out, where=True)
    assert out == 3
    plus_one(5.0, out=out, where=False)
    assert out == 3


def test_where_without_out():
    with pytest.raises(
        lw.UsageTypeError,
        match=r"^plus_one: where without out; got a mask and no array for the results, expected "
        r"both\. Give out=, which keeps its values where the mask is False\.$",
    ):
        plus_one(X, where=X > 2)


def test_masks_that_do_not_fit():
    out = np.zeros(6)
    with pytest.raises(
        lw.UsageTypeError, match=r"^plus_one: where is not a mask; got float64, expected bool\.$"
    ):
        plus_one(X, out=out, where=X)
    with pytest.raises(
        lw.UsageError,
        match=r"^plus_one: where does not fit the arguments; got \(5,\), expected a shape that "
        r"broadcasts with \(6,\)\.$",
    ):
        plus_one(X, out=out, where=np.ones(5, bool))


# --- what np.vectorize has ---


def test_excluded_parameters_are_passed_as_they_are():
    @lw.vectorize(excluded={"table", 2})
    def look(i, table, how):
        return table[i] * 2 if how == "double" else table[i]

    table = np.array([5.0, 6.0, 7.0])
    i = np.array([2, 0])
    assert_same(look(i, table, "double"), table[i] * 2)
    assert_same(look(i, table[::-1], "plain"), table[::-1][i])
    assert_same(look(i, [1, 2, 3], "plain"), np.array([3, 1]))


def test_excluded_numbers_are_shared():
    f = lw.vectorize(lambda x, k: x * k, excluded=[1])
    assert_same(f(X, 2.5), X * 2.5)
    assert_same(f(X, np.float32(2)), X * 2)


def test_otypes_are_the_types_of_the_results():
    assert lw.vectorize(lambda x: x + 1, otypes=[np.float32])(X).dtype == np.float32
    assert lw.vectorize(lambda x: x + 1, otypes="f")(X).dtype == np.float32
    a, b = lw.vectorize(lambda x: (x, x), otypes=["i4", bool])(X)
    assert (a.dtype, b.dtype) == (np.int32, np.bool_)
    assert_same(b, X != 0)


def test_signatures_of_single_values_are_taken():
    f = lw.vectorize(lambda x, y: x + y, signature="(),()->()")
    assert_same(f(X, X), X * 2)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (
            {"signature": "n->()"},
            "vectorize: not a signature; got 'n->()', expected dimensions of arguments and",
        ),
        ({"otypes": [np.longdouble]}, "vectorize: unsupported type in otypes; got float128"),
        ({"wide": 1}, "vectorize: no such option; got wide=, expected one of threads, memory"),
        ({"timeout": -1}, "vectorize: timeout is not a time; got -1, expected seconds above 0"),
        ({"progress": 3}, "vectorize: progress cannot be told anything; got int, expected True"),
        ({"seed": 1.5}, "vectorize: seed is not a whole number in range; got 1.5, expected 0 to"),
        ({"math": "loose"}, "vectorize: no such math; got 'loose', expected one of 'strict'"),
        ({"excluded": ["z"]}, "vectorize: excluded names no parameter; got 'z', expected"),
    ],
    ids=lambda value: next(iter(value)) if isinstance(value, dict) else "",
)
def test_options_that_are_refused(options, message):
    with pytest.raises(lw.UsageError) as error:
        lw.vectorize(**options)(lambda x: x)
    assert str(error.value).startswith(message)


def test_options_of_a_call_that_are_refused():
    with pytest.raises(lw.UsageError, match=r"^plus_one: threads is not a whole number in range"):
        plus_one(X, threads=-1)
    with pytest.raises(lw.UsageError, match=r"^config: no such accuracy; got 'best'"):
        lw.config.accuracy = "best"
    with pytest.raises(lw.UsageError, match=r"^config: no such option; got colour="):
        lw.config.colour = 1
    with pytest.raises(lw.UsageError, match="otypes does not fit the results; got 2 types"):
        lw.vectorize(lambda x: x, otypes="ff")(X)


# --- lw.map ---


def test_map_is_the_one_shot_form():
    assert_same(lw.map(lambda x, y: x * y, X, X), X * X)
    assert_same(lw.map(lambda x, k: x * k, X, 3.0), X * 3)
    assert_same(lw.map(plus_one, X, threads=1), X + 1)
    out = np.empty(6)
    assert lw.map(lambda x: x - 1, X, out=out) is out
    assert_same(out, X - 1)
    assert_same(lw.map(lambda p: p["a"] + p["b"], {"a": X, "b": X}), X * 2)


def test_map_shares_what_has_no_axis():
    table = np.array([3.0, 4.0])
    got = lw.map(lambda i, t: t[i], np.array([1, 0, 1]), table, in_axes=(0, None))
    assert_same(got, np.array([4.0, 3.0, 4.0]))
    matrix = np.arange(6.0).reshape(2, 3)
    got = lw.map(lambda i, t: t[i, 2], np.array([1, 0]), matrix, in_axes=[-1, None])
    assert_same(got, np.array([5.0, 2.0]))


@pytest.mark.parametrize(
    ("arguments", "options", "message"),
    [
        (
            (X, X[:5]),
            {},
            "map: arguments disagree on the mapped size; got 6 (argument 0) and 5 (argument 1), "
            "expected one size. Use in_axes=None for argument 1 to share it between elements.",
        ),
        (
            (X, X),
            {"in_axes": (0,)},
            "map: in_axes does not fit the arguments; got 1 axes, expected 2, one for each "
            "argument.",
        ),
        (
            (X,),
            {"in_axes": 1},
            "map: argument 0 has no such axis; got in_axes 1, expected -1 to 0 for the shape (6,).",
        ),
        (
            (X,),
            {"in_axes": "x"},
            "map: in_axes is not an axis; got 'x' (argument 0), expected a whole number or None.",
        ),
        (
            (np.zeros((2, 0)),),
            {},
            "lambda: elements of argument 0 are empty; got the shape (0,) of an element, "
            "expected at least one value in each.",
        ),
        (
            (X,),
            {"out_axes": 1},
            "map: results have no such axis; got out_axes 1, expected -1 to 0 for a result of "
            "shape (6,).",
        ),
        (
            (X,),
            {"in_axes": None},
            "map: nothing to map over; got no mapped argument, expected at least one, or count=.",
        ),
    ],
    ids=["sizes", "number", "axis", "no axis", "empty", "out", "nothing"],
)
def test_maps_that_are_refused(arguments, options, message):
    with pytest.raises(lw.UsageError) as error:
        lw.map(lambda *values: values[0], *arguments, **options)
    assert str(error.value) == message


def test_map_takes_functions_only():
    with pytest.raises(lw.UsageTypeError, match=r"^map: not a function; got int, expected a call"):
        lw.map(3, X)


# --- on ---


def test_on_runs_the_plain_function_on_one_element():
    seen = []

    @lw.vectorize
    def f(x, row, k):
        seen.append((x, row["a"], k))
        return x * k

    x = np.arange(6.0).reshape(2, 3)
    row = {"a": np.array([[1], [2]])}
    assert f.on(4, x, row, 10) == 40
    assert f.on((1, 1), x, row, 10) == 40
    assert seen == [(4.0, 2, 10)] * 2
    assert lw.vectorize(lambda x: x + 1).on(0, 3) == 4
    with pytest.raises(
        lw.UsageError,
        match=r"^f: no such element; got 6, expected a number below 6 or a place in the shape "
        r"\(2, 3\)\.$",
    ):
        f.on(6, x, row, 10)


def test_clear_cache_records_again():
    seen = []
    f = lw.vectorize(lambda x: seen.append(1) or x)
    f(X)
    f(X)
    f.clear_cache()
    f(X)
    assert len(seen) == 2
