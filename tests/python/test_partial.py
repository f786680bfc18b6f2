"""Calls that return what is finished when their time is up, and go on later."""

import threading
import time

import numpy as np
import pytest
from samples import assert_same

import lanewise as lw


@lw.vectorize
def wander(x):
    total = lw.random.uniform()
    while x > 0:
        total = total * 0.75 + x
        x -= 1
    return total, x


@lw.vectorize
def endless(x):
    while x > 0:
        x = x * 0.5 + 1
    return x


X = (np.arange(40_000) * 7919 % 4001).astype(float)


@pytest.mark.parametrize("threads", [1, 3])
@pytest.mark.parametrize("compile_", ["auto", "never"])
def test_many_calls_with_little_time_give_the_bits_of_one(threads, compile_):
    options = {"seed": 3, "threads": threads, "compile": compile_}
    whole = wander(X, **options)
    some = wander(X, timeout=1e-3, on_timeout="partial", **options)
    resumed = 0
    while not some.is_all:
        mask = some.finished
        assert mask.sum() == some.count
        for got, expected in zip(some.results, whole, strict=True):
            assert_same(got[mask], expected[mask])
            assert np.isnan(got[~mask]).all()
        assert some.resume(timeout=1e-3) is some
        resumed += 1
    assert resumed > 1
    assert some.finished.all()
    assert repr(some) == "<all 40000 elements finished>"
    for got, expected in zip(some.results, whole, strict=True):
        assert_same(got, expected)


def test_dimensions_and_arrays_that_do_not_stand_together():
    x = np.asfortranarray(X.reshape(200, 200))
    out = np.full((200, 400), -1.0)[:, ::2]
    mask = X.reshape(200, 200) % 3 > 0
    f = lw.vectorize(lambda v: wander.__wrapped__(v)[0])
    expected = np.where(mask, f(x, seed=1), -1.0)
    some = f(x, seed=1, timeout=1e-3, on_timeout="partial", out=out, where=mask)
    while not some.is_all:
        assert some.finished.shape == (200, 200)
        some.resume(timeout=2e-3)
    assert some.results is out
    assert_same(out, expected)


def test_elements_that_were_not_begun_keep_what_out_held():
    x = np.full(100_000, -1.0)
    x[10] = 1.0
    out = np.full(100_000, 7.0)
    some = endless(x, out=out, timeout=0.1, on_timeout="partial", threads=1, compile="never")
    assert not some.finished.any()
    assert np.isnan(out[10])
    assert out[50_000] == 7.0
    assert repr(some) == "<0 of 100000 elements finished>"


def test_new_integers_and_complex_numbers_are_0_and_nan():
    def f(x, z, n):
        while x > 0:
            x = x * 0.5 + 1
        return z * 2, n + 1

    some = lw.map(f, np.ones(10), np.ones(10, complex), 4, timeout=0.05, on_timeout="partial")
    z, n = some.results
    assert np.isnan(z.real).all()
    assert np.isnan(z.imag).all()
    assert n.tolist() == [0] * 10


def test_elements_that_are_rows():
    def f(row):
        left = row.sum()
        while left > 0:
            left -= 1
        return row * 2 + left

    rows = X.reshape(1000, 40)
    some = lw.map(f, rows, timeout=1e-3, on_timeout="partial")
    while not some.is_all:
        assert np.isnan(some.results[~some.finished]).all()
        some.resume(timeout=2e-3)
    assert some.finished.shape == (1000,)
    assert_same(some.results, lw.map(f, rows))


def test_a_token_stops_calls_from_another_thread():
    token = lw.CancelToken()
    assert not token.is_cancelled
    threading.Timer(0.1, token.cancel).start()
    start = time.perf_counter()
    with pytest.raises(lw.Cancelled, match=r"map: cancelled before it ended"):
        endless(np.ones(10), cancel=token)
    assert time.perf_counter() - start < 2
    assert token.is_cancelled
    with pytest.raises(lw.Cancelled, match=r"map: cancelled before it began"):
        endless(np.ones(10), cancel=token)
    plus = lw.vectorize(lambda x: x + 1, cancel=token, compile="now")
    with pytest.raises(lw.Cancelled):
        plus(np.ones(10))


def test_a_cancelled_call_returns_what_is_finished():
    x = np.full(1000, -1.0)
    x[999] = 1.0
    token = lw.CancelToken()
    threading.Timer(0.1, token.cancel).start()
    some = endless(x, cancel=token, on_timeout="partial", threads=1)
    assert 0 < some.count < 1000
    assert_same(some.results[some.finished], x[some.finished])
    count = some.count
    assert some.resume(cancel=token).count == count
    assert some.resume(timeout=0.05).count >= count


def test_failures_are_told_once():
    @lw.vectorize
    def f(x, d):
        q = 100 // d
        while x > 0:
            x -= 1
        return q

    d = np.arange(40_000) % 500
    some = f(X, d, timeout=1e-3, on_timeout="partial", on_error="collect", fill_value=-7)
    while not some.is_all:
        some.resume(timeout=1e-3)
    assert some.failures.count == 80
    assert some.failures.table["element"].tolist() == list(range(0, 40_000, 500))
    assert_same(some.results, np.where(d == 0, -7, 100 // np.maximum(d, 1)))
    with pytest.raises(lw.ElementError, match="element 0 divides an integer by zero"):
        f(X, d, on_timeout="partial")


def test_progress_of_a_call_that_goes_on():
    told = []
    some = wander(X, timeout=1e-3, on_timeout="partial", threads=1)
    before = some.count
    some.resume(progress=told.append)
    assert told[-1][:2] == (40_000, 40_000)
    assert all(before <= one.done <= 40_000 for one in told)


def said(x):
    print(x)
    return x


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (
            lambda: lw.map(lambda row: row.sum(), lw.Ragged([1.0], [0, 1]), on_timeout="partial"),
            "on_timeout with rows of different lengths; got 'partial', expected 'raise': such a "
            "call ends as a whole.",
        ),
        (
            lambda: lw.map(lambda x: TOTAL.add(x), X, on_timeout="partial"),
            "on_timeout with accumulators; got 'partial', expected 'raise'",
        ),
        (
            lambda: lw.map(said, X, on_timeout="partial"),
            "on_timeout with elements that print; got 'partial', expected 'raise'",
        ),
        (
            lambda: lw.map(lambda x: x + X[:2], X, on_timeout="partial", out_axes=1),
            "map: out_axes with on_timeout; got 'partial', expected 'raise'.",
        ),
        (
            lambda: endless(X, on_timeout="later"),
            "endless: no such on_timeout; got 'later', expected one of 'raise', 'partial'.",
        ),
        (lambda: endless(X, cancel=3), "endless: cancel is no token; got int, expected a Cancel"),
        (
            lambda: endless(-X, on_timeout="partial").resume(seed=3),
            "resume: not an option of calls that go on; got seed=, expected one of timeout, cancel",
        ),
    ],
)
def test_messages(call, message):
    with pytest.raises((lw.UsageError, lw.UsageTypeError)) as error:
        call()
    assert message in str(error.value)


TOTAL = lw.Sum()
