"""``tf.nn``: activations, softmax, losses and normalisations."""

from typing import Any

import numpy as np

from ... import erf, logsumexp
from ... import sigmoid as lane_sigmoid
from ... import softmax as softmax_of_row
from ...element import Varying
from ...errors import UsageError
from .elementwise import multiply, sigmoid, softplus, softsign, tanh, truediv
from .names import listed
from .ops import composite, elementwise, held, moving, static_of, whole
from .reductions import by_axis, reduce_mean, reduce_sum, zero_fraction
from .selecting import gather, where

# --- activations ---


@elementwise
def relu(features: Any) -> Any:
    """Return a number, and 0 for those below."""
    return np.maximum(features, 0)


@elementwise
def relu6(features: Any) -> Any:
    """Return a number between 0 and 6."""
    return np.minimum(np.maximum(features, 0), 6)


@elementwise
def leaky_relu(features: Any, alpha: Any = 0.2) -> Any:
    """Return a number, and a part of it below 0; of integers as float32."""
    if features.dtype.kind in "iu":
        features = features.astype(np.float32)
    return np.where(features > 0, features, features * alpha)


@elementwise
def elu(features: Any) -> Any:
    """Return a number, and ``exp(x) - 1`` below 0."""
    return np.where(features > 0, features, np.expm1(features))


@elementwise
def selu(features: Any) -> Any:
    """Return `elu` scaled so that layers keep their mean and variance."""
    below = 1.6732632423543772 * np.expm1(features)
    return 1.0507009873554805 * np.where(features > 0, features, below)


@elementwise
def _silu(features: Any, beta: Any) -> Any:
    return features * lane_sigmoid(features * beta)


@composite
def silu(features: Any, beta: Any = 1.0) -> Any:
    """Return ``x * sigmoid(beta * x)``."""
    return _silu(features, beta)


@elementwise
def _gelu(features: Any) -> Any:
    return 0.5 * features * (1 + erf(features * 0.7071067811865476))


@elementwise
def _gelu_near(features: Any) -> Any:
    inner = 0.7978845608028654 * (features + 0.044715 * features * features * features)
    return 0.5 * features * (1 + np.tanh(inner))


@composite
def gelu(features: Any, approximate: bool = False) -> Any:
    """Return a number times the part of the normal distribution below it."""
    return _gelu_near(features) if approximate else _gelu(features)


@moving
def crelu(features: Any, axis: Any = -1) -> Any:
    """Return `relu` of numbers, and behind them of their negatives."""
    x = held(features)
    return np.concatenate([np.maximum(x, 0), np.maximum(-x, 0)], static_of(axis))


@whole(leads=by_axis("axis"))
def _softmax(logits: Any, axis: Any) -> Any:
    if isinstance(logits, Varying):
        return softmax_of_row(logits, axis)
    if np.size(logits) == 0:
        return logits
    powers = np.exp(logits - np.max(logits, axis=axis, keepdims=True))
    return powers / np.sum(powers, axis=axis, keepdims=True)


@composite
def softmax(logits: Any, axis: Any = None) -> Any:
    """Return exponentials over their sum, along the last axis if none is given.

    Examples
    --------
    >>> import lanewise.compat.tf as tf
    >>> tf.nn.softmax([0.0, 0.0]).numpy()
    array([0.5, 0.5], dtype=float32)
    """
    return _softmax(logits, -1 if axis is None else axis)


@whole(leads=by_axis("axis"))
def _log_softmax(logits: Any, axis: Any) -> Any:
    return logits if np.size(logits) == 0 else logits - logsumexp(logits, axis, True)


@composite
def log_softmax(logits: Any, axis: Any = None) -> Any:
    """Return the logarithm of `softmax`."""
    return _log_softmax(logits, -1 if axis is None else axis)


@composite
def dropout(x: Any, rate: Any, noise_shape: Any = None, seed: Any = None) -> Any:
    """Return a tensor with a part of its numbers, drawn by chance, 0, and the others larger."""
    from .arranging import shape
    from .making import convert_to_tensor, zeros_like
    from .random import uniform

    x, part = convert_to_tensor(x), static_of(rate)
    if isinstance(part, (int, float)) and not 0 <= part < 1:
        raise UsageError(f"dropout: no part of all; got rate={part}, expected 0 to below 1.")
    if part == 0:
        return x
    kept = uniform(shape(x) if noise_shape is None else noise_shape, seed=seed) >= rate
    return where(kept, truediv(x, 1 - rate), zeros_like(x))


# --- losses ---


@whole()
def l2_loss(t: Any) -> Any:
    """Return half of the sum of squares."""
    return np.sum(t * t, dtype=t.dtype) / t.dtype.type(2)


@whole(tensors=2, leads=by_axis("axis"))
def _cross_entropy(labels: Any, logits: Any, axis: Any) -> Any:
    each = labels * (logsumexp(logits, axis=axis, keepdims=True) - logits)
    return np.sum(each, axis=axis)


@composite
def softmax_cross_entropy_with_logits(labels: Any, logits: Any, axis: Any = -1) -> Any:
    """Return how far predictions are from labels that say how likely each class is."""
    return _cross_entropy(labels, logits, axis)


@whole(tensors=2, leads=lambda values: {} if values[1].ndim > 1 else None)
def _sparse_cross_entropy(labels: Any, logits: Any) -> Any:
    own = np.take_along_axis(logits, np.reshape(labels, (*np.shape(labels), 1)), -1)
    return logsumexp(logits, axis=-1) - np.reshape(own, np.shape(labels))


@composite
def sparse_softmax_cross_entropy_with_logits(labels: Any, logits: Any) -> Any:
    """Return how far predictions are from labels that name a class."""
    return _sparse_cross_entropy(labels, logits)


@elementwise
def sigmoid_cross_entropy_with_logits(labels: Any, logits: Any) -> Any:
    """Return how far predictions are from labels between 0 and 1, each by itself."""
    rest = np.log1p(np.exp(-np.absolute(logits)))
    return np.maximum(logits, 0) - logits * labels + rest


@elementwise
def weighted_cross_entropy_with_logits(labels: Any, logits: Any, pos_weight: Any) -> Any:
    """Return the same with a weight for the labels that are 1."""
    weight = 1 + (pos_weight - 1) * labels
    rest = np.log1p(np.exp(-np.absolute(logits))) + np.maximum(-logits, 0)
    return (1 - labels) * logits + weight * rest


@elementwise
def _log_poisson(targets: Any, log_input: Any) -> Any:
    return np.exp(log_input) - log_input * targets


@elementwise
def _stirling(targets: Any) -> Any:
    at_least = np.where(targets > 1, targets, 2.0)
    found = at_least * np.log(at_least) - at_least + 0.5 * np.log(6.283185307179586 * at_least)
    return np.where(targets > 1, found, 0.0)


@composite
def log_poisson_loss(targets: Any, log_input: Any, compute_full_loss: bool = False) -> Any:
    """Return how unlikely counts are for the logarithms of their means."""
    loss = _log_poisson(targets, log_input)
    return loss + _stirling(targets) if compute_full_loss else loss


@composite
def compute_average_loss(
    per_example_loss: Any, sample_weight: Any = None, global_batch_size: Any = None
) -> Any:
    """Return the sum of losses over the number of examples."""
    from .arranging import shape
    from .making import cast

    loss = per_example_loss
    loss = loss if sample_weight is None else multiply(loss, sample_weight)
    count = shape(per_example_loss)[0] if global_batch_size is None else global_batch_size
    return truediv(reduce_sum(loss), cast(count, loss.dtype))


# --- normalisations ---


@composite
def moments(x: Any, axes: Any, shift: Any = None, keepdims: bool = False) -> Any:
    """Return the mean and the variance along axes."""
    from .reductions import reduce_variance

    return reduce_mean(x, axes, keepdims), reduce_variance(x, axes, keepdims)


@elementwise
def _normalized(x: Any, mean: Any, variance: Any, epsilon: Any) -> Any:
    return (x - mean) / np.sqrt(variance + epsilon)


@composite
def batch_normalization(
    x: Any, mean: Any, variance: Any, offset: Any, scale: Any, variance_epsilon: Any
) -> Any:
    """Return numbers with another mean and variance."""
    result = _normalized(x, mean, variance, variance_epsilon)
    result = result if scale is None else multiply(result, scale)
    return result if offset is None else result + offset


@whole()
def local_response_normalization(
    input: Any, depth_radius: Any = 5, bias: Any = 1, alpha: Any = 1, beta: Any = 0.5
) -> Any:
    """Return numbers over the squares of their neighbours along the last axis."""
    widths = [(0, 0)] * (np.ndim(input) - 1) + [(depth_radius, depth_radius)]
    squares = np.pad(input * input, widths)
    view = np.lib.stride_tricks.sliding_window_view
    total = np.sum(view(squares, 2 * depth_radius + 1, axis=-1), axis=-1)
    return input / (bias + alpha * total) ** input.dtype.type(beta)


@composite
def embedding_lookup(params: Any, ids: Any, max_norm: Any = None) -> Any:
    """Return the rows that numbers name, at most so long."""
    from .norms import clip_by_norm

    found = gather(params, ids)
    return found if max_norm is None else clip_by_norm(found, max_norm, axes=[-1])


@composite
def bias_add(value: Any, bias: Any, data_format: Any = None) -> Any:
    """Return numbers plus one for each channel."""
    from .arranging import rank, reshape

    if data_format is None or not data_format.startswith("NC"):
        return value + bias
    return value + reshape(bias, [-1] + [1] * (int(rank(value)) - 2))


_ACTIVATIONS = [relu, relu6, leaky_relu, elu, selu, silu, gelu, crelu, softmax, log_softmax]
_LOSSES = [
    *(l2_loss, softmax_cross_entropy_with_logits, sparse_softmax_cross_entropy_with_logits),
    *(sigmoid_cross_entropy_with_logits, weighted_cross_entropy_with_logits, log_poisson_loss),
    *(compute_average_loss, dropout, moments, batch_normalization, embedding_lookup, bias_add),
    *(local_response_normalization, zero_fraction, sigmoid, tanh, softplus, softsign),
]

NAMES = {
    **listed("nn", [*_ACTIVATIONS, *_LOSSES], top=False),
    "nn.swish": silu,
    "nn.lrn": local_response_normalization,
    "math.softmax": softmax,
    "math.log_softmax": log_softmax,
}
