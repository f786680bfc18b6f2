"""``tf.RaggedTensor``: how it is made, what it is, its parts, and functions on it."""

import numpy as np
import pytest
from modes import rows

import lanewise.compat.tf as tf

FLAT = [3, 1, 4, 1, 5, 9, 2, 6]
LISTS = [[3, 1, 4, 1], [], [5, 9, 2], [6], []]
DEEP = [[[1, 2], [], [3]], [], [[4], [5, 6, 7]]]


@pytest.mark.parametrize(
    "made",
    [
        tf.RaggedTensor.from_row_splits(FLAT, [0, 4, 4, 7, 8, 8]),
        tf.RaggedTensor.from_row_lengths(FLAT, [4, 0, 3, 1, 0]),
        tf.RaggedTensor.from_value_rowids(FLAT, [0, 0, 0, 0, 2, 2, 2, 3], nrows=5),
        tf.RaggedTensor.from_row_starts(FLAT, [0, 4, 4, 7, 8]),
        tf.RaggedTensor.from_row_limits(FLAT, [4, 4, 7, 8, 8]),
        tf.RaggedTensor.from_nested_row_splits(FLAT, [[0, 4, 4, 7, 8, 8]]),
        tf.RaggedTensor.from_nested_row_lengths(FLAT, [[4, 0, 3, 1, 0]]),
        tf.ragged.constant(LISTS),
        tf.ragged.stack([tf.constant(row, tf.int32) for row in LISTS]),
    ],
    ids=["splits", "lengths", "rowids", "starts", "limits", "nested", "nested", "lists", "stack"],
)
def test_rows_are_the_same_however_they_are_made(made):
    assert made.to_list() == LISTS
    assert made.shape.as_list() == [5, None]
    assert made.dtype == tf.int32
    assert made.ragged_rank == 1
    assert made.row_splits.numpy().tolist() == [0, 4, 4, 7, 8, 8]
    assert made.row_splits.dtype == tf.int64
    assert made.values.numpy().tolist() == FLAT


def test_rows_of_a_tensor_end_at_lengths_or_padding():
    tensor = tf.constant([[1, 2, 0], [0, 0, 0], [3, 0, 4]])
    assert tf.RaggedTensor.from_tensor(tensor).to_list() == [[1, 2, 0], [0, 0, 0], [3, 0, 4]]
    assert tf.RaggedTensor.from_tensor(tensor, lengths=[1, 0, 2]).to_list() == [[1], [], [3, 0]]
    assert tf.RaggedTensor.from_tensor(tensor, padding=0).to_list() == [[1, 2], [], [3, 0, 4]]
    deep = tf.RaggedTensor.from_tensor(tf.reshape(tf.range(8), [2, 2, 2]), ragged_rank=2)
    assert deep.to_list() == [[[0, 1], [2, 3]], [[4, 5], [6, 7]]]
    nested = tf.RaggedTensor.from_tensor(tf.ones([2, 2, 2]), lengths=([1, 2], [2, 0, 1]))
    assert nested.to_list() == [[[1, 1]], [[], [1]]]


def test_rows_of_one_length():
    made = tf.RaggedTensor.from_uniform_row_length([1, 2, 3, 4], 2)
    assert made.to_list() == [[1, 2], [3, 4]]
    np.testing.assert_array_equal(made.numpy(), [[1, 2], [3, 4]])


def test_constants_have_types_ranks_and_inner_shapes():
    assert tf.ragged.constant([[1.5], []]).dtype == tf.float32
    assert tf.ragged.constant([[1], [2, 3]], dtype=tf.int64).dtype == tf.int64
    assert tf.ragged.constant([[], []]).dtype == tf.float32
    assert tf.ragged.constant([["a"], ["b", "c"]]).to_list() == [[b"a"], [b"b", b"c"]]
    pairs = tf.ragged.constant([[[1, 2], [3, 4]], [[5, 6]]], ragged_rank=1)
    assert pairs.shape.as_list() == [2, None, 2]
    assert pairs.ragged_rank == 1
    pairs = tf.ragged.constant([[[1, 2]], []], inner_shape=(2,))
    assert pairs.shape.as_list() == [2, None, 2]
    assert isinstance(tf.ragged.constant([1, 2]), tf.Tensor)
    assert tf.ragged.constant(DEEP).ragged_rank == 2


def test_ranges_are_rows():
    assert tf.ragged.range([2, 0, 3]).to_list() == [[0, 1], [], [0, 1, 2]]
    assert tf.ragged.range([1, 5], [4, 4]).to_list() == [[1, 2, 3], []]
    assert tf.ragged.range([0, 9], [5, 0], [2, -3]).to_list() == [[0, 2, 4], [9, 6, 3]]
    assert tf.ragged.range([1.0], [2.0], 0.5).dtype == tf.float32


def test_what_it_is_made_of_is_told():
    made = rows(LISTS)
    assert made.nrows().numpy() == 5
    assert made.nvals().numpy() == 8
    assert made.row_lengths().numpy().tolist() == [4, 0, 3, 1, 0]
    assert made.row_starts().numpy().tolist() == [0, 4, 4, 7, 8]
    assert made.row_limits().numpy().tolist() == [4, 4, 7, 8, 8]
    assert made.value_rowids().numpy().tolist() == [0, 0, 0, 0, 2, 2, 2, 3]
    assert made.bounding_shape().numpy().tolist() == [5, 4]
    assert made.bounding_shape(axis=1).numpy() == 4
    assert len(made) == 5
    assert [row.numpy().tolist() for row in made] == LISTS
    deep = rows(DEEP)
    assert deep.shape.as_list() == [3, None, None]
    assert deep.flat_values.numpy().tolist() == [1, 2, 3, 4, 5, 6, 7]
    assert [s.numpy().tolist() for s in deep.nested_row_splits] == [
        [0, 3, 3, 5],
        [0, 2, 2, 3, 4, 7],
    ]
    assert [s.numpy().tolist() for s in deep.nested_row_lengths()] == [[3, 0, 2], [2, 0, 1, 1, 3]]
    assert deep.bounding_shape().numpy().tolist() == [3, 3, 3]
    assert deep.row_lengths(axis=2).to_list() == [[2, 0, 1], [], [1, 3]]


def test_a_tensor_has_rows_filled_up():
    made = rows([[1, 2, 3], [], [4]])
    assert made.to_tensor().numpy().tolist() == [[1, 2, 3], [0, 0, 0], [4, 0, 0]]
    assert made.to_tensor(default_value=-1).numpy().tolist() == [[1, 2, 3], [-1] * 3, [4, -1, -1]]
    assert made.to_tensor(shape=[None, 2]).numpy().tolist() == [[1, 2], [0, 0], [4, 0]]
    assert made.to_tensor(shape=[4, 4], default_value=9).shape == (4, 4)
    assert rows(DEEP).to_tensor().shape == (3, 3, 3)
    assert rows(DEEP).to_tensor()[2].numpy().tolist() == [[4, 0, 0], [5, 6, 7], [0, 0, 0]]
    texts = tf.ragged.constant([["a"], ["b", "c"]]).to_tensor()
    assert texts.numpy().tolist() == [[b"a", b""], [b"b", b"c"]]


def test_parts_are_those_of_lists():
    made = rows(LISTS)
    for index in (0, 2, -1, -3):
        assert made[index].numpy().tolist() == LISTS[index]
    assert made[2, 1].numpy() == 9
    assert made[0, 1:3].numpy().tolist() == [1, 4]
    for part in (
        slice(1, 3),
        slice(None, 2),
        slice(4, 1),
        slice(None, None, 2),
        slice(3, None, -1),
    ):
        assert made[part].to_list() == LISTS[part]
        assert made[:, part].to_list() == [row[part] for row in LISTS]
        assert made[..., part].to_list() == [row[part] for row in LISTS]
    assert made[1:, -1:].to_list() == [row[-1:] for row in LISTS[1:]]
    assert made[tf.constant(3)].numpy().tolist() == [6]
    deep = rows(DEEP)
    assert deep[0].to_list() == DEEP[0]
    assert deep[0, 2].numpy().tolist() == [3]
    assert deep[2, 1, 0].numpy() == 5
    assert deep[:, 1:].to_list() == [row[1:] for row in DEEP]
    assert deep[:, :, :1].to_list() == [[inner[:1] for inner in row] for row in DEEP]


@pytest.mark.parametrize("value", [rows(LISTS), rows(LISTS, np.float64), rows(DEEP, np.float32)])
def test_operators_and_functions_go_number_by_number(value):
    flat = value.flat_values
    for function in (
        lambda x: x + 1,
        lambda x: 2 - x,
        lambda x: x * x,
        lambda x: -x / 2,
        lambda x: x**2 // 3 % 5,
        lambda x: abs(x - 3),
        lambda x: tf.cast(x, tf.float64),
        lambda x: tf.where(x > 2, x, -x),
        lambda x: tf.maximum(x, tf.constant(4, x.dtype)),
        lambda x: tf.clip_by_value(x, 1, 3),
        lambda x: tf.sin(tf.cast(x, tf.float32)),
        lambda x: x >= 2,
        lambda x: tf.identity(x),
        lambda x: tf.zeros_like(x) + tf.ones_like(x),
    ):
        result = function(value)
        assert result.dtype == function(flat).dtype
        np.testing.assert_array_equal(result.flat_values.numpy(), function(flat).numpy())
        assert result.row_lengths().numpy().tolist() == value.row_lengths().numpy().tolist()


def test_numbers_beside_rows_are_shared_by_all_of_a_row():
    made = rows([[1, 2, 3], [], [4]])
    assert (made + tf.constant([[10], [20], [30]])).to_list() == [[11, 12, 13], [], [34]]
    assert (made + tf.constant([[10]])).to_list() == [[11, 12, 13], [], [14]]
    assert (rows(DEEP) * tf.constant([[[2]], [[3]], [[5]]])).to_list() == [
        [[2, 4], [], [6]],
        [],
        [[20], [25, 30, 35]],
    ]
    even = rows([[1, 2], [3, 4]])
    assert (even + tf.constant([[1, 2], [3, 4]])).to_list() == [[2, 4], [6, 8]]
    pairs = tf.ragged.constant([[[1, 2]], [[3, 4], [5, 6]]], ragged_rank=1)
    assert (pairs + tf.constant([10, 20])).to_list() == [[[11, 22]], [[13, 24], [15, 26]]]


REDUCTIONS = {
    "reduce_sum": np.sum,
    "reduce_prod": np.prod,
    "reduce_mean": np.mean,
    "reduce_max": np.max,
    "reduce_min": np.min,
}


@pytest.mark.parametrize("name", REDUCTIONS)
def test_reductions_are_those_of_rows_columns_and_all(name):
    lists = [[3.0, 1.0, 4.0], [1.5], [5.0, 9.0]]
    value = tf.ragged.constant(lists, dtype=tf.float64)
    reduce, expected = getattr(tf, name), REDUCTIONS[name]
    along_rows = [expected(row) for row in lists]
    columns = [[row[at] for row in lists if len(row) > at] for at in range(3)]
    np.testing.assert_allclose(reduce(value, axis=1).numpy(), along_rows, rtol=1e-15)
    np.testing.assert_allclose(reduce(value, axis=-1).numpy(), along_rows, rtol=1e-15)
    np.testing.assert_allclose(reduce(value, axis=0).numpy(), [expected(c) for c in columns])
    np.testing.assert_allclose(reduce(value).numpy(), expected(np.concatenate(lists)))
    np.testing.assert_allclose(reduce(value, axis=[0, 1]).numpy(), expected(np.concatenate(lists)))
    assert reduce(value, axis=1, keepdims=True).shape.as_list() == [3, 1]
    assert reduce(value, keepdims=True).shape.as_list() == [1, 1]


def test_reductions_of_truth_values():
    value = rows(LISTS) > 4
    assert tf.reduce_any(value, axis=1).numpy().tolist() == [False, False, True, True, False]
    assert tf.reduce_all(value, axis=1).numpy().tolist() == [False, True, False, True, True]
    assert tf.reduce_any(value).numpy()


def test_rows_without_numbers_have_what_changes_no_other():
    value = rows(LISTS)
    assert tf.reduce_sum(value, axis=1).numpy().tolist() == [9, 0, 16, 6, 0]
    assert tf.reduce_prod(value, axis=1).numpy().tolist() == [12, 1, 90, 6, 1]
    assert tf.reduce_max(value, axis=1).numpy().tolist() == [4, -(2**31), 9, 6, -(2**31)]
    assert tf.reduce_min(tf.cast(value, tf.float32), axis=1).numpy()[1] == np.inf
    assert tf.reduce_mean(value, axis=1).numpy().tolist() == [2, 0, 5, 6, 0]
    assert np.isnan(tf.reduce_mean(tf.cast(value, tf.float32), axis=1).numpy()[1])


def test_reductions_of_rows_of_rows():
    value = rows(DEEP)
    assert tf.reduce_sum(value, axis=2).to_list() == [[3, 0, 3], [], [4, 18]]
    assert tf.reduce_sum(value, axis=1).to_list() == [[4, 2], [], [9, 6, 7]]
    assert tf.reduce_sum(value, axis=0).to_list() == [[5, 2], [5, 6, 7], [3]]
    assert tf.reduce_sum(value, axis=[1, 2]).numpy().tolist() == [6, 0, 22]
    assert tf.reduce_mean(tf.cast(value, tf.float64), axis=[1, 2]).numpy()[2] == 5.5
    pairs = tf.ragged.constant([[[1, 2]], [[3, 4], [5, 6]]], ragged_rank=1)
    assert tf.reduce_sum(pairs, axis=1).numpy().tolist() == [[1, 2], [8, 10]]
    assert tf.reduce_sum(pairs, axis=2).to_list() == [[3], [7, 11]]


def test_rows_are_put_together():
    a, b = rows([[1, 2], [], [3]]), rows([[4], [5, 6], []])
    assert tf.concat([a, b], axis=0).to_list() == [[1, 2], [], [3], [4], [5, 6], []]
    assert tf.concat([a, b], axis=1).to_list() == [[1, 2, 4], [5, 6], [3]]
    assert tf.concat([a, tf.constant([[7], [8], [9]])], axis=-1).to_list() == [
        [1, 2, 7],
        [8],
        [3, 9],
    ]
    assert tf.stack([a, b]).to_list() == [a.to_list(), b.to_list()]
    assert tf.stack([a, b], axis=1).to_list() == [[[1, 2], [4]], [[], [5, 6]], [[3], []]]
    assert tf.ragged.stack([a, b], axis=1).to_list() == tf.stack([a, b], axis=1).to_list()
    different = tf.ragged.stack([tf.zeros([1, 2]), tf.ones([2, 1])])
    assert different.to_list() == [[[0, 0]], [[1], [1]]]
    deep = tf.concat([rows(DEEP), rows(DEEP)], axis=2)
    assert deep[0].to_list() == [[1, 2, 1, 2], [], [3, 3]]


def test_rows_are_gathered_and_chosen():
    value = rows(LISTS)
    assert tf.gather(value, [2, 0, 2]).to_list() == [LISTS[2], LISTS[0], LISTS[2]]
    assert tf.gather(value, 2).numpy().tolist() == LISTS[2]
    assert tf.gather(value, [[0, 1], [2, 3]]).to_list() == [LISTS[:2], LISTS[2:4]]
    assert tf.gather(tf.constant([10, 20, 30]), rows([[2, 0], [1]])).to_list() == [[30, 10], [20]]
    assert tf.gather(value, rows([[2], [0, 3]])).to_list() == [[LISTS[2]], [LISTS[0], LISTS[3]]]
    inside = tf.gather(rows([[1, 2], [3]]), rows([[1, 1, 0], [0]]), batch_dims=1)
    assert inside.to_list() == [[2, 2, 1], [3]]
    assert tf.ragged.boolean_mask(value, value > 2).to_list() == [
        [v for v in row if v > 2] for row in LISTS
    ]
    kept = tf.ragged.boolean_mask(value, [True, False, True, False, False])
    assert kept.to_list() == [LISTS[0], LISTS[2]]
    tensor = tf.constant([[1, 2], [3, 4]])
    assert tf.ragged.boolean_mask(tensor, tensor > 1).to_list() == [[2], [3, 4]]


def test_dimensions_are_added_and_merged():
    value = rows([[1, 2], [], [3]])
    assert tf.expand_dims(value, 0).to_list() == [[[1, 2], [], [3]]]
    assert tf.expand_dims(value, 1).to_list() == [[[1, 2]], [[]], [[3]]]
    assert tf.expand_dims(value, -1).to_list() == [[[1], [2]], [], [[3]]]
    deep = rows(DEEP)
    assert deep.merge_dims(0, 1).to_list() == [[1, 2], [], [3], [4], [5, 6, 7]]
    assert deep.merge_dims(1, 2).to_list() == [[1, 2, 3], [], [4, 5, 6, 7]]
    assert deep.merge_dims(0, 2).numpy().tolist() == [1, 2, 3, 4, 5, 6, 7]
    pairs = tf.ragged.constant([[[1, 2]], [[3, 4], [5, 6]]], ragged_rank=1)
    assert pairs.merge_dims(1, 2).to_list() == [[1, 2], [3, 4, 5, 6]]


def test_sizes_are_known_to_functions():
    value = rows(DEEP)
    assert tf.size(value).numpy() == 7
    assert tf.rank(value).numpy() == 3
    assert tf.shape(value).numpy().tolist() == [3, 3, 3]


def test_softmax_of_rows_adds_up_to_one():
    value = tf.nn.softmax(rows([[1, 2, 3], [], [4]], np.float64))
    np.testing.assert_allclose(value.to_list()[0], np.exp([-2, -1, 0]) / np.exp([-2, -1, 0]).sum())
    assert value.to_list()[1:] == [[], [1.0]]


def test_functions_of_numbers_keep_the_rows():
    value = rows(LISTS)
    assert tf.ragged.map_flat_values(lambda x: x * 2, value).to_list() == (value * 2).to_list()
    both = tf.ragged.map_flat_values(tf.add, value, value)
    assert both.to_list() == (value + value).to_list()
    assert value.with_values(tf.range(8)).to_list() == [[0, 1, 2, 3], [], [4, 5, 6], [7], []]
    assert rows(DEEP).with_flat_values(tf.range(7)).to_list()[0] == [[0, 1], [], [2]]


def test_rows_of_numbers_that_are_there_are_sparse_and_back():
    value = rows([[1, 2], [], [3]])
    sparse = value.to_sparse()
    assert sparse.indices.numpy().tolist() == [[0, 0], [0, 1], [2, 0]]
    assert tf.sparse.to_dense(sparse).numpy().tolist() == value.to_tensor().numpy().tolist()
    assert tf.RaggedTensor.from_sparse(sparse).to_list() == value.to_list()


def test_arrays_of_arrays_come_out():
    found = rows([[1, 2], [3]]).numpy()
    assert found.dtype == object
    assert [row.tolist() for row in found] == [[1, 2], [3]]


def test_it_shows_its_first_rows():
    assert repr(rows([[1], []])) == "<tf.RaggedTensor [[1], []]>"
    assert repr(tf.ragged.range(np.ones(50, np.int32))).endswith("[0], ...]>")


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (
            lambda: tf.RaggedTensor.from_row_splits([1, 2], [0, 1]),
            "RaggedTensor.from_row_splits: splits do not have all values; got 0 to 1, expected "
            "0 to 2, the number of values.",
        ),
        (
            lambda: tf.RaggedTensor.from_row_splits([1, 2], [0, 2, 1, 2]),
            "RaggedTensor.from_row_splits: splits do not ascend; got [0, 2, 1, 2]",
        ),
        (
            lambda: tf.RaggedTensor.from_row_splits([1, 2], [[0, 2]]),
            "RaggedTensor.from_row_splits: splits are not one row of numbers; got the shape (1, 2)",
        ),
        (
            lambda: tf.RaggedTensor.from_value_rowids([1, 2], [1, 0]),
            "RaggedTensor.from_value_rowids: numbers of rows do not ascend, or there are too "
            "few rows; "
            "got [1, 0] for 1 rows",
        ),
        (
            lambda: tf.RaggedTensor.from_tensor(tf.ones([2, 2]), ragged_rank=2),
            "RaggedTensor.from_tensor: no such ragged_rank; got 2 for a tensor of shape (2, 2), "
            "expected 1 to 1.",
        ),
        (
            lambda: tf.RaggedTensor.from_tensor(tf.ones([2, 2]), lengths=[1, 1], padding=0),
            "RaggedTensor.from_tensor: two ways to say where rows end; "
            "got lengths and padding, expected one of them.",
        ),
        (
            lambda: tf.ragged.constant([1, [2]]),
            "ragged.constant: numbers beside lists; got [1, [2]]",
        ),
        (
            lambda: tf.ragged.constant([[1], [2]], ragged_rank=2),
            "ragged.constant: no such ragged_rank; got 2 for lists of depth 2, expected less "
            "than 2.",
        ),
        (
            lambda: tf.ragged.constant([[[1], [2, 3]]], ragged_rank=1),
            "ragged.constant: values of different shapes behind the ragged dimensions",
        ),
        (lambda: tf.ragged.range([1], [2], 0), "ragged.range: a step is 0"),
        (
            lambda: rows([[1], [2, 3]]) + rows([[1, 2], [3]]),
            "add: rows of different lengths; got rows of [1, 2] and rows of [2, 1], expected the "
            "same row_splits, or numbers that all of a row share, in the shape [rows, 1].",
        ),
        (
            lambda: rows([[1], [2, 3]]) + tf.constant([1, 2]),
            "add: rows of different lengths; got rows of [1, 2] and a tensor of shape [2]",
        ),
        (lambda: rows([[1]])[:, 0], "RaggedTensor: an index into rows of different lengths; got 0"),
        (
            lambda: rows([[1]])[None],
            "RaggedTensor: tf.newaxis in an index; got one, expected tf.expand_dims.",
        ),
        (
            lambda: rows([[1]])["a"],
            "RaggedTensor: not an index; got str, expected a whole number or a slice.",
        ),
        (
            lambda: rows([[1], [2]])[2],
            "RaggedTensor: no such row; got the index 2, expected one of 2 rows.",
        ),
        (lambda: tf.gather(rows([[1]]), [1]), "gather: no such row; got [1], expected numbers"),
        (lambda: tf.reduce_sum(rows([[1]]), axis=2), "no such axis; got 2, expected one of 2"),
        (
            lambda: tf.concat([rows([[1]]), rows([[1], [2]])], 1),
            "concat: numbers of rows differ; got 1, 2, expected one number.",
        ),
        (
            lambda: tf.nn.softmax(rows([[1]], np.float32), axis=0),
            "softmax: another axis than the last; got 0, expected -1.",
        ),
        (
            lambda: tf.gather(rows([[1]]), [0], axis=1),
            "gather: another axis than the first; got 1, expected 0.",
        ),
        (
            lambda: tf.concat([rows([[1]]), tf.ones([1, 2, 3], tf.int32)], 0),
            "RaggedTensor: values of different shapes; got [], [3] behind the rows, expected one",
        ),
        (lambda: rows([[1]]).merge_dims(1, 0), "merge_dims: no dimensions to merge; got 1 to 0"),
        (lambda: rows([[1]]).to_tensor(shape=[1, 2, 3]), "to_tensor: too many sizes"),
        (lambda: rows(DEEP).to_sparse(), "to_sparse: rows of rows; got 2 ragged dimensions"),
        (lambda: tf.where(rows([[1]]) > 0), "where: places in ragged tensors; got no x and y"),
        (lambda: bool(rows([[1]])), "bool: a RaggedTensor is neither true nor false"),
        (
            lambda: tf.transpose(rows([[1]])),
            "transpose: not supported on ragged tensors; got a RaggedTensor, expected a tensor. "
            "Use rows.to_tensor(), or tf.map_fn over the rows.",
        ),
        (
            lambda: tf.ragged.boolean_mask(rows([[1]]), rows([[1, 0]])),
            "ragged.boolean_mask: rows of different lengths; got [1] and a mask of [2]",
        ),
        (
            lambda: tf.RaggedTensor.from_sparse(tf.SparseTensor([[0, 1]], [1], [1, 2])),
            "RaggedTensor.from_sparse: rows have gaps; got numbers that are not side by side",
        ),
    ],
)
def test_what_cannot_be_is_said(call, words):
    with pytest.raises((ValueError, TypeError, IndexError)) as caught:
        call()
    assert words in str(caught.value)
