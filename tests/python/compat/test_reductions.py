"""Reductions, running sums, norms and groups give what NumPy gives, in every way to run them."""

import cases
import numpy as np
import pytest
from cases import Case

import lanewise as lw
import lanewise.compat.tf as tf

F = np.array([[3.0, -1.5, 2.0, 5.0], [0.5, 2.5, -4.0, 1.0], [0.0, 9.0, 1.0, 1.5]], np.float32)
D = np.linspace(-2, 3, 24).reshape(2, 3, 4)
N = np.array([[-7, 2, 3], [4, -5, 6]], np.int32)
B = np.array([[True, False, True], [True, True, True]])
NEAR = 1e-6


def kept(function):
    """Return a reduction of NumPy's that keeps the type."""
    return lambda x, **options: np.asarray(function(x, **options)).astype(x.dtype)


def reduced(name, function, arrays=(F, D, N), tolerance=NEAR):
    call = getattr(tf.math, name)
    for array in arrays:
        for axis in (None, 0, -1, [0, 1]):
            for keepdims in (False, True) if axis == -1 else (False,):
                options = {"axis": tuple(axis) if isinstance(axis, list) else axis}
                yield Case(
                    f"{name}_{array.dtype}_{axis}_{keepdims}",
                    lambda x, a=axis, k=keepdims: call(x, axis=a, keepdims=k),
                    (array,),
                    lambda x, o=options, k=keepdims: np.asarray(function(x, keepdims=k, **o)),
                    0 if array.dtype.kind in "ib" else tolerance,
                )


def log_sum_exp(x, **options):
    return np.log(np.sum(np.exp(x), **options))


def truncated(x, **options):
    return np.trunc(np.mean(x, **options)).astype(x.dtype)


CASES = [
    *reduced("reduce_sum", kept(np.sum)),
    *reduced("reduce_prod", kept(np.prod)),
    *reduced("reduce_max", np.max, tolerance=0),
    *reduced("reduce_min", np.min, tolerance=0),
    *reduced("reduce_mean", np.mean, (F, D)),
    *reduced("reduce_mean", truncated, (N,)),
    *reduced("reduce_any", np.any, (B,)),
    *reduced("reduce_all", np.all, (B,)),
    *reduced("reduce_std", np.std, (F, D)),
    *reduced("reduce_variance", np.var, (F, D)),
    *reduced("reduce_logsumexp", log_sum_exp, (F, D)),
    *reduced("reduce_euclidean_norm", lambda x, **o: np.sqrt(np.sum(x * x, **o)), (F, D)),
    Case("reduce_nothing", lambda x: tf.reduce_sum(x, []), (F,), lambda x: x),
    Case("reduce_number", tf.reduce_sum, (F[0, 0],), lambda x: x),
    Case("argmax", tf.argmax, (F,), lambda x: np.argmax(x, 0)),
    Case("argmin", lambda x: tf.argmin(x, 1), (F,), lambda x: np.argmin(x, 1)),
    Case(
        "argmax_type",
        lambda x: tf.math.argmax(x, axis=-1, output_type=tf.int32),
        (D,),
        lambda x: np.argmax(x, -1).astype(np.int32),
    ),
    Case("count_nonzero", tf.math.count_nonzero, (F,), lambda x: np.int64(np.count_nonzero(x))),
    Case(
        "count_nonzero_axis",
        lambda x: tf.math.count_nonzero(x, 1, dtype=tf.int32),
        (F,),
        lambda x: np.count_nonzero(x, 1).astype(np.int32),
    ),
    Case("zero_fraction", tf.math.zero_fraction, (F,), lambda x: np.float32(1 / 12), NEAR),
    Case("cumsum", tf.cumsum, (F,), lambda x: np.cumsum(x, 0), NEAR),
    Case(
        "cumsum_exclusive",
        lambda x: tf.cumsum(x, axis=1, exclusive=True),
        (N,),
        lambda x: np.cumsum(x, 1, dtype=x.dtype) - x,
    ),
    Case(
        "cumsum_reverse",
        lambda x: tf.cumsum(x, axis=-1, reverse=True),
        (N,),
        lambda x: np.cumsum(x[:, ::-1], 1, dtype=x.dtype)[:, ::-1],
    ),
    Case(
        "cumsum_exclusive_reverse",
        lambda x: tf.math.cumsum(x, exclusive=True, reverse=True),
        (N,),
        lambda x: np.cumsum(x[::-1], 0, dtype=x.dtype)[::-1] - x,
    ),
    Case("cumprod", lambda x: tf.math.cumprod(x, 1), (N,), kept(lambda x: np.cumprod(x, 1))),
    Case(
        "cumprod_exclusive",
        lambda x: tf.math.cumprod(x, 1, exclusive=True),
        (N,),
        lambda x: np.stack([np.ones(2), x[:, 0], x[:, 0] * x[:, 1]], 1).astype(x.dtype),
    ),
    Case(
        "cumulative_logsumexp",
        tf.math.cumulative_logsumexp,
        (F,),
        lambda x: np.log(np.cumsum(np.exp(x), 0)),
        1e-5,
    ),
    Case("is_non_decreasing", tf.math.is_non_decreasing, (N,), lambda x: np.False_),
    Case("is_non_decreasing_equal", tf.math.is_non_decreasing, (D * 0,), lambda x: np.True_),
    Case("is_strictly_increasing", tf.math.is_strictly_increasing, (D,), lambda x: np.True_),
    Case("is_increasing_alone", tf.math.is_strictly_increasing, (F[0, :1],), lambda x: np.True_),
    # --- norms ---
    Case("norm", tf.norm, (F,), lambda x: np.sqrt(np.sum(x * x)), NEAR),
    Case("norm_1", lambda x: tf.norm(x, 1, axis=1), (D,), lambda x: np.abs(x).sum(1), NEAR),
    Case("norm_inf", lambda x: tf.norm(x, np.inf, 0), (F,), lambda x: np.abs(x).max(0)),
    Case(
        "norm_3",
        lambda x: tf.linalg.norm(x, ord=3, axis=-1, keepdims=True),
        (D,),
        lambda x: (np.abs(x) ** 3).sum(-1, keepdims=True) ** (1 / 3),
        NEAR,
    ),
    Case(
        "norm_of_matrices",
        lambda x: tf.norm(x, 1, axis=[-2, -1]),
        (D,),
        lambda x: np.linalg.norm(x, 1, (-2, -1)),
        NEAR,
    ),
    Case(
        "l2_normalize",
        lambda x: tf.math.l2_normalize(x, axis=1),
        (F,),
        lambda x: x / np.linalg.norm(x, axis=1, keepdims=True),
        NEAR,
    ),
    Case(
        "normalize",
        lambda x: tf.linalg.normalize(x),
        (F,),
        lambda x: (
            x / np.linalg.norm(x),
            np.linalg.norm(x).reshape(1, 1).astype(x.dtype),
        ),
        NEAR,
    ),
    Case(
        "clip_by_norm",
        lambda x: tf.clip_by_norm(x, 2.0),
        (F,),
        lambda x: x * 2 / max(np.linalg.norm(x), np.float32(2)),
        NEAR,
    ),
    Case(
        "clip_by_norm_axes",
        lambda x: tf.clip_by_norm(x, 2.0, axes=[1]),
        (F,),
        lambda x: x * 2 / np.maximum(np.linalg.norm(x, axis=1, keepdims=True), np.float32(2)),
        NEAR,
    ),
    Case(
        "global_norm",
        lambda x, y: tf.linalg.global_norm([x, None, y]),
        (F, F),
        lambda x, y: np.sqrt(np.sum(x * x) + np.sum(y * y)),
        NEAR,
    ),
    Case(
        "clip_by_global_norm",
        lambda x, y: tf.clip_by_global_norm([x, y], 1.0)[0],
        (F, F),
        lambda x, y: [x / np.sqrt(np.sum(x * x) * 2), y / np.sqrt(np.sum(y * y) * 2)],
        NEAR,
    ),
    Case("add_n", lambda x, y: tf.add_n([x, y, y]), (F, F), lambda x, y: x + y + y),
    Case("accumulate_n", lambda x: tf.math.accumulate_n([x, x]), (F,), lambda x: x + x),
    Case("scalar_mul", lambda x: tf.scalar_mul(3.0, x), (F,), lambda x: 3 * x),
    Case(
        "polyval",
        lambda x: tf.math.polyval([2.0, 0.0, 1.0], x),
        (F,),
        lambda x: 2 * x * x + 1,
        NEAR,
    ),
    # --- groups ---
    Case(
        "top_k",
        lambda x: tuple(tf.math.top_k(x, k=2)),
        (np.array([[1.0, 4.0, 4.0], [3.0, 1.0, 2.0]]),),
        lambda x: (np.sort(x)[:, :0:-1], np.array([[1, 2], [0, 2]], np.int32)),
    ),
    Case(
        "in_top_k",
        lambda t, p: tf.math.in_top_k(t, p, 2),
        (np.array([0, 1, 7]), F),
        lambda t, p: np.array([True, True, False]),
    ),
    Case(
        "bincount",
        lambda x: tf.math.bincount(x, minlength=4, maxlength=4),
        (np.array([1, 3, 1, 7]),),
        lambda x: np.array([0, 2, 0, 1], np.int32),
    ),
    Case(
        "bincount_weights",
        lambda x, w: tf.math.bincount(x, weights=w, minlength=5, maxlength=5),
        (np.array([1, 3, 1]), np.array([0.5, 2.0, 1.0])),
        lambda x, w: np.bincount(x, w, 5),
    ),
    Case(
        "bincount_all",
        tf.math.bincount,
        (np.array([1, 3, 1]),),
        lambda x: np.bincount(x).astype(np.int32),
        in_map=False,
    ),
    Case(
        "confusion_matrix",
        lambda x, y: tf.math.confusion_matrix(x, y, num_classes=3),
        (np.array([0, 1, 1]), np.array([0, 2, 2])),
        lambda x, y: np.array([[1, 0, 0], [0, 0, 2], [0, 0, 0]], np.int32),
    ),
    Case(
        "histogram_fixed_width",
        lambda x: tf.histogram_fixed_width(x, [0.0, 4.0], nbins=4),
        (np.array([-1.0, 0.0, 1.5, 3.0, 9.0], np.float32) * 1,),
        lambda x: np.bincount(np.clip(np.floor(x), 0, 3).astype(int), minlength=4).astype(np.int32),
    ),
    Case(
        "histogram_fixed_width_bins",
        lambda x: tf.histogram_fixed_width_bins(x, [0.0, 4.0], nbins=4),
        (np.array([[-1.0, 0.0], [1.5, 9.0]], np.float32),),
        lambda x: np.clip(np.floor(x), 0, 3).astype(np.int32),
    ),
]

IDS = np.array([0, 0, 2])
GROUPS = {
    "sum": (np.sum, 0, 0),
    "prod": (np.prod, 1, 1),
    "max": (np.max, 0, np.finfo(np.float32).min),
    "min": (np.min, 0, np.finfo(np.float32).max),
    "mean": (np.mean, 0, 0),
}
for name, (function, empty, unsorted_empty) in GROUPS.items():

    def groups(x, function=function, empty=empty):
        middle = np.full(x.shape[1:], empty, x.dtype)
        return np.stack([function(x[:2], 0), middle, x[2]])

    def unsorted(x, i, function=function, empty=unsorted_empty):
        middle = np.full(x.shape[1:], empty, x.dtype)
        return np.stack([x[1], middle, function(x[[0, 2]], 0)])

    CASES += [
        Case(
            f"segment_{name}",
            lambda x, name=name: getattr(tf.math, f"segment_{name}")(x, IDS),
            (F,),
            groups,
            NEAR,
        ),
        Case(
            f"unsorted_segment_{name}",
            lambda x, i, name=name: getattr(tf.math, f"unsorted_segment_{name}")(x, i, 3),
            (F, np.array([2, 0, 2])),
            unsorted,
            NEAR,
        ),
    ]
CASES += [
    Case(
        "unsorted_segment_sqrt_n",
        lambda x, i: tf.math.unsorted_segment_sqrt_n(x, i, 2),
        (F, np.array([1, -1, 1])),
        lambda x, i: np.stack([x[0] * 0, (x[0] + x[2]) / np.sqrt(np.float32(2))]),
        NEAR,
    )
]
SAMPLE = [case for case in CASES if "True" not in case.name]


@pytest.mark.parametrize("case", CASES, ids=cases.name_of)
def test_whole_tensors_give_what_numpy_gives(case):
    cases.check_eagerly(case)


@pytest.mark.parametrize("case", [case for case in CASES if case.in_map], ids=cases.name_of)
def test_elements_of_a_map_give_what_numpy_gives(case):
    cases.check_in_map(case)


@pytest.mark.parametrize("case", SAMPLE, ids=cases.name_of)
def test_a_graph_gives_what_numpy_gives(case):
    cases.check_in_graph(case)


def test_a_sum_of_a_repeated_number_makes_no_copies():
    elems = tf.constant(np.random.default_rng(0).random(100_000).astype(np.float32))
    before = lw.memory_info().scratch.peak
    total = tf.map_fn(lambda x: tf.reduce_sum(tf.repeat(x, 10_000)), elems)
    assert lw.memory_info().scratch.peak - before < 1 << 20
    np.testing.assert_array_equal(total.numpy(), elems.numpy() * np.float32(10_000))


def test_reductions_along_no_numbers_are_what_they_begin_with():
    empty = tf.zeros([0, 2])
    assert tf.reduce_sum(empty).numpy() == 0
    assert tf.reduce_prod(empty, 0).numpy().tolist() == [1, 1]
    assert tf.reduce_all(tf.zeros([0], tf.bool)).numpy()


def test_tensors_of_other_ranks_are_told_apart():
    matrix = np.arange(12.0).reshape(3, 4)
    for array in (matrix, matrix[None], matrix):
        assert tf.map_fn(lambda x: tf.reduce_sum(x, 0), array).shape == array.sum(1).shape
        assert tf.reduce_sum(array, 0).shape == array.sum(0).shape
        assert tf.reduce_sum(array, -1).shape == array.sum(-1).shape


def test_functions_are_mapped_as_they_are():
    matrix = np.arange(12.0).reshape(3, 4)
    np.testing.assert_array_equal(tf.map_fn(tf.reduce_sum, matrix), matrix.sum(1))
    np.testing.assert_array_equal(tf.map_fn(tf.square, matrix), matrix**2)
    np.testing.assert_array_equal(tf.map_fn(lambda x, mode=None: x + 1, matrix), matrix + 1)
