"""What a function takes from outside is never stale, and numbers need no new trace."""

import functools
import threading
import types
import weakref

import numpy as np
import pytest
from samples import assert_same

import lanewise as lw
from lanewise import flow

X = np.arange(6.0)
SCALE = 2.0
PRICES = np.array([10.0, 20.0, 30.0])


def test_five_hundred_closure_floats_need_one_trace():
    seen = []
    k = 0.0

    def f(x):
        seen.append(1)
        return x * k

    f = lw.vectorize(f)
    for i in range(500):
        k = i / 7
        assert_same(f(X), X * k)
    assert len(seen) == 1


def test_five_hundred_functions_of_one_lambda_need_one_trace():
    def make(k):
        return lambda x: x * k

    before = lw.cache_info()
    for i in range(500):
        assert_same(lw.vectorize(make(i / 7))(X), X * (i / 7))
        assert_same(lw.map(make(i / 9), X), X * (i / 9))
    after = lw.cache_info()
    assert after.hits + after.misses - before.hits - before.misses == 1


def test_five_hundred_batch_sizes_need_one_trace():
    seen = []
    f = lw.vectorize(lambda x: seen.append(1) or x * SCALE)
    for n in range(500):
        assert f(np.ones(n)).sum() == 2 * n
    assert len(seen) == 1


def test_globals_are_read_at_every_call(monkeypatch):
    f = lw.vectorize(lambda x: x * SCALE)
    assert_same(f(X), X * 2)
    assert_same(f(X), X * 2)
    monkeypatch.setitem(globals(), "SCALE", 5.5)
    assert_same(f(X), X * 5.5)
    monkeypatch.setitem(globals(), "SCALE", 7)  # another type
    assert_same(f(X), X * 7)
    monkeypatch.setitem(globals(), "SCALE", np.float32(0.5))
    x = np.arange(3, dtype=np.float32)
    assert_same(f(x), x * np.float32(0.5))


def test_captured_numbers_are_as_weak_as_in_numpy():
    whole, real = 3, 0.1
    x = np.arange(5, dtype=np.float32)
    assert_same(lw.vectorize(lambda x: x * real + whole)(x), x * real + whole)
    n = np.arange(5, dtype=np.int16)
    assert_same(lw.vectorize(lambda x: x * whole)(n), n * whole)
    strong = np.float64(0.1)
    assert_same(lw.vectorize(lambda x: x * strong)(x), x * strong)


def test_a_number_that_python_needs_is_a_guard():
    seen = []
    n = 2

    def power(x):
        seen.append(1)
        result = 1.0
        for _ in range(n):
            result = result * x
        return result

    f = lw.vectorize(power)
    assert_same(f(X), X * X)
    assert_same(f(X), X * X)
    n = 3
    assert_same(f(X), X * X * X)
    n = 2
    assert_same(f(X), X * X)
    assert len(seen) == 2


def test_a_captured_exponent_and_index_are_guards():
    exponent = 2
    table = (10.0, 20.0, 30.0)
    which = 1
    f = lw.vectorize(lambda x: x**exponent + table[which])
    assert_same(f(X), X * X + 20)
    exponent, which = 3, 2
    assert_same(f(X), X * X * X + 30)
    g = lw.vectorize(lambda x: x + len(f"{which:03d}") + {1: 5.0, 2: 6.0}[which])
    assert_same(g(X), X + 3 + 6)
    which = 1
    assert_same(g(X), X + 3 + 5)


def test_other_captures_are_looked_at_by_identity():
    name = "sin"
    f = lw.vectorize(lambda x: np.sin(x) if name == "sin" else np.cos(x))
    first = f(X)
    name = "cos"
    assert not np.array_equal(f(X), first)
    flag = True
    g = lw.vectorize(lambda x: x + (1 if flag else 2))
    assert_same(g(X), X + 1)
    flag = False
    assert_same(g(X), X + 2)


def test_what_lists_and_dicts_hold_is_a_guard():
    coefficients, options = [2.0, 1.0], {"shift": 1.0, "more": {"deep": [3.0]}}
    f = lw.vectorize(lambda x: x * coefficients[0] + options["shift"] + options["more"]["deep"][-1])
    for _ in range(3):
        assert_same(f(X), X * 2 + 1 + 3)
    coefficients[0] = 5.0
    assert_same(f(X), X * 5 + 1 + 3)
    options["shift"] = 4.0
    assert_same(f(X), X * 5 + 4 + 3)
    options["more"]["deep"].append(9.0)
    assert_same(f(X), X * 5 + 4 + 9)
    coefficients = [1.0, 1.0]
    assert_same(f(X), X + 4 + 9)


def test_equal_tuples_need_one_trace():
    def make(pair):
        return lambda x: x * pair[0] + pair[1][1]

    before = lw.cache_info()
    for text in ("3", "3.0", "3e0"):
        assert_same(lw.vectorize(make((2.0, ("a", float(text)))))(X), X * 2 + 3)
    after = lw.cache_info()
    assert after.hits + after.misses - before.hits - before.misses == 1


def test_attributes_of_objects_that_are_called_are_guards():
    class Scaled:
        def __init__(self, by):
            self.by = by

        def __call__(self, x):
            return x * self.by

    scaled = Scaled(2.0)
    f = lw.vectorize(lambda x: scaled(x) + 1)
    assert_same(f(X), X * 2 + 1)
    scaled.by = 3.0
    assert_same(f(X), X * 3 + 1)


def test_numbers_of_functions_that_are_called_are_followed():
    k = 2.0

    def times(x):
        return x * k

    def minus(x):
        return x - k

    inner = times

    def outer(x):
        return inner(x) + SCALE

    f = lw.vectorize(outer)
    assert_same(f(X), X * 2 + 2)
    k = 3.0
    assert_same(f(X), X * 3 + 2)

    inner = minus
    assert_same(f(X), X - 3 + 2)


def test_numbers_of_vectorized_functions_that_are_called_are_followed():
    k = 2.0
    inner = lw.vectorize(lambda x: x * k)
    f = lw.vectorize(lambda x: inner(x) + 1)
    assert_same(f(X), X * 2 + 1)
    k = 4.0
    assert_same(f(X), X * 4 + 1)
    assert_same(inner(X), X * 4)


def test_attributes_of_modules_and_objects_are_guards():
    module = types.ModuleType("settings_of_a_user")
    module.scale = 2.0
    thing = types.SimpleNamespace(shift=1.0)
    f = lw.vectorize(lambda x: x * module.scale + thing.shift)
    assert_same(f(X), X * 2 + 1)
    module.scale = 3.0
    assert_same(f(X), X * 3 + 1)
    thing.shift = 7.0
    assert_same(f(X), X * 3 + 7)
    thing = types.SimpleNamespace(shift=0.5)
    assert_same(f(X), X * 3 + 0.5)


def test_attributes_of_the_object_of_a_method_are_guards():
    class Line:
        def __init__(self, slope):
            self.slope = slope

        def at(self, x):
            return x * self.slope

    line = Line(2.0)
    f = lw.vectorize(line.at)
    assert_same(f(X), X * 2)
    line.slope = 5.0
    assert_same(f(X), X * 5)


def test_methods_are_vectorized_where_they_are_defined():
    seen = []

    class Line:
        def __init__(self, slope):
            self.slope = slope

        @lw.vectorize
        def at(self, x, shift=1.0):
            seen.append(1)
            return x * self.slope + shift

        @lw.vectorize(excluded=["table"])
        def look(self, i, table):
            return table[i] * self.slope

        @staticmethod
        @lw.vectorize
        def double(x):
            return x * 2

    a, b = Line(2.0), Line(3.0)
    for _ in range(3):
        assert_same(a.at(X), X * 2 + 1)
        assert_same(b.at(X, shift=0.0), X * 3)
        assert_same(Line.at(a, X), X * 2 + 1)
    assert len(seen) == 2
    a.slope = 5.0
    assert_same(a.at(X), X * 5 + 1)
    assert_same(a.look(np.array([1, 0]), np.array([1.0, 2.0])), np.array([10.0, 5.0]))
    assert_same(Line.double(X), X * 2)
    assert_same(a.double(X), X * 2)
    assert Line.at.on(2, a, X) == 11
    assert "mul" in Line.at.lower(a, X)
    inside = lw.vectorize(lambda x: a.at(x) + 1)
    assert_same(inside(X), X * 5 + 2)
    a.slope = 6.0
    assert_same(inside(X), X * 6 + 2)


def test_a_method_that_gives_its_object_away_is_recorded_for_each():
    def scaled(line, x):
        return x * line.slope

    class Line:
        def __init__(self, slope):
            self.slope = slope

        @lw.vectorize
        def at(self, x):
            return scaled(self, x)

    a, b = Line(2.0), Line(3.0)
    for _ in range(2):
        assert_same(a.at(X), X * 2)
        assert_same(b.at(X), X * 3)


def test_attributes_that_are_read_further_in_are_guards():
    class Line:
        def __init__(self, slope):
            self.parts = types.SimpleNamespace(slope=slope, shift=types.SimpleNamespace(by=1.0))

        @property
        def slope(self):
            return self.parts.slope

        def at(self, x):
            return self._raw(x) + self.parts.shift.by

        def _raw(self, x):
            return x * self.slope

    line = Line(2.0)
    f = lw.vectorize(lambda x: line.at(x))
    assert_same(f(X), X * 2 + 1)
    line.parts.slope = 3.0
    assert_same(f(X), X * 3 + 1)
    line.parts.shift.by = 4.0
    assert_same(f(X), X * 3 + 4)
    line.parts = types.SimpleNamespace(slope=1.0, shift=line.parts.shift)
    assert_same(f(X), X + 4)


def test_partial_functions_are_recorded():
    def scaled(by, x):
        return x * by * SCALE

    assert_same(lw.vectorize(functools.partial(scaled, 3.0))(X), X * 6)


def test_captured_arrays_are_read_by_index():
    i = np.array([2, 0, 1, -1])
    f = lw.vectorize(lambda i: PRICES[i] * 2)
    assert_same(f(i), PRICES[i] * 2)
    constant = lw.vectorize(lambda x: x + PRICES[1] + PRICES[-1])
    assert_same(constant(X), X + 20 + 30)


def test_captured_arrays_are_never_stale():
    seen = []
    table = np.array([1.0, 2.0])
    i = np.array([1, 0])

    def look(i):
        seen.append(1)
        return table[i]

    f = lw.vectorize(look)
    assert_same(f(i), np.array([2.0, 1.0]))
    table[0] = 5
    assert_same(f(i), np.array([2.0, 5.0]))
    table = np.arange(100.0)[::-1]  # another size, other strides
    assert_same(f(i), np.array([98.0, 99.0]))
    assert len(seen) == 1
    table = np.arange(5)  # another type
    assert_same(f(i), i)
    assert len(seen) == 2


def test_captured_arrays_of_more_dimensions():
    matrix = np.arange(12.0).reshape(3, 4)
    i, j = np.array([0, 2, 1, -1]), np.array([3, 0, -2, 1])
    f = lw.vectorize(lambda i, j: matrix[i, j] + matrix[i][j] + matrix[1, j])
    assert_same(f(i, j), matrix[i, j] * 2 + matrix[1, j])
    matrix = np.arange(35.0).reshape(5, 7)
    assert_same(f(i, j), matrix[i, j] * 2 + matrix[1, j])
    cube = np.arange(24).reshape(2, 3, 4)
    g = lw.vectorize(lambda i, j: cube[1, i, j] + cube[-1][i][j])
    assert_same(g(i, j), cube[1, i, j] * 2)


@pytest.mark.parametrize("index", [(3, 0), (0, 4), (-4, 0), (2, -5)])
def test_an_index_out_of_any_dimension_is_a_failure_of_the_element(index):
    matrix = np.arange(12.0).reshape(3, 4)
    f = lw.vectorize(lambda i, j: matrix[i, j])
    with pytest.raises(lw.ElementError, match=r"element 1 uses an index that is out of range"):
        f(np.array([0, index[0]]), np.array([0, index[1]]))


def test_the_size_of_a_captured_array_is_recorded_or_a_guard():
    seen = []
    weights = np.array([1.0, 2.0])

    def polynomial(x):
        seen.append(1)
        result = 0.0
        for w in weights:
            result = result * x + w
        return result + len(weights)

    f = lw.vectorize(polynomial)
    assert_same(f(X), X + 2 + 2)
    weights = np.array([3.0, 1.0])
    assert_same(f(X), X * 3 + 1 + 2)
    assert len(seen) == 1
    weights = np.array([3.0, 1.0, 4.0])
    assert_same(f(X), (X * 3 + 1) * X + 4 + 3)
    assert len(seen) == 2
    last = lw.vectorize(lambda i: weights[weights.size - 1 - i])
    assert_same(last(np.array([0, 1])), np.array([4.0, 1.0]))
    assert lw.vectorize(lambda x: x + weights.shape[0])(X)[0] == 3


def test_a_name_that_is_bound_later_is_found():
    def f(x):
        return x + later

    g = lw.vectorize(f)
    with pytest.raises(NameError, match="later"):
        g(X)
    later = 1.5
    assert_same(g(X), X + 1.5)


def test_captures_keep_nothing_alive(is_collected):
    class Thing:
        value = 1.0

    def make():
        thing = Thing()
        thing.value = 2.0
        f = lw.vectorize(lambda x: x * thing.value)
        assert_same(f(X), X * 2)
        return weakref.ref(thing)

    assert is_collected(make())


def test_a_change_of_what_is_captured_is_lost_with_the_recording():
    n = 3

    def f(x):
        nonlocal n
        n = 4
        return x

    g = lw.vectorize(f)
    assert_same(g(X), X)
    assert n == 3


def test_a_captured_element_count_is_not_confused_between_closures():
    def make(n):
        def f(x):
            for _ in range(n):
                x = x + 1
            return x

        return lw.vectorize(f)

    a, b = make(2), make(5)
    assert_same(a(X), X + 2)
    assert_same(b(X), X + 5)
    assert_same(a(X), X + 2)
    assert_same(make(2)(X), X + 2)


def test_captures_may_change_on_another_thread_while_a_map_runs():
    table = np.arange(100_000.0)
    index = np.arange(100_000)
    f = lw.vectorize(lambda i: table[i], compile="now")
    f(index)
    stop = threading.Event()

    def change():
        nonlocal table
        while not stop.is_set():
            table = np.arange(100_000.0)

    thread = threading.Thread(target=change)
    thread.start()
    try:
        for _ in range(50):
            assert (f(index) == index).all()
    finally:
        stop.set()
        thread.join()


def test_whole_arrays_and_slices():
    added = lw.vectorize(lambda x: x + PRICES)(X)
    np.testing.assert_array_equal(added, np.add.outer(X, PRICES))
    summed = lw.vectorize(lambda x: np.sum(PRICES) + x + PRICES.max())(X)
    np.testing.assert_allclose(summed, X + PRICES.sum() + PRICES.max(), rtol=1e-15)
    some = lw.vectorize(lambda x: PRICES[:2] * x)(X)
    np.testing.assert_array_equal(some, np.multiply.outer(X, PRICES[:2]))


def test_uses_of_tables_that_are_refused():
    with pytest.raises(TypeError, match=r"table: an index is not a whole number; got float64"):
        lw.vectorize(lambda x: PRICES[x])(X)
    with pytest.raises(AttributeError, match=r"tensor: tobytes is not recorded; got an attribute"):
        lw.vectorize(lambda x: PRICES.tobytes() + x)(X)
    with pytest.raises(lw.UsageError, match=r"table: too many indices; got 2, expected at most 1"):
        lw.vectorize(lambda x: PRICES[0, 0] + x)(X)

    def assigns(x):
        PRICES[0] = x
        return x

    with pytest.raises(TypeError, match=r"table: cannot be written; got an assignment"):
        lw.vectorize(assigns)(X)


def test_sizes_that_are_computed_from_captured_integers_are_guards():
    rows = np.arange(12.0).reshape(2, 6)
    n = 2
    part = lw.vectorize(lambda r: r[1 : 1 + n], signature="(a)->(b)")
    twice = lw.vectorize(lambda r: np.zeros(2 * n - 1) + r[n - 1], signature="(a)->(b)")
    for n in (2, 3, 2):
        np.testing.assert_array_equal(part(rows), rows[:, 1 : 1 + n])
        np.testing.assert_array_equal(twice(rows), np.repeat(rows[:, n - 1, None], 2 * n - 1, 1))


def test_how_often_and_how_wide_may_be_captured():
    x = np.arange(4.0)
    n = 2
    repeated = lw.vectorize(lambda v: np.repeat(v, n).sum())
    padded = lw.vectorize(lambda r: np.pad(r, (n, 1)), signature="(a)->(b)")
    for n in (2, 5):
        np.testing.assert_array_equal(repeated(x), n * x)
        np.testing.assert_array_equal(padded(x), np.pad(x, (n, 1)))


def test_sums_of_captured_integers_that_nobody_asks_for_are_recorded():
    seen = []
    n = 1

    def scaled(x):
        seen.append(1)
        return x * (n + 1)

    f = lw.vectorize(scaled)
    for n in range(1, 20):
        assert_same(f(X), X * (n + 1))
    assert len(seen) == 1


class Wrapping:
    """A function as another library would wrap it."""

    def __init__(self, function):
        self.__wrapped__ = function

    def __call__(self, *args):
        return self.call_inside(self.__wrapped__, args, {})

    def call_inside(self, function, args, kwargs):
        return flow.call(function, *args, **kwargs)


def test_what_a_wrapped_function_captures_is_never_stale():
    seen = []
    k = 1.0

    def scaled(x):
        seen.append(1)
        return x * k

    wrapped = Wrapping(scaled)
    f, g = lw.vectorize(lambda x: wrapped(x) + 1), lw.vectorize(wrapped)
    for k in (1.0, 2.5, -3.0):
        assert_same(f(X), X * k + 1)
        assert_same(g(X), X * k)
    assert len(seen) == 2


def test_a_wrapped_function_is_rewritten_where_it_branches():
    wrapped = Wrapping(lambda x: x if x > 2 else -x)

    def f(x):
        return wrapped(x) if x > 0 else wrapped(x - 1)

    assert_same(lw.vectorize(f)(X - 1), np.array([2.0, 1.0, -1.0, -2.0, 3.0, 4.0]))
