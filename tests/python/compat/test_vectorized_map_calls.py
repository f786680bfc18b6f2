"""What a call of ``tf.vectorized_map`` promises: sizes, sharing, draws, prints and state."""

import collections
import warnings

import numpy as np
import pytest
from modes import MODES, TIERS, listed, run, tier

import lanewise.compat.tf as tf
from lanewise.compat.tf.maps import PerElementWarning

in_all_modes = pytest.mark.parametrize("mode", MODES)


# --- sizes ---


@pytest.mark.parametrize("size", [0, 1, 2, 7, 16_385, 70_001])
@pytest.mark.parametrize("compiled", TIERS)
@in_all_modes
def test_any_number_of_elements(mode, compiled, size):
    x = np.linspace(-3, 3, size, dtype=np.float32)
    with tier(compiled):
        result = run(mode, lambda t: tf.vectorized_map(lambda e: tf.sin(e) * 2 + e, t), x)
    np.testing.assert_array_equal(np.asarray(result), (tf.sin(x) * 2 + x).numpy())


@in_all_modes
def test_no_elements_have_the_shape_of_the_results(mode):
    none = np.zeros((0, 4), np.float32)
    result = run(
        mode,
        lambda t: tf.vectorized_map(lambda x: (x[0], tf.zeros([10, 3]), tf.shape(x)), t),
        none,
    )
    assert [np.shape(part) for part in result] == [(0,), (0, 10, 3), (0, 1)]


@in_all_modes
def test_what_has_one_element_is_shared_by_all(mode):
    result = run(
        mode,
        lambda a, b: tf.vectorized_map(lambda e: e[0] + e[1], (a, b)),
        np.float32([[1, 2]]),
        np.float32([[10, 20], [30, 40], [50, 60]]),
    )
    assert listed(result) == [[11, 22], [31, 42], [51, 62]]


def test_other_sizes_are_refused():
    with pytest.raises(ValueError, match="vectorized_map: tensors disagree on the first size; got"):
        tf.vectorized_map(lambda e: e[0] + e[1], (tf.zeros([2]), tf.zeros([3])))


@in_all_modes
def test_a_result_that_does_not_depend_on_the_element_is_there_for_each(mode):
    result = run(mode, lambda t: tf.vectorized_map(lambda e: tf.constant([1, 2]), t), np.arange(3))
    assert listed(result) == [[1, 2]] * 3


def test_outer_products_of_all_examples():
    def outer(x):
        return tf.tensordot(x, x, 0)

    examples = np.random.default_rng(1).normal(size=(20, 4, 5)).astype(np.float32)
    result = tf.vectorized_map(outer, tf.constant(examples))
    assert result.shape == (20, 4, 5, 4, 5)
    expected = np.stack([np.tensordot(one, one, 0) for one in examples])
    np.testing.assert_array_equal(result.numpy(), expected)


# --- kinds of results ---

Pair = collections.namedtuple("Pair", ["left", "right"])


@in_all_modes
def test_structures_and_types_of_results_need_not_be_declared(mode):
    result = run(
        mode,
        lambda t: tf.vectorized_map(
            lambda x: {"pair": Pair(x > 2, tf.cast(x, tf.float64)), "all": [x, (x * 2,)]}, t
        ),
        np.arange(4, dtype=np.int32),
    )
    assert isinstance(result["pair"], Pair)
    assert [np.asarray(part).dtype.name for part in result["pair"]] == ["bool", "float64"]
    assert listed(result["all"]) == [[0, 1, 2, 3], ([0, 2, 4, 6],)]


@in_all_modes
def test_sparse_results_are_put_together(mode):
    def diagonal(i):
        return tf.SparseTensor([[i, i]], [tf.cast(i, tf.float32) + 1], [3, 3])

    def mapped(t):
        return tf.vectorized_map(diagonal, t, warn=False)

    result = run(mode, mapped, np.arange(3, dtype=np.int64))
    dense = tf.sparse.to_dense(tf.SparseTensor(result.indices, result.values, result.dense_shape))
    expected = np.zeros((3, 3, 3), np.float32)
    expected[range(3), range(3), range(3)] = [1, 2, 3]
    np.testing.assert_array_equal(dense.numpy(), expected)


# --- functions that cannot be recorded ---


def parity(x):
    return ["even", "odd"][int(x) % 2] == "odd"


def test_a_function_that_cannot_be_recorded_is_an_error_on_request():
    numbers = tf.constant([1, 2, 3])
    with pytest.warns(PerElementWarning, match="vectorized_map: runs one element after the other"):
        assert listed(tf.vectorized_map(parity, numbers)) == [True, False, True]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert listed(tf.vectorized_map(parity, numbers, warn=False)) == [True, False, True]
    with pytest.raises((TypeError, ValueError)):
        tf.vectorized_map(parity, numbers, fallback_to_while_loop=False)


def test_the_function_is_called_to_be_recorded_and_not_for_each_element():
    calls = []

    def counted(x):
        calls.append(x)
        return x * 3 + 1

    for size in (10, 1000, 17):
        result = tf.vectorized_map(counted, tf.range(size))
        assert listed(result) == [3 * i + 1 for i in range(size)]
    assert len(calls) <= 3


def test_functions_may_be_told_to_run_eagerly():
    tf.config.run_functions_eagerly(True)
    try:
        result = tf.vectorized_map(lambda x: x * 2, tf.constant([1, 2]))
        assert tf.config.functions_run_eagerly()
    finally:
        tf.config.run_functions_eagerly(False)
    assert listed(result) == [2, 4]


# --- draws ---

DRAWS = {
    "uniform": lambda i: tf.random.uniform([3]),
    "whole numbers": lambda i: tf.random.uniform([3], 0, 1000, tf.int32),
    "normal": lambda i: tf.random.normal([3], mean=tf.cast(i, tf.float32)),
    "truncated normal": lambda i: tf.random.truncated_normal([3]),
    "gamma": lambda i: tf.random.gamma([3], 2.0),
    "poisson": lambda i: tf.random.poisson([3], 4.0),
    "categorical": lambda i: tf.random.categorical([[0.0, 1.0, 0.5]], 3)[0],
}


@pytest.mark.parametrize("name", DRAWS)
@in_all_modes
def test_elements_draw_numbers_of_their_own(mode, name):
    def mapped(t):
        tf.random.set_seed(7)
        return tf.vectorized_map(DRAWS[name], t, warn=False)

    numbers = np.arange(40, dtype=np.int32)
    first = np.asarray(run(mode, mapped, numbers))
    assert first.shape == (40, 3)
    assert len(np.unique(first, axis=0)) > 10
    np.testing.assert_array_equal(first, np.asarray(run(mode, mapped, numbers)))


STATELESS = {
    "uniform": lambda seed: tf.random.stateless_uniform([2, 3], seed),
    "whole numbers": lambda seed: tf.random.stateless_uniform([4], seed, 0, 9, tf.int32),
    "normal": lambda seed: tf.random.stateless_normal([5], seed),
    "truncated normal": lambda seed: tf.random.stateless_truncated_normal([5], seed),
}


@pytest.mark.parametrize("name", STATELESS)
@pytest.mark.parametrize("own", [False, True], ids=["one seed", "own seeds"])
@in_all_modes
def test_draws_by_a_seed_are_those_of_a_loop(mode, name, own):
    def draw(i):
        return STATELESS[name](tf.stack([i, 5]) if own else [3, 4])

    numbers = np.arange(4, dtype=np.int32)
    result = run(mode, lambda t: tf.vectorized_map(draw, t, warn=False), numbers)
    expected = np.stack([draw(tf.constant(i)).numpy() for i in numbers])
    np.testing.assert_array_equal(np.asarray(result), expected)


# --- prints, checks and state ---


@in_all_modes
def test_each_element_prints_in_its_order(mode, capfd):
    def printing(x):
        tf.print("x is", x)
        return x * 2

    result = run(mode, lambda t: tf.vectorized_map(printing, t), np.arange(1, 4, dtype=np.int32))
    assert listed(result) == [2, 4, 6]
    told = capfd.readouterr()
    lines = (told.out + told.err).splitlines()
    assert lines == ["x is 1", "x is 2", "x is 3"]


@in_all_modes
def test_a_check_that_does_not_hold_names_the_element(mode):
    def checked(x):
        tf.debugging.assert_less(x, 3, message="too large")
        return x

    passing = run(mode, lambda t: tf.vectorized_map(checked, t), np.arange(3, dtype=np.int32))
    assert listed(passing) == [0, 1, 2]
    with pytest.raises(tf.errors.InvalidArgumentError, match=r"element 3 [\s\S]*too large"):
        run(mode, lambda t: tf.vectorized_map(checked, t), np.arange(5, dtype=np.int32))


@in_all_modes
def test_what_elements_add_to_a_variable_is_the_sum_of_all(mode):
    total = tf.Variable(0)

    def adding(x):
        total.assign_add(x)
        return x

    run(mode, lambda t: tf.vectorized_map(adding, t), np.arange(1000, dtype=np.int32))
    assert total.numpy() == 499_500


@in_all_modes
def test_a_variable_is_read_anew_at_every_call(mode):
    scale = tf.Variable(2.0)

    def scaled(t):
        return tf.vectorized_map(lambda x: x * scale, t)

    numbers = np.float32([1, 2])
    assert listed(run(mode, scaled, numbers)) == [2.0, 4.0]
    scale.assign(5.0)
    assert listed(run(mode, scaled, numbers)) == [5.0, 10.0]


@in_all_modes
def test_a_variable_that_the_function_makes_is_of_the_element(mode):
    def running(x):
        total = tf.Variable(0.0)
        for i in range(3):
            total.assign_add(x[i])
        return total.read_value()

    result = run(mode, lambda t: tf.vectorized_map(running, t), np.float32([[1, 2, 3], [4, 5, 6]]))
    assert listed(result) == [6.0, 15.0]


def test_assigning_to_a_variable_from_outside_is_refused_with_the_reason():
    last = tf.Variable(0)

    def assigning(x):
        last.assign(x)
        return x

    with pytest.raises(ValueError, match="elements of a map have no order among them"):
        tf.vectorized_map(assigning, tf.range(3), fallback_to_while_loop=False)


# --- loops over ranges ---


@in_all_modes
def test_a_loop_over_a_range_is_a_loop_however_long(mode):
    def total(x):
        for i in tf.range(100_000):
            x += i % 2
        return x

    result = run(mode, lambda t: tf.vectorized_map(total, t), np.arange(3, dtype=np.int32))
    assert listed(result) == [50_000, 50_001, 50_002]


def test_a_range_that_was_changed_is_looped_over_as_it_is():
    def total(x):
        numbers = tf.range(20)
        numbers[3] = 1000
        for i in numbers:
            x += i
        return x

    assert listed(tf.map_fn(total, tf.constant([0, 1]))) == [1187, 1188]
