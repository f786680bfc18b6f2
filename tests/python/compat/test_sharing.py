"""Tensors keep their numbers, whatever is assigned to others; graphs read variables as they are."""

import numpy as np
import pytest

import lanewise.compat.tf as tf

WAYS = {
    "identity": tf.identity,
    "reshape": lambda x: tf.reshape(x, [-1]),
    "transpose": tf.transpose,
    "part": lambda x: x[:2],
    "parts": lambda x: next(iter(tf.expand_dims(x, 0))),
    "convert": tf.convert_to_tensor,
    "stack": lambda x: tf.stack([x])[0],
    "unstack": lambda x: tf.unstack(tf.expand_dims(x, 0))[0],
    "split": lambda x: tf.split(x, 1)[0],
    "array": np.asarray,
    "numpy": lambda x: x.numpy(),
}


@pytest.mark.parametrize("way", WAYS)
def test_an_assignment_to_items_changes_no_other_tensor(way):
    if way == "convert":
        pytest.skip("is the same tensor")
    x = tf.zeros([2])
    x[0] = 1.0
    other = WAYS[way](x)
    x[0] = 5.0
    np.testing.assert_array_equal(other, [1, 0])
    np.testing.assert_array_equal(x, [5, 0])


@pytest.mark.parametrize("way", WAYS)
def test_an_assignment_to_a_variable_changes_no_tensor(way):
    v = tf.Variable([1.0, 2.0])
    other = WAYS[way](v)
    v.assign([7.0, 8.0])
    np.testing.assert_array_equal(other, [1, 2])


@pytest.mark.parametrize("way", [way for way in WAYS if way not in ("array", "numpy", "parts")])
def test_a_function_reads_variables_when_it_runs(way):
    v = tf.Variable([1.0, 2.0])
    call = tf.function(lambda: WAYS[way](v) + 0.0)
    np.testing.assert_array_equal(call(), [1, 2])
    v.assign([7.0, 8.0])
    np.testing.assert_array_equal(call(), [7, 8])


def test_maps_in_a_function_read_variables_when_it_runs():
    v, x = tf.Variable([1.0, 2.0]), tf.constant([1.0, 1.0])
    over = tf.function(lambda: tf.map_fn(lambda r: r * 2, v))
    inside = tf.function(lambda: tf.map_fn(lambda r: r * v[1], x))
    np.testing.assert_array_equal(over(), [2, 4])
    np.testing.assert_array_equal(inside(), [2, 2])
    v.assign([3.0, 4.0])
    np.testing.assert_array_equal(over(), [6, 8])
    np.testing.assert_array_equal(inside(), [4, 4])


def test_a_function_reads_a_variable_before_and_after_it_is_assigned_to():
    v = tf.Variable([1.0, 2.0])

    def step():
        before = tf.reduce_sum(v)
        v.assign_add([1.0, 1.0])
        return before, tf.reduce_sum(v)

    call = tf.function(step)
    assert [one.numpy() for one in call()] == [3, 5]
    assert [one.numpy() for one in call()] == [5, 7]
