"""The workloads of rows and images for Numba: loops over the elements, and inside of them.

Arguments and constants are as in `numba_loops`.
"""

import importlib
import math
from typing import Any

import numpy as np

numba: Any = importlib.import_module("numba")
prange = numba.prange
_f32 = np.float32

FASTMATH = {"error_model": "numpy", "fastmath": True}


def _softmax_rows(out: Any, rows: Any) -> None:
    for i in prange(rows.shape[0]):
        row, result = rows[i], out[i]
        most = row[0]
        for j in range(row.size):
            most = row[j] if row[j] > most else most
        total = _f32(0)
        for j in range(row.size):
            power = math.exp(row[j] - most)
            result[j] = power
            total += power
        scale = _f32(1) / total
        for j in range(row.size):
            result[j] *= scale


def _layernorm(out: Any, rows: Any, gain: Any, bias: Any) -> None:
    for i in prange(rows.shape[0]):
        row, result = rows[i], out[i]
        total = _f32(0)
        for j in range(row.size):
            total += row[j]
        mean = total / _f32(row.size)
        squares = _f32(0)
        for j in range(row.size):
            squares += (row[j] - mean) * (row[j] - mean)
        scale = _f32(1) / math.sqrt(squares / _f32(row.size) + _f32(1e-5))
        for j in range(row.size):
            result[j] = (row[j] - mean) * scale * gain[j] + bias[j]


def _nbody(out: Any, places: Any, x: Any, y: Any, z: Any, mass: Any) -> None:
    for i in prange(places.shape[0]):
        px, py, pz = places[i, 0], places[i, 1], places[i, 2]
        ax = ay = az = _f32(0)
        for j in range(x.size):
            dx, dy, dz = x[j] - px, y[j] - py, z[j] - pz
            inverse = _f32(1) / math.sqrt(dx * dx + dy * dy + dz * dz + _f32(1e-3))
            weight = mass[j] * inverse * inverse * inverse
            ax += weight * dx
            ay += weight * dy
            az += weight * dz
        out[i, 0], out[i, 1], out[i, 2] = ax, ay, az


def _solve3x3(out: Any, matrix: Any, right: Any) -> None:
    """Eliminate with the largest coefficient of a column as its pivot; all in registers."""
    for i in prange(out.shape[0]):
        m, r = matrix[i], right[i]
        a0, a1, a2, a3 = m[0, 0], m[0, 1], m[0, 2], r[0]
        b0, b1, b2, b3 = m[1, 0], m[1, 1], m[1, 2], r[1]
        c0, c1, c2, c3 = m[2, 0], m[2, 1], m[2, 2], r[2]
        if abs(b0) > abs(a0):
            a0, a1, a2, a3, b0, b1, b2, b3 = b0, b1, b2, b3, a0, a1, a2, a3
        if abs(c0) > abs(a0):
            a0, a1, a2, a3, c0, c1, c2, c3 = c0, c1, c2, c3, a0, a1, a2, a3
        factor = b0 / a0
        b1, b2, b3 = b1 - factor * a1, b2 - factor * a2, b3 - factor * a3
        factor = c0 / a0
        c1, c2, c3 = c1 - factor * a1, c2 - factor * a2, c3 - factor * a3
        if abs(c1) > abs(b1):
            b1, b2, b3, c1, c2, c3 = c1, c2, c3, b1, b2, b3
        factor = c1 / b1
        z = (c3 - factor * b3) / (c2 - factor * b2)
        y = (b3 - b2 * z) / b1
        out[i, 0] = (a3 - a1 * y - a2 * z) / a0
        out[i, 1] = y
        out[i, 2] = z


def solve_by_cramer(out: Any, matrix: Any, right: Any) -> None:
    """Solve by determinants, which needs no branches."""
    for i in prange(out.shape[0]):
        m, b = matrix[i], right[i]
        c0 = m[1, 1] * m[2, 2] - m[1, 2] * m[2, 1]
        c1 = m[1, 2] * m[2, 0] - m[1, 0] * m[2, 2]
        c2 = m[1, 0] * m[2, 1] - m[1, 1] * m[2, 0]
        scale = 1.0 / (m[0, 0] * c0 + m[0, 1] * c1 + m[0, 2] * c2)
        p = m[1, 2] * b[2] - b[1] * m[2, 2]
        q = b[1] * m[2, 1] - m[1, 1] * b[2]
        r = m[1, 0] * b[2] - b[1] * m[2, 0]
        out[i, 0] = (b[0] * c0 + m[0, 1] * p + m[0, 2] * q) * scale
        out[i, 1] = (b[0] * c1 - m[0, 0] * p + m[0, 2] * r) * scale
        out[i, 2] = (b[0] * c2 - m[0, 0] * q - m[0, 1] * r) * scale


def _kmeans_assign(out: Any, points: Any, centres: Any) -> None:
    for i in prange(out.size):
        nearest = 0
        least = _f32(np.inf)
        for k in range(centres.shape[0]):
            distance = _f32(0)
            for j in range(8):
                d = points[i, j] - centres[k, j]
                distance += d * d
            if distance < least:
                nearest, least = k, distance
        out[i] = nearest


def _images_sqrt(out: Any, images: Any) -> None:
    for i in prange(images.shape[0]):
        for j in range(images.shape[1]):
            for k in range(images.shape[2]):
                root = math.sqrt(_f32(images[i, j, k]) * _f32(255))
                out[i, j, k] = np.uint8(np.int32(root + _f32(0.5)))


def _images_blur(out: Any, images: Any) -> None:
    """Blur along rows as they come, then along columns of the last five."""
    f0, f1, f2 = _f32(1 / 16), _f32(4 / 16), _f32(6 / 16)
    for i in prange(images.shape[0]):
        image = images[i]
        height, width = image.shape
        total = squares = np.int64(0)
        for j in range(height):
            for k in range(width):
                value = np.int64(image[j, k])
                total += value
                squares += value * value
        mean = total / (height * width)
        spread = math.sqrt(squares / (height * width) - mean * mean)
        scale, shift = _f32(1 / spread), _f32(mean / spread)
        row = np.empty(width, np.float32)
        across = np.empty((height, width - 4), np.float32)
        for j in range(height):
            for k in range(width):
                row[k] = _f32(image[j, k]) * scale - shift
            for k in range(width - 4):
                across[j, k] = (
                    f0 * (row[k] + row[k + 4]) + f1 * (row[k + 1] + row[k + 3]) + f2 * row[k + 2]
                )
        for j in range(height - 4):
            for k in range(width - 4):
                out[i, j, k] = (
                    f0 * (across[j, k] + across[j + 4, k])
                    + f1 * (across[j + 1, k] + across[j + 3, k])
                    + f2 * across[j + 2, k]
                )


def _repeat_sum(out: Any, x: Any) -> None:
    for i in prange(out.size):
        total = _f32(0)
        for _ in range(10_000):
            total += x[i]
        out[i] = total


def _conv_small(out: Any, images: Any, kernels: Any) -> None:
    for i in prange(out.shape[0]):
        image = images[i]
        for kernel in range(kernels.shape[0]):
            weights = kernels[kernel]
            for row in range(26):
                for column in range(26):
                    total = _f32(0)
                    for j in range(3):
                        for k in range(3):
                            total += image[row + j, column + k] * weights[j, k]
                    out[i, kernel, row, column] = max(total, _f32(0))


def _mlp_forward(out: Any, x: Any, weights1: Any, bias1: Any, weights2: Any, bias2: Any) -> None:
    """Blocks of samples, whose products are those of BLAS."""
    block = 500
    for b in prange(x.shape[0] // block):
        begin, end = b * block, (b + 1) * block
        hidden = np.dot(x[begin:end], weights1)
        for i in range(block):
            for j in range(hidden.shape[1]):
                hidden[i, j] = max(hidden[i, j] + bias1[j], _f32(0))
        result = np.dot(hidden, weights2)
        for i in range(block):
            most = _f32(-np.inf)
            for j in range(10):
                result[i, j] += bias2[j]
                most = max(most, result[i, j])
            total = _f32(0)
            for j in range(10):
                result[i, j] = math.exp(result[i, j] - most)
                total += result[i, j]
            for j in range(10):
                out[begin + i, j] = result[i, j] / total


def _product(out: Any, a: Any, b: Any) -> None:
    """Loops whose innermost one goes along rows; NumPy's competitor has BLAS."""
    for i in prange(a.shape[0]):
        result = out[i]
        result[:] = _f32(0)
        for k in range(a.shape[1]):
            factor, row = a[i, k], b[k]
            for j in range(result.size):
                result[j] += factor * row[j]


def _pairwise_kernel(out: Any, places: Any, x: Any, y: Any, z: Any) -> None:
    for i in prange(places.shape[0]):
        px, py, pz = places[i, 0], places[i, 1], places[i, 2]
        total = _f32(0)
        for j in range(x.size):
            dx, dy, dz = x[j] - px, y[j] - py, z[j] - pz
            total += math.exp(-(dx * dx + dy * dy + dz * dz))
        out[i] = total


def _tke_column(out: Any, below: Any, middle: Any, above: Any, right: Any) -> None:
    for i in prange(out.shape[0]):
        factor = np.empty(64)
        a, b, c, d, x = below[i], middle[i], above[i], right[i], out[i]
        factor[0] = c[0] / b[0]
        x[0] = d[0] / b[0]
        for k in range(1, 64):
            inverse = 1.0 / (b[k] - a[k] * factor[k - 1])
            factor[k] = c[k] * inverse
            x[k] = (d[k] - a[k] * x[k - 1]) * inverse
        for k in range(62, -1, -1):
            x[k] -= factor[k] * x[k + 1]


def _ragged_crc(out: Any, values: Any, offsets: Any, table: Any) -> None:
    for i in prange(out.size):
        c = np.uint32(0xFFFFFFFF)
        for k in range(offsets[i], offsets[i + 1]):
            c = table[(c ^ values[k]) & np.uint32(255)] ^ (c >> np.uint32(8))
        out[i] = c ^ np.uint32(0xFFFFFFFF)


def _ragged_softmax(out: Any, values: Any, offsets: Any) -> None:
    powers = out.reshape(-1)
    for i in prange(offsets.size - 1):
        begin, end = offsets[i], offsets[i + 1]
        most = values[begin]
        for k in range(begin, end):
            most = max(most, values[k])
        total = _f32(0)
        for k in range(begin, end):
            powers[k] = math.exp(values[k] - most)
            total += powers[k]
        for k in range(begin, end):
            powers[k] /= total


TENSORS: dict[str, Any] = {
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
