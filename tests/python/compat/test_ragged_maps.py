"""Maps over rows of different lengths, and maps that give such: in every way to run them."""

import warnings
from typing import NamedTuple

import numpy as np
import pytest
from modes import MODES, TIERS, listed, rows, run, tier

import lanewise.compat.tf as tf
from lanewise.compat.tf.maps import PerElementWarning


class Case(NamedTuple):
    """A map, and what it gives."""

    name: str
    elems: object
    fn: object
    expected: object
    signature: object = None  # which may also be left out
    is_recorded: bool = True  # else the function is called for each row


def ragged_spec(rank, dtype=tf.int32):
    return tf.RaggedTensorSpec(None, dtype, ragged_rank=rank)


LISTS = [[1, 2, 3], [], [4, 5], [6]]
DEEP = [[[1, 2, 3], [4]], [], [[5], [], [6, 7]]]
FIVE = [[[[[1, 2], [3]], [[4]]]], [[[[5]]], [[[], [6, 7]]]]]
PAIRS = tf.ragged.constant([[[1, 2], [3, 4]], [], [[5, 6]]], ragged_rank=1)
TEXTS = tf.ragged.constant([["hello", "there"], ["merhaba"], ["in", "rows", "of", "texts"]])


def plus_one(value):
    return [plus_one(part) for part in value] if isinstance(value, list) else value + 1


CASES = [
    Case(
        "means of rows",
        rows([[1, 2, 3], [4, 5], [6, 7, 9]]),
        lambda row: tf.reduce_mean(row),
        [2, 4, 7],
        tf.int32,
    ),
    Case(
        "texts of rows joined",
        TEXTS,
        lambda row: tf.strings.reduce_join(row, separator=" "),
        [b"hello there", b"merhaba", b"in rows of texts"],
        tf.string,
    ),
    Case(
        "mean and sum of rows",
        rows([[1, 2, 3], [4, 5], [6, 7, 9]]),
        lambda row: tf.stack([tf.reduce_mean(row), tf.reduce_sum(row)]),
        [[2, 6], [4, 9], [7, 22]],
        tf.int32,
    ),
    Case("add one", rows(LISTS), lambda row: row + 1, plus_one(LISTS), ragged_spec(0)),
    Case(
        "add one to rows of pairs",
        PAIRS,
        lambda row: row + 1,
        plus_one(PAIRS.to_list()),
        ragged_spec(0),
        False,
    ),
    Case(
        "wrap rows",
        rows(LISTS),
        lambda row: tf.RaggedTensor.from_row_starts(row, [0]),
        [[row] for row in LISTS],
        ragged_spec(1),
        False,
    ),
    Case(
        "add one to rows of rows",
        rows(DEEP),
        lambda row: row + 1,
        plus_one(DEEP),
        ragged_spec(1),
        False,
    ),
    Case(
        "sums of inner rows",
        rows(DEEP),
        lambda row: tf.reduce_sum(row, axis=1),
        [[6, 4], [], [5, 0, 13]],
        ragged_spec(0),
        False,
    ),
    Case(
        "sums over inner rows",
        rows([[[1, 2, 3], [4]], [[5, 6], [7, 8]]]),
        lambda row: tf.reduce_sum(row, axis=0),
        [[5, 2, 3], [12, 14]],
        ragged_spec(0),
        False,
    ),
    Case("sums of rows of rows", rows(DEEP), tf.reduce_sum, [10, 0, 18], tf.int32, False),
    Case(
        "ranges",
        np.array([4, 0, 2], np.int32),
        tf.range,
        [[0, 1, 2, 3], [], [0, 1]],
        ragged_spec(0),
    ),
    Case(
        "rows of ranges",
        np.array([2, 0, 1], np.int32),
        lambda n: tf.ragged.range(tf.range(n) + 1),
        [[[0], [0, 1]], [], [[0]]],
        ragged_spec(1),
        False,
    ),
    Case("five levels", rows(FIVE), lambda row: row + 1, plus_one(FIVE), ragged_spec(3), False),
]


def mapped(case, elems, signature):
    if isinstance(elems, np.ndarray):
        elems = tf.constant(elems)
    return tf.map_fn(case.fn, elems, fn_output_signature=signature)


@pytest.mark.parametrize("signed", [False, True], ids=["inferred", "declared"])
@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("compiled", TIERS)
def test_a_map_gives_the_rows_of_its_function(case, mode, compiled, signed):
    signature = case.signature if signed else None
    with tier(compiled), warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        result = run(mode, lambda elems: tf.map_fn(case.fn, elems, signature), case.elems)
    assert listed(result) == case.expected
    told = [one for one in caught if issubclass(one.category, PerElementWarning)]
    assert bool(told) is not case.is_recorded


@pytest.mark.parametrize("mode", MODES)
def test_no_rows_give_no_rows(mode):
    result = run(mode, lambda x: tf.map_fn(lambda row: row + 1, x), rows([[1]])[:0])
    assert result.shape.as_list() == [0, None]
    result = run(mode, lambda x: tf.map_fn(tf.reduce_sum, x), rows([[1]])[:0])
    assert np.shape(result) == (0,)


def test_no_elements_give_the_ranks_that_are_declared():
    none = tf.zeros([0], tf.int32)
    spec = tf.RaggedTensorSpec([None, None], tf.string, ragged_rank=1)
    result = tf.map_fn(lambda x: tf.ragged.constant([["a"]]), none, fn_output_signature=spec)
    assert result.ragged_rank == 2
    assert result.shape.as_list() == [0, None, None]
    assert result.dtype == tf.string


@pytest.mark.parametrize("mode", MODES)
def test_rows_in_dicts_are_added_up(mode):
    def sums(first, second):
        elems = {"first": first, "second": second}
        return tf.map_fn(
            lambda e: tf.reduce_sum(e["first"]) + tf.reduce_sum(e["second"]),
            elems,
            fn_output_signature=tf.int32,
        )

    result = run(mode, sums, rows([[1, 2], [], [3]]), rows([[10], [20, 30], []]))
    assert listed(result) == [13, 50, 3]


@pytest.mark.parametrize("mode", MODES)
def test_rows_in_dicts_become_rows_in_dicts(mode):
    def changed(first, second):
        spec = {"one": ragged_spec(0), "two": ragged_spec(0)}
        return tf.map_fn(
            lambda e: {"one": e["first"] + 1, "two": e["second"] * 2},
            {"first": first, "second": second},
            fn_output_signature=spec,
        )

    result = run(mode, changed, rows([[1, 2], [], [3]]), rows([[10], [20, 30], []]))
    assert listed(result) == {"one": [[2, 3], [], [4]], "two": [[20], [40, 60], []]}


@pytest.mark.parametrize("mode", MODES)
def test_a_column_is_zipped_with_rows(mode):
    def zipped(column, row_values):
        def both(pair):
            one, row = pair
            return tf.stack([tf.tile(one, tf.shape(row)), row], axis=1)

        with warnings.catch_warnings():
            warnings.simplefilter("ignore", PerElementWarning)
            return tf.map_fn(both, (column, row_values), fn_output_signature=ragged_spec(0))

    column = np.array([[7], [8], [9]], np.int32)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", PerElementWarning)
        result = run(mode, zipped, column, rows([[1, 2], [], [3]]))
    assert listed(result) == [[[7, 1], [7, 2]], [], [[9, 3]]]
    assert result.ragged_rank == 1


@pytest.mark.parametrize("mode", MODES)
def test_texts_are_gathered_by_rows_of_indices(mode):
    tokens = tf.ragged.constant([["hello", "there"], ["merhaba"], ["bonjour", "ca", "va"]])
    result = run(
        mode,
        lambda words, at: tf.map_fn(
            lambda pair: tf.gather(pair[0], pair[1]),
            (words, at),
            fn_output_signature=ragged_spec(0, tf.string),
        ),
        tokens,
        rows([[0, 1], [0], [0, 2]]),
    )
    assert listed(result) == [[b"hello", b"there"], [b"merhaba"], [b"bonjour", b"va"]]


@pytest.mark.filterwarnings("ignore::lanewise.compat.tf.maps.PerElementWarning")
@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize(
    ("lists", "fn"),
    [
        (DEEP, lambda row: tf.reduce_sum(row, axis=0)),
        (LISTS, lambda row: tf.RaggedTensor.from_row_starts(row, [0])),
    ],
)
def test_another_ragged_rank_than_declared_is_an_error(mode, lists, fn):
    with pytest.raises(
        ValueError, match=r"expected the function to return .* but it returned"
    ) as e:
        run(mode, lambda x: tf.map_fn(fn, x, fn_output_signature=ragged_spec(10)), rows(lists))
    assert "ragged_rank" in str(e.value)
    assert "Leave the signature out: it is not needed." in str(e.value)


@pytest.mark.parametrize("mode", MODES)
def test_rows_of_a_sparse_tensor(mode):
    sparse = tf.SparseTensor([[0, 0], [0, 1], [1, 0]], [1, 2, 3], [2, 2])

    def same(values):
        ragged = tf.RaggedTensor.from_sparse(tf.SparseTensor(sparse.indices, values, [2, 2]))
        return tf.map_fn(lambda row: row, ragged, fn_output_signature=ragged_spec(0))

    assert listed(run(mode, same, sparse.values)) == [[1, 2], [3]]


@pytest.mark.filterwarnings("ignore::lanewise.compat.tf.maps.PerElementWarning")
@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("signed", [False, True], ids=["inferred", "declared"])
def test_maps_over_rows_in_maps_over_rows_give_what_they_should(mode, signed):
    one = tf.RaggedTensorSpec([None], tf.int32) if signed else None
    two = tf.RaggedTensorSpec([None, None], tf.int32) if signed else None

    def nested(x):
        inner = lambda row: tf.map_fn(lambda y: row, row, fn_output_signature=one)  # noqa: E731
        return tf.map_fn(inner, x, fn_output_signature=two)

    result = run(mode, nested, rows([[1, 2, 3, 4], [1]]))
    assert listed(result) == [[[1, 2, 3, 4]] * 4, [[1]]]


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("compiled", TIERS)
def test_what_a_function_does_with_a_row(mode, compiled):
    def all_of_it(row):
        total = 0
        for value in row:
            if value % 2 == 0:
                total += value
        last = -1
        if tf.size(row) > 1:
            last = row[-1]
        return total, last, tf.shape(row)[0], tf.reduce_max(row * 2), row[1:] - row[:-1]

    with tier(compiled):
        result = run(mode, lambda x: tf.map_fn(all_of_it, x), rows([[1, 2, 4], [], [7], [3, 8]]))
    assert listed(result) == (
        [6, 0, 0, 8],
        [4, -1, -1, 8],
        [3, 0, 1, 2],
        [8, -(2**31), 14, 16],
        [[1, 2], [], [], [5]],
    )


def test_functions_of_numbers_are_mapped_over_rows_that_are_recorded():
    result = tf.map_fn(lambda row: tf.map_fn(lambda v: v * v + 1, row), rows(LISTS))
    assert result.to_list() == [[v * v + 1 for v in row] for row in LISTS]


def test_vectorized_maps_take_rows_too():
    result = tf.vectorized_map(
        lambda e: tf.reduce_sum(e[0]) * e[1], (rows(LISTS), tf.constant([10]))
    )
    assert result.numpy().tolist() == [60, 0, 90, 60]


def test_ranges_are_rows_in_everything_that_rows_do():
    counts = tf.constant([3, 0, 2])
    scaled = tf.map_fn(lambda n: tf.cast(tf.range(n) * n + 1, tf.float32) / 2, counts)
    assert scaled.to_list() == [[0.5, 2.0, 3.5], [], [0.5, 1.5]]
    assert tf.map_fn(lambda n: tf.range(n)[::-1], counts).to_list() == [[2, 1, 0], [], [1, 0]]
    assert tf.map_fn(lambda n: tf.range(n, 5, 2), counts).to_list() == [[3], [0, 2, 4], [2, 4]]
    assert tf.map_fn(lambda n: tf.reduce_sum(tf.range(n)), counts).numpy().tolist() == [3, 0, 1]
    both = tf.map_fn(lambda n: (tf.range(n), -n), counts)
    assert (both[0].to_list(), both[1].numpy().tolist()) == ([[0, 1, 2], [], [0, 1]], [-3, 0, -2])
    many = np.arange(50_000) % 5
    result = tf.map_fn(tf.range, tf.constant(many))
    np.testing.assert_array_equal(
        result.values.numpy(), np.concatenate([np.arange(n) for n in many])
    )


def test_ranges_that_are_one_for_all_are_tensors():
    count = 3
    result = tf.map_fn(lambda x: x * tf.range(count), tf.constant([1, 2]))
    assert result.numpy().tolist() == [[0, 1, 2], [0, 2, 4]]


def test_rows_of_one_length_are_a_tensor_where_that_is_declared():
    result = tf.map_fn(tf.range, tf.constant([2, 2]), fn_output_signature=tf.int32)
    assert result.numpy().tolist() == [[0, 1], [0, 1]]
    ragged = tf.map_fn(lambda x: x + 1, tf.constant([[1, 2], [3, 4]]), dtype=ragged_spec(0))
    assert isinstance(ragged, tf.RaggedTensor)
    assert ragged.to_list() == [[2, 3], [4, 5]]


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (
            lambda: tf.map_fn(tf.range, tf.constant([2, 1]), fn_output_signature=tf.int32),
            "map_fn: expected the function to return what fn_output_signature says, but it "
            "returned another kind; got a RaggedTensor of shape (2, None) with ragged_rank 1 of "
            "all "
            "elements, expected tf.int32. Leave the signature out: it is not needed.",
        ),
        (
            lambda: tf.map_fn(tf.reduce_sum, rows(LISTS), fn_output_signature=ragged_spec(0)),
            "got a tensor of shape (4,) of all elements, expected a RaggedTensor with ragged_rank",
        ),
        (
            lambda: tf.map_fn(
                lambda x: x, rows(LISTS), fn_output_signature=ragged_spec(0, tf.int64)
            ),
            "another type than fn_output_signature says; got int32, expected int64.",
        ),
        (
            lambda: tf.map_fn(lambda x: x[0] + x[1][0], (rows(LISTS), tf.constant([1, 2]))),
            "map_fn: tensors disagree on the first size; got 4, 2, expected one size.",
        ),
        (
            lambda: tf.map_fn(lambda row: row[0], rows(LISTS)),
            "index out of range",
        ),
        (
            lambda: tf.vectorized_map(
                lambda row: row + 1, rows(DEEP), fallback_to_while_loop=False
            ),
            "an operator on a row of rows: not supported on rows of different lengths",
        ),
        (
            lambda: tf.vectorized_map(lambda row: row + 1, PAIRS, fallback_to_while_loop=False),
            "vectorized_map: elements that are not recorded; got texts, or rows of others than "
            "numbers, expected tensors and rows of numbers. Leave fallback_to_while_loop out.",
        ),
    ],
)
def test_what_a_map_over_rows_cannot_do_is_said(call, words):
    with pytest.raises((ValueError, TypeError, tf.errors.InvalidArgumentError)) as caught:
        call()
    assert words in str(caught.value)


def test_a_ragged_tensor_from_outside_is_named():
    outside = rows([[1], [2, 3]])
    with pytest.warns(PerElementWarning, match="a RaggedTensor from outside of the function"):
        result = tf.map_fn(lambda x: tf.reduce_sum(outside + x), tf.constant([1, 2]))
    assert result.numpy().tolist() == [9, 12]


@pytest.mark.filterwarnings("error")
def test_arguments_without_rows_are_not_touched_by_rows_from_outside():
    outside = rows([[1], [2, 3]])
    result = tf.map_fn(lambda x: x + outside.ragged_rank, tf.constant([1, 2]))
    assert result.numpy().tolist() == [2, 3]


@pytest.mark.filterwarnings("ignore::lanewise.compat.tf.maps.PerElementWarning")
@pytest.mark.parametrize(("lists", "rank"), [(LISTS, 1), (DEEP, 2)])
def test_rows_are_fed_and_fetched(lists, rank):
    with tf.Graph().as_default(), tf.compat.v1.Session() as session:
        x = tf.compat.v1.ragged.placeholder(tf.int32, ragged_rank=rank)
        assert x.shape.as_list() == [None] * (rank + 1)
        y = tf.map_fn(lambda row: row + 1, x)
        found = session.run(y, {x: tf.compat.v1.ragged.constant_value(lists)})
        assert found.to_list() == plus_one(lists)
        assert session.run(y, {x: found}).to_list() == plus_one(plus_one(lists))
