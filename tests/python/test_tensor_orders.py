"""The order in which sums and products are formed, bit for bit."""

import numpy as np
import pytest
from tensor_samples import numbers

import lanewise as lw


def combined(values, op):
    """Combine as the design says: 8 from left to right, more in 64 stripes."""
    count = 1 if len(values) <= 8 else 64
    stripes = []
    for place, value in enumerate(values):
        if place < count:
            stripes.append(value)
        else:
            stripes[place % count] = op(stripes[place % count], value)
    half = 32
    while half:
        for s in range(half):
            if s + half < len(stripes):
                stripes[s] = op(stripes[s], stripes[s + half])
        half //= 2
    return stripes[0]


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("size", [1, 2, 3, 7, 8, 9, 16, 63, 64, 65, 100, 300])
def test_sums_and_products(size, dtype):
    x = numbers((4, size), dtype)
    for compile in ("never", "now"):
        total, product = lw.map(lambda r: (r.sum(), r.prod()), x, compile=compile)
        np.testing.assert_array_equal(total, [combined(list(r), np.add) for r in x])
        np.testing.assert_array_equal(product, [combined(list(r), np.multiply) for r in x])


def test_terms_of_several_axes_are_counted_in_c_order():
    x = numbers((3, 5, 7))
    expected = [combined(list(m.ravel()), np.add) for m in x]
    np.testing.assert_array_equal(lw.map(lambda m: m.sum(), x), expected)
    turned = [combined(list(m.T.ravel()), np.add) for m in x]
    np.testing.assert_array_equal(lw.map(lambda m: m.T.sum(), x), turned)


def test_the_variance_takes_two_passes():
    x = numbers((4, 100))
    mean = [combined(list(r), np.add) / 100 for r in x]
    expected = [combined(list((r - m) ** 2), np.add) / 100 for r, m in zip(x, mean, strict=True)]
    np.testing.assert_array_equal(lw.map(lambda r: r.var(), x), expected)


@pytest.mark.parametrize("size", [3, 8, 9, 40])
def test_products_of_matrices_are_chains_of_fma(size):
    a, b = numbers((2, 2, size)), numbers((2, size, 3), seed=1)

    def chain(row, column):
        total = 0.0
        for x, y in zip(row, column, strict=True):
            total = lw.fma(float(x), float(y), total)
        return total

    expected = [[[chain(r, c) for c in n.T] for r in m] for m, n in zip(a, b, strict=True)]
    for compile in ("never", "now"):
        got = lw.map(lambda m, n: m @ n, a, b, compile=compile)
        np.testing.assert_array_equal(got, expected)


def test_scans_run_from_left_to_right():
    x = numbers((3, 100), np.float32)
    np.testing.assert_array_equal(lw.map(lambda r: np.cumsum(r), x), np.cumsum(x, axis=1))


def chains(a, b):
    """Multiply matrices, each result one chain of fma from the first term on."""
    total = np.zeros((a.shape[0], b.shape[1]), a.dtype)
    step = lw.vectorize(lambda x, y, t: lw.fma(x, y, t))
    for k in range(a.shape[1]):
        total = step(a[:, k, None], b[None, k, :], total)
    return total


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("outputs", [4, 11, 12, 13, 30])
@pytest.mark.parametrize("count", [1, 15, 33, 100])
@pytest.mark.parametrize("terms", [70, 200, 300])
def test_products_with_shared_tables_are_the_same_chains(terms, count, outputs, dtype):
    x, w = numbers((count, terms), dtype), numbers((terms, outputs), dtype, seed=1)
    expected = chains(x, w)
    turned = np.ascontiguousarray(w.T)
    for function in (lambda r: r @ w, lambda r: turned @ r):
        f = lw.vectorize(function, signature="(n)->(m)", compile="now")
        np.testing.assert_array_equal(f(x), expected)
        assert f.explain(x).schedule.startswith("batched")


def test_layers_of_a_network_keep_their_order():
    x = numbers((50, 100), np.float32)
    w1, w2 = numbers((100, 40), np.float32, seed=1), numbers((40, 10), np.float32, seed=2)
    bias = numbers((40,), np.float32, seed=3)

    def network(row):
        return np.tanh(np.maximum(row @ w1 + bias, 0) @ w2)

    hidden = np.maximum(chains(x, w1) + bias, np.float32(0))
    expected = lw.vectorize(np.tanh)(chains(hidden, w2))
    for compile in ("never", "now"):
        for threads in (1, 2):
            result = lw.map(network, x, compile=compile, threads=threads)
            np.testing.assert_array_equal(result, expected)
