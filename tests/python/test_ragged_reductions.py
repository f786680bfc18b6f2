"""Reductions of rows of different lengths: the documented order, bit for bit, in every way."""

import numpy as np
import pytest
from ragged_samples import bits, combined, ragged, uneven

import lanewise as lw

LENGTHS = [*range(140), 191, 192, 193, 500, 1000]
WAYS = [{"threads": threads, "compile": tier} for threads in (1, 2) for tier in ("now", "never")]


def least(a, b):
    return a if a < b or np.isnan(a) else b


def greatest(a, b):
    return a if a > b or np.isnan(a) else b


def in_every_way(function, rows, expected):
    for way in WAYS:
        found = lw.map(function, rows, **way)
        assert bits(found) == bits(expected), way


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_sums_have_the_documented_order(dtype):
    rows = ragged(LENGTHS, dtype)
    expected = [combined(row, lambda a, b: a + b) if len(row) else dtype(0) for row in rows]
    in_every_way(lambda row: row.sum(), rows, np.array(expected, dtype))


def test_sums_of_sorted_rows_have_the_documented_order():
    rows = ragged(uneven(3000), np.float32)
    expected = [combined(row, lambda a, b: a + b) if len(row) else np.float32(0) for row in rows]
    in_every_way(lambda row: np.sum(row), rows, np.array(expected, np.float32))


def test_sums_of_few_bits_are_computed_in_more():
    rows = ragged(LENGTHS, np.float16)
    expected = [
        combined(row.astype(np.float32), lambda a, b: a + b) if len(row) else 0.0 for row in rows
    ]
    in_every_way(lambda row: row.sum(), rows, np.array(expected, np.float32).astype(np.float16))


def test_products_have_the_documented_order():
    rows = ragged([n for n in LENGTHS if n < 80], np.float64)
    rows = lw.Ragged(1 + rows.values % 0.125, rows.offsets)
    expected = [combined(row, lambda a, b: a * b) if len(row) else 1.0 for row in rows]
    in_every_way(lambda row: row.prod(), rows, np.array(expected))


@pytest.mark.parametrize(("name", "combine"), [("min", least), ("max", greatest)])
def test_extremes_keep_the_sign_of_zero_and_nan(name, combine):
    rng = np.random.default_rng(1)
    rows = ragged([n for n in LENGTHS if n], np.float32)
    values = rng.choice(np.array([0.0, -0.0], np.float32), len(rows.values))
    values[rng.integers(0, len(values), 4)] = np.nan
    rows = lw.Ragged(values, rows.offsets)
    expected = np.array([combined(row, combine) for row in rows], np.float32)
    assert {-0.0, 0.0} & set(expected[~np.isnan(expected)].tolist())
    assert np.signbit(expected).any()
    assert not np.signbit(expected).all()
    in_every_way(lambda row: getattr(np, name)(row), rows, expected)


@pytest.mark.parametrize("dtype", [np.int8, np.uint8, np.int32, np.uint64, np.bool_])
def test_integers_are_as_numpy_has_them(dtype):
    rows = ragged([n for n in LENGTHS if n], dtype)
    for name in ("sum", "prod", "min", "max", "argmin", "argmax", "any", "all"):
        function = getattr(np, name)
        expected = np.array([function(row) for row in rows])
        found = lw.map(lambda row: function(row), rows)  # noqa: B023
        assert found.dtype == expected.dtype, name
        assert found.tolist() == expected.tolist(), name


def test_rows_have_the_bits_of_tensors():
    for length in (1, 5, 8, 9, 63, 64, 65, 100, 200):
        rows = ragged([length] * 7, np.float32, length)
        matrix = rows.values.reshape(7, length)

        def several(row):
            return row.sum(), row.mean(), row.var(), row.std(), row.max(), lw.logsumexp(row)

        for a, b in zip(lw.map(several, rows), lw.map(several, matrix), strict=True):
            assert bits(a) == bits(b), length
        soft = lw.map(lambda row: lw.softmax(row), rows).values.reshape(7, length)
        assert bits(soft) == bits(lw.map(lambda row: lw.softmax(row), matrix))


def test_the_place_of_an_extreme_is_the_first_or_that_of_a_nan():
    rows = lw.Ragged.from_lists([[1.0, 3.0, 3.0, 1.0], [2.0, np.nan, np.nan, 1.0], [5.0]])
    assert lw.map(lambda row: row.argmin(), rows).tolist() == [0, 1, 0]
    assert lw.map(lambda row: np.argmax(row), rows).tolist() == [1, 1, 0]


def test_rows_without_values():
    rows = lw.Ragged.from_lists([[], [1.0], []])
    total, product, some, every = lw.map(
        lambda row: (row.sum(), row.prod(), row.any(), row.all()), rows
    )
    assert total.tolist() == [0.0, 1.0, 0.0]
    assert product.tolist() == [1.0, 1.0, 1.0]
    assert some.tolist() == [False, True, False]
    assert every.tolist() == [True, True, True]
    assert np.isnan(lw.map(lambda row: row.mean(), rows)[[0, 2]]).all()
    assert lw.map(lambda row: lw.logsumexp(row), rows).tolist() == [-np.inf, 1.0, -np.inf]


def test_moments_with_other_types_and_degrees_of_freedom():
    rows = ragged([3, 10, 70], np.float32)
    found = lw.map(lambda row: row.var(ddof=1), rows)
    np.testing.assert_allclose(found, [row.var(ddof=1) for row in rows], rtol=1e-4)
    assert lw.map(lambda row: row.mean(dtype=np.float64), rows).dtype == np.float64
    assert lw.map(lambda row: row.sum(dtype=np.float64), rows).dtype == np.float64
    assert lw.map(lambda row: np.mean(row), ragged([3], np.int32)).dtype == np.float64


def test_python_functions_go_from_left_to_right():
    rows = ragged([n for n in LENGTHS if n], np.float64)
    found = lw.map(lambda row: (sum(row), min(row), max(row)), rows)
    for function, array in zip((sum, min, max), found, strict=True):
        expected = [function(row.tolist()) for row in rows]
        assert array.tolist() == expected, function
    assert lw.map(lambda row: (any(row > 1), all(row > -1e9)), rows)[1].all()


def test_a_product_of_rows_is_a_chain_of_fma():
    rows = lw.Ragged.from_lists([[1.0, 2.0, 3.0], [], [4.0]])
    found = lw.map(lambda row: (np.dot(row, row), row @ (row + 1)), rows)
    assert found[0].tolist() == [14.0, 0.0, 16.0]
    assert found[1].tolist() == [20.0, 0.0, 20.0]
    whole = lw.Ragged.from_lists([[1, 2], [3]])
    assert lw.map(lambda row: row.dot(row), whole).tolist() == [5, 9]


def test_methods_of_ufuncs_reduce():
    rows = lw.Ragged.from_lists([[1.0, 2.0, 3.0], [4.0]])
    assert lw.map(lambda row: np.add.reduce(row), rows).tolist() == [6.0, 4.0]
    assert lw.map(lambda row: np.maximum.reduce(row), rows).tolist() == [3.0, 4.0]


def test_sizes_of_rows_are_asked_for_by_functions_too():
    rows = lw.Ragged.from_lists([[1.0, 2.0, 3.0], [], [4.0]])
    sizes = lw.map(lambda row: (np.size(row), np.shape(row)[0], np.ndim(row)), rows)
    assert [part.tolist() for part in sizes] == [[3, 0, 1], [3, 0, 1], [1, 1, 1]]
    sums = lw.map(lambda row: np.sum(row, axis=0, keepdims=False), rows)
    assert sums.tolist() == [6.0, 0.0, 4.0]
    with pytest.raises(lw.UsageError, match=r"np\.sum with keepdims=: not supported on rows"):
        lw.map(lambda row: np.sum(row, keepdims=True), rows)


def test_operators_of_rows_of_rows_are_refused():
    deep = lw.Ragged.from_lists([[[1.0], [2.0]], []])
    with pytest.raises(lw.UsageError, match="an operator on a row of rows: not supported on rows"):
        lw.map(lambda row: row + 1, deep)
