"""What ``tf.map_fn`` promises, in every way to run it."""

import collections
import functools

import numpy as np
import pytest
from modes import MODES, TIERS, listed, run, tier

import lanewise as lw
import lanewise.compat.tf as tf
from lanewise.compat.tf.maps import PerElementWarning

NUMBERS = np.arange(1, 7, dtype=np.int32)


@pytest.fixture(params=TIERS)
def compiled(request):
    with tier(request.param):
        yield


def in_all_modes(test):
    """Run a test in every way there is."""
    return pytest.mark.usefixtures("compiled")(pytest.mark.parametrize("mode", MODES)(test))


@in_all_modes
def test_a_function_of_numbers(mode):
    result = run(mode, lambda x: tf.map_fn(lambda e: (e + 3) * 2, x), NUMBERS)
    assert listed(result) == [8, 10, 12, 14, 16, 18]


@pytest.mark.parametrize("kind", [tf.string, tf.float64, tf.int32])
@in_all_modes
def test_no_elements_have_the_type_that_is_declared(mode, kind):
    empty = np.zeros(0, np.float32)
    one = "" if kind == tf.string else 1
    result = run(mode, lambda x: tf.map_fn(lambda e: tf.constant(one, kind), x, dtype=kind), empty)
    assert np.asarray(result).dtype == kind.dtype
    assert np.shape(result) == (0,)


@in_all_modes
def test_sparse_rows_stay_as_they_are(mode):
    def same(values):
        sparse = tf.SparseTensor([[0, 0], [1, 1]], values, [2, 2])
        return tf.map_fn(lambda row: row, sparse)

    result = run(mode, same, np.array([5, 7], np.int32))
    assert listed(result.indices) == [[0, 0], [1, 1]]
    assert listed(result.values) == [5, 7]
    assert listed(result.dense_shape) == [2, 2]


@in_all_modes
def test_sparse_rows_are_as_large_as_the_largest(mode):
    def wider(values):
        sparse = tf.SparseTensor([[0, 0], [1, 2]], values, [2, 3])
        return tf.map_fn(
            lambda row: tf.SparseTensor(row.indices, row.values * 2, row.dense_shape + 1), sparse
        )

    result = run(mode, wider, np.array([5, 7], np.int32))
    dense = tf.sparse.to_dense(tf.SparseTensor(result.indices, result.values, result.dense_shape))
    assert listed(dense) == [[10, 0, 0, 0], [0, 0, 14, 0]]


@in_all_modes
def test_rows_of_different_lengths(mode):
    spec = tf.RaggedTensorSpec(None, tf.int32, ragged_rank=0)

    def plus_one(x):
        result = tf.map_fn(lambda row: row + 1, x, fn_output_signature=spec)
        assert result.shape.as_list()[1:] == [None]
        return result

    result = run(mode, plus_one, tf.ragged.constant([[1, 2, 3], [4, 5]]))
    assert listed(result) == [[2, 3, 4], [5, 6]]
    assert result.shape.as_list() == [2, None]


def test_variables_are_read():
    x = tf.Variable([1, 2, 3])
    assert listed(tf.map_fn(lambda e: e + x[0], x)) == [2, 3, 4]
    x.assign([10, 20, 30])
    assert listed(tf.map_fn(lambda e: e + x[0], x)) == [20, 30, 40]
    assert listed(tf.function(lambda: tf.map_fn(lambda e: e + x[0], x))()) == [20, 30, 40]
    with tf.compat.v1.Session() as session, tf.Graph().as_default():
        assert listed(session.run(tf.map_fn(lambda e: e + x[0], x))) == [20, 30, 40]


@pytest.mark.parametrize("elems", [[1, 2, 3], 4, [np.float32(1)]])
def test_scalars_are_refused(elems):
    with pytest.raises(ValueError, match=r"elems are scalars; got .*, expected a tensor"):
        tf.map_fn(lambda e: e, elems)
    with pytest.raises(ValueError, match=r"elems are scalars; got .*, expected a tensor"):
        tf.function(lambda: tf.map_fn(lambda e: e, elems))()


def test_a_variable_that_the_function_makes_is_there_once():
    def scaled(e):
        with tf.compat.v1.variable_scope("scaling", reuse=tf.compat.v1.AUTO_REUSE):
            return tf.compat.v1.get_variable("factor", initializer=3) * e

    with tf.Graph().as_default(), tf.compat.v1.Session() as session:
        x = tf.compat.v1.placeholder(tf.int32, [None])
        with tf.compat.v1.variable_scope("root"):
            first = tf.map_fn(scaled, x)
        made = [variable.name for variable in tf.compat.v1.global_variables()]
        assert made == ["root/scaling/factor:0"]
        with tf.compat.v1.variable_scope("root", reuse=True):
            second = tf.map_fn(scaled, x)
        assert len(tf.compat.v1.global_variables()) == 1
        session.run(tf.compat.v1.global_variables_initializer())
        results = session.run([first, second], {x: [1, 2]})
    assert listed(results) == [[3, 6], [3, 6]]


@in_all_modes
def test_numbers_and_variables_from_outside(mode):
    factor = tf.Variable(2.0)
    number = 0.5
    result = run(
        mode, lambda x: tf.map_fn(lambda e: factor * e * e + number, x), np.float32([1, 2, 3])
    )
    assert listed(result) == [2.5, 8.5, 18.5]


def test_arrays_of_numpy_are_tensors():
    assert listed(tf.map_fn(lambda e: (e + 3) * 2, NUMBERS)) == [8, 10, 12, 14, 16, 18]
    assert tf.map_fn(lambda e: e / 2, np.arange(3.0)).dtype == tf.float64


@pytest.mark.parametrize("dtype", [(tf.int64, tf.int64), None])
@in_all_modes
def test_one_argument_and_two_results(mode, dtype):
    numbers = NUMBERS.astype(np.int64)
    result = run(
        mode, lambda x: tf.map_fn(lambda e: ((e + 3) * 2, -(e + 3) * 2), x, dtype), numbers
    )
    assert isinstance(result, tuple)
    assert listed(result) == ([8, 10, 12, 14, 16, 18], [-8, -10, -12, -14, -16, -18])
    assert [np.shape(part) for part in result] == [(6,), (6,)]


@in_all_modes
def test_another_structure_than_declared_is_an_error(mode):
    with pytest.raises(TypeError, match=r"another nested structure .* got tuple.* expected list"):
        run(
            mode,
            lambda x: tf.map_fn(lambda e: ((e + 3) * 2, -e), x, dtype=[tf.int32, tf.int32]),
            NUMBERS,
        )


@pytest.mark.parametrize("dtype", [tf.int32, None])
@in_all_modes
def test_nested_arguments_and_one_result(mode, dtype):
    result = run(
        mode,
        lambda x: tf.map_fn(lambda e: e[0] * e[1][0] * e[1][1], (x, (x, -x)), dtype=dtype),
        NUMBERS,
    )
    assert listed(result) == (-(NUMBERS**3)).tolist()


@in_all_modes
def test_nested_arguments_and_nested_results(mode):
    result = run(
        mode, lambda x: tf.map_fn(lambda e: (e[1], (e[0][0], e[0][1])), ((x, -x), x)), NUMBERS
    )
    values = NUMBERS.tolist()
    negatives = [-value for value in values]
    assert listed(result) == (values, (values, negatives))


Pair = collections.namedtuple("Pair", ["first", "second"])


@in_all_modes
def test_all_containers_go_in_and_out(mode):
    def change(e):
        return {"pair": Pair(e["a"].second, e["a"].first), "list": [e["b"][0] + 1]}

    result = run(mode, lambda x: tf.map_fn(change, {"a": Pair(x, -x), "b": [x * 2]}), NUMBERS[:2])
    assert isinstance(result["pair"], Pair)
    assert listed(result) == {"pair": Pair([-1, -2], [1, 2]), "list": [[3, 5]]}


@in_all_modes
def test_conditions_on_tensors_in_a_function_that_is_mapped(mode):
    def choose(x):
        condition = tf.constant(-1)
        if condition == 0:
            result = x
        elif x < 0:
            result = -x
        else:
            result = x * 2
        if x > 3:
            result = -result
        return result

    result = run(mode, lambda x: tf.map_fn(choose, x), NUMBERS)
    assert listed(result) == [2, 4, 6, -8, -10, -12]
    indirect = run(mode, lambda x: tf.map_fn(tf.function(choose), x), NUMBERS)
    assert listed(indirect) == listed(result)


@in_all_modes
def test_the_shape_that_is_known_is_the_shape_there_is(mode):
    seen = []

    def shaped(x):
        result = tf.map_fn(lambda e: tf.reshape(e, [2, 1]), x)
        seen.append(result.shape)
        return result

    result = run(mode, shaped, np.ones((3, 2), np.float32))
    assert np.shape(result) == (3, 2, 1)
    assert seen[0].as_list() == [3 if mode == "eager" else None, 2, 1]
    with tf.Graph().as_default():
        x = tf.compat.v1.placeholder(tf.float32, [5, 2])
        assert tf.map_fn(lambda e: e[0] * 2, x).shape.as_list() == [5]


def test_of_an_unknown_rank_the_result_has_an_unknown_rank():
    with tf.Graph().as_default(), tf.compat.v1.Session() as session:
        x = tf.compat.v1.placeholder(tf.float32)
        y = tf.map_fn(lambda e: e, x)
        assert y.get_shape().dims is None
        assert listed(session.run(y, {x: [[1.0, 2.0]]})) == [[1.0, 2.0]]
        assert listed(session.run(y, {x: [3.0]})) == [3.0]


@in_all_modes
def test_no_elements_of_a_function_that_returns_a_number(mode):
    result = run(mode, lambda x: tf.map_fn(lambda e: 1, x), np.zeros(0, np.int32))
    assert np.shape(result) == (0,)
    assert np.asarray(result).dtype == np.int32


@in_all_modes
def test_no_elements_of_a_function_that_returns_a_matrix(mode):
    result = run(mode, lambda x: tf.map_fn(lambda e: tf.zeros([3, 2]), x), np.zeros(0, np.int32))
    assert np.shape(result) == (0, 3, 2)
    result = run(
        mode, lambda x: tf.map_fn(lambda e: e[None] * 2.0, x), np.zeros((0, 4), np.float32)
    )
    assert np.shape(result) == (0, 1, 4)


@pytest.mark.parametrize("elems", [[], (), {}, {"a": []}])
def test_nothing_to_map_over_is_an_error(elems):
    with pytest.raises(ValueError, match=r"map_fn: nothing to map over; got .*, expected a tensor"):
        tf.map_fn(lambda e: e, elems)


# --- every argument of the signature ---


@in_all_modes
def test_options_that_change_nothing_are_taken(mode):
    def mapped(x):
        return tf.map_fn(
            lambda e: e * 2,
            x,
            dtype=tf.int32,
            parallel_iterations=4,
            back_prop=False,
            swap_memory=True,
            infer_shape=False,
            name="doubled",
        )

    assert listed(run(mode, mapped, NUMBERS)) == (NUMBERS * 2).tolist()


@pytest.mark.parametrize("count", [0, 1, 10, None])
def test_any_number_of_parallel_iterations_gives_the_same(count):
    result = tf.map_fn(lambda e: e * 2, NUMBERS, parallel_iterations=count)
    assert listed(result) == (NUMBERS * 2).tolist()


@pytest.mark.parametrize(
    ("call", "kind", "words"),
    [
        (
            lambda: tf.map_fn(3, NUMBERS),
            TypeError,
            "map_fn: fn is not a function; got int, expected a callable.",
        ),
        (
            lambda: tf.map_fn(abs, NUMBERS, parallel_iterations=-1),
            TypeError,
            "map_fn: parallel_iterations is below 0; got -1, expected a count.",
        ),
        (
            lambda: tf.map_fn(lambda e: e[0] + e[1], (NUMBERS, NUMBERS[1:])),
            ValueError,
            "map_fn: tensors disagree on the first size; got 6, 5, expected one size.",
        ),
        (
            lambda: tf.map_fn(lambda e: e, NUMBERS, dtype=tf.float32),
            TypeError,
            "map_fn: the function returns another type than fn_output_signature says; got int32, "
            "expected float32. Leave the signature out, or convert with tf.cast.",
        ),
        (
            lambda: tf.map_fn(
                lambda e: e, NUMBERS, fn_output_signature=tf.TensorSpec([2], tf.int32)
            ),
            ValueError,
            "map_fn: the function returns another shape than fn_output_signature says; got (), "
            "expected (2,).",
        ),
        (
            lambda: tf.map_fn(
                lambda e: e, NUMBERS, fn_output_signature=tf.SparseTensorSpec([2], tf.int32)
            ),
            ValueError,
            "returned another kind; got a tensor of shape (6,) of all elements, expected "
            "SparseTensorSpec",
        ),
    ],
)
def test_what_is_wrong_is_said(call, kind, words):
    with pytest.raises(kind) as caught:
        call()
    assert words in str(caught.value)


@pytest.mark.parametrize(
    "spec",
    [
        tf.int32,
        "int32",
        np.int32,
        tf.TensorSpec([], tf.int32),
        tf.TensorSpec(None, tf.int32),
    ],
)
def test_types_are_declared_in_many_ways(spec):
    assert listed(tf.map_fn(lambda e: e + 1, NUMBERS[:2], fn_output_signature=spec)) == [2, 3]


# --- functions of all kinds ---


class Scaled:
    def __init__(self, factor):
        self.factor = factor

    def __call__(self, e):
        return e * self.factor

    def plus(self, e):
        return e + self.factor


@pytest.mark.parametrize(
    ("fn", "expected"),
    [
        (Scaled(3), [3, 6]),
        (Scaled(3).plus, [4, 5]),
        (functools.partial(lambda a, e: a - e, 10), [9, 8]),
        (tf.function(lambda e: e * 5), [5, 10]),
        (tf.square, [1, 4]),
        (abs, [1, 2]),
    ],
    ids=["object", "method", "partial", "function", "tensorflow", "builtin"],
)
@in_all_modes
def test_all_kinds_of_functions_are_mapped(mode, fn, expected):
    assert listed(run(mode, lambda x: tf.map_fn(fn, x), NUMBERS[:2])) == expected


@in_all_modes
def test_maps_in_maps(mode):
    table = np.arange(6, dtype=np.float32).reshape(2, 3)
    result = run(
        mode, lambda x: tf.map_fn(lambda row: tf.map_fn(lambda e: e * row[0] + 1, row), x), table
    )
    np.testing.assert_array_equal(np.asarray(result), table * table[:, :1] + 1)


@in_all_modes
def test_a_function_that_cannot_be_recorded_is_called_for_each_element(mode):
    def digits(e):
        return len(str(int(e)))

    with pytest.warns(PerElementWarning, match="map_fn: runs one element after the other"):
        result = run(mode, lambda x: tf.map_fn(digits, x), np.array([5, 50, 500], np.int32))
    assert listed(result) == [1, 2, 3]


@in_all_modes
def test_texts_are_mapped_one_by_one(mode):
    words = np.array([b"a", b"bcd"], object)
    result = run(mode, lambda x: tf.map_fn(tf.strings.length, x, dtype=tf.int32), words)
    assert listed(result) == [1, 3]


def test_an_error_of_an_element_names_it_and_the_line():
    with pytest.raises(
        tf.errors.InvalidArgumentError, match=r"element 2 .* by zero .*test_map_fn\.py"
    ):
        tf.map_fn(lambda e: 10 // e, np.array([1, 2, 0, 4], np.int32))


@pytest.mark.filterwarnings("ignore::lanewise.compat.tf.maps.PerElementWarning")
@pytest.mark.parametrize(
    ("fn", "kind", "words"),
    [
        (
            lambda e: tf.zeros([2]) if e.numpy() == b"a" else tf.zeros([]),
            ValueError,
            "map_fn: results of elements have different ranks; got (2,) and others, expected one",
        ),
        (
            lambda e: e if e.numpy() == b"a" else (e, e),
            TypeError,
            "map_fn: results of elements are nested differently; got a tensor and others, expected",
        ),
    ],
)
def test_results_that_do_not_fit_together_are_refused(fn, kind, words):
    with pytest.raises(kind) as caught:
        tf.map_fn(fn, tf.constant(["a", "b"]))
    assert words in str(caught.value)


def test_functions_of_nothing_else_are_mapped_again_and_over_other_types():
    def square(x):
        return x**2

    for _ in range(3):
        for values in ([1.0, 2.0], [1, 2, 3], [[1.0, 2.0]], np.array([3.0])):
            tensor = tf.constant(values)
            result = tf.map_fn(square, tensor)
            assert result.dtype == tensor.dtype
            assert listed(result) == (np.asarray(values) ** 2).tolist()


@pytest.mark.parametrize("call", range(2))
def test_functions_of_nothing_else_may_return_anything(call):
    x = tf.constant([1.0, -2.0])
    assert listed(tf.map_fn(lambda e: (e, e + 1), x)) == ([1.0, -2.0], [2.0, -1.0])
    assert listed(tf.map_fn(lambda e: 3, x)) == [3, 3]
    assert listed(tf.map_fn(lambda e: e if e > 0 else -e, x)) == [1.0, 2.0]


def test_a_first_map_looks_at_the_options_that_hold():
    x = tf.constant([1.0, 2.0])
    seen = []
    lw.config.progress = lambda progress: seen.append(progress.done)
    try:
        assert listed(tf.map_fn(lambda e: e * 3, x)) == [3.0, 6.0]
    finally:
        del lw.config.progress
    assert seen[-1] == 2


def test_matrices_of_variables_are_a_part_of_the_program(recwarn):
    v = tf.Variable([[2.0, 0.0], [0.0, 3.0]])
    x = tf.constant([[1.0, 1.0], [2.0, 1.0]])
    result = tf.map_fn(lambda row: tf.reshape(row, (1, 2)) @ v, x)
    assert listed(result) == [[[2.0, 3.0]], [[4.0, 3.0]]]
    assert not recwarn
