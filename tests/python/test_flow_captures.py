"""Captured values in ordinary control flow: the plain function agrees whatever they are."""

import math

import numpy as np
import pytest

import lanewise as lw

X = np.linspace(-2, 3, 50)
LIMIT = 1.5
COUNT = 5
WEIGHTS = np.array([1.0, 2.0, 3.0])


def in_a_branch(x):
    if x > LIMIT:
        return x * 2
    return x - LIMIT


def as_the_count_of_a_loop(x):
    total = 0.0
    for i in range(COUNT):
        if total > LIMIT:
            break
        total += x * i
    return total


def in_the_condition_of_a_loop(x):
    n = COUNT
    while n > 0 and x > 0:
        x = x - 1
        n -= 1
    return n


def as_a_condition(x):
    if COUNT:
        return x + LIMIT
    return -x


def compared_with_each_other(x):
    return x + 1 if COUNT > LIMIT else x


def in_a_ternary(x):
    return LIMIT if x > LIMIT else x


def in_a_chain(x):
    return 1 if 0 < x < LIMIT else 0


def in_and_and_or(x):
    return (x > 0 and x < LIMIT) or x == COUNT


def in_builtins(x):
    return min(x, LIMIT) + max(x, COUNT) + abs(LIMIT - x) + int(LIMIT) + round(LIMIT)


def returned_early(x):
    for i in range(COUNT):
        if x < i:
            return i * 1.0
    return LIMIT


def as_the_size_of_a_list(x):
    values = [0.0] * COUNT
    for i in range(COUNT):
        values[i] = x * i
    return sum(values)


def as_the_size_of_an_array(x):
    values = np.zeros(COUNT)
    for i in range(COUNT):
        values[i] = x * i
    return values[COUNT - 1]


def of_a_nested_function(x):
    k = LIMIT

    def inner(y):
        return y * k if y > 0 else y

    return inner(x) + 1


def positive(x):
    return x if x > 0 else -x * LIMIT


def of_a_function_that_is_called(x):
    return positive(x) + positive(-x)


def as_a_table_in_a_loop(x):
    total = 0.0
    for i in range(len(WEIGHTS)):
        total = total * x + WEIGHTS[i]
    for w in WEIGHTS:
        total = total + w
    return total


def as_a_table_that_is_searched(x):
    i = 0
    while i < 2 and WEIGHTS[i] < x:
        i += 1
    return WEIGHTS[i]


FUNCTIONS = [
    in_a_branch,
    as_the_count_of_a_loop,
    in_the_condition_of_a_loop,
    as_a_condition,
    compared_with_each_other,
    in_a_ternary,
    in_a_chain,
    in_and_and_or,
    in_builtins,
    returned_early,
    as_the_size_of_a_list,
    as_the_size_of_an_array,
    of_a_nested_function,
    of_a_function_that_is_called,
    as_a_table_in_a_loop,
    as_a_table_that_is_searched,
]


@pytest.mark.parametrize("function", FUNCTIONS, ids=lambda function: function.__name__)
def test_a_captured_value(function, monkeypatch):
    vectorized = lw.vectorize(function)
    for limit, count in ((1.5, 5), (0.25, 3), (2.5, 5), (2, 4)):
        monkeypatch.setitem(globals(), "LIMIT", limit)
        monkeypatch.setitem(globals(), "COUNT", count)
        monkeypatch.setitem(globals(), "WEIGHTS", np.arange(count) * limit)
        np.testing.assert_array_equal(vectorized(X), [function(x) for x in X])


def test_captured_numbers_in_functions_of_math():
    k = 0.5
    f = lw.vectorize(lambda x: math.sin(k) * x)
    for k in (0.5, 1.25):
        np.testing.assert_allclose(f(X), math.sin(k) * X, rtol=1e-15)


def test_elements_that_a_mask_leaves_out_take_no_exit():
    for function in (returned_early, as_the_count_of_a_loop):
        out = np.full(50, -9.0)
        lw.vectorize(function)(X, out=out, where=X > 0)
        np.testing.assert_array_equal(out, [function(x) if x > 0 else -9 for x in X])


def test_draws_belong_to_the_number_of_an_element():
    f = lw.vectorize(lambda x: x * 0 + lw.random.uniform())
    all_draws = f(X, seed=3)
    assert (f(X, seed=4) != all_draws).any()
    np.testing.assert_array_equal(f(X[10:], seed=3, first_element=10), all_draws[10:])
    out = np.zeros(50)
    f(X, seed=3, out=out, where=X > 0)
    np.testing.assert_array_equal(out, np.where(X > 0, all_draws, 0))
    np.testing.assert_array_equal(f(np.asfortranarray(X.reshape(5, 10)), seed=3).ravel(), all_draws)


def test_branches_on_fields_and_nested_results():
    rows = np.zeros(4, [("m", "f8"), ("n", "i4")])
    rows["m"] = [1, -2, 3, -4]

    def f(row):
        if row.m > 0:
            return {"m": row["m"], "n": 1}
        return {"m": -row.m * 2, "n": 2}

    got = lw.vectorize(f)(rows)
    np.testing.assert_array_equal(got["m"], [1, 4, 3, 8])
    np.testing.assert_array_equal(got["n"], [1, 2, 1, 2])
