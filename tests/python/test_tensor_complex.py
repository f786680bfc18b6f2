"""Tensors of complex numbers: elements, results, and what functions make of them."""

import pickle

import numpy as np
import pytest
from tensor_samples import COUNT, check, numbers, plain

import lanewise as lw

TYPES = [np.complex64, np.complex128]
SHAPES = [(), (1,), (5,), (1, 1), (3, 4), (4, 1), (2, 1, 3), (1, 2, 3, 2)]


def complex_numbers(shape, dtype=np.complex128, seed=0):
    part = np.float32 if dtype is np.complex64 else np.float64
    return (numbers(shape, part, seed) + 1j * numbers(shape, part, seed + 1)).astype(dtype)


Z = complex_numbers((COUNT, 5))
M = complex_numbers((COUNT, 3, 3), seed=2)
X = numbers((COUNT, 5))

FUNCTIONS = {
    "itself": lambda z: z,
    "a copy": lambda z: z * 1,
    "operators": lambda z: (z + 1) * z - z / (2 + 1j) + 1j * z,
    "negative": lambda z: -z + +z - z,
    "powers": lambda z: z**2 + z**3,
    "compared": lambda z: (z == z.conj()) | (z != 0),
    "abs": lambda z: abs(z),
    "np.abs": lambda z: np.abs(z) + np.absolute(z),
    "real": lambda z: z.real,
    "imag": lambda z: z.imag + np.imag(z) + np.real(z),
    "conj": lambda z: z.conj() + np.conj(z) + z.conjugate(),
    "angle": lambda z: np.angle(z),
    "exp": lambda z: np.exp(z),
    "log": lambda z: np.log(z + 3),
    "sqrt": lambda z: np.sqrt(z),
    "sin": lambda z: np.sin(z) + np.cos(z) + np.tanh(z),
    "where": lambda z: np.where(z.real > 0, z, -z),
    "isfinite": lambda z: np.isfinite(z) & ~np.isnan(z),
    "sum": lambda z: z.sum(),
    "sum along 0": lambda z: z.sum(axis=0),
    "sum kept": lambda z: np.sum(z, axis=-1, keepdims=True),
    "sum of some": lambda z: np.sum(z, where=z.real > 0),
    "prod": lambda z: z.prod(),
    "prod along 0": lambda z: np.prod(z, axis=0),
    "prod kept": lambda z: np.prod(z, axis=(0, -1), keepdims=True),
    "mean": lambda z: z.mean(),
    "mean along 1": lambda z: z.mean(axis=1),
    "var": lambda z: z.var(),
    "std": lambda z: np.std(z, axis=0),
    "any": lambda z: z.any(),
    "all": lambda z: np.all(z, axis=0),
    "count": lambda z: np.count_nonzero(z),
    "cumsum": lambda z: np.cumsum(z, axis=0),
    "cumprod": lambda z: np.cumprod(z),
    "norm": lambda z: np.linalg.norm(z),
    "norm 1": lambda z: np.linalg.norm(z, 1, axis=-1),
    "dot": lambda z: np.dot(z.ravel(), z.ravel()),
    "vdot": lambda z: np.vdot(z, z),
    "inner": lambda z: np.inner(z, z),
    "outer": lambda z: np.outer(z, z),
    "matmul": lambda z: z @ np.swapaxes(z, -1, -2).conj(),
    "by real numbers": lambda z: z.real @ np.swapaxes(z, -1, -2),
    "einsum": lambda z: np.einsum("...i,...i->...", z, z),
    "tensordot": lambda z: np.tensordot(z, z, axes=z.ndim),
    "kron": lambda z: np.kron(z, z),
    "trace": lambda z: np.trace(z),
    "reshape": lambda z: z.reshape(-1),
    "transpose": lambda z: z.T,
    "an item": lambda z: z[0],
    "backwards": lambda z: z[::-1],
    "a step": lambda z: z[..., ::2],
    "a new axis": lambda z: z[..., None] * z[None],
    "a list": lambda z: z[[0, -1]],
    "take": lambda z: np.take(z, [0, -1, 0]),
    "take along": lambda z: np.take_along_axis(z, np.zeros((1,) * z.ndim, int), axis=-1),
    "concatenate": lambda z: np.concatenate([z, z.real]),
    "stack": lambda z: np.stack([z, z], axis=-1),
    "pad": lambda z: np.pad(z, 1),
    "repeat": lambda z: np.repeat(z, 2),
    "tile": lambda z: np.tile(z, 2),
    "flip": lambda z: np.flip(z),
    "roll": lambda z: np.roll(z, 1),
    "diag": lambda z: np.diag(z[:2]),
    "convolve": lambda z: np.convolve(z.ravel(), [1, 2j, 3]),
    "astype": lambda z: z.astype(np.complex64),
    "zeros_like": lambda z: np.zeros_like(z) + z,
    "full_like": lambda z: np.full_like(z, 1j) * z,
    "a table beside": lambda z: z + np.array([1j, 2.0, 3.0])[0],
    "kinds": lambda z: z * np.iscomplexobj(z) + np.isrealobj(z),
    "nested list": lambda z: np.array([z, z]),
    "several": lambda z: (z * 2, abs(z), z.sum()),
}


@pytest.mark.parametrize("dtype", TYPES)
@pytest.mark.parametrize("name", FUNCTIONS)
def test_as_numpy(name, dtype):
    function = FUNCTIONS[name]
    bound = 1e-4 if dtype is np.complex64 or name == "astype" else 1e-11
    tried = 0
    for shape in SHAPES:
        z = complex_numbers((COUNT, *shape), dtype)
        try:
            expected = plain(function, z)
        except (ValueError, TypeError, IndexError):
            continue  # not of such a shape
        tried += 1
        for compile in ("never", "now") if shape in ((5,), (3, 4)) else ("never",):
            try:
                got = lw.map(function, z, compile=compile)
            except (ValueError, TypeError, IndexError):
                assert shape == ()
                continue
            several = expected if isinstance(expected, tuple) else (expected,)
            for a, b in zip(got if isinstance(got, tuple) else (got,), several, strict=True):
                assert a.dtype == b.dtype, shape
                assert a.shape == b.shape, shape
                np.testing.assert_allclose(a, b, rtol=bound, atol=bound)
    assert tried > 1


def test_the_same_bits_on_any_schedule():
    z = complex_numbers((3000, 7), np.complex64)

    def f(z):
        return z / (1 + np.vdot(z, z)), z.sum(), np.cumprod(z)

    expected = lw.map(f, z, compile="never", threads=1)
    for options in ({"threads": 2}, {"compile": "now"}, {"compile": "now", "threads": 1}):
        for a, b in zip(lw.map(f, z, **options), expected, strict=True):
            np.testing.assert_array_equal(a, b)


# --- arguments and results of calls ---


def test_arguments_in_any_order_in_memory():
    for z in (np.asfortranarray(Z), Z[::-1], Z[:, ::2], Z.astype(">c16"), Z.T.copy().T):
        np.testing.assert_allclose(lw.map(lambda r: r * 2, z), z * 2)
    row = np.broadcast_to(Z[0], (4, 5))
    np.testing.assert_array_equal(lw.map(lambda r: r + 1, row), row + 1)


def test_axes_and_signatures():
    np.testing.assert_array_equal(lw.map(lambda r: r * 2, Z, in_axes=1, out_axes=1), Z * 2)
    matvec = lw.vectorize(lambda m, v: m @ v, signature="(i,j),(j)->(i)")
    np.testing.assert_allclose(
        matvec(M[:, None], Z[:3, :3]), np.einsum("nij,mj->nmi", M, Z[:3, :3])
    )
    assert matvec(M[0], M[0, 0]).shape == (3,)


def test_results_go_into_given_arrays():
    out = np.zeros_like(Z)
    assert lw.map(lambda r: r * 1j, Z, out=out) is out
    np.testing.assert_array_equal(out, Z * 1j)
    apart = np.zeros((COUNT, 10), complex)[:, ::2]
    lw.map(lambda r: r * 1j, Z, out=apart)
    np.testing.assert_array_equal(apart, Z * 1j)
    with pytest.raises(
        lw.UsageTypeError, match="out has another type; got float64, expected compl"
    ):
        lw.map(lambda r: r * 1j, Z, out=np.zeros((COUNT, 5)))


def test_calls_again_and_beside_others():
    f = lw.vectorize(lambda z, x, c: (z * x + c, x), signature="(n),(n),()->(n),(n)")
    for _ in range(3):
        first, second = f(Z, X, 2j)
        np.testing.assert_allclose(first, Z * X + 2j)
        np.testing.assert_array_equal(second, X)
    first, _ = f(Z, X, np.arange(COUNT) * 1j)
    np.testing.assert_allclose(first, Z * X + 1j * np.arange(COUNT)[:, None])


def test_maps_without_elements():
    assert lw.map(lambda z: z * 2, np.zeros((0, 3), complex)).shape == (0, 3)


def test_real_rows_that_become_complex():
    check_all = lw.map(lambda x: x * 1j + 1, X)
    np.testing.assert_array_equal(check_all, X * 1j + 1)
    np.testing.assert_array_equal(lw.map(lambda x: x.astype(complex), X), X.astype(complex))
    got = lw.map(lambda x: np.exp(1j * x).sum(), X)
    np.testing.assert_allclose(got, np.exp(1j * X).sum(axis=1), rtol=1e-12)
    assert lw.map(lambda x: np.sum(x, dtype=complex), X).dtype == np.complex128


def test_captured_arrays():
    weights = complex_numbers((5, 2), seed=7)
    f = lw.vectorize(lambda z: z @ weights + weights[0] + weights.sum(axis=0), signature="(n)->(k)")
    for _ in range(2):
        expected = Z @ weights + weights[0] + weights.sum(axis=0)
        np.testing.assert_allclose(f(Z), expected, rtol=1e-12)
        weights *= 1j
    index = np.array([1, 0, -1, 2, 4])
    got = lw.map(lambda z, i: z[:2] + weights[i], Z, index)
    np.testing.assert_allclose(got, Z[:, :2] + weights[index], rtol=1e-12)
    np.testing.assert_allclose(
        lw.map(lambda z, w: z @ w, Z, weights, in_axes=(0, None)), Z @ weights
    )


def test_pickles_and_files(tmp_path):
    f = lw.vectorize(lambda z: (z * 2, z.sum()), signature="(n)->(n),()", name="twice")
    expected = f(Z)
    f.save(tmp_path / "twice.npz")
    for again in (pickle.loads(pickle.dumps(f)), lw.Vectorized.load(tmp_path / "twice.npz")):
        for a, b in zip(again(Z), expected, strict=True):
            np.testing.assert_array_equal(a, b)


# --- assignments, branches, loops, inner maps ---


def test_items_are_assigned():
    def f(z):
        y = np.zeros(5, complex)
        for i in range(5):
            y[i] = z[-i] * (1j if z[i].real > 0 else 2.0)
        y[1:3] = 7
        y[::2] += z[::2]
        return y

    check(f, Z)


def test_parts_are_assigned():
    def f(z):
        y = z * 1
        y.real = y.imag * 2
        y.imag[0] = 5.0
        y.real[1:] += 1
        return y

    check(f, Z)


def test_an_argument_is_changed_by_its_element():
    def f(z):
        z -= z.mean()
        z[0] = 1j
        return z

    before = Z.copy()
    check(f, Z, rtol=1e-14)
    np.testing.assert_array_equal(Z, before)


def test_scatter_and_masks():
    def f(z, i):
        y = np.zeros_like(z)
        y[i] = z[0]
        np.add.at(y, np.array([1, 1, 2]), z[:3])
        y[z.real > 1] = 3j
        return y

    check(f, Z, np.arange(COUNT) % 5)


def test_branches_and_loops():
    def f(z):
        y = z.conj()
        if z[0].real > 0:
            y = z * 2
        n = 0
        while abs(y).max() > 0.1 and n < 40:
            y = y * (0.5 + 0.1j)
            n += 1
        for v in z:
            y = y + v
            if v.real > 1:
                break
        return y, n

    check(f, Z, rtol=1e-12)


def test_shapes_and_types_of_what_is_empty():
    check(lambda z: z[:0].sum() + z[:0].prod() + z[0] + (z[:0] @ z[:0]), Z)


def test_a_real_tensor_that_a_branch_makes_complex():
    def f(x):
        y = x * 1.0
        if x[0] > 0:
            y = x * 1j
        return y

    np.testing.assert_array_equal(lw.map(f, X), np.where(X[:, :1] > 0, X * 1j, X + 0j))


def test_inner_maps():
    got = lw.map(lambda m: lw.map(lambda r: (r / (1 + abs(r).sum()), r.sum()), m), M)
    expected = M / (1 + np.abs(M).sum(axis=2, keepdims=True)), M.sum(axis=2)
    for a, b in zip(got, expected, strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-13)
    noisy = lw.map(lambda m: lw.map(lambda r: r + 1j * lw.random.normal(), m), M, seed=1)
    assert len(np.unique((noisy - M).round(12))) == COUNT * 3


def test_small_systems():
    check(lambda m: np.linalg.solve(m, m[0]), M, rtol=1e-12)
    check(lambda m: (np.linalg.inv(m), np.linalg.det(m)), M, rtol=1e-12)
    check(lambda m: np.linalg.cholesky(m @ m.conj().T + np.eye(3)), M, rtol=1e-12)
    check(lambda m: np.linalg.matrix_power(m, 3), M, rtol=1e-12)


def test_a_small_transform():
    def f(z):
        n = z.size
        k = np.arange(n)
        return np.exp(-2j * np.pi * np.outer(k, k) / n) @ z

    np.testing.assert_allclose(lw.map(f, Z), np.fft.fft(Z), rtol=1e-12, atol=1e-12)


# --- what is left out ---


@pytest.mark.parametrize(
    ("function", "message"),
    [
        (lambda z: z.max(), "max: not defined for complex numbers; got a tensor of complex128"),
        (lambda z: z.argmin(), "argmin: not defined for complex numbers; got a tensor of complex"),
        (lambda z: np.sort(z), "sort: not defined for complex numbers; got a tensor of complex128"),
        (lambda z: np.median(z), "median: not defined for complex numbers; got a tensor of compl"),
        (lambda z: z < 1, "less: not defined for complex numbers; got"),
        (lambda z: lw.logsumexp(z), "logsumexp: not defined for complex numbers; got a tensor"),
        (lambda z: z.astype(float), "a complex number cannot become a real one; got complex"),
        (lambda z: z.astype("U3"), "astype: unsupported type; got <U3, expected bool, int8 to"),
    ],
)
def test_what_is_refused(function, message):
    with pytest.raises(lw.UsageTypeError, match=message):
        lw.map(function, Z)
