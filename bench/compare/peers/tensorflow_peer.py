"""TensorFlow on the CPU: vectorized_map of a function for one element.

Compiled by XLA; as "tensorflow, vectorized_map" a plain graph. Rows and images only.
"""

import importlib
import os
from typing import Any

import numpy as np

from ..tensor_truths import BLUR, BLURRED, COPIES, EPSILON, LEVELS, SOFTENING
from . import MissingError, Prepared, Task

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
tf: Any = importlib.import_module("tensorflow")
total, mean = tf.reduce_sum, tf.reduce_mean


def _softmax_rows(row: Any) -> Any:
    return tf.nn.softmax(row)


def _layernorm(row: Any, gain: Any, bias: Any) -> Any:
    centred = row - mean(row)
    return centred * tf.math.rsqrt(mean(centred * centred) + EPSILON) * gain + bias


def _nbody(place: Any, x: Any, y: Any, z: Any, mass: Any) -> Any:
    dx, dy, dz = x - place[0], y - place[1], z - place[2]
    inverse = tf.math.rsqrt(dx * dx + dy * dy + dz * dz + SOFTENING)
    weight = mass * inverse * inverse * inverse
    return tf.stack([total(weight * dx), total(weight * dy), total(weight * dz)])


def _solve3x3(matrix: Any, right: Any) -> Any:
    return tf.linalg.solve(matrix, right[:, None])[:, 0]


def _kmeans_assign(point: Any, centres: Any) -> Any:
    distances = total(centres * centres, axis=1) - 2 * tf.linalg.matvec(centres, point)
    return tf.argmin(distances)


def _images_sqrt(image: Any) -> Any:
    return tf.cast(tf.sqrt(tf.cast(image, tf.float32) * 255) + 0.5, tf.uint8)


def _images_blur(image: Any) -> Any:
    x = tf.cast(image, tf.float32)
    x = (x - mean(x)) / tf.math.reduce_std(x)
    x = sum(f * x[:, k : k + BLURRED] for k, f in enumerate(BLUR))
    return sum(f * x[k : k + BLURRED] for k, f in enumerate(BLUR))


def _repeat_sum(x: Any) -> Any:
    return total(tf.repeat(x, COPIES))


def _conv_small(image: Any, kernels: Any) -> Any:
    filters = tf.transpose(kernels, (1, 2, 0))[:, :, None]
    sums = tf.nn.conv2d(image[None, :, :, None], filters, 1, "VALID")
    return tf.transpose(tf.nn.relu(sums)[0], (2, 0, 1))


def _mlp_forward(x: Any, weights1: Any, bias1: Any, weights2: Any, bias2: Any) -> Any:
    hidden = tf.nn.relu(tf.linalg.matvec(weights1, x, transpose_a=True) + bias1)
    return tf.nn.softmax(tf.linalg.matvec(weights2, hidden, transpose_a=True) + bias2)


def _product(row: Any, b: Any) -> Any:
    return tf.linalg.matvec(b, row, transpose_a=True)


def _pairwise_kernel(place: Any, x: Any, y: Any, z: Any) -> Any:
    dx, dy, dz = x - place[0], y - place[1], z - place[2]
    return total(tf.exp(-(dx * dx + dy * dy + dz * dz)))


def _tke_column(below: Any, middle: Any, above: Any, right: Any) -> Any:
    """Level by level, unrolled: a loop over them is much slower."""
    a, b, c, d = (tf.unstack(v, LEVELS) for v in (below, middle, above, right))
    factor, x = [c[0] / b[0]], [d[0] / b[0]]
    for k in range(1, LEVELS):
        inverse = 1 / (b[k] - a[k] * factor[-1])
        factor.append(c[k] * inverse)
        x.append((d[k] - a[k] * x[-1]) * inverse)
    for k in range(LEVELS - 2, -1, -1):
        x[k] -= factor[k] * x[k + 1]
    return tf.stack(x)


_FUNCTIONS: dict[str, Any] = {
    "softmax_rows": _softmax_rows,
    "layernorm": _layernorm,
    "nbody": _nbody,
    "solve3x3": _solve3x3,
    "kmeans_assign": _kmeans_assign,
    "images_sqrt": _images_sqrt,
    "images_blur": _images_blur,
    "repeat_sum": _repeat_sum,
    "conv_small": _conv_small,
    "mlp_forward": _mlp_forward,
    "product": _product,
    "pairwise_kernel": _pairwise_kernel,
    "tke_column": _tke_column,
}


def prepare(task: Task) -> Prepared:
    if task.workload not in _FUNCTIONS:
        raise MissingError("not written")
    function = _FUNCTIONS[task.workload]

    def run(inputs: Any, tables: Any) -> Any:
        return tf.vectorized_map(lambda element: function(*element, *tables), inputs)

    compiled = tf.function(
        run, jit_compile=task.competitor == "tensorflow", autograph=False, reduce_retracing=False
    )
    inputs = tuple(tf.constant(x) for x in task.inputs)
    tables = [tf.constant(x) for x in task.tables.values()]
    # Without the arrays in the call: a function of tensors that are there already.
    ready = compiled.get_concrete_function(inputs, tables)
    return Prepared(lambda: _wait(ready(inputs, tables)), np.asarray)


def _wait(result: Any) -> Any:
    """Return the result when it is there; on the CPU its memory is read without a copy."""
    result.numpy()
    return result
