"""What calls say that cannot be done."""

import numpy as np
import pytest

import lanewise as lw
import lanewise.compat.tf as tf

ROW = np.arange(3.0)


def mapped(fn):
    """Return a call that maps a function over rows, and may not fall back."""
    return lambda: tf.vectorized_map(fn, np.ones((2, 3), np.int32), fallback_to_while_loop=False)


CALLS = [
    (lambda: tf.ensure_shape(ROW, [2]), "ensure_shape: another shape"),
    (lambda: tf.unstack(ROW, num=2), "unstack: another number"),
    (lambda: tf.split(ROW, [1, 1]), "split: sizes do not add up"),
    (lambda: tf.pad(ROW, [[1, 1]], "EDGE"), "pad: no such mode"),
    (lambda: tf.bitcast(ROW, tf.complex128), "bitcast: a larger type"),
    (lambda: tf.device(3).__enter__(), "device: no name"),
    (lambda: tf.config.set_visible_devices(["gpu"]), "set_visible_devices: no such device"),
    (lambda: tf.math.top_k(ROW, 4), "top_k: more than there are"),
    (lambda: tf.math.bincount([[1], [2]], axis=1), "bincount: no such axis"),
    (
        mapped(lambda row: tf.math.segment_sum(row, row)),
        "segment_sum: how many groups there are depends on values",
    ),
    (
        mapped(lambda row: tf.math.confusion_matrix(row, row)),
        "confusion_matrix: no num_classes",
    ),
    (
        lambda: tf.debugging.assert_same_float_dtype([tf.constant(1), tf.constant(1.0)]),
        "assert_same_float_dtype: types differ",
    ),
    (lambda: tf.einsum("i,j->ij", ROW), "einsum: as many operands as terms"),
    (
        lambda: tf.convert_to_tensor(tf.constant(1), tf.float32),
        "convert_to_tensor: a tensor has its type",
    ),
    (
        lambda: tf.nest.pack_sequence_as([1, 2], [1]),
        "pack_sequence_as: another number of values",
    ),
    (lambda: tf.print(1, output_stream=3), "print: nowhere to print"),
    (
        lambda: tf.scan(lambda a, x: (a, x), ROW, initializer=np.float64(0)),
        "scan: fn returns another structure than it is given",
    ),
    (lambda: tf.where([True], ROW), "where: one of two"),
    (lambda: tf.slice(ROW, [2], [2]), "slice: out of range"),
    (lambda: tf.TensorShape([None]).assert_is_fully_defined(), "shape: not fully defined"),
    (lambda: tf.TensorShape([2]).assert_is_compatible_with([3]), "shape: shapes do not fit"),
    (lambda: tf.TensorShape(None).as_list(), "shape: the rank is not known"),
    (lambda: tf.random.stateless_normal([2], seed=[1, 2, 3]), "stateless: not a seed"),
    (lambda: tf.Variable(ROW).assign([1.0]), "Variable.assign: another shape"),
    (lambda: tf.Variable(), "Variable: no initial value"),
    (
        lambda: tf.nn.conv2d(np.ones((1, 4, 4, 3)), np.ones((2, 2, 2, 1)), 1, "SAME"),
        "convolution: channels do not fit",
    ),
]


@pytest.mark.parametrize(("call", "words"), CALLS, ids=[words for _, words in CALLS])
def test_a_call_that_cannot_be_says_why(call, words):
    with pytest.raises((ValueError, TypeError), match=words.replace("(", r"\(")):
        call()


def test_an_array_of_tensors_needs_its_size_where_elements_choose_places():
    def choose(row):
        array = tf.TensorArray(tf.int32, size=0, dynamic_size=True)
        return array.read(row[0])

    words = (
        "TensorArray: its size and the shape of its tensors have to be known where elements choose "
        "places"
    )
    with pytest.raises(ValueError, match=words):
        tf.vectorized_map(choose, np.zeros((2, 3), np.int32), fallback_to_while_loop=False)


def test_texts_of_elements_have_no_length():
    def length(x):
        return x + len(f"{x}")

    words = "len: the text of an element is not known while its function is recorded"
    with pytest.raises(lw.UsageError, match=words):
        lw.vectorize(length)(np.ones(2))
