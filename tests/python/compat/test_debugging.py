"""Checks: what holds goes on, what does not says so, in every way to run them."""

import numpy as np
import pytest

import lanewise as lw
import lanewise.compat.tf as tf

ERROR = tf.errors.InvalidArgumentError
CHECKS = {
    "assert_equal": (lambda x: tf.debugging.assert_equal(x, x * 1), [1.0], None),
    "assert_equal_0": (lambda x: tf.debugging.assert_equal(x, 0.0), [0.0], [0.0, 2.0]),
    "assert_none_equal": (lambda x: tf.debugging.assert_none_equal(x, 1.0), [0.0], [1.0]),
    "assert_less": (lambda x: tf.debugging.assert_less(x, 3.0), [2.0], [1.0, 3.0]),
    "assert_less_equal": (lambda x: tf.debugging.assert_less_equal(x, 3.0), [3.0], [4.0]),
    "assert_greater": (lambda x: tf.debugging.assert_greater(x, 3.0), [4.0], [3.0]),
    "assert_greater_equal": (lambda x: tf.debugging.assert_greater_equal(x, 3.0), [3.0], [2.0]),
    "assert_near": (lambda x: tf.debugging.assert_near(x, 1.0), [1.0000001], [1.1]),
    "assert_near_wide": (lambda x: tf.debugging.assert_near(x, 1.0, atol=0.2), [1.1], [1.3]),
    "assert_positive": (tf.debugging.assert_positive, [1.0], [0.0]),
    "assert_negative": (tf.debugging.assert_negative, [-1.0], [0.0]),
    "assert_non_negative": (tf.debugging.assert_non_negative, [0.0], [-1.0]),
    "assert_non_positive": (tf.debugging.assert_non_positive, [0.0], [1.0]),
    "assert_all_finite": (lambda x: tf.debugging.assert_all_finite(x, "why"), [1.0], [np.inf]),
    "check_numerics": (lambda x: tf.debugging.check_numerics(x, "why"), [1.0], [np.nan]),
    "Assert": (lambda x: tf.Assert(tf.reduce_all(x > 0), [x]), [1.0], [0.0]),
}
FAILING = {name: case for name, case in CHECKS.items() if case[2] is not None}


def in_body(check):
    def body(x):
        check(x)
        return x + 1

    return body


def checked(name):
    """Return a function that uses what a check gives, where it gives something."""
    check = CHECKS[name][0]
    if name in ("check_numerics", "assert_all_finite"):
        return lambda x: check(x) + 1
    return in_body(check)


@pytest.mark.parametrize("name", CHECKS)
def test_what_holds_goes_on(name):
    check, good, _ = CHECKS[name]
    check(tf.constant(good))
    rows = np.array([good, good], np.float32)
    np.testing.assert_array_equal(tf.map_fn(in_body(check), rows), rows + 1)
    np.testing.assert_array_equal(tf.function(checked(name))(tf.constant(good)), rows[0] + 1)


@pytest.mark.parametrize("name", FAILING)
def test_what_does_not_hold_is_an_error(name):
    check, _, bad = FAILING[name]
    call = name.removesuffix("_0").removesuffix("_wide").replace("assert_all_finite", "check_nu")
    with pytest.raises(ERROR, match=call):
        check(tf.constant(bad))
    with pytest.raises(ERROR, match=call):
        tf.function(checked(name))(tf.constant(bad))


@pytest.mark.parametrize("name", FAILING)
def test_an_element_for_which_it_does_not_hold_is_named(name):
    check, good, bad = FAILING[name]
    rows = np.array([good * len(bad), good * len(bad), bad], np.float32)
    with pytest.raises(ERROR) as caught:
        tf.map_fn(in_body(check), rows)
    assert isinstance(caught.value, lw.ElementError)
    assert caught.value.element == 2


def test_errors_say_what_was_there_and_what_was_expected():
    with pytest.raises(ERROR) as caught:
        tf.debugging.assert_less([[1, 5], [7, 2]], 6, message="too much")
    assert str(caught.value) == "assert_less: too much; got 7 and 6 at [1, 0], expected x < y."
    with pytest.raises(ERROR) as caught:
        tf.debugging.assert_positive(-1)
    assert str(caught.value) == "assert_positive: it does not hold; got -1, expected x > 0."
    with pytest.raises(ERROR) as caught:
        tf.debugging.check_numerics([np.nan, np.inf], "my loss")
    assert str(caught.value) == (
        "check_numerics: my loss; got Inf and NaN values, expected finite numbers."
    )
    with pytest.raises(ERROR) as caught:
        tf.Assert(False, ["x is", tf.constant([1, 2])])
    assert str(caught.value) == "Assert: it does not hold; got x is [1 2], expected True."
    with pytest.raises(ERROR, match="too small"):
        tf.map_fn(lambda x: [tf.debugging.assert_positive(x, "too small"), x][1], np.zeros(2))


X = tf.zeros([2, 3])
STATIC = {
    "assert_rank": (lambda n: tf.debugging.assert_rank(X, n), 2, 3, "got 2 dimensions, expected 3"),
    "assert_rank_at_least": (lambda n: tf.debugging.assert_rank_at_least(X, n), 1, 3, "expected 3"),
    "assert_rank_in": (lambda n: tf.debugging.assert_rank_in(X, n), [1, 2], [3], "one of"),
    "assert_scalar": (tf.debugging.assert_scalar, 1.0, X, r"got the shape \(2, 3\), expected \(\)"),
    "assert_type": (
        lambda t: tf.debugging.assert_type(X, t),
        tf.float32,
        tf.int32,
        "got float32, expected int32",
    ),
    "assert_integer": (tf.debugging.assert_integer, 1, 1.5, "got float32, expected integers"),
    "assert_shapes": (
        lambda s: tf.debugging.assert_shapes([(X, ("N", s)), (tf.zeros([2]), ("N",))]),
        3,
        "N",
        r"got \(2, 3\), expected \('N', 'N'\) with {'N': 2}",
    ),
    "assert_proper_iterable": (
        tf.debugging.assert_proper_iterable,
        [1],
        X,
        "expected a list or the like",
    ),
    "assert_same_float_dtype": (
        lambda x: tf.debugging.assert_same_float_dtype([X, x]),
        X,
        tf.zeros([1], tf.float64),
        "got float32, float64, expected one type",
    ),
}


@pytest.mark.parametrize("name", STATIC)
def test_shapes_and_types_are_known_at_once(name):
    check, good, bad, words = STATIC[name]
    check(good)
    with pytest.raises((ValueError, TypeError), match=words):
        check(bad)


def test_shapes_are_known_inside_of_maps_and_graphs():
    def body(x):
        tf.debugging.assert_rank(x, 1)
        tf.debugging.assert_type(x, tf.float32)
        return x

    assert tf.map_fn(body, X).shape == (2, 3)
    assert tf.function(body)(X[0]).shape == (3,)


def test_all_maps_can_be_checked():
    tf.debugging.enable_check_numerics()
    try:
        with pytest.raises(ERROR):
            tf.map_fn(lambda x: tf.math.log(x), np.array([1.0, -1.0]))
    finally:
        tf.debugging.disable_check_numerics()
    assert np.isnan(tf.map_fn(lambda x: tf.math.log(x), np.array([1.0, -1.0]))[1])


def test_errors_are_made_as_in_tensorflow():
    error = tf.errors.InvalidArgumentError(None, None, "no good")
    assert error.message == str(error) == "no good"
    assert isinstance(error, tf.errors.OpError)
    assert tf.errors.NotFoundError(node_def=None, op=None, message="gone").message == "gone"
    for kind in (lw.ElementError, lw.UsageError):
        assert issubclass(kind, tf.errors.InvalidArgumentError)
    assert issubclass(tf.errors.ResourceExhaustedError, MemoryError)
    assert issubclass(tf.errors.DeadlineExceededError, TimeoutError)
    with pytest.raises(tf.errors.InvalidArgumentError, match="reshape"):
        tf.reshape([1, 2, 3], [2, 2])


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: tf.concat([], 0), "concat: nothing to put together"),
        (lambda: tf.split([1, 2, 3], [1, 1]), r"sizes do not add up; got \[1, 1\], expected 3"),
        (lambda: tf.unstack([1, 2], num=3), "another number; got 3, expected 2"),
        (lambda: tf.pad([1], [[1, 1]], "EDGE"), "no such mode; got 'EDGE'"),
        (lambda: tf.slice([1, 2], [1], [3]), "got 1 to 4 along axis 0, expected 0 to 2"),
        (lambda: tf.ensure_shape([1, 2], [3]), r"got \(2,\), expected \(3,\)"),
        (lambda: tf.where([True], 1), "one of two"),
        (lambda: tf.sort([1], direction="UP"), "no such direction; got 'UP'"),
        (lambda: tf.gather([1, 2], [5]), "gather"),
        (lambda: tf.bitcast([1], tf.float64), "expected a last size of 2"),
        (lambda: tf.math.top_k([1, 2], 3), "got k=3, expected 0 to 2"),
        (lambda: tf.math.segment_sum([1, 2], [1, 0]), "ids are not sorted"),
        (lambda: tf.math.unsorted_segment_sum([1], [4], 2), "expected less than 2"),
        (lambda: tf.math.bincount([[1], [2]], axis=1), "got 1, expected None, 0 or -1"),
        (lambda: tf.math.reduce_std([1, 2]), "got int32, expected floats"),
    ],
)
def test_calls_that_cannot_be_done_say_why(call, words):
    with pytest.raises(tf.errors.InvalidArgumentError, match=words):
        call()


@pytest.mark.parametrize(
    ("body", "words"),
    [
        (lambda x: tf.where(x > 0), "how many results there are depends on values"),
        (lambda x: tf.boolean_mask(x, x > 0), "how many results there are depends on values"),
        (lambda x: tf.unique(x), "unique: how many results"),
        (lambda x: tf.sequence_mask(x), "sequence_mask without maxlen"),
        (lambda x: tf.math.segment_sum(x, x), "Use tf.math.unsorted_segment_sum"),
        (lambda x: tf.math.bincount(x), "no number of bins"),
        (lambda x: tf.math.confusion_matrix(x, x), "no num_classes"),
        (lambda x: tf.bitcast(x, tf.uint64), "bitcast: only of whole tensors"),
        (lambda x: tf.numpy_function(abs, [x], tf.int64), "calls Python with values"),
        (lambda x: tf.py_function(abs, [x], tf.int64), "calls Python with values"),
    ],
)
def test_what_maps_cannot_do_is_said(body, words):
    with pytest.raises(ValueError, match=words):
        tf.vectorized_map(body, np.array([[1, 2], [3, 4]]), fallback_to_while_loop=False)
