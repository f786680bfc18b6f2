"""`scan`, `foldl`, `foldr` and `TensorArray`: in every way to run them."""

import itertools
import operator

import numpy as np
import pytest
from ways import WAYS, gives

import lanewise.compat.tf as tf

in_all_ways = pytest.mark.parametrize("way", WAYS)
SIZES = (1, 2, 7, 8, 9, 40)


def numbers(size, seed=0):
    return np.random.default_rng(seed).integers(-9, 10, size).astype(np.float32)


def says(error, words, function):
    with pytest.raises(error) as caught:
        function()
    assert words in str(caught.value)


# --- scans and folds ---


@in_all_ways
@pytest.mark.parametrize("size", SIZES)
def test_scan_gives_what_is_accumulated(way, size):
    x = numbers(size)
    assert gives(way, lambda x: tf.scan(operator.add, x), x) == list(itertools.accumulate(x))
    expected = list(itertools.accumulate(x, lambda a, b: a * 2 + b, initial=3))[1:]
    assert gives(way, lambda x: tf.scan(lambda a, b: a * 2 + b, x, 3.0), x) == expected


@in_all_ways
@pytest.mark.parametrize("size", SIZES)
def test_scan_may_begin_at_the_end(way, size):
    x = numbers(size)
    expected = list(itertools.accumulate(x[::-1], lambda a, b: a - b))[::-1]
    assert gives(way, lambda x: tf.scan(lambda a, b: a - b, x, reverse=True), x) == expected
    expected = list(itertools.accumulate(x[::-1], lambda a, b: a - b, initial=1))[:0:-1]
    assert gives(way, lambda x: tf.scan(lambda a, b: a - b, x, 1.0, reverse=True), x) == expected


@in_all_ways
@pytest.mark.parametrize("size", SIZES)
def test_folds_give_what_is_accumulated_at_last(way, size):
    x = numbers(size)
    for fold, row in ((tf.foldl, x), (tf.foldr, x[::-1])):
        expected = list(itertools.accumulate(row, lambda a, b: b - a))[-1]
        assert gives(way, lambda x, fold=fold: fold(lambda a, b: b - a, x), x) == expected
        expected = list(itertools.accumulate(row, lambda a, b: b - a, initial=5))[-1]
        assert gives(way, lambda x, fold=fold: fold(lambda a, b: b - a, x, 5.0), x) == expected


@in_all_ways
def test_a_scan_over_nested_rows(way):
    x = numbers((12, 3))
    y = numbers(12, 1)

    def f(x, y):
        def step(state, element):
            row, total = state
            return row * 0.5 + element["x"], total + element["y"]

        return tf.scan(step, {"x": x, "y": y}, (tf.zeros([3]), 0.0))

    row, total = np.zeros(3, np.float32), np.float32(0)
    rows, totals = [], []
    for a, b in zip(x, y, strict=True):
        row, total = row * np.float32(0.5) + a, total + b
        rows.append(row.tolist())
        totals.append(float(total))
    assert gives(way, f, x, y) == (rows, totals)


@in_all_ways
def test_branches_in_a_scan(way):
    x = numbers(20)

    def f(x):
        return tf.scan(lambda a, b: tf.cond(b > 0, lambda: a + b, lambda: 0.0 * a), x)

    expected = list(itertools.accumulate(x, lambda a, b: a + b if b > 0 else 0.0))
    assert gives(way, f, x) == expected


def test_python_branches_in_a_scan():
    def step(a, b):
        if b > 0:
            return a + b
        return -a

    x = numbers(20)
    expected = list(itertools.accumulate(x, lambda a, b: a + b if b > 0 else -a))
    assert tf.scan(step, tf.constant(x)).numpy().tolist() == expected
    assert tf.scan(tf.function(step), tf.constant(x)).numpy().tolist() == expected


def test_a_scan_reads_what_it_captures_anew():
    scale = 2.0
    v = tf.Variable(1.0)

    def step(a, b):
        return a * scale + b * v

    f = tf.function(lambda x: tf.scan(step, x))
    x = tf.constant([1.0, 2.0, 3.0])
    for scale, value in ((2.0, 1.0), (0.5, 1.0), (0.5, 3.0)):
        v.assign(value)
        second = scale + 2 * value
        expected = [1, second, second * scale + 3 * value]
        assert f(x).numpy().tolist() == expected
        assert tf.scan(step, x).numpy().tolist() == expected


def test_steps_that_assign_do_so_in_their_order():
    v = tf.Variable(0.0)

    def step(a, b):
        v.assign(v * 10 + b)
        return a + v

    x = tf.constant([0.0, 1.0, 2.0])
    assert tf.foldl(step, x).numpy() == 13
    assert v.numpy() == 12
    traced = tf.function(lambda x: tf.foldl(step, x))
    traced(x[:2])
    assert v.numpy() == 121


def test_no_elements_give_no_states():
    empty = tf.zeros([0, 2])
    assert tf.scan(lambda a, b: a + b, empty, tf.zeros([2])).shape == (0, 2)
    assert tf.foldl(lambda a, b: a + b, empty, tf.ones([2])).numpy().tolist() == [1, 1]
    says(
        ValueError,
        "scan: no elements; got a first size of 0, expected an initializer.",
        lambda: tf.scan(operator.add, tf.zeros([0])),
    )


def test_what_cannot_be_scanned():
    says(
        TypeError,
        "scan: fn is not a function; got int, expected a callable of what is accumulated and an",
        lambda: tf.scan(1, tf.zeros([2])),
    )
    says(
        ValueError,
        "foldl: elems are not tensors with a first axis; got a number, expected tensors of at "
        "least one dimension.",
        lambda: tf.foldl(operator.add, tf.constant(1.0)),
    )
    says(
        ValueError,
        "scan: tensors disagree on the first size; got 2, 3, expected one size.",
        lambda: tf.scan(lambda a, b: a, (tf.zeros([2]), tf.zeros([3])), 0.0),
    )
    says(
        TypeError,
        "scan: fn returns another type than it is given; got float64, expected int32. Give an "
        "initializer of that type.",
        lambda: tf.vectorized_map(
            lambda x: tf.scan(lambda a, b: a + b * 0.5, x, 0),
            tf.zeros([2, 3]),
            fallback_to_while_loop=False,
        ),
    )


# --- arrays of tensors ---


@in_all_ways
def test_an_array_of_tensors_is_written_read_and_stacked(way):
    def f(x):
        array = tf.TensorArray(tf.float32, size=3)
        array = array.write(0, x)
        array = array.write(2, x * 2)
        array = array.write(1, array.read(2) + 1)
        return array.stack(), array.read(1), array.gather([2, 0]), array.concat()

    x = np.float32([1, 2])
    rows = [x, x * 2 + 1, x * 2]
    expected = [np.stack(rows), rows[1], np.stack([rows[2], rows[0]]), np.concatenate(rows)]
    assert gives(way, f, x) == tuple(part.tolist() for part in expected)


@in_all_ways
@pytest.mark.parametrize("size", [3, 20])
def test_an_array_of_tensors_in_a_loop(way, size):
    def f(x):
        def step(i, value, array):
            return i + 1, value * 2, array.write(i, value)

        array = tf.TensorArray(tf.float32, size=size)
        return tf.while_loop(lambda i, *_: i < size, step, [0, x, array])[2].stack()

    assert gives(way, f, 3.0) == [3.0 * 2**i for i in range(size)]


@in_all_ways
def test_an_array_of_rows_that_a_loop_reads(way):
    def f(x):
        rows = tf.TensorArray(tf.float32, size=12).unstack(x)

        def step(i, total, out):
            row = rows.read(i)
            return i + 1, total + row, out.write(11 - i, total)

        first = [0, tf.zeros([2]), tf.TensorArray(tf.float32, size=12)]
        _, total, out = tf.while_loop(lambda i, *_: i < 12, step, first)
        return total, out.stack()

    x = numbers((12, 2))
    sums = np.concatenate([np.zeros((1, 2)), np.cumsum(x, 0)])
    assert gives(way, f, x) == (sums[-1].tolist(), sums[:-1][::-1].tolist())


def test_an_array_of_tensors_in_a_python_loop_over_a_tensor():
    @tf.function
    def f(x):
        array = tf.TensorArray(tf.float32, size=x.shape[0] or tf.shape(x)[0])
        total = 0.0
        for i in tf.range(tf.shape(x)[0]):
            total = total + x[i]
            array = array.write(i, total)
        return array.stack()

    x = numbers(30)
    np.testing.assert_array_equal(f(tf.constant(x)), np.cumsum(x))
    np.testing.assert_array_equal(f(tf.constant(x[:5])), np.cumsum(x[:5]))


def test_elements_of_a_map_write_where_they_choose():
    def f(n):
        array = tf.TensorArray(tf.int32, size=10)
        for i in range(10):
            array = array.write((i * n) % 10, i)
        return array.stack()

    n = np.array([1, 3, 7, 9], np.int32)
    expected = np.empty((4, 10), np.int32)
    for row, factor in zip(expected, n, strict=True):
        row[np.arange(10) * factor % 10] = np.arange(10)
    np.testing.assert_array_equal(tf.map_fn(f, tf.constant(n)), expected)


def test_an_array_of_tensors_grows():
    array = tf.TensorArray(tf.float32, size=0, dynamic_size=True)
    for i in range(3):
        array = array.write(i, float(i))
    assert array.size().numpy() == 3
    assert array.stack().numpy().tolist() == [0, 1, 2]
    array = array.write(5, 9.0)
    assert array.stack().numpy().tolist() == [0, 1, 2, 0, 0, 9]


def test_arrays_are_filled_from_tensors():
    x = tf.constant([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]])
    array = tf.TensorArray(tf.float32, size=3).scatter([2, 0, 1], x)
    assert array.stack().numpy().tolist() == [[3, 4], [5, 6], [1, 2]]
    parts = tf.TensorArray(tf.float32, size=2).split(x, [1, 2])
    assert parts.read(1).numpy().tolist() == [[3, 4], [5, 6]]
    assert parts.concat().numpy().tolist() == x.numpy().tolist()
    assert parts.dtype == tf.float32
    empty = tf.TensorArray(tf.float32, size=2, element_shape=[2])
    assert empty.stack().numpy().tolist() == [[0, 0], [0, 0]]
    assert empty.read(1).numpy().tolist() == [0, 0]


def test_what_an_array_of_tensors_cannot_do():
    array = tf.TensorArray(tf.float32, size=2)
    words = "no such place; got index 2, expected 0 to 1. With dynamic_size=True it grows."
    error = tf.errors.InvalidArgumentError
    says(error, f"TensorArray.write: {words}", lambda: array.write(2, 1.0))
    says(error, f"TensorArray.read: {words}", lambda: array.read(2))
    says(
        error,
        "TensorArray.read: nothing was written; got index 0, expected one that was.",
        lambda: array.read(0),
    )
    says(
        error,
        "TensorArray.stack: nothing was written; got no tensor, expected one, or element_shape.",
        array.stack,
    )
    says(
        ValueError,
        "TensorArray.write: another type; got int32, expected float32. Use tf.cast.",
        lambda: array.write(0, tf.constant(1)),
    )
    says(
        ValueError,
        "TensorArray: the size is an element; got a number that differs between elements, expected "
        "a plain one.",
        lambda: tf.vectorized_map(
            lambda n: tf.TensorArray(tf.int32, size=n).write(0, n).stack(),
            tf.constant([1, 2]),
            fallback_to_while_loop=False,
        ),
    )


@pytest.mark.parametrize("size", SIZES)
def test_python_and_programs_scan_alike(size, monkeypatch):
    x = tf.constant(np.random.default_rng(size).normal(size=(size, 3)).astype(np.float32))

    def f():
        return tf.scan(lambda a, b: tf.sin(a) * 0.5 + b, x, reverse=True)

    recorded = f().numpy()
    monkeypatch.setattr("lanewise.compat.tf.recording._is_fit", lambda array: False)
    np.testing.assert_array_equal(recorded, f())
