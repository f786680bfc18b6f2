"""The workloads of rows and images for NumPy: on blocks of elements, of the fastest size.

Outputs are given and steps work in place, as a careful user has it; products are those of BLAS.
"""

from collections.abc import Callable
from typing import Any

import numpy as np

from ..arrays import Array
from ..tensor_truths import BLUR, BLURRED, COPIES, LEVELS

# Of the inputs, the tables and the output.
Run = Callable[..., Any]


def _softmax_rows(rows: Array, out: Array) -> None:
    for block in _blocks(rows, 1024):
        result = out[block]
        np.subtract(rows[block], rows[block].max(axis=1, keepdims=True), out=result)
        np.exp(result, out=result)
        result /= result.sum(axis=1, keepdims=True)


def _layernorm(rows: Array, gain: Array, bias: Array, out: Array) -> None:
    for block in _blocks(rows, 1024):
        result = out[block]
        np.subtract(rows[block], rows[block].mean(axis=1, keepdims=True), out=result)
        squares = np.vecdot(result, result)[:, None] / np.float32(rows.shape[1])
        result /= np.sqrt(squares + np.float32(1e-5))
        result *= gain
        result += bias


def _nbody(places: Array, x: Array, y: Array, z: Array, mass: Array, out: Array) -> None:
    others = np.stack([x, y, z])
    for block in _blocks(places, 4):
        d = others - places[block][:, :, None]
        weight = np.einsum("bkn,bkn->bn", d, d)
        weight += np.float32(1e-3)
        np.sqrt(weight, out=weight)
        np.divide(1, weight, out=weight)
        weight *= mass * weight * weight
        np.einsum("bkn,bn->bk", d, weight, out=out[block])


def _solve3x3(matrix: Array, right: Array, out: Array) -> None:
    out[:] = np.linalg.solve(matrix, right[:, :, None])[:, :, 0]


def _kmeans_assign(points: Array, centres: Array, out: Array) -> None:
    """Leave out what is the same for all centres: |c|² - 2 c·p, by a product."""
    squares = (centres * centres).sum(axis=1)
    turned = np.ascontiguousarray(-2 * centres.T)
    for block in _blocks(points, 1000):
        distances = points[block] @ turned
        distances += squares
        distances.argmin(axis=1, out=out[block])


def _images_sqrt(images: Array, out: Array) -> None:
    for image, result in zip(images, out, strict=True):
        x = image.astype(np.float32)
        x *= 255
        np.sqrt(x, out=x)
        x += np.float32(0.5)
        result[:] = x


def _images_blur(images: Array, out: Array) -> None:
    for image, result in zip(images, out, strict=True):
        x = image.astype(np.float32)
        x -= x.mean()
        x /= x.std()
        across = np.multiply(x[:, :BLURRED], np.float32(BLUR[0]))
        for k in range(1, 5):
            across += np.float32(BLUR[k]) * x[:, k : k + BLURRED]
        np.multiply(across[:BLURRED], np.float32(BLUR[0]), out=result)
        for k in range(1, 5):
            result += np.float32(BLUR[k]) * across[k : k + BLURRED]


def _repeat_sum(x: Array, out: Array) -> None:
    np.broadcast_to(x[:, None], (x.size, COPIES)).sum(axis=1, out=out)


def _conv_small(images: Array, kernels: Array, out: Array) -> None:
    """A product for each block, with the nine pixels below a kernel side by side."""
    weights = kernels.reshape(8, 9)
    for block in _blocks(images, 25):
        windows = np.lib.stride_tricks.sliding_window_view(images[block], (26, 26), axis=(1, 2))
        columns = windows.reshape(-1, 9, 26 * 26)
        result = out[block].reshape(-1, 8, 26 * 26)
        np.matmul(weights, columns, out=result)
        np.maximum(result, 0, out=result)


def _mlp_forward(
    x: Array, weights1: Array, bias1: Array, weights2: Array, bias2: Array, out: Array
) -> None:
    for block in _blocks(x, 1000):
        hidden = x[block] @ weights1
        hidden += bias1
        np.maximum(hidden, 0, out=hidden)
        result = np.matmul(hidden, weights2, out=out[block])
        result += bias2
        result -= result.max(axis=1, keepdims=True)
        np.exp(result, out=result)
        result /= result.sum(axis=1, keepdims=True)


def _product(a: Array, b: Array, out: Array) -> None:
    np.matmul(a, b, out=out)


def _pairwise_kernel(places: Array, x: Array, y: Array, z: Array, out: Array) -> None:
    others = np.stack([x, y, z])
    for block in _blocks(places, 4):
        d = others - places[block][:, :, None]
        squares = np.einsum("bkn,bkn->bn", d, d)
        np.negative(squares, out=squares)
        np.exp(squares, out=squares)
        squares.sum(axis=1, out=out[block])


def _tke_column(below: Array, middle: Array, above: Array, right: Array, out: Array) -> None:
    """Level by level, on blocks of columns that are turned first."""
    for block in _blocks(right, 2000):
        a, b, c, x = (np.ascontiguousarray(v[block].T) for v in (below, middle, above, right))
        c[0] /= b[0]
        x[0] /= b[0]
        for k in range(1, LEVELS):
            inverse = 1 / (b[k] - a[k] * c[k - 1])
            c[k] *= inverse
            x[k] -= a[k] * x[k - 1]
            x[k] *= inverse
        for k in range(LEVELS - 2, -1, -1):
            x[k] -= c[k] * x[k + 1]
        out[block] = x.T


def _ragged_crc(values: Array, offsets: Array, table: Array, out: Array) -> None:
    """Byte by byte, of all rows that have so many: the long ones come first."""
    lengths = np.diff(offsets)
    order = np.argsort(-lengths, kind="stable")
    begins, left = offsets[:-1][order], lengths[order]
    remainders = np.full(out.size, 0xFFFFFFFF, np.uint32)
    for k in range(left[0]):
        live = remainders[: np.searchsorted(-left, -k)]
        bytes_ = values[begins[: live.size] + k]
        live[:] = table[(live ^ bytes_) & 255] ^ (live >> 8)
    out[order] = ~remainders


def _ragged_softmax(values: Array, offsets: Array, out: Array) -> None:
    lengths, powers = np.diff(offsets), out.reshape(-1)
    most = np.maximum.reduceat(values, offsets[:-1])
    np.subtract(values, np.repeat(most, lengths), out=powers)
    np.exp(powers, out=powers)
    powers /= np.repeat(np.add.reduceat(powers, offsets[:-1]), lengths)


def _blocks(elements: Array, length: int) -> list[slice]:
    return [slice(begin, begin + length) for begin in range(0, len(elements), length)]


TENSORS: dict[str, Run] = {
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
    "ragged_crc": _ragged_crc,
    "ragged_softmax": _ragged_softmax,
}
BY_BLAS = ("mlp_forward", "product")  # whose products take several threads
