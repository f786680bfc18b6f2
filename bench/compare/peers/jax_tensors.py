"""The workloads of rows and images for JAX: functions of one element and of the tables."""

import importlib
from typing import Any

from ..tensor_truths import BLUR, BLURRED, COPIES
from . import Task
from .jax_loops import Loop

jax: Any = importlib.import_module("jax")
jnp: Any = importlib.import_module("jax.numpy")
lax: Any = jax.lax


def _softmax_rows(row: Any) -> Any:
    return jax.nn.softmax(row)


def _layernorm(row: Any, gain: Any, bias: Any) -> Any:
    centred = row - row.mean()
    return centred * lax.rsqrt((centred * centred).mean() + 1e-5) * gain + bias


def _nbody(place: Any, x: Any, y: Any, z: Any, mass: Any) -> Any:
    dx, dy, dz = x - place[0], y - place[1], z - place[2]
    inverse = lax.rsqrt(dx * dx + dy * dy + dz * dz + 1e-3)
    weight = mass * inverse * inverse * inverse
    return jnp.stack([(weight * dx).sum(), (weight * dy).sum(), (weight * dz).sum()])


def _solve3x3(matrix: Any, right: Any) -> Any:
    return jnp.linalg.solve(matrix, right)


def _kmeans_assign(point: Any, centres: Any) -> Any:
    """By a product: in less than half the time that differences take."""
    return ((centres * centres).sum(axis=1) - 2 * (centres @ point)).argmin()


def _images_sqrt(image: Any) -> Any:
    return (jnp.sqrt(image.astype(jnp.float32) * 255) + 0.5).astype(jnp.uint8)


def _images_blur(image: Any) -> Any:
    x = image.astype(jnp.float32)
    x = (x - x.mean()) / x.std()
    x = sum(f * x[:, k : k + BLURRED] for k, f in enumerate(BLUR))
    return sum(f * x[k : k + BLURRED] for k, f in enumerate(BLUR))


def _repeat_sum(x: Any) -> Any:
    return jnp.repeat(x, COPIES).sum()


def _conv_small(image: Any, kernels: Any) -> Any:
    """By shifted images: lax.conv_general_dilated takes longer, in batches too."""
    terms = [
        kernels[:, j, k, None, None] * image[j : j + 26, k : k + 26]
        for j in range(3)
        for k in range(3)
    ]
    return jnp.maximum(sum(terms), 0)


def _mlp_forward(x: Any, weights1: Any, bias1: Any, weights2: Any, bias2: Any) -> Any:
    hidden = jnp.maximum(x @ weights1 + bias1, 0)
    return jax.nn.softmax(hidden @ weights2 + bias2)


def _product(row: Any, b: Any) -> Any:
    return row @ b


def _pairwise_kernel(place: Any, x: Any, y: Any, z: Any) -> Any:
    dx, dy, dz = x - place[0], y - place[1], z - place[2]
    return jnp.exp(-(dx * dx + dy * dy + dz * dz)).sum()


def _tke_column(below: Any, middle: Any, above: Any, right: Any) -> Any:
    def down(last: Any, level: Any) -> Any:
        a, b, c, d = level
        inverse = 1 / (b - a * last[0])
        now = (c * inverse, (d - a * last[1]) * inverse)
        return now, now

    def up(last: Any, level: Any) -> Any:
        factor, value = level
        now = value - factor * last
        return now, now

    zero = jnp.zeros((), right.dtype)
    factors, values = lax.scan(down, (zero, zero), (below, middle, above, right))[1]
    return lax.scan(up, zero, (factors, values), reverse=True)[1]


def _arrange(task: Task) -> tuple[list[Any], list[Any]]:
    return task.inputs, list(task.tables.values())


def _tensor(function: Any, batch: int = 0) -> Loop:
    return Loop(function, batch, _arrange)


# The batches are the fastest ones; most are all elements.
TENSORS = {
    "softmax_rows": _tensor(_softmax_rows),
    "layernorm": _tensor(_layernorm),
    "nbody": _tensor(_nbody, 8),
    "solve3x3": _tensor(_solve3x3),
    "kmeans_assign": _tensor(_kmeans_assign, 10_000),
    "images_sqrt": _tensor(_images_sqrt),
    "images_blur": _tensor(_images_blur, 1),
    "repeat_sum": _tensor(_repeat_sum),
    "conv_small": _tensor(_conv_small),
    "mlp_forward": _tensor(_mlp_forward),
    "product": _tensor(_product),
    "pairwise_kernel": _tensor(_pairwise_kernel),
    "tke_column": _tensor(_tke_column, 1000),
}
