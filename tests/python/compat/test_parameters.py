"""Functions take the keywords that TensorFlow gives their parameters, in its order."""

import inspect

import pytest

import lanewise.compat.tf as tf

PARAMETERS = {
    "as_dtype": "type_value",
    "is_tensor": "x",
    "math.real": "input",
    "math.imag": "input",
    "math.angle": "input",
    "nest.is_nested": "seq",
    "compat.v1.logging.set_verbosity": "v",
    "debugging.assert_equal": "x y message summarize",
    "debugging.assert_none_equal": "x y summarize message",
    "math.l2_normalize": "x axis epsilon dim",
    "linalg.matrix_rank": "a tol validate_args",
    "linalg.pinv": "a rcond validate_args",
    "linalg.matvec": "a b transpose_a adjoint_a a_is_sparse b_is_sparse",
    "ragged.range": "starts limits deltas dtype name row_splits_dtype",
    "ragged.segment_ids_to_row_splits": "segment_ids num_segments out_type",
    "scatter_nd": "indices updates shape bad_indices_policy",
    "gather_nd": "params indices batch_dims bad_indices_policy",
    "RaggedTensorSpec": "shape dtype ragged_rank row_splits_dtype flat_values_spec",
    "nn.max_pool": "input ksize strides padding data_format",
    **{
        f"tensor_scatter_nd_{what}": "tensor indices updates bad_indices_policy"
        for what in ("update", "add", "sub", "max", "min")
    },
}


@pytest.mark.parametrize("path", PARAMETERS)
def test_parameters_have_the_names_and_the_order_that_programs_rely_on(path):
    assert list(inspect.signature(tf.KNOWN[path]).parameters) == PARAMETERS[path].split()


def test_an_initializer_takes_verify_shape():
    initializer = tf.compat.v1.constant_initializer(2.0, verify_shape=True)
    assert initializer([2]).numpy().tolist() == [2.0, 2.0]


def test_old_keywords_do_what_the_new_ones_do():
    rows = tf.constant([[3.0, 4.0], [6.0, 8.0]])
    result = tf.math.l2_normalize(rows, dim=1)
    assert result.numpy().tolist() == tf.math.l2_normalize(rows, axis=1).numpy().tolist()


def test_splits_have_the_type_that_is_asked_for():
    assert tf.ragged.range([2, 3], row_splits_dtype=tf.int32).row_splits.dtype == tf.int32
    assert tf.ragged.segment_ids_to_row_splits([0, 0, 2], out_type=tf.int32).dtype == tf.int32


V = [1.0, 2.0, 3.0]


@pytest.mark.parametrize("policy", ["", "DEFAULT", "ERROR"])
def test_indices_outside_are_errors_unless_they_are_ignored(policy):
    for call in (
        lambda: tf.scatter_nd([[5]], [1.0], [3], bad_indices_policy=policy),
        lambda: tf.tensor_scatter_nd_add(V, [[5]], [1.0], bad_indices_policy=policy),
        lambda: tf.gather_nd(V, [[5]], bad_indices_policy=policy),
    ):
        with pytest.raises(tf.errors.InvalidArgumentError):
            call()


def test_indices_outside_are_left_out_where_they_are_ignored():
    places, numbers = [[5], [-1], [0]], [10.0, 20.0, 30.0]
    given = {"bad_indices_policy": "IGNORE"}
    assert tf.scatter_nd(places, numbers, [3], **given).numpy().tolist() == [30.0, 0.0, 0.0]
    added = tf.tensor_scatter_nd_add(V, places, numbers, **given)
    assert added.numpy().tolist() == [31.0, 2.0, 3.0]
    assert tf.gather_nd(V, places, **given).numpy().tolist() == [0.0, 0.0, 1.0]
    found = tf.map_fn(lambda n: tf.gather_nd(V, [[n]], **given)[0], tf.constant([1, 7]), tf.float32)
    assert found.numpy().tolist() == [2.0, 0.0]


def test_another_policy_than_there_is_is_refused():
    with pytest.raises(ValueError, match="no such bad_indices_policy; got 'SKIP', expected ''"):
        tf.scatter_nd([[0]], [1.0], [3], bad_indices_policy="SKIP")


def test_indices_of_the_element_are_left_out_one_element_after_the_other():
    def scatter(n):
        return tf.scatter_nd([[n]], [1.0], [3], bad_indices_policy="IGNORE")

    with pytest.warns(UserWarning, match="scatter_nd with bad_indices_policy='IGNORE'"):
        result = tf.map_fn(scatter, tf.constant([1, 7]), fn_output_signature=tf.float32)
    assert result.numpy().tolist() == [[0.0, 1.0, 0.0], [0.0, 0.0, 0.0]]
