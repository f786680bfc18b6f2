"""NumPy's functions on tensors: each gives what NumPy gives for every element by itself."""

import numpy as np
import pytest
from tensor_samples import COUNT, check, numbers

import lanewise as lw

SIZES = [1, 3, 8, 9, 64, 100]
COMPILED = (3, 9, 100)


def tiers(size):
    return ("never", "now") if size in COMPILED else ("never",)


# Exact ones: of one vector.
OF_VECTORS = {
    "negative": lambda x: -x,
    "scaled": lambda x: 2 * x + 1,
    "reversed difference": lambda x: 1 - x,
    "square": lambda x: x**2 - x * x * x,
    "compare": lambda x: (x > 0) & (x <= 1) | (x == 2) ^ (x != 3),
    "absolute": lambda x: abs(x) + np.sign(x),
    "floor": lambda x: np.floor(x) + np.ceil(x) + np.trunc(x) + np.rint(x),
    "divmod": lambda x: np.divmod(x, 3),
    "remainder": lambda x: x % 2 + x // 2,
    "where": lambda x: np.where(x > 0, x, -2 * x),
    "clip": lambda x: np.clip(x, -1, 1) + x.clip(0, 2),
    "minimum": lambda x: np.minimum(x, 0) + np.maximum(x, x[0]),
    "modf": lambda x: np.modf(x),
    "select": lambda x: np.select([x > 1, x > 0], [x, -x], 5.0),
    "sqrt": lambda x: np.sqrt(np.abs(x)),
    "isnan": lambda x: np.isnan(x) | np.isfinite(x),
    "nan to num": lambda x: np.nan_to_num(x),
    "heaviside": lambda x: np.heaviside(x, 0.5),
    "polyval": lambda x: np.polyval([1.0, -2.0, 3.0], x),
    "round": lambda x: x.round(1),
    "astype": lambda x: x.astype(np.int32) + x.astype(np.bool_),
    "max": lambda x: x.max(),
    "min": lambda x: np.min(x, keepdims=True),
    "argmax": lambda x: x.argmax(),
    "argmin": lambda x: np.argmin(x),
    "any": lambda x: (x > 1).any(),
    "all": lambda x: np.all(x > -1),
    "count": lambda x: np.count_nonzero(x),
    "ptp": lambda x: np.ptp(x),
    "maximum.reduce": lambda x: np.maximum.reduce(x),
    "cumsum": lambda x: x.cumsum(),
    "cumprod": lambda x: np.cumprod(x),
    "maximum.accumulate": lambda x: np.maximum.accumulate(x),
    "flip": lambda x: np.flip(x) + x[::-1],
    "slice": lambda x: x[::2] * 3,
    "negative slice": lambda x: x[-1::-2],
    "ellipsis": lambda x: x[..., None] * x[None, :],
    "repeat": lambda x: np.repeat(x, 3),
    "repeat by counts": lambda x: np.repeat(x, np.arange(len(x)) % 2 + 1),
    "tile": lambda x: np.tile(x, (2, 3)),
    "roll": lambda x: np.roll(x, 2) - np.roll(x, -1),
    "concatenate": lambda x: np.concatenate([x, x * 2, x[:1]]),
    "stack": lambda x: np.stack([x, -x], axis=1),
    "hstack": lambda x: np.hstack([x, x]),
    "vstack": lambda x: np.vstack([x, x + 1]),
    "column_stack": lambda x: np.column_stack([x, x + 1]),
    "pad": lambda x: np.pad(x, (2, 1)),
    "pad by constant": lambda x: np.pad(x, 1, constant_values=7),
    "pad by edge": lambda x: np.pad(x, (1, 2), mode="edge"),
    "take": lambda x: np.take(x, [0, -1, 0]),
    "take wrapped": lambda x: x.take(np.array([5, -7]), mode="wrap"),
    "gather": lambda x: x[np.argsort(x[:64], kind="stable")],
    "outer": lambda x: np.outer(x, x) + np.multiply.outer(x, x),
    "subtract.outer": lambda x: np.subtract.outer(x, x),
    "reshape": lambda x: x.reshape(-1, 1).reshape(1, -1).ravel(),
    "expand": lambda x: np.expand_dims(x, (0, 2)).squeeze(),
    "broadcast": lambda x: np.broadcast_to(x, (2, x.size)) * 1,
    "like": lambda x: np.zeros_like(x) + np.ones_like(x) + np.full_like(x, 3),
    "arange": lambda x: x * np.arange(x.size),
    "linspace": lambda x: x + np.linspace(0, 1, x.size),
    "one-hot": lambda x: (np.arange(7) == x.argmax() % 7).astype(np.float64),
    "eye": lambda x: x * np.eye(x.size),
    "diag": lambda x: np.diag(x[:9]) + np.diag(np.diag(np.outer(x[:9], x[:9]))),
    "meshgrid": lambda x: np.meshgrid(x, np.arange(3.0))[1] * 2,
    "copy": lambda x: x.copy(),
    "diff": lambda x: np.diff(np.concatenate([x, x])),
    "itself": lambda x: x,
    "several": lambda x: (x, x * 2, x.max(), x),
    "split": lambda x: np.split(np.concatenate([x, x]), 2)[1],
    "atleast": lambda x: np.atleast_2d(x) + np.atleast_3d(x)[0, :, 0],
    "item": lambda x: x[0] + x[-1],
    "iteration": lambda x: sum([v for v in x[:3]]),  # noqa: C416
    "dunder": lambda x: len(x) + x.ndim + x.shape[0] + x.size + x,
    "rounding of half": lambda x: x.astype(np.float16) * np.float16(3),
}


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("name", OF_VECTORS)
def test_of_vectors(name, size):
    ulp = 1 if name == "linspace" else 0
    check(OF_VECTORS[name], numbers((COUNT, size)), ulp=ulp, tiers=tiers(size))


OF_INTEGERS = {
    "sum": lambda x: x.sum(),
    "prod": lambda x: np.prod(x % 3),
    "mean": lambda x: x.mean(),
    "bits": lambda x: (x & 3) | (x ^ 5),
    "shift": lambda x: (x << 1) >> 2,
    "quotient": lambda x: x // 3 + x % 3,
    "divide": lambda x: x / 2,
    "cumsum": lambda x: np.cumsum(x),
    "dot": lambda x: np.dot(x, x),
    "sort": lambda x: np.sort(x[:64]),
    "argmax": lambda x: x.argmax(),
    "max": lambda x: x.max() - x.min(),
    "index": lambda x: x[x % x.size],
}


@pytest.mark.parametrize("dtype", [np.int32, np.int64, np.uint8])
@pytest.mark.parametrize("name", OF_INTEGERS)
def test_of_integers(name, dtype):
    check(OF_INTEGERS[name], numbers((COUNT, 9), dtype))
    check(OF_INTEGERS[name], numbers((COUNT, 100), dtype), tiers=("never",))


NEAR = {
    "sum": lambda x: x.sum(),
    "mean": lambda x: x.mean(),
    "var": lambda x: x.var(),
    "std": lambda x: np.std(x, ddof=0),
    "prod": lambda x: np.prod(x / 2),
    "norm": lambda x: np.linalg.norm(x),
    "average": lambda x: np.average(x, weights=np.abs(x) + 1),
    "softmax": lambda x: np.exp(x - x.max()) / np.exp(x - x.max()).sum(),
    "dot": lambda x: x @ x + np.dot(x, x) + np.vdot(x, x) + np.inner(x, x),
    "normalised": lambda x: (x - x.mean()) / np.sqrt(x.var() + 1e-5),
    "trigonometric": lambda x: np.sin(x) * np.cos(x) + np.tanh(x) + np.arctan2(x, 2.0),
    "logaddexp": lambda x: np.logaddexp(x, x[0]),
    "nansum": lambda x: np.nansum(np.where(x > 1, np.nan, x)),
    "add.reduce": lambda x: np.add.reduce(x),
}


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("name", NEAR)
def test_within_a_few_units(name, size, dtype):
    check(NEAR[name], numbers((COUNT, size), dtype), ulp=max(8, size / 2), tiers=tiers(size))


OF_MATRICES = {
    "transpose": lambda m: m.T * 2,
    "sum of rows": lambda m: m.sum(axis=1),
    "sum of columns": lambda m: m.sum(axis=0),
    "sum": lambda m: m.sum(),
    "sum of the transpose": lambda m: m.T.sum(axis=1, keepdims=True),
    "max of rows": lambda m: m.max(axis=-1),
    "argmin": lambda m: (m.argmin(), m.argmin(axis=0), np.argmax(m, axis=1, keepdims=True)),
    "mean": lambda m: m - m.mean(axis=0),
    "var": lambda m: m.var(axis=0, keepdims=True, ddof=1),
    "cumsum": lambda m: np.cumsum(m, axis=0) + np.cumsum(m, axis=1),
    "flat cumsum": lambda m: np.cumsum(m),
    "row": lambda m: m[0] + m[-1],
    "column": lambda m: m[:, 1] * m[0, 0],
    "block": lambda m: m[1:, ::2],
    "new axis": lambda m: m[:, None, :] - m[None, :, :],
    "reshape": lambda m: m.reshape(-1)[::2],
    "reshape of a transpose": lambda m: m.T.reshape(-1),
    "swapaxes": lambda m: np.swapaxes(m, 0, 1) + np.moveaxis(m, 0, -1),
    "matrix by matrix": lambda m: m @ m.T,
    "matrix by vector": lambda m: m @ m[0],
    "vector by matrix": lambda m: m[:, 0] @ m,
    "einsum": lambda m: np.einsum("ij,kj->ik", m, m),
    "einsum of one": lambda m: np.einsum("ij->j", m),
    "tensordot": lambda m: np.tensordot(m, m, axes=([1], [1])),
    "trace": lambda m: np.trace(m) + np.diagonal(m).sum(),
    "triangles": lambda m: np.tril(m) - np.triu(m, 1),
    "rot90": lambda m: np.rot90(m) * 1,
    "flip": lambda m: np.flip(m, 1) + np.fliplr(m) + np.flipud(m),
    "concatenate": lambda m: np.concatenate([m, m[:, :1]], axis=1),
    "stack": lambda m: np.stack([m, -m], axis=-1),
    "pad": lambda m: np.pad(m, ((1, 0), (2, 1))),
    "pad by reflection": lambda m: np.pad(m, 1, mode="reflect"),
    "roll": lambda m: np.roll(m, (1, 2), axis=(0, 1)) + np.roll(m, 1),
    "repeat": lambda m: np.repeat(m, 2, axis=1),
    "tile": lambda m: np.tile(m, 2),
    "sort": lambda m: np.sort(m, axis=0),
    "argsort": lambda m: np.argsort(m, axis=1, kind="stable"),
    "median": lambda m: np.median(m, axis=1),
    "take": lambda m: np.take(m, [1, 0], axis=0),
    "take_along_axis": lambda m: np.take_along_axis(m, np.argsort(m, axis=1), axis=1),
    "two indices": lambda m: m[np.array([0, 1]), np.array([1, 0])],
    "kron": lambda m: np.kron(m[:2, :2], m),
    "norms": lambda m: np.linalg.norm(m, axis=1) + np.linalg.norm(m, 1, axis=1),
    "all": lambda m: (m > -1).all(axis=1) & (m > 1).any(axis=1),
    "prod": lambda m: m.prod(axis=0),
    "nested list": lambda m: np.stack([m[0, 0], m[1, 1], m[0, 1]]),
    "clip": lambda m: np.clip(m, m.min(axis=0), 1.0),
    "where": lambda m: np.where(m > m.mean(), m, 0.0),
    "diff": lambda m: np.diff(m, axis=0) * 2,
    "weights": lambda m: m @ np.ones((m.shape[1], 2)),
    "cross": lambda m: np.cross(m[:3, 0], m[:3, 1]),
    "outer sum": lambda m: np.add.outer(m[0], m[1]),
    "logical": lambda m: np.logical_and(m > 0, ~(m > 1)),
}


@pytest.mark.parametrize("shape", [(3, 4), (9, 12)])
@pytest.mark.parametrize("name", OF_MATRICES)
def test_of_matrices(name, shape):
    check(OF_MATRICES[name], numbers((COUNT, *shape)), ulp=64)


def test_of_two_arguments_that_broadcast():
    a, b = numbers((COUNT, 4, 3)), numbers((COUNT, 3), seed=1)
    check(lambda x, y: x * y + y, a, b)
    check(lambda x, y: (x - y) / (y + 10), a, b, ulp=1)
    check(lambda x, y: x @ y, a, b, ulp=8)
    check(lambda x, s: x * s + s, a, numbers(COUNT, seed=2))


def test_tensors_of_three_dimensions():
    a = numbers((COUNT, 2, 3, 4))
    check(lambda x: x.sum(axis=(0, 2)), a, ulp=8)
    check(lambda x: x.transpose(2, 0, 1) * 1, a)
    check(lambda x: x.max(axis=1), a)
    check(lambda x: np.einsum("ijk,ijk->j", x, x), a, ulp=16)
    check(lambda x: x @ np.swapaxes(x, 1, 2), a, ulp=16)
    check(lambda x: x[1, ..., ::-1] + x[0, 0], a)


@pytest.mark.parametrize("dtype", [np.float16, np.float32])
def test_sums_of_narrow_floats_have_their_type(dtype):
    x = numbers((COUNT, 20), dtype)
    got = lw.map(lambda x: (x.sum(), x.mean(), x.max()), x)
    assert [r.dtype for r in got] == [dtype] * 3
    np.testing.assert_allclose(got[0], x.astype(np.float64).sum(1), atol=0.05)
    np.testing.assert_array_equal(got[2], x.max(1))


def test_functions_of_lanewise():
    x = numbers((COUNT, 7))
    got = lw.map(lambda x: lw.sigmoid(x) + lw.where(x > 0, lw.exp(x), lw.erf(x)), x)
    one = lw.vectorize(lambda x: lw.sigmoid(x) + lw.where(x > 0, lw.exp(x), lw.erf(x)))
    np.testing.assert_array_equal(got, one(x))


def test_what_is_normalised_along_the_last_axis():
    check(lambda m: m - m.mean(axis=1, keepdims=True), numbers((COUNT, 3, 4)), ulp=8)
    check(lambda m: m.var(axis=1), numbers((COUNT, 3, 4)), ulp=8)
