"""What cannot be recorded of ordinary Python, and the words that say so."""

import re

import numpy as np
import pytest

import lanewise as lw

X = np.arange(-3.0, 4)
N = np.arange(6)


def fails(function, line, text, values=X, kind=lw.UsageError):
    """Expect an error at a line, counted from the first of the function."""
    where = f"{__file__}:{function.__code__.co_firstlineno + line}: "
    with pytest.raises(kind, match=f"^{re.escape(where + text)}$"):
        lw.vectorize(function)(values)


def test_a_name_of_one_branch_that_is_read_afterwards():
    def f(x):
        if x > 0:
            y = 1
        return y

    first = f.__code__.co_firstlineno
    fails(
        f,
        3,
        f"y: may have no value; got an assignment on one path only ({__file__}:{first + 1}), "
        "expected one on every path that leads here. Give it a value before.",
    )


def test_a_name_of_a_loop_that_may_take_no_step():
    def f(n):
        for i in range(n):
            y = i
        return y

    fails(
        f,
        3,
        "y: may have no value; got an assignment inside a loop only, which an element may leave "
        "before it, expected one on every path that leads here. Give it a value before the loop.",
        N,
    )


def test_a_name_without_any_value():
    def f(x):
        if x > 0:
            z = y  # noqa: F821
            y = z  # noqa: F841
        return x

    fails(
        f,
        2,
        "y: used before it has a value; got none yet, expected an assignment before.",
    )


def test_a_name_of_one_branch_that_nobody_reads_does_no_harm():
    def f(x):
        if x > 0:
            y = x * 2
            x = y + 1
        return x

    np.testing.assert_array_equal(lw.vectorize(f)(X), [f(x) for x in X])


def test_different_structures_in_branches():
    def f(x):
        if x > 0:
            p = (x, 1)
        else:
            p = x
        return p

    fails(
        f,
        5,
        "p: is not of one sort for all elements; got a tuple of 2 on one path and a number on "
        "another, expected the same structure on both. Give it a number, or a tuple of as many, on "
        "every path.",
    )


def test_texts_that_differ_between_branches():
    def f(x):
        if x > 0:
            m = "a"
        else:
            m = "b"
        return 1 if m == "a" else 2

    fails(
        f,
        5,
        "m: is not of one sort for all elements; got 'a' on one path and 'b' on another, expected "
        "the same structure on both. Give it a number, or a tuple of as many, on every path.",
    )


def test_none_that_becomes_a_number_in_a_loop():
    def f(n):
        best = None
        for i in range(n):
            if best is None or i > best:
                best = i
        return best

    fails(
        f,
        3,
        "best: is not of one sort for all elements; got None on one path and a number on another, "
        "expected the same structure on both. Give it a number, or a tuple of as many, on every "
        "path.",
        N,
    )


def test_a_path_that_returns_nothing():
    def f(x):
        if x > 0:
            return x

    fails(
        f,
        2,
        "f: the function returns different things; got a number on one path and None on another, "
        "expected the same structure on every path. Is a return missing?",
    )


def test_paths_that_return_different_structures():
    def f(x):
        while x > 0:
            return (x, 1)
        return x

    fails(
        f,
        3,
        "f: the function returns different things; got a tuple of 2 on one path and a number on "
        "another, expected the same structure on every path.",
    )


def test_different_structures_in_a_ternary():
    def f(x):
        return (x, 1) if x > 0 else x

    fails(
        f,
        1,
        "if: the two values of an expression are not of one sort; got a tuple of 2 and a number, "
        "expected two numbers, or tuples of as many. Give both the same structure.",
        kind=TypeError,
    )


def test_appending_in_a_loop_on_elements():
    def f(x):
        out = []
        while x < 5:
            x += 1
            out.append(x)
        return len(out)

    fails(
        f,
        4,
        "append: changes the size of a list or dict for some elements only; got a call inside a "
        "branch or loop on elements, expected a fixed size. Make it with all its places before, "
        "[0.0] * n or np.zeros(n), and assign to them.",
    )


def test_a_new_key_in_a_branch():
    def f(x):
        d = {1: 2.0}
        if x > 0:
            d[5] = 1.0
        return d[1]

    fails(
        f,
        3,
        "dict: changes the size of a list or dict for some elements only; got a call inside a "
        "branch or loop on elements, expected a fixed size. Make it with all its places before, "
        "[0.0] * n or np.zeros(n), and assign to them.",
    )


def test_appending_to_a_list_that_elements_index():
    def f(n):
        a = [1, 2, 3]
        a[n % 3] = 7
        a.append(4)
        return a[0]

    fails(
        f,
        3,
        "append: changes the size or order of a list that elements index or change by themselves; "
        "got a call on such a list, expected a fixed size. Assign to its places.",
        N,
    )


def factorial(n):
    if n <= 1:
        return 1
    return n * factorial(n - 1)


def test_recursion_that_depends_on_elements():
    fails(
        factorial,
        0,
        "factorial: calls itself; got a call that depends on elements, whose number is not known "
        "while it is recorded, expected a loop. Write it with while, and a local list or array of "
        "fixed size as a stack.",
        N,
    )


def test_generators():
    def f(x):
        if x > 0:
            yield x

    fails(
        f,
        0,
        "f: is a generator; got yield or await in an element function, expected return. "
        "Return a tuple.",
        kind=TypeError,
    )


@pytest.mark.parametrize(
    ("function", "values", "text"),
    [
        (
            lambda x: [i for i in range(x)],  # noqa: C416
            N,
            "range: an element is among its bounds; got a use outside of a for statement, expected "
            "for i in range(...).",
        ),
        (
            lambda x: range(x),
            X,
            "range: a bound is not a whole number; got a float, expected integers. "
            "Convert it with int(...).",
        ),
        (
            lambda x: range(0, 9, x),
            N,
            "range: the step is an element; got a value that differs between elements, expected a "
            "plain number. Use a while loop.",
        ),
        (
            lambda x: [1, 2, 3][x],
            X,
            "index: not a whole number; got an element of float64, expected an integer. "
            "Convert it with int(...).",
        ),
        (
            lambda x: [[1], [2]][x],
            N,
            "index: an element cannot choose among other things than numbers; got an element as "
            "index into a list of such, expected a list or array of numbers, or a plain index. "
            "Choose with if and elif.",
        ),
    ],
    ids=["comprehension", "float range", "step", "float index", "lists"],
)
def test_ranges_and_indices(function, values, text):
    with pytest.raises(TypeError) as error:
        lw.vectorize(function)(values)
    assert str(error.value).split(": ", 1)[1] == text
    assert str(error.value).startswith(f"{__file__}:")


def test_a_loop_over_an_element():
    def f(x):
        for v in x:
            x += v
        return x

    fails(
        f,
        1,
        "for: an element is not a container; got a number, expected range(...) or a Python "
        "container. Write for i in range(x).",
        kind=TypeError,
    )


def test_a_loop_that_is_too_long_to_be_plain():
    def f(x):
        names = ["a"] * 20000
        for i in range(20000):
            x += len(names[i])
        return x

    fails(
        f,
        2,
        "loop: takes too many steps to be recorded one by one; got more than 10000, expected a "
        "loop over range whose body needs no plain index. Use the index in numbers and arrays "
        "only.",
    )


def test_an_element_kept_from_inside_a_branch():
    kept = []

    def f(x):
        if x > 0:
            kept.append(x + 1)
        return kept[-1] + x

    fails(
        f,
        3,
        "element: used outside of the loop or branch it was made in; got a value that not every "
        "element has, expected one of the present scope. Assign it to a variable, or return it.",
    )


class Counter:
    def __init__(self):
        self.n = 0


def test_an_object_from_outside_that_some_elements_change():
    counter = Counter()

    def f(x):
        if x > 0:
            counter.n = 1
        return x

    fails(
        f,
        2,
        "Counter: changed for some elements only; got an assignment to an attribute or item inside "
        "a branch or loop on elements, expected a local variable. Assign to a variable, or make a "
        "new object in each branch.",
    )
    assert counter.n == 0


def test_an_object_that_is_made_in_the_branch_may_be_changed_there():
    def f(x):
        if x > 0:
            counter = Counter()
            counter.n = x
            x = counter.n + 1
        return x

    np.testing.assert_array_equal(lw.vectorize(f)(X), [f(x) for x in X])


def test_a_variable_of_another_function_that_is_changed_inside_an_expression():
    def f(x):
        n = 0

        def count():
            nonlocal n
            n += 1
            return True

        y = 1 if x > 0 and count() else 0
        return y + n

    fails(
        f,
        3,
        "count: changes variables of the function around it in a part of an expression that not "
        "all elements evaluate; got nonlocal n, expected a call in a statement. Write it with if.",
    )


def test_an_exception_inside_of_try_that_only_some_elements_raise():
    def f(x):
        try:
            if x > 0:
                raise KeyError
        except KeyError:
            return 1
        return 0

    fails(
        f,
        3,
        "raise: inside of try, for some elements only; got a branch or loop on elements, expected "
        "one on plain values. Use if instead of try.",
    )


def test_arrays_that_are_too_large():
    def f(n):
        a = [0.0] * 5000
        a[n] = 1
        return a[0]

    fails(
        f,
        1,
        "array: wrong size; got 5000 places, expected 1 to 4096. "
        "Pass larger ones as arguments, or capture them.",
        N,
    )


# --- failures of elements ---


@pytest.mark.parametrize("compile", ["never", "now"])
def test_an_assertion_that_does_not_hold_names_element_line_and_message(compile):
    def f(x):
        if x < 2:
            return x
        assert x < 3, "too large"
        return -x

    here = f"{__file__}:{f.__code__.co_firstlineno + 3}"
    checked = lw.vectorize(f, compile=compile)
    with pytest.raises(lw.ElementError) as error:
        checked(X)
    assert str(error.value) == f"map: element 6 failed ({here}): too large; got 3 and 3."
    assert error.value.element == 6
    assert checked(X[:6]).tolist() == [-3, -2, -1, 0, 1, -2]


def test_an_assertion_on_plain_values_is_pythons_own():
    def f(x):
        assert 1 > 2, "never"
        return x

    with pytest.raises(AssertionError, match="never"):
        lw.vectorize(f)(X)


def test_an_exception_that_only_some_elements_raise_is_their_failure():
    def f(x):
        if x > 2:
            raise ValueError("out of range")
        return x

    here = f"{__file__}:{f.__code__.co_firstlineno + 2}"
    with pytest.raises(lw.ElementError) as error:
        lw.vectorize(f)(X)
    assert str(error.value) == f"map: element 6 failed ({here}): ValueError: out of range"
    assert lw.vectorize(f)(X[:3]).tolist() == [-3, -2, -1]


def test_check_is_an_assertion():
    def f(x):
        lw.check(x < 3, "large")
        return x

    with pytest.raises(lw.ElementError, match=r": large; got 3 and 3\."):
        lw.vectorize(f)(X)
    with pytest.raises(AssertionError, match=r"^large$"):
        f(4.0)
    assert f(1.0) == 1


@pytest.mark.parametrize("compile", ["never", "now"])
def test_an_index_out_of_range_names_the_element(compile):
    def f(n):
        a = [0] * 3
        a[n] = 5
        return a[0]

    with pytest.raises(lw.ElementError, match=r"^map: element 3 uses an index that is out of"):
        lw.vectorize(f, compile=compile)(N)
    assert lw.vectorize(f, compile=compile)(N[:3]).tolist() == [5, 0, 0]
