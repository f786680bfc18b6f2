"""Random numbers in tensors and inner maps: the same on any schedule, and all of them others."""

import numpy as np
import pytest

import lanewise as lw

X = np.arange(300.0)
M = np.arange(300 * 12.0).reshape(300, 3, 4)
WAYS = [
    {"compile": "never", "threads": 1},
    {"compile": "never", "threads": 2},
    {"compile": "now", "threads": 1},
    {"compile": "now", "threads": 2},
]


def drawn(function, *arguments):
    """Return what a map gives, the same in every way."""
    first, *others = (lw.map(function, *arguments, seed=3, **way) for way in WAYS)
    for other in others:
        np.testing.assert_array_equal(other, first)
    changed = lw.map(function, *arguments, seed=4)
    assert (changed != first).mean() > 0.4
    return first


def all_differ(values):
    return len(np.unique(values)) == values.size


def test_a_tensor_of_draws():
    def of(shape):
        return lambda x: 0 * x + lw.random.normal(size=shape)

    for shape in (3, (3,), (2, 1), (20,), (5, 1, 4)):
        y = drawn(of(shape), X)
        assert y.shape == (300, *np.zeros(shape).shape)
        assert all_differ(y)
    y = drawn(lambda x: lw.random.normal(size=(10, 10)) + 0 * x, X)
    assert abs(y.mean()) < 0.03
    assert abs(y.std() - 1) < 0.03


def test_every_distribution():
    y = drawn(lambda x: lw.random.uniform(2, 4, size=30) + 0 * x, X)
    assert y.min() >= 2
    assert y.max() < 4
    y = drawn(lambda x: lw.random.exponential(2.0, np.float32, size=30).sum() + 0 * x, X)
    assert abs(y.mean() / 60 - 1) < 0.1
    y = lw.map(lambda x: lw.random.bits(size=4) & np.uint32(1), X)
    assert y.dtype == np.uint32
    assert abs(y.mean() - 0.5) < 0.1
    y = drawn(lambda x: lw.random.integers(1, 7, size=(2, 5)) + 0 * x, X)
    assert sorted(set(y.ravel().tolist())) == [1, 2, 3, 4, 5, 6]
    assert lw.map(lambda x: lw.random.normal(dtype=np.float32, size=2), X).dtype == np.float32


def test_parameters_that_are_tensors_give_the_shape():
    y = drawn(lambda m: lw.random.normal(m, 1e-3), M)
    assert all_differ(y - M)
    np.testing.assert_allclose(y, M, atol=0.01)
    y = drawn(lambda m: lw.random.integers(0, m.astype(int) + 1), M)
    assert (y <= M).all()
    y = drawn(lambda x: x + lw.random.uniform(np.zeros(3), [1.0, 2.0, 3.0]), X)
    assert ((y - X[:, None]) < [1, 2, 3]).all()


def test_draws_of_one_place_go_on():
    def f(x):
        first = lw.random.normal(size=3)
        total = np.zeros(3)
        for _ in range(3):
            total = total + lw.random.normal(size=3)
        return np.stack([first, total])

    assert all_differ(drawn(f, X))


def test_a_tensor_of_draws_is_the_loop_of_them():
    def loop(x):
        y = np.zeros(20)
        for i in range(20):
            y[i] = lw.random.normal()
        return y + 0 * x

    def whole(x):
        return lw.random.normal(size=20) + 0 * x

    np.testing.assert_array_equal(lw.map(whole, X, seed=1), lw.map(loop, X, seed=1))


def test_draws_in_an_inner_map():
    y = drawn(lambda m: lw.map(lambda r: r.sum() * 0 + lw.random.normal(), m), M)
    assert y.shape == (300, 3)
    assert all_differ(y)
    y = drawn(lambda m: lw.map(lambda r: r * 0 + lw.random.normal(size=4), m), M)
    assert all_differ(y)


def test_draws_in_two_inner_maps_one_in_the_other():
    y = drawn(lambda m: lw.map(lambda r: lw.map(lambda v: v * 0 + lw.random.uniform(), r), m), M)
    assert y.shape == M.shape
    assert all_differ(y)


def test_inner_maps_that_draw_beside_those_that_do_not():
    def f(m):
        noise = lw.map(lambda r: {"a": r.max() + lw.random.normal(), "b": (r * 2, 1)}, m)
        plain = lw.map(lambda r: r.sum(), m, in_axes=1)
        return noise["a"].sum() + plain.sum(), noise["b"][0], noise["b"][1]

    a, b, c = lw.map(f, M, seed=2)
    np.testing.assert_array_equal(b, M * 2)
    np.testing.assert_array_equal(c, np.ones((300, 3)))
    assert all_differ(a)


def test_branches_and_loops_in_an_inner_map_that_draws():
    def one(r):
        n = 0
        while lw.random.uniform() < 0.5 and n < 100:
            n += 1
        return n if r[0] >= 0 else -1

    y = drawn(lambda m: lw.map(one, m), M)
    assert abs(y.mean() - 1) < 0.2


def test_a_vectorized_function_that_draws_inside():
    @lw.vectorize
    def noisy(v):
        return v + lw.random.normal()

    y = drawn(lambda m: noisy(m), M)
    assert all_differ(y - M)


def test_draws_in_a_comprehension():
    y = drawn(lambda x: sum([lw.random.normal() for _ in range(4)]) + 0 * x, X)
    assert all_differ(y)
    y = drawn(lambda x: np.array([lw.random.normal() for _ in range(4)]) + 0 * x, X)
    assert all_differ(y)


def test_outside_of_a_function_they_come_from_numpy():
    assert lw.random.normal(size=(2, 3)).shape == (2, 3)
    assert lw.random.uniform(np.zeros(4)).shape == (4,)
    assert lw.random.exponential(size=2, dtype=np.float32).dtype == np.float32
    assert lw.random.bits(size=3).dtype == np.uint32
    assert lw.random.integers(3, size=4).max() < 3


def test_a_size_that_parameters_do_not_fit_is_refused():
    with pytest.raises(lw.UsageError, match=r"size: shapes do not broadcast; got \(4,\) and \(3,"):
        lw.map(lambda m: lw.random.integers(0, m[0].astype(int) + 1, size=3), M)
    with pytest.raises(lw.UsageError, match=r"multiply: shapes do not broadcast; got \(4,\) and"):
        lw.map(lambda m: lw.random.normal(0, m[0], size=3), M)
