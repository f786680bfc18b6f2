"""Activations, losses, convolutions and pools give what NumPy gives."""

import math

import cases
import numpy as np
import pytest
from cases import Case

import lanewise.compat.tf as tf

RANDOM = np.random.default_rng(2)
X = RANDOM.standard_normal((3, 5))
F = X.astype(np.float32)
IMAGE = RANDOM.standard_normal((2, 6, 5, 4))
KERNEL = RANDOM.standard_normal((3, 2, 4, 3))
DEPTH = RANDOM.standard_normal((3, 2, 4, 2))
ROWS = RANDOM.standard_normal((2, 9, 4))
KERNEL1 = RANDOM.standard_normal((3, 4, 2))
LABELS = np.array([1, 0, 4])
SOFT = np.array([[0.2, 0.8, 0, 0, 0], [1, 0, 0, 0, 0], [0, 0, 0.5, 0.5, 0.0]])
NEAR = 1e-10


def erf(x):
    return np.vectorize(math.erf)(x)


def softmax(x, axis=-1):
    powers = np.exp(x)
    return powers / powers.sum(axis, keepdims=True)


def sigmoid(x):
    return 1 / (1 + np.exp(-x))


def around(n, window, stride, padding):
    """Return how many zeros TensorFlow puts before and behind a row."""
    if padding == "VALID":
        return 0, 0
    total = max((-(-n // stride) - 1) * stride + window - n, 0)
    return total // 2, total - total // 2


def windows_of(x, sizes, strides, padding, dilations=(1, 1), fill=0.0):
    """Go through places of images (N, H, W, C): the place, and what the window sees."""
    spans = [(n - 1) * d + 1 for n, d in zip(sizes, dilations, strict=True)]
    widths = [
        around(n, span, stride, padding)
        for n, span, stride in zip(x.shape[1:3], spans, strides, strict=True)
    ]
    x = np.pad(x, [(0, 0), *widths, (0, 0)], constant_values=fill)
    for i, top in enumerate(range(0, x.shape[1] - spans[0] + 1, strides[0])):
        for j, left in enumerate(range(0, x.shape[2] - spans[1] + 1, strides[1])):
            rows = slice(top, top + spans[0], dilations[0])
            yield (i, j), x[:, rows, left : left + spans[1] : dilations[1]]


def over(x, function, *window, **options):
    found = {place: function(part) for place, part in windows_of(x, *window, **options)}
    height, width = (1 + max(at[axis] for at in found) for axis in (0, 1))
    return np.stack([np.stack([found[i, j] for j in range(width)], 1) for i in range(height)], 1)


def convolved(x, kernel, strides=(1, 1), padding="VALID", dilations=(1, 1)):
    def product(part):
        return np.einsum("nijc,ijco->no", part, kernel)

    return over(x, product, kernel.shape[:2], strides, padding, dilations)


def depthwise(x, kernel):
    def product(part):
        return np.einsum("nijc,ijcm->ncm", part, kernel).reshape(len(x), -1)

    return over(x, product, kernel.shape[:2], (1, 1), "SAME")


def convolved_rows(x, kernel, stride, padding):
    return convolved(x[:, None], kernel[None], (1, stride), padding)[:, 0]


def largest(x, size, strides, padding):
    def pool(part):
        return part.max((1, 2))

    return over(x, pool, size, strides, padding, fill=-np.inf)


def mean(x, size, strides, padding):
    def pool(part):
        return np.nanmean(part, (1, 2))

    return over(x, pool, size, strides, padding, fill=np.nan)


CASES = [
    Case("relu", tf.nn.relu, (F,), lambda x: np.maximum(x, 0)),
    Case("relu6", tf.nn.relu6, (F * 5,), lambda x: np.clip(x, 0, 6)),
    Case("leaky_relu", tf.nn.leaky_relu, (X,), lambda x: np.where(x > 0, x, x * 0.2)),
    Case(
        "leaky_relu_alpha",
        lambda x: tf.nn.leaky_relu(x, alpha=0.5),
        (F,),
        lambda x: np.where(x > 0, x, x / 2),
    ),
    Case("elu", tf.nn.elu, (X,), lambda x: np.where(x > 0, x, np.expm1(x)), NEAR),
    Case(
        "selu",
        tf.nn.selu,
        (X,),
        lambda x: 1.0507009873554805 * np.where(x > 0, x, 1.6732632423543772 * np.expm1(x)),
        NEAR,
    ),
    Case("silu", tf.nn.silu, (X,), lambda x: x * sigmoid(x), NEAR),
    Case("swish", lambda x: tf.nn.swish(x, 2.0), (X,), lambda x: x * sigmoid(2 * x), NEAR),
    Case("gelu", tf.nn.gelu, (X,), lambda x: x / 2 * (1 + erf(x / 2**0.5)), NEAR),
    Case(
        "gelu_near",
        lambda x: tf.nn.gelu(x, approximate=True),
        (F,),
        lambda x: x / 2 * (1 + np.tanh(0.7978845608028654 * (x + 0.044715 * x**3))),
        1e-5,
    ),
    Case(
        "crelu",
        tf.nn.crelu,
        (F,),
        lambda x: np.concatenate([np.maximum(x, 0), np.maximum(-x, 0)], 1),
    ),
    Case("softmax", tf.nn.softmax, (X,), softmax, NEAR),
    Case("softmax_axis", lambda x: tf.nn.softmax(x, axis=0), (X,), lambda x: softmax(x, 0), NEAR),
    Case("softmax_stack", tf.math.softmax, (IMAGE,), softmax, NEAR),
    Case("log_softmax", tf.nn.log_softmax, (X,), lambda x: np.log(softmax(x)), NEAR),
    Case("sigmoid", tf.nn.sigmoid, (X,), sigmoid, NEAR),
    Case("tanh", tf.nn.tanh, (X,), np.tanh, NEAR),
    Case("softplus", tf.nn.softplus, (X,), lambda x: np.log1p(np.exp(x)), NEAR),
    Case("softsign", tf.nn.softsign, (X,), lambda x: x / (1 + np.abs(x)), NEAR),
    Case("l2_loss", tf.nn.l2_loss, (F,), lambda x: np.float32(np.sum(x * x) / 2), 1e-5),
    Case(
        "softmax_cross_entropy",
        lambda y, x: tf.nn.softmax_cross_entropy_with_logits(labels=y, logits=x),
        (SOFT, X),
        lambda y, x: -(y * np.log(softmax(x))).sum(-1),
        NEAR,
    ),
    Case(
        "sparse_cross_entropy",
        lambda y, x: tf.nn.sparse_softmax_cross_entropy_with_logits(labels=y, logits=x),
        (LABELS, X),
        lambda y, x: -np.log(softmax(x))[np.arange(3), y],
        NEAR,
    ),
    Case(
        "sparse_cross_entropy_number",
        tf.nn.sparse_softmax_cross_entropy_with_logits,
        (LABELS[0], X[0]),
        lambda y, x: -np.log(softmax(x))[y],
        NEAR,
    ),
    Case(
        "sigmoid_cross_entropy",
        lambda y, x: tf.nn.sigmoid_cross_entropy_with_logits(labels=y, logits=x),
        (SOFT, X),
        lambda y, x: -y * np.log(sigmoid(x)) - (1 - y) * np.log(1 - sigmoid(x)),
        NEAR,
    ),
    Case(
        "weighted_cross_entropy",
        lambda y, x: tf.nn.weighted_cross_entropy_with_logits(y, x, 3.0),
        (SOFT, X),
        lambda y, x: -3 * y * np.log(sigmoid(x)) - (1 - y) * np.log(1 - sigmoid(x)),
        NEAR,
    ),
    Case(
        "log_poisson",
        tf.nn.log_poisson_loss,
        (SOFT * 9, X),
        lambda y, x: np.exp(x) - x * y,
        NEAR,
    ),
    Case(
        "log_poisson_full",
        lambda y, x: tf.nn.log_poisson_loss(y, x, compute_full_loss=True),
        (np.array([0.0, 1.0, 5.0]), np.array([0.0, 1.0, 2.0])),
        lambda y, x: (
            np.exp(x)
            - x * y
            + np.where(
                y > 1, y * np.log(y + (y == 0)) - y + np.log(2 * np.pi * y + (y == 0)) / 2, 0
            )
        ),
        NEAR,
    ),
    Case(
        "average_loss",
        lambda x: tf.nn.compute_average_loss(x, global_batch_size=10),
        (F[0],),
        lambda x: np.sum(x) / np.float32(10),
        1e-5,
    ),
    Case("average_loss_own", tf.nn.compute_average_loss, (X[0],), np.mean, NEAR),
    Case(
        "moments",
        lambda x: tf.nn.moments(x, axes=[0]),
        (X,),
        lambda x: (x.mean(0), x.var(0)),
        NEAR,
    ),
    Case(
        "batch_normalization",
        lambda x, m: tf.nn.batch_normalization(x, m, m * m, 1.0, 2.0, 0.1),
        (X, X[0]),
        lambda x, m: (x - m) / np.sqrt(m * m + 0.1) * 2 + 1,
        NEAR,
    ),
    Case(
        "local_response_normalization",
        lambda x: tf.nn.local_response_normalization(x, 1, bias=2.0, alpha=0.5, beta=0.75),
        (IMAGE,),
        lambda x: (
            x
            / (
                2
                + 0.5
                * sum(np.pad(x * x, [(0, 0)] * 3 + [(1, 1)])[..., k : k + 4] for k in range(3))
            )
            ** 0.75
        ),
        NEAR,
    ),
    Case("embedding_lookup", tf.nn.embedding_lookup, (X, LABELS[:2]), lambda x, i: x[i]),
    Case(
        "embedding_lookup_norm",
        lambda x, i: tf.nn.embedding_lookup(x, i, max_norm=1.0),
        (X, LABELS[:2]),
        lambda x, i: x[i] / np.maximum(np.linalg.norm(x[i], axis=-1, keepdims=True), 1),
        NEAR,
    ),
    Case("bias_add", tf.nn.bias_add, (IMAGE, X[0, :4]), lambda x, b: x + b),
    Case(
        "bias_add_first",
        lambda x, b: tf.nn.bias_add(x, b, data_format="NCHW"),
        (IMAGE, X[0, :6].repeat(2)[:6]),
        lambda x, b: x + b[:, None, None],
    ),
    # --- windows ---
    Case(
        "conv2d",
        lambda x, k: tf.nn.conv2d(x, k, strides=1, padding="VALID"),
        (IMAGE, KERNEL),
        convolved,
        NEAR,
    ),
    Case(
        "conv2d_same",
        lambda x, k: tf.nn.conv2d(x, k, strides=[1, 2, 2, 1], padding="SAME"),
        (IMAGE, KERNEL),
        lambda x, k: convolved(x, k, (2, 2), "SAME"),
        NEAR,
    ),
    Case(
        "conv2d_dilated",
        lambda x, k: tf.nn.conv2d(x, k, [1, 2], "SAME", dilations=[2, 1]),
        (IMAGE, KERNEL),
        lambda x, k: convolved(x, k, (1, 2), "SAME", (2, 1)),
        NEAR,
    ),
    Case(
        "conv2d_channels_first",
        lambda x, k: tf.nn.conv2d(x, k, 1, "VALID", data_format="NCHW"),
        (IMAGE.transpose(0, 3, 1, 2).copy(), KERNEL),
        lambda x, k: convolved(x.transpose(0, 2, 3, 1), k).transpose(0, 3, 1, 2),
        NEAR,
    ),
    Case(
        "conv2d_padded",
        lambda x, k: tf.nn.conv2d(x, k, 1, [[0, 0], [1, 2], [0, 3], [0, 0]]),
        (IMAGE, KERNEL),
        lambda x, k: convolved(np.pad(x, [(0, 0), (1, 2), (0, 3), (0, 0)]), k),
        NEAR,
    ),
    Case(
        "conv2d_groups",
        lambda x, k: tf.nn.conv2d(x, k, 1, "VALID"),
        (IMAGE, RANDOM.standard_normal((3, 2, 2, 6))),
        lambda x, k: np.concatenate(
            [convolved(x[..., :2], k[..., :3]), convolved(x[..., 2:], k[..., 3:])], -1
        ),
        NEAR,
    ),
    Case(
        "conv1d",
        lambda x, k: tf.nn.conv1d(x, k, stride=2, padding="SAME"),
        (ROWS, KERNEL1),
        lambda x, k: convolved_rows(x, k, 2, "SAME"),
        NEAR,
    ),
    Case(
        "depthwise_conv2d",
        lambda x, k: tf.nn.depthwise_conv2d(x, k, [1, 1, 1, 1], "SAME"),
        (IMAGE, DEPTH),
        depthwise,
        NEAR,
    ),
    Case(
        "separable_conv2d",
        lambda x, k, p: tf.nn.separable_conv2d(x, k, p, [1, 1, 1, 1], "SAME"),
        (IMAGE, DEPTH, RANDOM.standard_normal((1, 1, 8, 3))),
        lambda x, k, p: depthwise(x, k) @ p[0, 0],
        NEAR,
    ),
    *(
        Case(
            f"{name}_{padding}_{size}",
            lambda x, call=call, s=size, p=padding: call(x, s, 2, p),
            (IMAGE,),
            lambda x, expected=expected, s=size, p=padding: expected(x, (s, s), (2, 2), p),
            NEAR,
        )
        for name, call, expected in (
            ("max_pool2d", tf.nn.max_pool2d, largest),
            ("avg_pool2d", tf.nn.avg_pool2d, mean),
        )
        for size in (2, 3)
        for padding in ("VALID", "SAME")
    ),
    Case(
        "max_pool",
        lambda x: tf.nn.max_pool(x, ksize=[1, 2, 2, 1], strides=[1, 1, 1, 1], padding="VALID"),
        (IMAGE,),
        lambda x: largest(x, (2, 2), (1, 1), "VALID"),
    ),
    Case(
        "max_pool1d",
        lambda x: tf.nn.max_pool1d(x, 3, 2, "SAME"),
        (ROWS,),
        lambda x: largest(x[:, None], (1, 3), (1, 2), "SAME")[:, 0],
    ),
    Case(
        "avg_pool1d",
        lambda x: tf.nn.avg_pool1d(x, 2, 1, "VALID"),
        (ROWS,),
        lambda x: (x[:, 1:] + x[:, :-1]) / 2,
        NEAR,
    ),
    Case(
        "space_to_depth",
        lambda x: tf.nn.space_to_depth(x, 2),
        (IMAGE[:, :, :4].copy(),),
        lambda x: x.reshape(2, 3, 2, 2, 2, 4).transpose(0, 1, 3, 2, 4, 5).reshape(2, 3, 2, 16),
    ),
    Case(
        "depth_to_space",
        lambda x: tf.nn.depth_to_space(x, 2),
        (IMAGE,),
        lambda x: x.reshape(2, 6, 5, 2, 2, 1).transpose(0, 1, 3, 2, 4, 5).reshape(2, 12, 10, 1),
    ),
]


@pytest.mark.parametrize("case", CASES, ids=cases.name_of)
def test_whole_tensors_give_what_numpy_gives(case):
    cases.check_eagerly(case)


@pytest.mark.parametrize("case", CASES, ids=cases.name_of)
def test_elements_of_a_map_give_what_numpy_gives(case):
    cases.check_in_map(case)


@pytest.mark.parametrize("case", CASES, ids=cases.name_of)
def test_a_graph_gives_what_numpy_gives(case):
    cases.check_in_graph(case)


def test_dropout_keeps_the_mean():
    tf.random.set_seed(1)
    kept = tf.nn.dropout(tf.ones([10_000]), rate=0.25).numpy()
    assert set(np.unique(kept)) == {np.float32(0), np.float32(1) / np.float32(0.75)}
    assert abs((kept > 0).mean() - 0.75) < 0.02
    np.testing.assert_array_equal(tf.nn.dropout([1.0, 2.0], 0), [1, 2])
    rows = tf.map_fn(lambda x: tf.nn.dropout(x, 0.5), np.ones((3, 1000), np.float32)).numpy()
    assert abs((rows > 0).mean() - 0.5) < 0.05
    shared = tf.nn.dropout(tf.ones([4, 1000]), 0.5, noise_shape=[1, 1000]).numpy()
    assert (shared == shared[0]).all()


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: tf.nn.conv2d(IMAGE, KERNEL, 1, "FULL"), "no such padding; got 'FULL'"),
        (lambda: tf.nn.conv2d(IMAGE, KERNEL, [1, 2, 3], "SAME"), r"strides does not fit; got \[1"),
        (lambda: tf.nn.conv2d(IMAGE[..., :3], KERNEL, 1, "SAME"), "channels do not fit; got 3"),
        (lambda: tf.nn.max_pool2d(IMAGE, 9, 1, "VALID"), "the window is larger than the image"),
    ],
)
def test_what_does_not_fit_is_said(call, words):
    with pytest.raises(tf.errors.InvalidArgumentError, match=words):
        call()
