"""How functions are found, rewritten and called; the lines that programs name."""

import gc
import linecache
import weakref

import numpy as np
import pytest

import lanewise as lw

X = np.arange(-3.0, 4)


def test_a_function_without_branches_is_recorded_without_its_source():
    f = eval("lambda x: x * 2 + abs(x)")
    np.testing.assert_array_equal(lw.vectorize(f)(X), f(X))


def test_a_function_is_called_once_when_nothing_has_to_be_tried():
    calls = []

    def f(x):
        calls.append(x)
        if x > 0:
            return x
        return -x

    lw.vectorize(f)(X)
    assert len(calls) == 1


def test_several_lambdas_on_one_line():
    one, two, three = (lambda x: x if x > 0 else 1), (lambda x: x if x > 0 else 2), lambda x: 3 + x
    for f in (one, two, three):
        np.testing.assert_array_equal(lw.vectorize(f)(X), [f(x) for x in X])


def test_lambdas_over_several_lines_and_inside_each_other():
    f = lambda x: (  # noqa: E731
        (lambda y: y if y > 1 else 1)(x)
        if x > 0
        else (lambda y: -y if y < -1 else 0)(x)
    )  # fmt: skip
    np.testing.assert_array_equal(lw.vectorize(f)(X), [f(x) for x in X])


def test_decorators_do_not_run_again():
    runs = []

    def counting(function):
        runs.append(function)
        return function

    @counting
    @lw.vectorize
    def f(x):
        if x > 0:
            return x
        return 0.0

    f(X)
    f(X.astype(np.float32))
    assert len(runs) == 1


def test_defaults_keywords_and_closures():
    low = 1.0

    def clamp(x, *more, high=2.0, **options):
        if x < low:
            return low
        return min(x, high, *more, options.get("most", 100))

    f = lw.vectorize(lambda x: clamp(x) + clamp(x, 1.5, high=3.0) + clamp(x, most=1.25))
    expected = [clamp(x) + clamp(x, 1.5, high=3.0) + clamp(x, most=1.25) for x in X]
    np.testing.assert_array_equal(f(X), expected)


def test_closures_over_locals_that_change():
    def f(x):
        scale = 1.0

        def scaled(y):
            return y * scale if y > 0 else y

        total = scaled(x)
        scale = 10.0
        if x > 1:
            scale = 100.0
        return total + scaled(x)

    np.testing.assert_array_equal(lw.vectorize(f)(X), [f(x) for x in X])


def test_a_recursive_function_with_plain_depth():
    np.testing.assert_array_equal(lw.vectorize(lambda x: power(x, 6))(X), X**6)


def power(x, n):
    if n == 0:
        return 1.0
    return x * power(x, n - 1)


def test_functions_that_nothing_is_recorded_in_stay_what_they_are():
    kept = []

    def f(x):
        def inner(v, limit):
            n = 0
            for _ in range(3):
                if v > limit:
                    break
                if v < 0:
                    continue
                n += 1
                v += 1
            else:
                n += 100
            while n > 50:
                n -= 7
            return n if n else -1

        kept.append(inner)
        return inner(x, 2)

    np.testing.assert_array_equal(lw.vectorize(f)(X), [f(x) for x in X])
    assert [kept[0](v, 2) for v in (-1, 0, 5)] == [kept[-1](v, 2) for v in (-1, 0, 5)]


def test_try_does_not_catch_what_ends_a_branch():
    def f(x):
        try:
            if x > 0:
                return 1
        except:  # noqa: E722
            return 2
        try:
            n = 0
            while n < x + 3:
                n += 1
        except BaseException:
            return 3
        return n

    np.testing.assert_array_equal(lw.vectorize(f)(X), [f(x) for x in X])


def test_an_exception_that_is_caught_drops_its_branch():
    def fail(x):
        if x > 0:
            int("no number")
        return x

    def f(x):
        try:
            return fail(x)
        except ValueError:
            return x + 1

    vectorized = lw.vectorize(f)
    np.testing.assert_array_equal(vectorized(X), X + 1)
    assert "loop" not in vectorized.lower(X)


def test_programs_name_the_users_lines():
    def f(x):
        n = 0
        while x > 1:
            if x > 5:
                x = x / 3
            x = x / 2
            n += 1
        return n

    first = f.__code__.co_firstlineno
    text = lw.vectorize(f).lower(X)
    (loop,) = [line for line in text.splitlines() if "= loop" in line]
    assert loop.endswith(f"{__file__}:{first + 2}")
    for line in (3, 4, 5, 6):
        assert f"{__file__}:{first + line}\n" in text


def test_errors_of_the_function_have_its_lines():
    def f(x):
        if x > 0:
            x = x + 1
        return x.missing

    with pytest.raises(AttributeError) as error:
        lw.vectorize(f)(X)
    assert error.traceback[-1].lineno == f.__code__.co_firstlineno + 2


def test_a_function_of_a_notebook_cell():
    text = "def f(x):\n    if x > 0:\n        return x\n    return 0.0\n"
    linecache.cache["<cell 1>"] = (len(text), None, text.splitlines(keepends=True), "<cell 1>")
    names = {}
    exec(compile(text, "<cell 1>", "exec"), names)
    np.testing.assert_array_equal(lw.vectorize(names["f"])(X), np.maximum(X, 0))


def test_a_function_without_source_called_by_one_that_has():
    double = eval("lambda x: x * 2")

    def f(x):
        return double(x) if x > 0 else x

    np.testing.assert_array_equal(lw.vectorize(f)(X), [f(x) for x in X])


def test_rewritten_code_lives_as_long_as_the_function():
    def make():
        def f(x):
            return x if x > 0 else 0.0

        return f

    f = make()
    lw.vectorize(f)(X)
    cells = weakref.ref(f)
    del f
    gc.collect()
    assert cells() is None


def test_loops_that_become_plain_do_so_together():
    names = ("a", "b", "c", "d", "e", "f", "g", "h", "i", "j")
    weights = dict(zip(names, range(10), strict=True))

    def f(x):
        total = 0.0
        for i in range(10):
            for j in range(10):
                if x > i - j:
                    total += weights[names[i]] * weights[names[j]]
        return total

    np.testing.assert_array_equal(lw.vectorize(f)(X), [f(x) for x in X])


def test_a_long_range_is_one_loop_and_a_short_one_is_none():
    def f(x, most):
        for i in range(most):
            x = x * 0.5 + i
        return x

    long = lw.vectorize(lambda x: f(x, 9)).lower(X)
    short = lw.vectorize(lambda x: f(x, 8)).lower(X)
    assert long.count("= loop") == 1
    assert short.count("= loop") == 0


def test_and_without_effects_is_one_operation():
    text = lw.vectorize(lambda x: x > 1 and x < 3).lower(X)
    assert text.count("and bool") == 1
    assert "loop" not in text


def test_random_numbers_in_branches_are_the_elements_own():
    @lw.vectorize
    def f(x):
        if x > 0:
            return lw.random.uniform(2, 3)
        return lw.random.normal() * 0 - 1

    got = f(X)
    assert (got[X <= 0] == -1).all()
    drawn = got[X > 0]
    assert ((drawn >= 2) & (drawn < 3)).all()
    assert len(set(drawn.tolist())) == len(drawn)


def test_random_numbers_are_the_same_on_every_number_of_threads():
    def f(x):
        n = 0
        while lw.random.uniform() < 0.9:
            n += lw.random.integers(1, 4)
        return n + x

    x = np.zeros(100_000, np.int64)
    results = [lw.vectorize(f, threads=threads)(x) for threads in (1, 2)]
    np.testing.assert_array_equal(*results)
    assert 15 < results[0].mean() < 21


def test_random_numbers_of_types_there_are_not():
    with pytest.raises(TypeError, match=r"uniform: unsupported type; got int64, expected float32"):
        lw.vectorize(lambda x: x + lw.random.uniform(dtype=np.int64))(X)
    with pytest.raises(TypeError, match=r"integers: unsupported type; got float64, expected an"):
        lw.vectorize(lambda x: x + lw.random.integers(5, dtype=np.float64))(X)


def test_random_numbers_outside_of_a_vectorized_function():
    assert 0 <= lw.random.uniform() < 1
    assert 3 <= lw.random.integers(3, 5) < 5
    assert lw.random.exponential(2.0) > 0
    assert lw.random.normal(dtype=np.float32).dtype == np.float32


class Slow:
    def run(self, x):
        for i in range(50_000):
            x = x * 0.5 + i
        return x


def test_a_long_loop_behind_a_call_that_names_nothing_is_found_late():
    slow = Slow()
    f = lw.vectorize(lambda x: slow.run(x))
    assert f.lower(X).count("= loop") == 1


def test_a_long_loop_over_an_array_is_a_loop_of_the_program():
    def f(x):
        terms = np.zeros(200)
        terms[0] = 1.0
        for i in range(1, 200):
            terms[i] = terms[i - 1] * x / i
        total = 0.0
        for i in range(200):
            total += terms[i]
        return total

    vectorized = lw.vectorize(f)
    assert vectorized.lower(X).count("= loop") == 2
    np.testing.assert_array_equal(vectorized(X), [f(x) for x in X.tolist()])


def test_an_index_that_elements_carry_through_a_loop_is_no_plain_one():
    numbers = (3, 1, 4, 1, 5, 9, 2, 6)

    def f(n):
        k = n
        for i in range(5000):
            k = (numbers[k] + i) % 8
        return k

    n = np.arange(8)
    vectorized = lw.vectorize(f)
    assert vectorized.lower(n).count("= loop") == 1
    np.testing.assert_array_equal(vectorized(n), [f(int(k)) for k in n])


COUNT = 12
LETTERS = list("abcdefghijkl")
WEIGHTS = {letter: float(place) for place, letter in enumerate(LETTERS)}


def test_a_loop_over_a_captured_count_becomes_plain_where_it_must():
    def named(x):
        total = 0.0
        for i in range(COUNT):
            total += WEIGHTS[LETTERS[i]] * x
        return total

    def counted(x):
        for i in range(COUNT):
            x = x * 0.5 + i
        return x

    for f, loops in ((named, 0), (counted, 1)):
        vectorized = lw.vectorize(f)
        assert vectorized.lower(X).count("= loop") == loops
        np.testing.assert_array_equal(vectorized(X), [f(x) for x in X.tolist()])


def test_local_memory_of_a_captured_size():
    def f(x):
        terms = np.zeros(COUNT)
        others = [1.0] * COUNT
        for i in range(COUNT):
            terms[i] = x * i
            others[i] += x
        return terms[COUNT - 1] + sum(others) + len(others)

    np.testing.assert_array_equal(lw.vectorize(f)(X), [f(x) for x in X.tolist()])
