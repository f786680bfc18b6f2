"""The workloads of rows and images as functions of one element; tables are captured."""

import importlib
from collections.abc import Callable
from typing import Any

import numpy as np

from ..arrays import Array
from ..tensor_truths import BLUR

lw: Any = importlib.import_module("lanewise")
Function = Callable[..., Any]


def _softmax_rows() -> Function:
    def softmax(row: Any) -> Any:
        powers = np.exp(row - row.max())
        return powers / powers.sum()

    return softmax


def _layernorm(gain: Array, bias: Array) -> Function:
    def layernorm(row: Any) -> Any:
        centred = row - row.mean()
        scale = 1 / np.sqrt((centred * centred).mean() + 1e-5)
        return centred * scale * gain + bias

    return layernorm


def _nbody(x: Array, y: Array, z: Array, mass: Array) -> Function:
    def acceleration(place: Any) -> Any:
        dx, dy, dz = x - place[0], y - place[1], z - place[2]
        inverse = 1 / np.sqrt(dx * dx + dy * dy + dz * dz + 1e-3)
        weight = mass * inverse * inverse * inverse
        return np.stack([(weight * dx).sum(), (weight * dy).sum(), (weight * dz).sum()])

    return acceleration


def _solve3x3() -> Function:
    return lambda matrix, right: np.linalg.solve(matrix, right)


def _kmeans_assign(centres: Array) -> Function:
    return lambda point: ((centres - point) ** 2).sum(axis=1).argmin()


def _images_sqrt() -> Function:
    def lighten(image: Any) -> Any:
        return (np.sqrt(image.astype(np.float32) * 255) + 0.5).astype(np.uint8)

    return lighten


def _images_blur() -> Function:
    def blur(image: Any) -> Any:
        x = image.astype(np.float32)
        x = (x - x.mean()) / x.std()
        x = sum(f * x[:, k : k + 508] for k, f in enumerate(BLUR))
        return sum(f * x[k : k + 508] for k, f in enumerate(BLUR))

    return blur


def _repeat_sum() -> Function:
    return lambda x: np.repeat(x, 10_000).sum()


def _conv_small(kernels: Array) -> Function:
    weights = kernels[:, None]  # of one channel
    return lambda image: np.maximum(lw.conv2d(image[None], weights), 0)


def _mlp_forward(weights1: Array, bias1: Array, weights2: Array, bias2: Array) -> Function:
    def forward(x: Any) -> Any:
        hidden = np.maximum(x @ weights1 + bias1, 0)
        return lw.softmax(hidden @ weights2 + bias2)

    return forward


def _product(b: Array) -> Function:
    return lambda row: row @ b


def _pairwise_kernel(x: Array, y: Array, z: Array) -> Function:
    def near(place: Any) -> Any:
        dx, dy, dz = x - place[0], y - place[1], z - place[2]
        return np.exp(-(dx * dx + dy * dy + dz * dz)).sum()

    return near


def _tke_column() -> Function:
    def solve(below: Any, middle: Any, above: Any, right: Any) -> Any:
        factor, x = np.zeros(64), np.zeros(64)
        factor[0], x[0] = above[0] / middle[0], right[0] / middle[0]
        for k in range(1, 64):
            inverse = 1 / (middle[k] - below[k] * factor[k - 1])
            factor[k] = above[k] * inverse
            x[k] = (right[k] - below[k] * x[k - 1]) * inverse
        for k in range(62, -1, -1):
            x[k] -= factor[k] * x[k + 1]
        return x

    return solve


def _ragged_crc(table: Array) -> Function:
    def crc(row: Any) -> Any:
        c = np.uint32(0xFFFFFFFF)
        for byte in row:
            c = table[(c ^ byte) & np.uint32(255)] ^ (c >> np.uint32(8))
        return ~c

    return crc


# Of rows of different lengths; made of the tables that are no rows.
RAGGED: dict[str, Callable[..., Function]] = {
    "ragged_crc": _ragged_crc,
    "ragged_softmax": lambda: lambda row: lw.softmax(row),
}
# Made of the tables, in their order; and what an element is.
TENSORS: dict[str, tuple[Callable[..., Function], str | None]] = {
    "softmax_rows": (_softmax_rows, "(n)->(n)"),
    "layernorm": (_layernorm, "(n)->(n)"),
    "nbody": (_nbody, "(d)->(d)"),
    "solve3x3": (_solve3x3, "(n,n),(n)->(n)"),
    "kmeans_assign": (_kmeans_assign, "(d)->()"),
    "images_sqrt": (_images_sqrt, "(h,w)->(h,w)"),
    "images_blur": (_images_blur, "(h,w)->(a,b)"),
    "repeat_sum": (_repeat_sum, None),
    "conv_small": (_conv_small, "(h,w)->(k,a,b)"),
    "mlp_forward": (_mlp_forward, "(n)->(m)"),
    "product": (_product, "(n)->(m)"),
    "pairwise_kernel": (_pairwise_kernel, "(d)->()"),
    "tke_column": (_tke_column, "(n),(n),(n),(n)->(n)"),
}
