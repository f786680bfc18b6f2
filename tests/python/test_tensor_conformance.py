"""Functions of tensors give what NumPy does, for elements of 0 to 4 dimensions and many types.

What NumPy itself refuses of a shape or type is left out.
"""

import numpy as np
import pytest
from tensor_samples import COUNT, check, numbers, plain

import lanewise as lw

SHAPES = [(), (1,), (5,), (1, 1), (3, 4), (4, 1), (2, 1, 3), (1, 2, 3, 2)]
TYPES = ["?", "i1", "u2", "i4", "i8", "f2", "f4", "f8"]
FLOATS = ["f4", "f8"]
SIGNED = ["i4", "i8", "f4", "f8"]
BITS = ["?", "i4", "u2"]


def of(function, *arguments, **options):
    return lambda x: function(x, *arguments, **options)


def by(name, *arguments, **options):
    return lambda x: getattr(x, name)(*arguments, **options)


REDUCTIONS = {}
for _name in ("sum", "prod", "min", "max", "mean", "var", "std", "any", "all", "ptp"):
    _function = getattr(np, _name)
    REDUCTIONS[_name] = of(_function)
    for _axis in (-1, 0, 1, 2, (0, -1), ()):
        REDUCTIONS[f"{_name} along {_axis}"] = of(_function, axis=_axis)
    REDUCTIONS[f"{_name} with axes kept"] = of(_function, keepdims=True)
    REDUCTIONS[f"{_name} with an axis kept"] = of(_function, axis=(0, -1), keepdims=True)
    if _name != "ptp":
        REDUCTIONS[f".{_name}"] = by(_name)
        REDUCTIONS[f".{_name} along 1"] = by(_name, axis=1)
for _name in ("argmin", "argmax"):
    REDUCTIONS[_name] = of(getattr(np, _name))
    REDUCTIONS[f"{_name} along 0"] = of(getattr(np, _name), axis=0)
    REDUCTIONS[f"{_name} kept"] = of(getattr(np, _name), axis=-1, keepdims=True)
    REDUCTIONS[f"{_name} of all kept"] = of(getattr(np, _name), keepdims=True)
    REDUCTIONS[f".{_name}"] = by(_name, 1)

OF_ALL_TYPES = {
    # Scans.
    "cumsum": of(np.cumsum),
    "cumsum along 0": of(np.cumsum, axis=0),
    ".cumsum": by("cumsum", axis=1),
    "cumsum as floats": of(np.cumsum, axis=0, dtype=np.float64),
    "cumprod": of(np.cumprod),
    "cumprod along -1": of(np.cumprod, axis=-1),
    "nancumsum": of(np.nancumsum, axis=0),
    "multiply.accumulate": of(np.multiply.accumulate, axis=-1),
    # Reductions of some kind.
    "norm": of(np.linalg.norm),
    "norm along 0": of(np.linalg.norm, axis=0),
    "norm 3": of(np.linalg.norm, 3, axis=0),
    "norm 0": of(np.linalg.norm, 0, axis=0),
    "count": of(np.count_nonzero),
    "count along 0": of(np.count_nonzero, axis=0),
    "nansum": of(np.nansum),
    "nanprod": of(np.nanprod),
    "nanmax": of(np.nanmax),
    "nanmin": of(np.nanmin, axis=0),
    "nanvar": of(np.nanvar),
    "nanstd": of(np.nanstd, axis=0),
    "average": of(np.average),
    "average with weights": lambda x: np.average(x, axis=0, weights=np.arange(1, len(x) + 1)),
    "median": of(np.median),
    "median along 0": of(np.median, axis=0),
    "median kept": of(np.median, axis=0, keepdims=True),
    "median along two": of(np.median, axis=(0, 1)),
    "std with ddof": of(np.std, ddof=1),
    "std where": lambda x: np.std(x, where=x == x),
    "var of a known mean": lambda x: np.var(x, axis=0, mean=np.mean(x, axis=0, keepdims=True)),
    "sum where": lambda x: np.sum(x, where=x > 0),
    "mean where": lambda x: np.mean(x, where=x == x),
    "any where": lambda x: np.any(x, where=x > 0),
    "sum as float32": of(np.sum, dtype=np.float32),
    "minimum.reduce": of(np.minimum.reduce, axis=0),
    "add.reduce": of(np.add.reduce, axis=None),
    "logical_and.reduce": of(np.logical_and.reduce, axis=0),
    # The same numbers otherwise.
    "reshape": by("reshape", -1),
    "reshape to a row": of(np.reshape, (1, -1)),
    "reshape in columns": of(np.reshape, (-1,), order="F"),
    "ravel": by("ravel"),
    "ravel in columns": by("ravel", order="F"),
    "flatten": by("flatten"),
    "T": lambda x: x.T,
    "mT": lambda x: x.mT,
    "transpose": of(np.transpose),
    "transpose by axes": lambda x: x.transpose(*[-(i + 1) for i in range(x.ndim)]),
    "swapaxes": by("swapaxes", 0, -1),
    "moveaxis": of(np.moveaxis, 0, -1),
    "rollaxis": of(np.rollaxis, -1),
    "squeeze": of(np.squeeze),
    "squeeze one": lambda x: x[None].squeeze(0),
    "expand_dims": of(np.expand_dims, 0),
    "atleast_1d": of(np.atleast_1d),
    "atleast_2d": of(np.atleast_2d),
    "atleast_3d": of(np.atleast_3d),
    "broadcast_to": lambda x: np.broadcast_to(x, (2, *x.shape)),
    "broadcast_arrays": lambda x: np.broadcast_arrays(x, np.zeros((2, 1, 1, 1, 1)))[0],
    "copy": by("copy"),
    "array": lambda x: np.array(x),
    "array of two": lambda x: np.array([x, x]),
    "array of a type": lambda x: np.array(x, dtype=np.float32),
    "asarray": lambda x: np.asarray(x) + x,
    "ascontiguousarray": lambda x: np.ascontiguousarray(x),
    # Indices.
    "a step": lambda x: x[::2],
    "backwards": lambda x: x[::-1],
    "backwards by two": lambda x: x[..., ::-2],
    "the first": lambda x: x[..., 0],
    "all": lambda x: x[...],
    "all of a number": lambda x: x[()],
    "a new axis": lambda x: x[None],
    "a new axis inside": lambda x: x[..., None, :],
    "the last": lambda x: x[-1],
    "a list": lambda x: x[[0, -1]],
    "a list at the end": lambda x: x[..., [0, 0]],
    "two lists": lambda x: x[[0, -1], [0, 0]],
    "two lists apart": lambda x: x[[0, -1], :, [0, 0]],
    "an open mesh": lambda x: x[np.ix_([0, -1], [0])],
    "a plain mask": lambda x: x[np.arange(x.shape[0]) % 2 == 0],
    "a plain mask of all": lambda x: x[np.arange(x.size).reshape(x.shape) % 2 == 0],
    "a list behind an index": lambda x: x[0, [0, 0]],
    "take": of(np.take, [0, 0, -1]),
    "take along 0": of(np.take, [0, -1], axis=0),
    "take one": of(np.take, 0, axis=-1),
    "take a matrix": lambda x: x.take(np.array([[0], [-1]]), axis=0),
    "take clipped": of(np.take, [99, -99], mode="clip"),
    "take wrapped": of(np.take, [99, -99], mode="wrap"),
    "take_along_axis": lambda x: np.take_along_axis(x, np.zeros((1,) * x.ndim, int), axis=-1),
    "compress": lambda x: np.compress(np.arange(x.shape[0]) % 2 == 0, x, axis=0),
    "item": lambda x: x.item(0) + x.dtype.type(0),
    "unravel_index": lambda x: np.unravel_index(x.argmax(), x.shape)[0],
    # Put together, and apart.
    "concatenate": lambda x: np.concatenate([x, x]),
    "concatenate along -1": lambda x: np.concatenate([x, x + x], axis=-1),
    "concatenate flat": lambda x: np.concatenate([x, x], axis=None),
    "stack": lambda x: np.stack([x, x]),
    "stack along -1": lambda x: np.stack([x, x], axis=-1),
    "hstack": lambda x: np.hstack([x, x]),
    "vstack": lambda x: np.vstack([x, x]),
    "dstack": lambda x: np.dstack([x, x]),
    "column_stack": lambda x: np.column_stack([x, x]),
    "block": lambda x: np.block([[x, x], [x, x]]),
    "append": lambda x: np.append(x, x),
    "insert": lambda x: np.insert(x, 0, 1, axis=0),
    "delete": lambda x: np.delete(np.concatenate([x, x]), 0, axis=0),
    "split": lambda x: np.split(x, [1])[0],
    "array_split": lambda x: np.array_split(x, 2)[0],
    "hsplit": lambda x: np.hsplit(x, [1])[0],
    "vsplit": lambda x: np.vsplit(x, [1])[0],
    "dsplit": lambda x: np.dsplit(x, [1])[0],
    "pad": of(np.pad, 1),
    "pad by edges": of(np.pad, 1, mode="edge"),
    "pad wrapped": of(np.pad, 1, mode="wrap"),
    "pad reflected": of(np.pad, 1, mode="reflect"),
    "pad symmetric": of(np.pad, 1, mode="symmetric"),
    "pad by two constants": of(np.pad, (1, 2), constant_values=(3, 4)),
    "pad each axis": lambda x: np.pad(x, [(i, 1) for i in range(x.ndim)], constant_values=1),
    "repeat": of(np.repeat, 2),
    "repeat along 0": of(np.repeat, 2, axis=0),
    ".repeat": by("repeat", 2, axis=-1),
    "repeat by counts": lambda x: np.repeat(x, np.arange(1, x.shape[0] + 1), axis=0),
    "tile": of(np.tile, 2),
    "tile three": of(np.tile, (2, 1, 2)),
    "flip": of(np.flip),
    "flip 0": of(np.flip, 0),
    "flip two": of(np.flip, (0, 1)),
    "fliplr": of(np.fliplr),
    "flipud": of(np.flipud),
    "rot90": of(np.rot90, 3),
    "roll": of(np.roll, 1),
    "roll along 0": of(np.roll, -2, axis=0),
    "roll along both": of(np.roll, (1, 2), (0, 1)),
    "roll far": of(np.roll, 17, axis=-1),
    "resize": of(np.resize, (2, 3)),
    "windows": lambda x: np.lib.stride_tricks.sliding_window_view(x, 1, axis=0),
    "triangles": lambda x: np.tril(x) * 1 + np.triu(x, 1),
    "diagonal": of(np.diagonal),
    "diag": lambda x: np.diag(x[:2]),
    "diagflat": lambda x: np.diagflat(x[:2]),
    "trace": of(np.trace),
    "meshgrid": lambda x: np.meshgrid(x, x)[0],
    # New ones beside.
    "arange": lambda x: x + np.arange(3),
    "eye": lambda x: x + np.eye(x.shape[-1]),
    "tri": lambda x: x * np.tri(x.shape[-1]),
    "zeros": lambda x: x + np.zeros(x.shape),
    "full": lambda x: x + np.full(x.shape, 2),
    "zeros_like": lambda x: np.zeros_like(x) + x,
    "full_like": lambda x: np.full_like(x, 1) + x,
    "one-hot of an index": lambda x: np.eye(5)[x.argmax() % 5],
    "one-hot by comparison": lambda x: np.arange(5) == x.argmax(),
    # Products.
    "outer": lambda x: np.outer(x, x),
    "multiply.outer": lambda x: np.multiply.outer(x, x),
    "dot": lambda x: np.dot(x.ravel(), x.ravel()),
    "dot of matrices": lambda x: np.dot(x, x.T),
    "matmul": lambda x: x @ np.swapaxes(x, -1, -2),
    "vector by matrix": lambda x: x.reshape(-1)[: x.shape[0]] @ x,
    "inner": lambda x: np.inner(x, x),
    "vdot": lambda x: np.vdot(x, x),
    "einsum along the last": lambda x: np.einsum("...i,...i->...", x, x),
    "einsum of rows": lambda x: np.einsum("ij...,kj...->ik...", x, x),
    "einsum of all pairs": lambda x: np.einsum("i...,j...->ij...", x, x),
    "einsum without a result": lambda x: np.einsum("ij,jk", x, x.T),
    "einsum of one": lambda x: np.einsum("ij...->...i", x),
    "einsum of a diagonal": lambda x: np.einsum("ii->i", x[:1, :1]),
    "tensordot of all": lambda x: np.tensordot(x, x, axes=x.ndim),
    "tensordot": lambda x: np.tensordot(x, x.T, axes=1),
    "tensordot along 0": lambda x: np.tensordot(x, x, axes=(0, 0)),
    "kron": lambda x: np.kron(x, x),
    "multi_dot": lambda x: np.linalg.multi_dot([x, x.T, x]),
    "convolve": lambda x: np.convolve(x.ravel(), [1, 2, 3]),
    "convolve same": lambda x: np.convolve(x.ravel(), [1, 2, 3], "same"),
    "convolve valid": lambda x: np.convolve(x.ravel(), [1, 2, 3], "valid"),
    "correlate": lambda x: np.correlate(x.ravel(), [1, 2], "same"),
    "vander": lambda x: np.vander(x.ravel()[:3], 3),
    "cov": lambda x: np.cov(np.stack([x.ravel()] * 2)),
    # In order.
    "sort": of(np.sort),
    "sort along 0": of(np.sort, axis=0),
    "sort flat": of(np.sort, axis=None),
    "argsort": of(np.argsort, kind="stable"),
    "lexsort": lambda x: np.lexsort((x, x[::-1])),
    "searchsorted": lambda x: np.searchsorted([-1.0, 0, 1], x),
    "searchsorted in itself": lambda x: np.searchsorted(np.sort(x.ravel()), x),
    "digitize": of(np.digitize, [-1, 0, 1]),
    "interp": of(np.interp, [-1.0, 0, 1], [3.0, 5, 4]),
    "isin": of(np.isin, [0, 1]),
    "bincount": lambda x: np.bincount(abs(x.ravel()).astype(int) % 4, minlength=4),
    "diff with more": lambda x: np.diff(x, prepend=x[:1], append=x[:1], axis=0),
    "apply_over_axes": lambda x: np.apply_over_axes(np.sum, x, [0]),
    # Numbers one by one.
    "astype": by("astype", np.float32),
    "where": lambda x: np.where(x > 0, x, 0),
    "select": lambda x: np.select([x > 0, x < 0], [x, x + x], default=0),
    "clip": of(np.clip, 0, 1),
    "clip below": by("clip", max=1),
    "imag": lambda x: x.imag,
    "polyval": lambda x: np.polyval([1, 2], x),
    "nan_to_num": of(np.nan_to_num),
    "equal": lambda x: np.array_equal(x, x) & np.allclose(x, x),
    "compared": lambda x: (x > 0) & (x < 2) | (x == 1) ^ (x != 0),
    "abs": lambda x: abs(x),
}  # fmt: skip
OF_SOME_TYPES = {
    "logsumexp": (lambda x: np.log(np.sum(np.exp(x))), FLOATS),
    "norm -1": (of(np.linalg.norm, -1, axis=-1), FLOATS),
    "norm inf": (of(np.linalg.norm, np.inf, axis=-1, keepdims=True), FLOATS),
    "norm of matrices": (of(np.linalg.norm, "fro", axis=(0, 1)), FLOATS),
    "norm 1 of matrices": (of(np.linalg.norm, 1, axis=(0, 1)), FLOATS),
    "norm inf of matrices": (of(np.linalg.norm, np.inf, axis=(0, 1)), FLOATS),
    "nanmean": (of(np.nanmean, axis=0), FLOATS),
    "percentile": (of(np.percentile, 30), FLOATS),
    "quantile": (of(np.quantile, [0.2, 0.5], axis=0), ["f8"]),
    "histogram": (lambda x: np.histogram(x, bins=4, range=(-2, 2))[0], FLOATS),
    "choose": (lambda x: np.choose((x > 0).astype(int), [x, -x]), SIGNED),
    "piecewise": (lambda x: np.piecewise(x, [x > 0], [lambda v: v + v, 1]), FLOATS),
    "apply_along_axis": (lambda x: np.apply_along_axis(lambda r: r.max() - r, 0, x), SIGNED),
    "corrcoef": (lambda x: np.corrcoef(x.ravel() * 1.0, np.arange(x.size) ** 2), SIGNED),
    "unwrap": (of(np.unwrap), FLOATS),
    "ediff1d": (lambda x: np.ediff1d(np.stack([x, x])), SIGNED),
    "gradient": (lambda x: np.gradient(np.concatenate([x, x, x]), axis=0), FLOATS),
    "trapezoid": (lambda x: getattr(np, "trapezoid", np.sum)(x, axis=0), FLOATS),
    "bitwise_xor.reduce": (of(np.bitwise_xor.reduce, axis=0), BITS),
    "bitwise_or.accumulate": (of(np.bitwise_or.accumulate, axis=0), BITS),
    "subtract.outer": (lambda x: np.subtract.outer(x, x), SIGNED),
    "gcd": (lambda x: np.gcd(x, 12) + np.lcm(x, 4), ["i4", "i8", "u2"]),
    "invert": (lambda x: ~x, BITS),
    "shift": (lambda x: (x << 1) >> 1, ["i4", "i8"]),
    "divided": (lambda x: x // 2 + x % 3 + divmod(x, 3)[1] + 7 // (abs(x) + 1), SIGNED),
    "powers": (lambda x: x**2 + 2.0**x, FLOATS),
    "signs": (lambda x: (1 - x) + +x - x.conj(), SIGNED),
    "angles": (lambda x: np.angle(x) + np.sinc(x) + np.fix(x), FLOATS),
    "minimum with a bound": (of(np.min, initial=0), SIGNED),
    "maximum where": (lambda x: np.max(x, where=x > 0, initial=0), SIGNED),
    "a list of numbers": (lambda x: np.array(x.tolist()), ["i8", "f8"]),
    "a sum of parts": (lambda x: sum(part for part in x), SIGNED),
    "round": (lambda x: x.round() + np.round(x, 1), SIGNED),
    "matrix_power": (lambda x: np.linalg.matrix_power(x[:1, :1], 3), FLOATS),
}
if hasattr(np, "unstack"):  # NumPy 2.1 and later
    OF_ALL_TYPES |= {
        "cumulative_sum": of(np.cumulative_sum, axis=0),
        "cumulative_sum from 0": of(np.cumulative_sum, axis=0, include_initial=True),
        "cumulative_prod": of(np.cumulative_prod, axis=0),
        "unstack": lambda x: np.unstack(x)[0],
        "matrix_transpose": of(np.matrix_transpose),
        "vector_norm": of(np.linalg.vector_norm),
        "vector_norm 3": of(np.linalg.vector_norm, ord=3, axis=0),
        "matrix_norm": of(np.linalg.matrix_norm),
        "linalg.diagonal": of(np.linalg.diagonal),
        "linalg.trace": of(np.linalg.trace),
        "linalg.tensordot": lambda x: np.linalg.tensordot(x, x.T, axes=1),
        "vecdot": lambda x: np.vecdot(x, x),
        "argsort stable": of(np.argsort, stable=True),
    }
if hasattr(np, "matvec"):  # NumPy 2.2 and later
    OF_ALL_TYPES |= {
        "matvec": lambda x: np.matvec(x, x[..., 0, :]),
        "vecmat": lambda x: np.vecmat(x[..., :, 0], x),
    }
CASES = {name: (function, TYPES) for name, function in (REDUCTIONS | OF_ALL_TYPES).items()}
CASES |= OF_SOME_TYPES
# Types of which all shapes are tried; of the others one shape.
THOROUGH = ("i4", "f4", "f8")


def near(dtype, given):
    """Return how near a result has to be: sums have another order."""
    if dtype.kind != "f":
        return 0
    size = dtype.itemsize if given.kind != "f" else min(dtype.itemsize, given.itemsize)
    return {2: 2e-2, 4: 1e-5, 8: 1e-12}[size]


@pytest.mark.parametrize("name", CASES)
def test_as_numpy(name):
    function, types = CASES[name]
    tried = 0
    for place, dtype in enumerate(types):
        shapes = SHAPES if dtype in THOROUGH else SHAPES[place % 2 :: 2]
        for shape in shapes:
            x = numbers((COUNT, *shape), dtype)
            try:
                expected = plain(function, x)
            except (ValueError, TypeError, IndexError, AttributeError):
                continue  # not of such a shape or type
            if expected.size == 0:
                continue
            tried += 1
            try:
                got = lw.map(function, x, compile="never")
            except (ValueError, TypeError, IndexError):
                assert shape == ()  # a number has no axes, of which NumPy lets some be named
                continue
            assert got.dtype == expected.dtype, (shape, dtype)
            assert got.shape == expected.shape, (shape, dtype)
            bound = near(expected.dtype, x.dtype)
            np.testing.assert_allclose(got, expected, rtol=bound, atol=bound)
    assert tried > 1


@pytest.mark.parametrize("name", CASES)
def test_compiled_with_the_same_bits(name):
    function, types = CASES[name]
    for shape in ((3, 4), (5,), (2, 1, 3)):
        x = numbers((40, *shape), types[-1])
        try:
            plain(function, x)
        except (ValueError, TypeError, IndexError, AttributeError):
            continue
        expected = lw.map(function, x, compile="never", threads=1)
        np.testing.assert_array_equal(lw.map(function, x, compile="now"), expected)
        return
    raise AssertionError("no such shape")


# --- tensors without numbers: inside of a function ---

X = numbers((COUNT, 5))


def test_what_is_empty_inside_of_a_function():
    check(lambda x: np.concatenate([x[:0], x, x[5:]]), X)
    check(lambda x: (x[:0].sum(), x[:0].prod(), x[:0].any(), x[:0].all()), X)
    check(lambda x: (x[:0].size + (x[:0] + 1).size, x[:0] @ x[:0], x[:0].sum(axis=0)), X)
    check(lambda x: np.zeros((0, 3)).sum(axis=0) + x[0], X)
    check(lambda x: np.cumsum(x[:0]).sum() + np.sort(x[:0]).sum() + x[0], X)
    check(lambda x: np.stack([x[:0], x[:0]]).sum(axis=1) + x[0], X)
    check(lambda x: np.repeat(x, 0).sum() + np.diff(x[:1]).sum() + x[[]].sum() + x[0], X)
    check(lambda x: np.split(x, [0, 5])[0].sum() + np.diagonal(x[None], 7).sum() + x[0], X)
    check(lambda x: np.where(x[:0] > 0, x[:0], 1.0).reshape(0, 2).T.sum() + x[0], X)


def test_prefixes_of_all_lengths():
    def f(x):
        y = np.zeros(5)
        for i in range(5):
            y[i] = x[:i].sum() + x[i:].max()
            x[5 - i :] = x[:i] * 0.5
        return y, x

    check(f, X, ulp=4)


def test_cholesky_written_with_slices():
    def f(a):
        lower = np.zeros((3, 3))
        for i in range(3):
            for j in range(i + 1):
                rest = a[i, j] - lower[i, :j] @ lower[j, :j]
                lower[i, j] = np.sqrt(rest) if i == j else rest / lower[j, j]
        return lower

    m = numbers((COUNT, 3, 3))
    a = m @ np.swapaxes(m, 1, 2) + np.eye(3)
    np.testing.assert_allclose(lw.map(f, a), np.linalg.cholesky(a), rtol=1e-12, atol=1e-12)


def test_loops_over_what_is_empty():
    def f(x):
        total = 0.0
        for value in x[5:]:
            total += value
        for i in range(x[:0].shape[0]):
            total += x[i]
        return total

    check(f, X)


def by_nothing(name):
    return lambda x: getattr(x[:0], name)()


def test_an_extreme_of_nothing_is_refused():
    for name in ("max", "min", "argmax"):
        with pytest.raises(lw.UsageError, match=rf"{name}: of no numbers; got the shape \(0,\)"):
            lw.map(by_nothing(name), X)


def test_a_result_without_numbers_is_refused():
    with pytest.raises(
        lw.UsageError, match=r"return: a tensor without numbers; got the shape \(2, 0\), expected"
    ):
        lw.map(lambda x: x[:0].reshape(2, 0), X)


def test_more_windows_than_numbers_are_refused():
    with pytest.raises(
        lw.UsageError, match=r"sliding_window_view: the window is larger than the tensor; got 6 of"
    ):
        lw.map(lambda x: np.lib.stride_tricks.sliding_window_view(x, 6), X)


def test_an_index_to_unravel_out_of_range_fails_its_element():
    with pytest.raises(lw.ElementError, match=r"element 2.*got 12, expected 0 to 11"):
        lw.map(lambda i: np.unravel_index(i, (3, 4)), np.array([0, 11, 12]))
