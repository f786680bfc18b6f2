"""Bodies of maps, each a function of one element: what arrays, numbers and matrices may do.

A body is compared with a loop that calls it for one element after the other.
"""

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

import lanewise.compat.tf as tf


class Body(NamedTuple):
    """A function of an element, and what it is mapped over."""

    name: str
    fn: Callable[[Any], Any]
    elems: Any  # an array, or several in a tuple
    tolerance: float = 0.0  # where results are sums in another order
    falls_back: bool = False  # called for one element after the other


def _numbers(*shape, seed=0, low=-2.0, high=2.0):
    values = np.random.default_rng([seed, *shape]).uniform(low, high, shape)
    return values.astype(np.float32)


V = _numbers(4, 6)  # vectors
M = _numbers(3, 4, 5)  # matrices
T = _numbers(3, 2, 3, 4)  # tensors of three dimensions
P = _numbers(4, 6, low=0.1)  # positive vectors
U = _numbers(4, 6, low=-0.9, high=0.9)
N = np.arange(5, dtype=np.int32)  # numbers of elements
K = np.array([[3, 0, 2, 1], [1, 1, 0, 3], [2, 3, 3, 0]], np.int32)
Z = (_numbers(3, 4, 4) + 1j * _numbers(3, 4, 4, seed=1)).astype(np.complex64)
B = np.random.default_rng(3).integers(0, 2, (4, 6)).astype(bool)
I8 = np.random.default_rng(4).integers(-100, 100, (4, 6)).astype(np.int32)
TABLE = tf.constant(_numbers(5, 3, seed=9))
WEIGHTS = tf.constant(_numbers(5, 2, seed=8))
SQUARE = (M[:, :, :4] @ M[:, :, :4].transpose(0, 2, 1) + np.eye(4)).astype(np.float32)

ARRAYS = [
    Body("gather with the element as index", lambda i: tf.gather(TABLE, i), N),
    Body("gather rows by indices of the element", lambda k: tf.gather(TABLE, k), K),
    Body("gather columns", lambda x: tf.gather(x, [2, 0, 2], axis=1), M),
    Body("gather by own indices", lambda e: tf.gather(e[0], e[1]), (V[:3], K)),
    Body("gather a row with axis of the end", lambda x: tf.gather(x, 1, axis=-1), M),
    Body("gather_nd", lambda x: tf.gather_nd(x, [[0, 1], [3, 4]]), M),
    Body("gather_nd by own indices", lambda e: tf.gather_nd(e[0], e[1][:, None]), (V[:3], K)),
    Body("shape", lambda x: tf.shape(x), M),
    Body("size", lambda x: tf.size(x), M),
    Body("rank", lambda x: tf.rank(x), M),
    Body("shape of several", lambda x: [tf.shape(x), tf.shape(x[0])], M),
    Body("expand_dims", lambda x: (tf.expand_dims(x, 0), tf.expand_dims(x, -1)), M),
    Body("one_hot", lambda i: tf.one_hot(i, 5), N),
    Body("one_hot of vectors, with values", lambda k: tf.one_hot(k, 4, 2.0, -1.0, axis=0), K),
    Body("fill", lambda x: tf.fill([2, 3], x[0]), V),
    Body("zeros_like and ones_like", lambda x: tf.zeros_like(x) + tf.ones_like(x) * x, M),
    Body("slice", lambda x: tf.slice(x, [1, 2], [2, -1]), M),
    Body("strided slices", lambda x: (x[1:, ::2], x[::-1], x[-2:, 1], x[..., None]), M),
    Body("strided_slice", lambda x: tf.strided_slice(x, [0, 1], [3, 5], [2, 2]), M),
    Body("item by own index", lambda e: e[0][e[1][0]], (V[:3], K)),
    Body("tile", lambda x: tf.tile(x, [2, 3]), M),
    Body("tile a number", lambda i: tf.tile([i], [4]), N),
    Body("stack", lambda x: tf.stack([x, x * 2, tf.ones_like(x)], axis=-1), M),
    Body("stack with what is one for all", lambda x: tf.stack([x, TABLE[:4, 0]]), V[:, :4]),
    Body("unstack", lambda x: tf.unstack(x, axis=1)[2], M),
    Body("concat", lambda x: tf.concat([x, x + 1, TABLE[:1, :2]], axis=0), M[:, :, :2]),
    Body("split", lambda x: tf.split(x, 2, axis=0), M),
    Body("split by sizes", lambda x: tf.split(x, [1, 4], axis=-1), M),
    Body("identity", lambda x: tf.identity(x), M),
    Body("identity_n", lambda x: tf.identity_n([x, x + 1]), M),
    Body("transpose", lambda x: (tf.transpose(x, [2, 0, 1]), tf.transpose(x)), T),
    Body("conjugate transpose", lambda z: tf.transpose(z, conjugate=True), Z),
    Body("adjoint", lambda z: tf.linalg.adjoint(z), Z),
    Body("reshape", lambda x: tf.reshape(x, [-1, 2]), M),
    Body("reshape by a shape", lambda x: tf.reshape(x, tf.shape(x)[::-1]), M),
    Body("broadcast_to", lambda x: tf.broadcast_to(x, [3, 6]), V),
    Body("pad", lambda x: tf.pad(x, [[1, 0], [2, 1]], constant_values=7), M),
    Body("pad by reflection", lambda x: tf.pad(x, [[1, 1]], "REFLECT"), V),
    Body("reverse", lambda x: tf.reverse(x, [0, 1]), M),
    Body("roll", lambda x: tf.roll(x, [1, -2], [0, 1]), M),
    Body("roll by the element", lambda e: tf.roll(e[0], e[1], 0), (V, np.int32([0, 1, 2, 5]))),
    Body("squeeze", lambda x: tf.squeeze(x[:, None, :, None]), M),
    Body("repeat", lambda x: tf.repeat(x, 3, axis=0), V),
    Body("ensure_shape", lambda x: tf.ensure_shape(x, [4, None]), M),
    Body("check_numerics", lambda x: tf.debugging.check_numerics(x, "not finite"), M),
    Body("band_part", lambda x: tf.linalg.band_part(x, 1, 2), M),
    Body("diag", lambda x: tf.linalg.diag(x), V),
    Body("diag_part", lambda x: tf.linalg.diag_part(x), M),
    Body("set_diag", lambda x: tf.linalg.set_diag(x, tf.ones([4])), M),
    Body("tensor_diag", lambda x: tf.linalg.tensor_diag(x), V),
    Body("trace", lambda x: tf.linalg.trace(x), M),
    Body("top_k", lambda x: tf.math.top_k(x, 3), V),
    Body("sort and argsort", lambda x: (tf.sort(x), tf.argsort(x, direction="DESCENDING")), V),
    Body("searchsorted", lambda x: tf.searchsorted(tf.sort(x), [-1.0, 0.0, 1.0]), V),
    Body("space_to_depth", lambda x: tf.nn.space_to_depth(x[None], 2), _numbers(2, 4, 4, 3)),
    Body("depth_to_space", lambda x: tf.nn.depth_to_space(x[None], 2), _numbers(2, 2, 2, 8)),
    Body("where with own condition", lambda x: tf.where(x > 0, x, -1.0), M),
    Body("where with one condition for all", lambda x: tf.where([True, False] * 3, x, 0.0), V),
    Body("where broadcasts", lambda x: tf.where(x[:, :1] > 0, x, TABLE[0, 0]), M),
    Body("where with a number as condition", lambda e: tf.where(e[0] > 2, e[1], 0.0), (N[:4], V)),
    Body("reverse_sequence", lambda k: tf.reverse_sequence(TABLE[:4], k[:4], 1), K % 3),
    Body("sequence_mask", lambda k: tf.sequence_mask(k, 4), K),
    Body("meshgrid", lambda x: tf.meshgrid(x, x[:2]), V),
    Body("linspace beside the element", lambda x: x * tf.linspace(0.0, 1.0, 6), V),
    Body("range beside the element", lambda x: x + tf.cast(tf.range(6), tf.float32), V),
    Body("eye times the element", lambda i: tf.eye(3) * tf.cast(i, tf.float32), N),
    Body("what all elements share", lambda i: tf.reduce_sum(TABLE), N),
    Body("what is one for all beside what is not", lambda i: (TABLE[0], i), N),
]

UNARY = [
    "abs acos acosh asin asinh atan atanh ceil cos cosh",
    "digamma erf erfc exp expm1 floor is_finite is_inf is_nan lgamma",
    "log log1p log_sigmoid negative reciprocal rint round rsqrt sigmoid sign",
    "sin sinh softplus softsign sqrt square tan tanh erfinv ndtri",
]
BINARY = [
    "add subtract multiply divide divide_no_nan maximum minimum squared_difference atan2 pow",
    "equal not_equal less less_equal greater greater_equal floordiv floormod truediv mod",
    "xlogy xlog1py xdivy multiply_no_nan nextafter",
]


def _each(names, *others):
    """Return a function that has all these functions of an element."""
    functions = [getattr(tf.math, name) for name in names.split()]
    return lambda x: [function(x, *others) for function in functions]


def _pairs(names):
    functions = [getattr(tf.math, name) for name in names.split()]
    return lambda e: [function(e[0], e[1]) for function in functions]


MATH = [
    *(Body(f"unary {names}", _each(names), P) for names in UNARY),
    *(Body(f"unary of others {names}", _each(names), U) for names in UNARY[1:3]),
    *(Body(f"binary {names}", _pairs(names), (P, P[::-1].copy())) for names in BINARY),
    *(Body(f"binary with one for all {names}", _each(names, 0.75), P) for names in BINARY),
    Body("binary with broadcasting", lambda e: e[0] * e[1][:, None] + e[1][0], (M, M[:, :, 0])),
    Body("acosh above 1", lambda x: tf.math.acosh(1 + x), P),
    Body(
        "complex parts",
        lambda z: (tf.math.real(z), tf.math.imag(z), tf.math.conj(z), tf.math.angle(z), tf.abs(z)),
        Z,
    ),
    Body("complex from parts", lambda x: tf.complex(x, -x), V),
    Body("complex arithmetic", lambda z: (z * z + 1) / (z + 2), Z),
    Body("complex functions", lambda z: tf.exp(z) + tf.sqrt(z), Z),
    Body("logical", lambda b: (b & ~b[::-1], b | b[::-1], tf.math.logical_xor(b, b[0])), B),
    Body("sums", lambda x: (tf.reduce_sum(x), tf.reduce_sum(x, 0), tf.reduce_sum(x, [1])), M),
    Body("sums that keep dimensions", lambda x: tf.reduce_sum(x, 1, keepdims=True), M),
    Body("products", lambda x: (tf.reduce_prod(x), tf.reduce_prod(x, -1)), M),
    Body("means", lambda x: (tf.reduce_mean(x), tf.reduce_mean(x, [0, 2])), T),
    Body("extremes", lambda x: (tf.reduce_max(x, 0), tf.reduce_min(x, 1), tf.reduce_max(x)), M),
    Body("any and all", lambda b: (tf.reduce_any(b), tf.reduce_all(b)), B),
    Body("variance", lambda x: (tf.math.reduce_variance(x), tf.math.reduce_std(x, 0)), M),
    Body("logsumexp", lambda x: tf.reduce_logsumexp(x, axis=-1), M),
    Body("norms", lambda x: (tf.norm(x), tf.math.reduce_euclidean_norm(x, 0)), M),
    Body("argmax and argmin", lambda x: (tf.argmax(x, 1), tf.argmin(x, 0, tf.int32)), M),
    Body("cumsum", lambda x: (tf.cumsum(x, 1), tf.cumsum(x, exclusive=True)), M),
    Body("cumsum from the end", lambda x: tf.cumsum(x, reverse=True), V),
    Body("cumprod", lambda x: tf.math.cumprod(x, 1, exclusive=True), M),
    Body("cumulative_logsumexp", lambda x: tf.math.cumulative_logsumexp(x), V, 1e-6),
    Body("add_n", lambda x: tf.add_n([x, x * 2, tf.ones_like(x)]), M),
    Body("bias_add", lambda x: tf.nn.bias_add(x, x[0]), M),
    Body("unsorted_segment_sum", lambda k: tf.math.unsorted_segment_sum(k, k, 4), K),
    Body(
        "unsorted_segment extremes",
        lambda e: [
            getattr(tf.math, f"unsorted_segment_{name}")(e[0][:4], e[1], 4)
            for name in ("min", "max", "prod", "mean")
        ],
        (V[:3], K),
    ),
    Body("segment_sum", lambda x: tf.math.segment_sum(x, [0, 0, 1, 3]), M),
    Body("cast", lambda x: (tf.cast(x * 3, tf.int32), tf.cast(x, tf.float64)), M),
    Body("saturate_cast", lambda x: tf.saturate_cast(x * 1000, tf.int8), M),
    Body("clip_by_value", lambda x: tf.clip_by_value(x, -1.0, 0.5), M),
    Body("clip_by_norm", lambda x: tf.clip_by_norm(x, 1.5), V, 1e-6),
    Body("polyval", lambda x: tf.math.polyval([1.0, -2.0, 3.0], x), V),
    Body("approximate_equal", lambda x: tf.math.approximate_equal(x, x + 1e-6), V),
    Body("count_nonzero", lambda k: tf.math.count_nonzero(k), K),
    Body("bincount", lambda k: tf.math.bincount(k, minlength=4, maxlength=4), K),
    Body("integers", lambda k: (k // 2, k % 3, k * k - 1, tf.math.truncatediv(-k, 2)), K),
    Body("tensordot", lambda x: tf.tensordot(x, WEIGHTS, [[1], [0]]), M),
]

LINALG = [
    Body("matmul with one for all", lambda x: tf.matmul(x, WEIGHTS), M),
    Body("matmul of both", lambda e: tf.matmul(e[0], e[1], transpose_b=True), (M, M * 2)),
    Body("matmul of batches", lambda x: tf.matmul(x, x, transpose_a=True), T),
    Body("matmul adjoint", lambda z: tf.matmul(z, z, adjoint_b=True), Z, 1e-6),
    Body("operator @", lambda x: x @ tf.transpose(x), M),
    Body("matvec", lambda e: tf.linalg.matvec(e[0], e[1]), (M, _numbers(3, 5))),
    Body("einsum", lambda x: tf.einsum("ij,jk->ki", x, WEIGHTS), M),
    Body("einsum of one", lambda x: tf.einsum("ii->i", x), SQUARE),
    Body("einsum with dots", lambda x: tf.einsum("...ij,...kj->...ik", x, x), T),
    Body("cholesky", lambda x: tf.linalg.cholesky(x), SQUARE),
    Body("logdet", lambda x: tf.linalg.logdet(x), SQUARE),
    Body("det and inverse", lambda x: (tf.linalg.det(x), tf.linalg.inv(x)), SQUARE),
    Body("solve", lambda x: tf.linalg.solve(x, x[:, :2]), SQUARE),
    Body("solve with one for all", lambda x: tf.linalg.solve(x, tf.ones([4, 1])), SQUARE),
    Body(
        "triangular_solve",
        lambda x: (
            tf.linalg.triangular_solve(x, x[:, :2]),
            tf.linalg.triangular_solve(x, x[:, :2], lower=False),
        ),
        SQUARE,
    ),
    Body("cross", lambda x: tf.linalg.cross(x, TABLE[0]), V[:, :3]),
    Body("eigh", lambda x: tf.linalg.eigvalsh(x), SQUARE, 1e-5, falls_back=True),
]
