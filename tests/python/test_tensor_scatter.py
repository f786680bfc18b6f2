"""Assignments by indices and masks, and what is looked up in sorted numbers, against NumPy."""

import numpy as np
import pytest
from tensor_samples import COUNT, check, numbers

import lanewise as lw

SIZES = [1, 7, 40]


def _set(x, i):
    y = np.zeros(x.size)
    y[i] = x
    return y


def _set_in_place(x, i):
    x = x + 0
    x[i] = x[::-1]
    return x


def _add(x, i):
    y = np.ones(x.size)
    y[i] += x
    return y


def _add_at(x, i):
    y = np.zeros(x.size, np.float32)
    np.add.at(y, i, x)
    return y


def _largest_at(x, i):
    y = np.zeros(x.size)
    np.maximum.at(y, i, x)
    return y


def _columns(x, i):
    y = np.zeros((3, x.size))
    y[1, i] = x
    y[:2, i] += 2
    y[[2, 0], -1] = 7
    return y


def _pairs(x, i):
    y = np.zeros((x.size, x.size))
    y[i, i[::-1]] = x
    return y


def _put(x, i):
    y = np.zeros((x.size, 2))
    np.put(y, i, x)
    np.put(y, i + 100, 3.0, mode="clip")
    np.put(y, i - 100, [1.0, 2.0], mode="wrap")
    return y


def _put_along(x, i):
    y = np.zeros((2, x.size))
    np.put_along_axis(y, np.stack([i, i[::-1]]), x, 1)
    return y


def _own_indices(x, i):
    i = i + 0
    i[i] = i + 1
    return i


def _in_a_loop(x, i):
    y = np.zeros(x.size)
    for k in range(3):
        if x[k % x.size] > 0:
            y[i] = x * k
    return y


SCATTERED = [
    *(_set, _set_in_place, _add, _add_at, _largest_at, _columns, _pairs, _put, _put_along),
    *(_own_indices, _in_a_loop),
]


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("function", SCATTERED, ids=lambda f: f.__name__)
def test_of_several_assignments_the_last_one_stays(function, size):
    indices = np.random.default_rng(size).integers(0, size, (COUNT, size)).astype(np.int32)
    check(function, numbers((COUNT, size)), indices)


def _mask(x):
    y = x * 2
    y[x > 0] = 1.5
    y[np.arange(x.size) % 2 == 0] = x[0]
    return y


def _mask_of_rows(x):
    y = np.stack([x, x * 2])
    y[y.sum(axis=1) > 0] = 0.25
    return y


def _mask_of_new(x):
    y = np.zeros(x.size, np.int64)
    y[x > 0] = 3
    return y


@pytest.mark.parametrize("size", [2, 7, 40])
@pytest.mark.parametrize("function", [_mask, _mask_of_rows, _mask_of_new])
def test_masks(function, size):
    check(function, numbers((COUNT, size)))


@pytest.mark.parametrize(
    "function",
    [
        lambda x: x.sum(where=x > 0),
        lambda x: np.sum(x, initial=2.5),
        lambda x: np.prod(x, where=x > 1, initial=3.0),
        lambda x: x.max(where=x < 0, initial=-5.0),
        lambda x: np.min(x, initial=-1.0),
        lambda x: np.any(x > 0, where=x < 1),
        lambda x: np.all(x > 0, where=x > 0),
        lambda x: np.mean(x, where=x > -3),
        lambda x: np.sum(x.reshape(2, -1), axis=1, where=[[True], [False]]),
    ],
)
def test_reductions_of_some(function):
    check(function, numbers((COUNT, 12)), ulp=8)


BOUNDS = np.array([-1.5, -0.5, 0.0, 0.0, 1.0, 2.0])


@pytest.mark.parametrize(
    "function",
    [
        lambda x: np.searchsorted(BOUNDS, x),
        lambda x: np.searchsorted(BOUNDS, x, side="right"),
        lambda x: np.searchsorted(np.sort(x), x[:3]),
        lambda x: np.searchsorted(BOUNDS[:1], x[0]),
        lambda x: np.digitize(x, BOUNDS),
        lambda x: np.digitize(x, BOUNDS, right=True),
        lambda x: np.isin(np.round(x), [0, 1]),
        lambda x: np.isin(x, x[:2], invert=True),
        lambda x: np.histogram(x, bins=5, range=(-2.0, 2.0))[0],
        lambda x: np.histogram(x, bins=BOUNDS[[0, 1, 2, 4, 5]])[0],
        lambda x: np.histogram(x, 3, (-1, 1), weights=np.ones(12))[0],
        lambda x: np.bincount(np.abs(x).astype(np.int32), minlength=10),
        lambda x: np.bincount(np.arange(12) // 3, weights=x, minlength=6),
        lambda x: np.partition(x, 3)[3],
        lambda x: np.append(x, [1.0, x[0]]),
        lambda x: np.append(x.reshape(3, 4), x[:4].reshape(1, 4), axis=0),
        lambda x: np.insert(x, 2, 7.0),
        lambda x: np.insert(x.reshape(3, 4), -1, x[:3], axis=1),
        lambda x: np.delete(x, [0, -1]),
        lambda x: np.delete(x.reshape(3, 4), 1, axis=1),
    ],
)
def test_looked_up_exactly(function):
    check(function, numbers((COUNT, 12)))


@pytest.mark.parametrize(
    "function",
    [
        lambda x: np.interp(x, BOUNDS[[0, 1, 2, 4, 5]], np.array([3.0, 1.0, 4.0, 1.0, 5.0])),
        lambda x: np.interp(0.3, np.linspace(-1, 1, 12), x),
        lambda x: np.interp(x, [0.0, 1.0], [2.0, 3.0], left=-1.0, right=9.0),
        lambda x: np.interp(x, [0.5], [2.0]),
        lambda x: np.quantile(x, 0.3),
        lambda x: np.quantile(x.reshape(3, 4), [0.0, 0.5, 1.0], axis=1),
        lambda x: np.percentile(x, 75, keepdims=True),
        lambda x: np.trapezoid(x),
        lambda x: np.trapezoid(x.reshape(3, 4), np.array([0.0, 1.0, 3.0]), axis=0),
        lambda x: np.gradient(x),
        lambda x: np.gradient(x.reshape(3, 4), 0.5),
        lambda x: np.cov(x.reshape(2, 6)),
        lambda x: np.cov(x, ddof=0),
        lambda x: np.linalg.matrix_power(x[:9].reshape(3, 3), 5),
        lambda x: np.linalg.matrix_power(x[:4].reshape(2, 2) + 4 * np.eye(2), -2),
        lambda x: np.linalg.matrix_power(x[:4].reshape(2, 2), 0),
    ],
)
def test_looked_up_nearly(function):
    check(function, numbers((COUNT, 12)), rtol=1e-12)


def _message(function, *arguments):
    with pytest.raises((lw.UsageError, TypeError)) as caught:
        lw.map(function, *arguments)
    return str(caught.value)


def test_an_index_out_of_range_fails_its_element():
    indices = np.array([[0, 1], [1, 2]])
    with pytest.raises(lw.ElementError) as caught:
        lw.map(_set, np.ones((2, 2)), indices)
    assert caught.value.element == 1


def test_what_is_refused():
    x = np.ones((2, 4))
    outside = np.zeros(4)

    def change_outside(x):
        np.add.at(outside, np.argsort(x), x)
        return x

    def several_by_a_mask(x):
        x[x > 0] = x[:2]
        return x

    def another_mask(x):
        x[x[:3] > 0] = 1.0
        return x

    assert "np.add.at: changes an array from outside" in _message(change_outside, x)
    words = "index: several numbers by a mask; got the shape (2,)"
    assert words in _message(several_by_a_mask, x)
    assert "index: a mask of another shape; got (3,)" in _message(another_mask, x)
    assert np.array_equal(outside, np.zeros(4))


REFUSED = {
    "bincount: no number of bins": lambda x: np.bincount(x.astype(np.int32)),
    "histogram: the bounds of the bins are not known": lambda x: np.histogram(x)[0],
    "where: nothing may be selected": lambda x: x.max(where=x > 0),
    "digitize: bins descend": lambda x: np.digitize(x, [1.0, 0.0]),
    "searchsorted: no such side; got 'middle'": lambda x: np.searchsorted(x, 1.0, "middle"),
    "searchsorted: not a vector; got the shape (2, 2)": lambda x: np.searchsorted(
        x.reshape(2, 2), 1.0
    ),
    "interp: as many places as values are needed": lambda x: np.interp(x, x, x[:2]),
    "quantile: not a part; got 2": lambda x: np.quantile(x, 2),
    "gradient: distances of their own": lambda x: np.gradient(x, 1.0, 2.0),
    "gradient: another order at the ends; got 2": lambda x: np.gradient(x, edge_order=2),
    "gradient: too few numbers; got 1": lambda x: np.gradient(x[:1]),
    "cov: not a matrix; got the shape (1, 1, 4)": lambda x: np.cov(x[None, None]),
    "put: numbers that do not stand together": lambda x: np.put((x + 0).reshape(2, 2).T, x, x),
}


@pytest.mark.parametrize("message", REFUSED)
def test_what_is_refused_of_functions(message):
    assert message in _message(REFUSED[message], np.ones((2, 4)))


def test_an_insertion_out_of_range_is_refused():
    with pytest.raises(IndexError, match="insert: out of range; got 9, expected 0 to 4"):
        lw.map(lambda x: np.insert(x, 9, 0.0), np.ones((2, 4)))
