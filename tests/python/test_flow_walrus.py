"""`:=` in operands that not all elements evaluate: what Python makes of it, element by element."""

import numpy as np
import pytest

import lanewise as lw

X = np.arange(-3.0, 9)


def behind_and(x):
    if x > 0 and (y := x * 2) > 3:
        return y
    return 0


def behind_or(x):
    if x > 0 or (y := x - 1) < -3:
        return 1
    return y


def chained(x):
    if x > 0 and (y := x * 2) > 3 and (z := y + x) < 20 and (y := z) > 0:
        return y * 100 + z
    return -1


def in_a_ternary(x):
    y = 7
    z = (y := x) + 1 if x > 2 else y
    return y * 10 + z


def in_both_parts_of_a_ternary(x):
    z = (y := x) if x > 2 else (y := -x * 2)
    return y * 10 + z


def in_a_comparison(x):
    return y if -1 < x < (y := 3) else 0


def in_a_loop(x):
    n = 0
    while x < 100 and (t := x * x + 1) > 0 and (u := t + n) < 1000:
        x = t
        n += 1
        if u > 50:
            break
    return x + n


def with_a_value_before(x):
    y = 0.5
    total = 0.0
    for i in range(12):
        if i > x and (y := y * 2) > 4:
            total += y
    return total + y


def of_another_type(x):
    y = 1
    if x > 1 and (y := x / 3) > 1:
        return y
    return y * 2


def in_lambdas(x):
    f = lambda v: w if v > 1 and (w := v * 2) > 4 else 0  # noqa: E731
    return f(x) + f(x + 1)


def in_a_comprehension(x):
    q = 9
    kept = [(q := v + 1) if v > x else 0 for v in (1, 2, 3)]
    return kept[0] + kept[1] * 10 + kept[2] * 100 + q * 1000


def assigned_on_the_other_path_too(x):
    if x > 1 and (y := x) > 3:
        pass
    else:
        y = 5
    return y


def assigned_after_it(x):
    if x > 1 and (y := x) > 3:
        y += 1
    else:
        y = x - 1
    return y


def of_tuples(x):
    if x > 0 and (y := (x, 2.0))[0] > 1:
        return y[1] + y[0]
    return 0.0


def on_plain_values(x):
    if len("ab") == 2 and (y := 3) > 2:
        x += y
    return x or ((z := 1) and z)


def nested(x):
    return (a if (x > 1 and (a := x + 1) > 4) or (x < 0 and (a := -x) > 1) else 0) + 1


def of_an_element_and_a_plain_value(x):
    return (y := 2) + x if x > 0 and (y := 5) else y if (y := 1) else 0


@pytest.mark.parametrize(
    "function",
    [
        behind_and,
        behind_or,
        chained,
        in_a_ternary,
        in_both_parts_of_a_ternary,
        in_a_comparison,
        in_a_loop,
        with_a_value_before,
        of_another_type,
        in_lambdas,
        in_a_comprehension,
        assigned_on_the_other_path_too,
        assigned_after_it,
        of_tuples,
        on_plain_values,
        nested,
        of_an_element_and_a_plain_value,
    ],
    ids=lambda function: function.__name__,
)
@pytest.mark.parametrize("compile", ["never", "now"])
def test_elements_get_what_the_plain_function_gives(function, compile):
    got = lw.vectorize(function, compile=compile)(X)
    np.testing.assert_array_equal(got, [function(x) for x in X])


def test_an_element_that_did_not_evaluate_it_fails_where_it_reads_the_variable():
    def f(x):
        if x > 0 and (y := x) > 1:
            x += 1
        return x + y

    with pytest.raises(UnboundLocalError):
        f(-1.0)
    vectorized = lw.vectorize(f)
    with pytest.raises(lw.ElementError) as error:
        vectorized(np.array([2.0, 0.5, -1.0, 3.0]))
    assert error.value.element == 2
    assert str(error.value) == (
        f"map: element 2 failed ({__file__}:{f.__code__.co_firstlineno + 3}): y: used before it "
        "has a value; got := in a part of an expression that the element did not evaluate, "
        "expected an assignment before"
    )
    np.testing.assert_array_equal(vectorized(np.array([2.0, 0.5])), [5.0, 1.0])


def test_values_of_two_sorts():
    def f(x):
        y = (1, 2)
        if x > 0 and (y := x) > 1:
            return 1
        return y[0]

    with pytest.raises(lw.UsageError, match="y: is not of one sort for all elements; got a number"):
        lw.vectorize(f)(X)


def test_a_variable_that_only_a_path_of_statements_may_set():
    def f(x):
        if x > 5:
            if x > 6 and (y := x) > 1:
                x += y
        return y

    with pytest.raises(lw.UsageError, match="y: may have no value; got an assignment on one path"):
        lw.vectorize(f)(X)
