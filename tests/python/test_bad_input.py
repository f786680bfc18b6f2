"""More that a user can do wrong with a call or a function, and the words that say so."""

import sys

import numpy as np
import pytest

import lanewise as lw
from lanewise.convert import reason

X = np.arange(4.0)
N = np.arange(4)


def message(function, *arguments, kind=lw.UsageError, **options):
    """Return what is said of a function, after the file and line of its second line."""
    with pytest.raises(kind) as error:
        lw.vectorize(function, **options)(*(arguments or (X,)))
    where, _, text = str(error.value).partition(": ")
    assert where == f"{__file__}:{function.__code__.co_firstlineno + 1}"
    return text


def test_a_step_of_zero():
    def f(n):
        return [i for i in range(0, n, 0)]  # noqa: C416

    assert message(f, N) == "range: the step is 0; got 0, expected another number."


def test_plain_indices_out_of_range():
    def items(n):
        a = [1, 2, 3]
        a[n % 3] = 2
        return a[5]

    def array(n):
        a = np.zeros(3)
        a[n % 3] = 2
        return a[-4]

    for function, index in ((items, 5), (array, -4)):
        with pytest.raises(IndexError) as error:
            lw.vectorize(function)(N)
        assert str(error.value) == (
            f"{__file__}:{function.__code__.co_firstlineno + 3}: index: out of range; got {index}, "
            "expected -3 to 2."
        )


class Holder:
    table = np.arange(4.0)


def test_an_array_that_is_not_captured_by_name():
    holder = Holder()

    def f(n):
        return holder.table[n] if n > 0 else 0.0

    assert message(f, N) == (
        "index: an element as index into an array that was neither captured by name nor made in "
        "the function; got an array of shape (4,), expected one of those. Give it a name outside "
        "of the function, or pass it as an excluded argument."
    )


def test_the_size_of_a_table_that_is_an_argument():
    def f(n, table):
        return table[n] + len(table)

    assert message(f, N, X, kind=TypeError, excluded=["table"]) == (
        "table: the size of an argument is not known while its function is recorded; got a use as "
        "a Python integer, expected table.size. Capture the array instead, or pass the size."
    )


def test_methods_of_a_whole_table():
    def f(n):
        return n + X.mean()

    assert message(f, N, kind=AttributeError) == (
        "table: mean of an array from outside is not recorded; got a use of the whole array, "
        "expected its values by index, its size, shape or dtype. Compute it outside of the "
        "function, and capture that."
    )


captured = 1.0


def test_a_captured_number_that_becomes_something_else_while_it_is_recorded():
    def f(x):
        sys.modules[__name__].captured = "text"
        return x + captured

    try:
        with pytest.raises(lw.UsageError) as error:
            lw.vectorize(f)(X)
    finally:
        sys.modules[__name__].captured = 1.0
    assert str(error.value) == (
        "f: what the function captures changed while it was recorded; got other values than at the "
        "beginning, expected the same. Return such values instead."
    )


def test_options_that_there_are_not():
    with pytest.raises(AttributeError, match=r"^config has no option 'speed'$"):
        lw.config.speed  # noqa: B018
    with pytest.raises(AttributeError, match=r"^module 'lanewise' has no attribute 'speed'$"):
        lw.speed  # noqa: B018


# --- generators ---


def yielding(x):
    yield x


async def waiting(x):
    return x


async def both(x):
    yield x


@pytest.mark.parametrize("function", [yielding, waiting, both], ids=lambda f: f.__name__)
def test_functions_that_are_left_and_entered_again(function):
    with pytest.raises(lw.UsageTypeError) as error:
        lw.vectorize(function)(X)
    assert str(error.value) == (
        f"{__file__}:{function.__code__.co_firstlineno}: {function.__name__}: is a generator; got "
        "yield or await in an element function, expected return. Return a tuple."
    )


def test_a_generator_as_result():
    f = lw.vectorize(lambda x: (v for v in (x, x)))
    with pytest.raises(lw.UsageTypeError) as error:
        f(X)
    assert str(error.value).endswith(
        "lambda: the function does not return elements; got generator, expected an element, a "
        "number or a tuple of them. Make it a tuple: tuple(...)."
    )


def test_a_generator_that_a_function_uses_up_itself_does_no_harm():
    def parts(x):
        yield x
        yield x * 2

    np.testing.assert_array_equal(lw.vectorize(lambda x: sum(parts(x)))(X), X * 3)


# --- sources that are not what they were ---


def test_a_source_that_has_changed(tmp_path, monkeypatch):
    file = tmp_path / "changing_source.py"
    file.write_text("def f(x):\n    return x if x > 0 else -x\n")
    monkeypatch.syspath_prepend(str(tmp_path))
    module = __import__("changing_source")
    file.write_text("# nothing\n# here\n# any more\n")
    with pytest.raises(lw.UsageTypeError) as error:
        lw.vectorize(module.f)(X)
    assert f"could not be rewritten: {file} does not have it at line 1. Put it into" in str(
        error.value
    )
    assert "does not have it at line" in reason(module.f.__code__)


# --- trees ---


def test_arguments_that_are_nested_in_another_way_than_the_function_reads_them():
    def f(p):
        return p["x"] + p["y"]

    with pytest.raises(KeyError, match="y"):
        lw.vectorize(f)({"x": X})
    with pytest.raises(
        lw.UsageError,
        match=r"got \(4,\) \(argument 0\['x'\]\), \(3,\) \(argument 0\['y'\]\), expected",
    ):
        lw.vectorize(f)({"x": X, "y": X[:3]})
