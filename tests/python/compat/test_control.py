"""Branches and loops that are written as calls: in every way to run them."""

import collections

import numpy as np
import pytest
from ways import WAYS, gives

import lanewise as lw
import lanewise.compat.tf as tf

in_all_ways = pytest.mark.parametrize("way", WAYS)


def says(error, words, function):
    with pytest.raises(error) as caught:
        function()
    assert words in str(caught.value)


# --- branches ---


@in_all_ways
@pytest.mark.parametrize(("x", "expected"), [(3.0, 6.0), (-3.0, 2.0)])
def test_a_condition_chooses_one_of_two_functions(way, x, expected):
    assert gives(way, lambda x: tf.cond(x > 0, lambda: x * 2, lambda: x + 5), x) == expected


@in_all_ways
def test_branches_may_give_nested_tensors(way):
    def f(x):
        return tf.cond(tf.reduce_sum(x) > 0, lambda: {"a": (x, x * 2)}, lambda: {"a": (-x, x)})

    assert gives(way, f, [1.0, 2.0]) == {"a": ([1.0, 2.0], [2.0, 4.0])}
    assert gives(way, f, [1.0, -2.0]) == {"a": ([-1.0, 2.0], [1.0, -2.0])}


@in_all_ways
def test_conditions_in_conditions(way):
    def f(x):
        return tf.cond(
            x > 0,
            lambda: tf.cond(x > 10, lambda: 1, lambda: 2),
            lambda: tf.cond(x < -10, lambda: 3, lambda: 4),
        )

    assert [gives(way, f, x) for x in (20, 5, -20, -5)] == [1, 2, 3, 4]


def test_elements_of_a_map_take_their_own_branch_and_nobody_the_other():
    x = tf.constant([4, -1, 2, -2, 2])
    result = tf.map_fn(lambda v: tf.cond(v > 0, lambda: 100 // v, lambda: v), x)
    assert result.numpy().tolist() == [25, -1, 50, -2, 50]
    nobody = tf.map_fn(lambda v: tf.cond(v > 100, lambda: v // 0, lambda: v), x)
    assert nobody.numpy().tolist() == [4, -1, 2, -2, 2]


def test_only_the_branch_that_is_taken_does_something():
    v = tf.Variable(0.0)

    def f(x):
        return tf.cond(x > 0, lambda: v.assign_add(x), lambda: v.assign_sub(100.0))

    f(tf.constant(2.0))
    assert v.numpy() == 2
    traced = tf.function(f)
    traced(tf.constant(3.0))
    traced(tf.constant(4.0))
    assert v.numpy() == 9
    traced(tf.constant(-1.0))
    assert v.numpy() == -91


def test_reading_a_variable_in_a_branch():
    v = tf.Variable(2.0)
    f = tf.function(lambda x: tf.cond(x > 0, lambda: x * v, lambda: x))
    assert f(tf.constant(3.0)).numpy() == 6
    v.assign(5.0)
    assert f(tf.constant(3.0)).numpy() == 15
    assert tf.map_fn(f, tf.constant([1.0, -1.0])).numpy().tolist() == [5, -1]


def test_what_a_condition_cannot_be():
    says(
        TypeError,
        "cond: true_fn is not a function; got int, expected a callable without arguments.",
        lambda: tf.cond(True, 1, lambda: 2),
    )
    says(
        ValueError,
        "cond: the condition is not one number; got the shape (2,), expected (). Use tf.where, or "
        "tf.reduce_all.",
        lambda: tf.cond(tf.constant([True, False]), lambda: 1, lambda: 2),
    )
    x = tf.compat.v1.placeholder(tf.float32, [])
    says(
        TypeError,
        "cond: branches give different things; got float32 and int32, expected the same types, "
        "nested alike.",
        lambda: tf.cond(x > 0, lambda: x, lambda: 1),
    )
    says(
        TypeError,
        "cond: branches give different things; got ('float32', 'float32') and float32, expected",
        lambda: tf.cond(x > 0, lambda: (x, x), lambda: x),
    )


@in_all_ways
def test_the_first_condition_that_holds_counts(way):
    def f(x):
        pairs = [(x < 2, lambda: x * 10), (x < 5, lambda: x * 100)]
        return tf.case(pairs, default=lambda: -x)

    assert [gives(way, f, x) for x in (1, 3, 7)] == [10, 300, -7]


@in_all_ways
def test_without_a_default_one_condition_has_to_hold(way):
    def f(x):
        return tf.case([(x < 2, lambda: x), (x > 5, lambda: -x)])

    assert [gives(way, f, x) for x in (1, 7)] == [1, -7]
    with pytest.raises(tf.errors.InvalidArgumentError, match="case: no condition holds"):
        gives(way, f, 3)


@in_all_ways
def test_exclusive_conditions_exclude_each_other(way):
    def f(x):
        return tf.case([(x < 2, lambda: x), (x < 5, lambda: -x)], lambda: x, exclusive=True)

    assert gives(way, f, 3) == -3
    with pytest.raises(tf.errors.InvalidArgumentError, match="more than one condition holds"):
        gives(way, f, 1)


@in_all_ways
def test_a_number_chooses_a_function(way):
    def f(i):
        return tf.switch_case(i, [lambda: i * 10, lambda: i * 100, lambda: i * 1000])

    def g(i):
        return tf.switch_case(i, {3: lambda: 30, 1: lambda: 10}, default=lambda: -1)

    assert [gives(way, f, i) for i in (0, 1, 2, 5, -1)] == [0, 100, 2000, 5000, -1000]
    assert [gives(way, g, i) for i in (1, 2, 3)] == [10, -1, 30]


def test_what_cannot_be_chosen_from():
    says(
        ValueError,
        "case: no pairs; got an empty list, expected (condition, function).",
        lambda: tf.case([]),
    )
    says(
        ValueError,
        "switch_case: no branches; got an empty list, expected functions.",
        lambda: tf.switch_case(0, []),
    )


# --- loops ---


def halvings(x):
    return tf.while_loop(lambda v, n: v > 1, lambda v, n: (v / 2, n + 1), (x, 0))


@in_all_ways
def test_a_loop_ends_when_its_condition_does_not_hold(way):
    assert gives(way, halvings, 10.0) == (0.625, 4)
    assert gives(way, halvings, 0.5) == (0.5, 0)


def test_elements_of_a_map_leave_a_loop_by_themselves():
    counts = tf.constant([4, 0, 2])
    result = tf.map_fn(
        lambda n: tf.while_loop(lambda i, t: i < n, lambda i, t: (i + 1, t + i), [0, 0])[1], counts
    )
    assert result.numpy().tolist() == [6, 0, 1]


@in_all_ways
def test_a_loop_over_nested_tensors(way):
    Pair = collections.namedtuple("Pair", ["first", "second"])

    def f(x):
        def body(i, state):
            row, pair = state["row"], state["pair"]
            return i + 1, {"row": row * 2, "pair": Pair(pair.second, pair.first + row[0])}

        first = {"row": x, "pair": Pair(0.0, 1.0)}
        state = tf.while_loop(lambda i, state: i < 3, body, [0, first])[1]
        return state["row"], state["pair"].first, state["pair"].second

    def plain(row):
        a, b = 0.0, 1.0
        for _ in range(3):
            a, b, row = b, a + row[0], [v * 2 for v in row]
        return row, a, b

    assert gives(way, f, [1.0, 2.0]) == plain([1.0, 2.0])


@in_all_ways
def test_a_loop_gives_what_it_was_given_in(way):
    def f(x):
        single = tf.while_loop(lambda v: v < 10, lambda v: v * 2, [x])
        assert type(single) is list
        both = tf.while_loop(lambda v, w: v < 10, lambda v, w: [v * 2, w], (x, x))
        assert type(both) is tuple
        one = tf.compat.v1.while_loop(lambda v: v < 10, lambda v: v * 2, [x])
        return single[0], both[0], one

    assert gives(way, f, 3.0) == (12.0, 12.0, 12.0)


@in_all_ways
def test_a_loop_of_at_most_so_many_steps(way):
    def f(x):
        return tf.while_loop(lambda v: v > 0, lambda v: v + 1, [x], maximum_iterations=7)[0]

    assert gives(way, f, 1.0) == 8.0
    assert gives(way, f, -1.0) == -1.0


@in_all_ways
def test_conditions_in_loops_and_loops_in_conditions(way):
    def while_in_cond(x):
        def double():
            return tf.while_loop(lambda v: v < 100, lambda v: v * 2, [x])[0]

        return tf.cond(x > 0, double, lambda: x)

    def cond_in_while(x):
        def step(i, v):
            return i + 1, tf.cond(v > 5, lambda: v - 5, lambda: v + 3)

        return tf.while_loop(lambda i, v: i < 6, step, [0, x])[1]

    def while_in_while(n):
        def outer(i, total):
            inner = tf.while_loop(lambda j, t: j < i, lambda j, t: (j + 1, t + j), [0, total])
            return i + 1, inner[1]

        return tf.while_loop(lambda i, total: i < n, outer, [0, 0])[1]

    def stepped(v):
        for _ in range(6):
            v = v - 5 if v > 5 else v + 3
        return v

    assert [gives(way, while_in_cond, x) for x in (3, -1)] == [192, -1]
    assert [gives(way, cond_in_while, x) for x in (4, 0)] == [stepped(4), stepped(0)]
    assert [gives(way, while_in_while, n) for n in (4, 0, 6)] == [4, 0, 20]


def test_a_loop_reads_variables_where_it_runs():
    v = tf.Variable(2.0)

    def f(x):
        return tf.while_loop(lambda y: y < 50, lambda y: y * v, [x])[0]

    traced = tf.function(f)
    for value in (2.0, 3.0):
        v.assign(value)
        expected = 3.0
        while expected < 50:
            expected *= value
        assert f(tf.constant(3.0)).numpy() == expected
        assert traced(tf.constant(3.0)).numpy() == expected
        assert tf.map_fn(f, tf.constant([3.0])).numpy().tolist() == [expected]


def test_a_loop_that_assigns_does_so_in_every_step():
    v = tf.Variable(1.0)

    def body(i):
        v.assign(v * 2)
        return i + 1

    def f(n):
        return tf.while_loop(lambda i: i < n, body, [0])[0]

    f(tf.constant(3))
    assert v.numpy() == 8
    traced = tf.function(f)
    traced(tf.constant(2))
    traced(tf.constant(1))
    assert v.numpy() == 64


def test_a_loop_is_recorded_once_for_functions_of_the_same_code():
    def power(base, n):
        def body(i, total):
            return i + 1, total * base

        return tf.while_loop(lambda i, total: i < n, body, [0, 1.0])[1].numpy()

    before = lw.cache_info()
    assert [power(2.0, 3), power(3.0, 4), power(0.5, 2)] == [8, 81, 0.25]
    after = lw.cache_info()
    assert after.hits + after.misses - before.hits - before.misses == 1


def test_shapes_that_change_from_step_to_step():
    def f(n):
        return tf.while_loop(
            lambda i, row: i < n,
            lambda i, row: (i + 1, tf.concat([row, row[-1:] * 2], 0)),
            [tf.constant(0), tf.constant([1.0])],
            shape_invariants=[tf.TensorShape([]), tf.TensorShape([None])],
        )[1]

    assert f(3).numpy().tolist() == [1, 2, 4, 8]
    assert tf.function(f)(tf.constant(3)).numpy().tolist() == [1, 2, 4, 8]
    with tf.Graph().as_default(), tf.compat.v1.Session() as session:
        n = tf.compat.v1.placeholder(tf.int32, [])
        row = f(n)
        assert row.shape.as_list() == [None]
        assert session.run(row, {n: 2}).tolist() == [1, 2, 4]


def test_what_a_loop_cannot_be():
    says(
        TypeError,
        "while_loop: body is not a function; got int, expected a callable",
        lambda: tf.while_loop(lambda i: i < 3, 3, [0]),
    )
    says(
        ValueError,
        "while_loop: no variables; got an empty list, expected loop_vars.",
        lambda: tf.while_loop(lambda: True, lambda: (), []),
    )
    says(
        ValueError,
        "while_loop: body does not return all variables; got 1, expected 2, as in loop_vars.",
        lambda: tf.while_loop(lambda i, j: i < 3, lambda i, j: [i + 1], [0, 0]),
    )


@pytest.mark.parametrize("size", [1, 2, 7, 8, 9, 40])
def test_python_and_programs_run_loops_alike(size, monkeypatch):
    x = np.random.default_rng(size).normal(size=size).astype(np.float32)

    def f():
        return tf.while_loop(
            lambda i, t, row: i < size,
            lambda i, t, row: (i + 1, t + row[i], row * 0.5),
            [0, 0.0, tf.constant(x)],
        )

    recorded = [part.numpy() for part in f()]
    monkeypatch.setattr("lanewise.compat.tf.recording._is_fit", lambda array: False)
    for ours, expected in zip(recorded, f(), strict=True):
        np.testing.assert_array_equal(ours, expected.numpy())
