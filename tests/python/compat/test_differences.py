"""What was found by calling TensorFlow and this module with the same arguments, claim by claim."""

import numpy as np
import pytest

import lanewise.compat.tf as tf

INF = float("inf")
LOWEST = -(2**31)
EMPTY = np.zeros((0, 3), np.float32)
COMPLEX = np.array([1 + 2j, -2 - 1j], np.complex64)
F, I = np.float32, np.int32  # noqa: E741


def floats(*numbers):
    return np.array(numbers, np.float32)


def ints(*numbers):
    return np.array(numbers, np.int32)


VALUES = [
    ("floordiv divides, then rounds", lambda: tf.math.floordiv(F(1), F(0.1)), F(10)),
    ("floordiv by 0 is infinite", lambda: tf.constant([1.0, -1.0]) // 0.0, floats(INF, -INF)),
    ("truncatediv of the lowest", lambda: tf.truncatediv(LOWEST, ints(3)), ints(-715827882)),
    ("truncatemod keeps integers", lambda: tf.truncatemod(ints(-7, 7), 3), ints(-1, 1)),
    ("numbers of Python are float32 together", lambda: tf.math.mod(7.5, 2), F(1.5)),
    ("a range to a float is float32", lambda: tf.range(3.0), floats(0, 1, 2)),
    ("stacked numbers are float32", lambda: tf.stack([1, 2.5]), floats(1, 2.5)),
    ("beside a tensor, too", lambda: tf.convert_to_tensor([tf.constant(1.5), 2]), floats(1.5, 2)),
    ("a hint of a type", lambda: tf.convert_to_tensor(3, dtype_hint=tf.float32), F(3)),
    ("a hint that does not fit", lambda: tf.convert_to_tensor(3.5, dtype_hint="int32"), F(3.5)),
    ("a shape is a tensor", lambda: tf.convert_to_tensor(tf.TensorShape([2, 3])), ints(2, 3)),
    ("a range of Python is a tensor", lambda: tf.constant(range(3)), ints(0, 1, 2)),
    ("complex numbers of Python", lambda: tf.constant(1 + 2j), np.complex128(1 + 2j)),
    ("they take the type they meet", lambda: tf.constant(COMPLEX) * 2j, COMPLEX * np.complex64(2j)),
    ("squared_difference of complex", lambda: tf.math.squared_difference(COMPLEX, 0), [5, 5]),
    ("rsqrt of complex", lambda: tf.math.rsqrt(np.complex64([4])), np.complex64([0.5])),
    ("sigmoid of complex", lambda: tf.sigmoid(np.complex64([0])), np.complex64([0.5])),
    ("angles of real ones", lambda: tf.math.angle(floats(-1, -0.0, 2)), floats(np.pi, 0, 0)),
    ("xlogy keeps the sign of 0", lambda: 1 / tf.math.xlogy(F(-0.0), F(2)), F(-INF)),
    ("divide_no_nan of bytes", lambda: tf.math.divide_no_nan(np.uint8([6]), np.uint8([4])), [1.5]),
    ("the lower bound wins", lambda: tf.clip_by_value([1.0], 2.0, -1.0), floats(2)),
    ("leaky_relu of integers", lambda: tf.nn.leaky_relu(ints(-10, 3)), floats(-2, 3)),
    ("the largest of none", lambda: tf.reduce_max(EMPTY, 0), floats(-INF, -INF, -INF)),
    ("the smallest of no integers", lambda: tf.reduce_min(np.zeros(0, I)), I(2**31 - 1)),
    ("logsumexp of none", lambda: tf.reduce_logsumexp(EMPTY[:, 0]), F(-INF)),
    ("logsumexp of a number", lambda: tf.reduce_logsumexp(1000.0), F(1000)),
    ("softmax of none", lambda: tf.nn.softmax(EMPTY), EMPTY),
    ("log_softmax of none", lambda: tf.nn.log_softmax(EMPTY), EMPTY),
    ("cumsum of none", lambda: tf.cumsum(EMPTY, exclusive=True), EMPTY),
    (
        "cumulative_logsumexp of far numbers",
        lambda: tf.math.cumulative_logsumexp([-1000.0, 0.0, 1000.0]),
        floats(-1000, 0, 1000),
    ),
    ("segment_mean truncates", lambda: tf.math.segment_mean([-3, 0], [0, 0]), ints(-1)),
    (
        "unsorted_segment_mean of integers",
        lambda: tf.math.unsorted_segment_mean([-3, 0], [0, 0], 1),
        np.float64([-1.5]),
    ),
    (
        "counts by rows",
        lambda: tf.math.bincount([[1, 2], [0, 0]], axis=-1),
        np.array([[0, 1, 1], [2, 0, 0]], np.int32),
    ),
    ("norms of complex numbers are complex", lambda: tf.norm(COMPLEX), np.complex64(10**0.5)),
    (
        "the shortest of many solutions",
        lambda: tf.linalg.lstsq([[1.0, 1.0]], [[2.0]]),
        floats(1, 1)[:, None],
    ),
    (
        "max_pool of rows",
        lambda: tf.nn.max_pool(tf.ones([2, 8, 3]), 2, 2, "VALID"),
        np.ones((2, 4, 3), np.float32),
    ),
    (
        "a negative batch_dims is the axis, too",
        lambda: tf.gather([[1, 2, 3], [4, 5, 6]], [[0], [2]], batch_dims=-1),
        ints(1, 6)[:, None],
    ),
    ("bits of a smaller type", lambda: tf.bitcast(ints(1), tf.int16), np.int16([[1, 0]])),
    ("bits of a larger type", lambda: tf.bitcast(np.int16([[1, 0]]), tf.int32), ints(1)),
    ("saturate_cast to a wider type", lambda: tf.saturate_cast(np.int8([-5]), "uint64"), [0]),
    (
        "saturate_cast to float16",
        lambda: tf.saturate_cast(floats(1e30), tf.float16),
        np.float16([65504]),
    ),
    ("zeros of texts", lambda: tf.zeros([2], tf.string), np.array([b"", b""], object)),
    ("an item of texts", lambda: tf.constant(["a", "b"])[1], np.array(b"b", object)),
    ("texts are compared", lambda: tf.constant(["a", "b"]) == "a", np.array([True, False])),
    ("what is known already", lambda: tf.constant(tf.get_static_value(3)), I(3)),
    ("variables are compared by value", lambda: tf.Variable([2.0, 3.0]) == 2.0, [True, False]),
]


@pytest.mark.parametrize(
    ("call", "expected"), [case[1:] for case in VALUES], ids=[c[0] for c in VALUES]
)
def test_a_call_gives_the_numbers_of_tensorflow(call, expected):
    result = np.asarray(call())
    if isinstance(expected, list):
        assert np.allclose(result, expected)
        return
    assert result.dtype == expected.dtype
    assert result.shape == expected.shape
    if result.dtype == object:
        assert result.tolist() == expected.tolist()
    else:
        np.testing.assert_allclose(result, expected, rtol=1e-6)


MAPPED = [
    ("truncatemod", lambda n: tf.truncatemod(n, 3), ints(-7, LOWEST), ints(-1, -2)),
    ("floordiv", lambda x: tf.math.floordiv(x, 0.1), floats(1, -7), floats(10, -70)),
    ("angle", tf.math.angle, floats(1, -7), floats(0, np.pi)),
    ("saturate_cast", lambda x: tf.saturate_cast(x, tf.int8), floats(-500, 7), np.int8([-128, 7])),
    ("numbers of Python", lambda x: x + tf.multiply(2, 0.5), floats(1, 7), floats(2, 8)),
    ("size", lambda x: tf.size(x, tf.int64), floats(1, 7), np.int64([1, 1])),
    ("own variables", lambda x: tf.Variable(2.0) == x, floats(2, 7), np.array([True, False])),
]


@pytest.mark.parametrize("case", MAPPED, ids=[case[0] for case in MAPPED])
def test_a_call_gives_the_same_in_a_map(case):
    _, call, elems, expected = case
    result = tf.map_fn(call, elems).numpy()
    assert result.dtype == expected.dtype
    np.testing.assert_allclose(result, expected, rtol=1e-6)


def test_a_gamma_distribution_that_is_none_gives_nan():
    drawn = tf.random.gamma([2], [-1.0, 2.0]).numpy()
    assert np.isnan(drawn).tolist() == [[True, False], [True, False]]


def test_a_range_to_a_tensor_is_a_part_of_a_graph():
    ranges = tf.function(lambda n: tf.range(n))
    assert ranges(tf.constant(3)).numpy().tolist() == [0, 1, 2]
    assert ranges(tf.constant(2)).numpy().tolist() == [0, 1]


def test_a_text_of_a_tensor_is_a_tensor_in_a_graph():
    first = tf.function(lambda texts: texts[0])(tf.constant(["a", "b"]))
    assert first.numpy() == b"a"


ERRORS = [
    (tf.errors.InvalidArgumentError, lambda: tf.constant([1, 2])[5], "item: index 5 is out"),
    (TypeError, lambda: tf.constant([1, 2])[1.0], "item: only integers"),
    (TypeError, lambda: tf.constant([1, 2])["a"], "expected an index inside of it"),
    (tf.errors.InvalidArgumentError, lambda: tf.gather([1, 2], [0.5]), "gather: "),
    (tf.errors.InvalidArgumentError, lambda: tf.argmax(EMPTY[:, 0]), "argmax: attempt"),
    (tf.errors.InvalidArgumentError, lambda: tf.cumsum([1.0], 3), "cumsum: no such axis; got 3"),
    (tf.errors.InvalidArgumentError, lambda: tf.zeros([-1]), "shape: a size below 0"),
    (tf.errors.InvalidArgumentError, lambda: tf.fill([2], [1, 2]), "fill: not one number"),
    (tf.errors.InvalidArgumentError, lambda: tf.range(1, 5, 0), "range: no bounds"),
    (
        tf.errors.InvalidArgumentError,
        lambda: tf.tile([[1]], [2]),
        "tile: not one for each axis; got 1",
    ),
    (
        tf.errors.InvalidArgumentError,
        lambda: tf.pad([[1]], [[1, 1]]),
        "pad: not one for each axis; got 1",
    ),
    (
        tf.errors.InvalidArgumentError,
        lambda: tf.pad([1, 2], [[2, 0]], "REFLECT"),
        "pad: more than there is; got .* expected at most .1.",
    ),
    (
        tf.errors.InvalidArgumentError,
        lambda: tf.slice([[1]], [0], [1]),
        "slice: not one for each axis; got 1",
    ),
    (
        tf.errors.InvalidArgumentError,
        lambda: tf.split([1, 2], [1, 1], num=3),
        "split: another number; got num=3",
    ),
    (
        tf.errors.InvalidArgumentError,
        lambda: tf.gather([[1], [2]], [[0]], batch_dims=1),
        "gather: other batches",
    ),
    (
        tf.errors.InvalidArgumentError,
        lambda: tf.dynamic_partition([1, 2], [0, 5], 2),
        "dynamic_partition: no such part",
    ),
    (
        tf.errors.InvalidArgumentError,
        lambda: tf.tensor_scatter_nd_update([1, 2], [[0], [1]], [3]),
        "updates of another shape",
    ),
    (tf.errors.InvalidArgumentError, lambda: tf.bitcast(ints(1), tf.int64), "a larger type"),
    (
        tf.errors.InvalidArgumentError,
        lambda: tf.RaggedTensor.from_row_splits([1, 2], [0, 5]),
        "splits do not have all values",
    ),
    (
        tf.errors.InvalidArgumentError,
        lambda: tf.sparse.to_dense(tf.SparseTensor([[0, 9]], [1.0], [3, 4])),
        "to_dense: an index is outside; got 3, 4",
    ),
    (
        tf.errors.InvalidArgumentError,
        lambda: tf.vectorized_map(lambda e: e[0], (floats(1, 2), floats(1, 2, 3))),
        "tensors disagree",
    ),
    (tf.errors.OutOfRangeError, lambda: tf.TensorArray(tf.float32, 2).write(5, 1.0), "index 5"),
    (TypeError, lambda: tf.math.reduce_std([1, 2]), "reduce_std: integers"),
    (
        TypeError,
        lambda: tf.constant(1.5, tf.int32),
        "convert_to_tensor: floats as integers; got 1.5 and int32",
    ),
    (TypeError, lambda: tf.constant([1.5], tf.int32), "floats as integers"),
    (TypeError, lambda: tf.constant("a", tf.int32), "convert_to_tensor: texts as numbers; got 'a'"),
    (
        TypeError,
        lambda: tf.constant([1, 2], shape=[3]),
        "constant: another number of values than the shape has; got 2",
    ),
    (TypeError, lambda: tf.TensorShape(["a"]), "str"),
    (ValueError, lambda: tf.TensorShape([-2]), "shape: a size below 0"),
    (ValueError, lambda: tf.add_n([]), "add_n: nothing to add"),
    (ValueError, lambda: tf.nn.dropout([1.0], 1.5), "dropout: no part of all; got rate=1.5"),
    (
        ValueError,
        lambda: tf.TensorShape([2]).assert_has_rank(3),
        r"dimensions; got \(2,\), expected 3 of them",
    ),
]


@pytest.mark.parametrize(("kind", "call", "words"), ERRORS, ids=[case[2] for case in ERRORS])
def test_a_wrong_call_raises_the_error_of_tensorflow(kind, call, words):
    with pytest.raises(kind, match=words):
        call()


def test_types_are_written_as_in_tensorflow():
    assert (str(tf.float32), repr(tf.float32)) == ("<dtype: 'float32'>", "tf.float32")
    assert repr(tf.TensorSpec([2], tf.int32)) == "TensorSpec(shape=(2,), dtype=tf.int32, name=None)"
    said = "RaggedTensorSpec(TensorShape([None, None]), tf.int32, 1, tf.int64)"
    assert repr(tf.RaggedTensorSpec([None, None], tf.int32)) == said


def test_limits_of_integers_are_numbers_of_python():
    assert tf.int32.max + 1 == 2**31
    assert tf.uint64.max == 2**64 - 1
    assert tf.string.as_numpy_dtype is object


def test_tensors_are_written_as_in_tensorflow():
    matrix = tf.constant([[1, 2]])
    said = "<tf.Tensor: shape=(1, 2), dtype=int32, numpy=\narray([[1, 2]], dtype=int32)>"
    assert repr(matrix) == said
    assert f"{matrix}" == "[[1 2]]"
    said = "<tf.Variable 'a:0' shape=() dtype=float32, numpy=1.0>"
    assert repr(tf.Variable(1.0, name="a")) == said


def test_tensors_are_on_the_processor():
    tensor = tf.constant([1.0])
    assert tensor.cpu() is tensor
    assert tensor.backing_device == tensor.device == tf.Variable(1.0).device


def test_variables_are_changed_at_places():
    variable = tf.Variable([1.0, 2.0, 3.0])
    assert variable.gather_nd([[2]]).numpy().tolist() == [3.0]
    assert variable.sparse_read([0, 2]).numpy().tolist() == [1.0, 3.0]
    variable.scatter_nd_add([[0], [0]], [1.0, 2.0])
    variable.scatter_update(tf.IndexedSlices([9.0], [1]))
    variable.scatter_nd_min([[2]], [0.5])
    assert variable.numpy().tolist() == [4.0, 9.0, 0.5]


def test_variables_are_initialized_and_have_a_shape():
    variable = tf.Variable([1.0, 2.0])
    variable.set_shape([None])
    assert variable.is_initialized()
    assert variable.initialized_value().numpy().tolist() == [1.0, 2.0]
    with pytest.raises(ValueError, match="shapes do not fit"):
        variable.set_shape([3])


def test_variables_of_a_session_are_compared_by_identity():
    with tf.compat.v1.Graph().as_default():
        one, other = tf.Variable(1.0), tf.Variable(1.0)
        assert one in [other, one]
        assert (one == one, one == other, one != other) == (True, False, True)


def test_shapes_say_how_many_dimensions_they_may_have():
    shape = tf.TensorShape([2, 3])
    assert shape.with_rank_at_least(1) == shape.with_rank_at_most(2) == shape
    assert shape.most_specific_compatible_shape([2, 4]) == [2, None]
    assert shape.is_subtype_of([None, 3])
    assert not shape.is_subtype_of([2, 4])
    shape.assert_same_rank([1, 1])
    for wrong in (
        lambda: shape.with_rank_at_least(3),
        lambda: shape.with_rank_at_most(1),
        lambda: shape.assert_same_rank([1]),
    ):
        with pytest.raises(ValueError, match="shape: another number of dimensions"):
            wrong()


def test_specs_say_what_they_describe():
    assert tf.TensorSpec([2]).value_type is tf.Tensor
    assert tf.RaggedTensorSpec([2, None]).value_type is tf.RaggedTensor
    assert tf.TensorSpec.from_spec(tf.TensorSpec([2], tf.int32), name="a").name == "a"


def test_quotients_of_elements_are_those_of_tensors():
    pairs = tf.constant([[1.0, 0.1], [1.0, 0.0], [-7.0, 2.0], [0.3, 0.1]])
    for quotient in (lambda a, b: a // b, lambda a, b: a / b, tf.math.floordiv):
        mapped = tf.map_fn(lambda pair, f=quotient: f(pair[0], pair[1]), pairs)
        assert mapped.numpy().tolist() == [quotient(a, b).numpy() for a, b in pairs]
    narrow = tf.constant([7, 200], tf.uint8)
    assert tf.map_fn(lambda x: x / 3, narrow).dtype == (narrow / 3).dtype == tf.float32
    assert (tf.map_fn(lambda x: x / 3, narrow).numpy() == (narrow / 3).numpy()).all()
