"""True results of the workloads in `tensors`, of every `step`-th element, in a wider type."""

import zlib
from itertools import pairwise

import numpy as np

from .arrays import Array, Data

SOFTENING = 1e-3  # of nbody: added to every squared distance
EPSILON = 1e-5  # of layernorm: added to the variance
BLUR = (1 / 16, 4 / 16, 6 / 16, 4 / 16, 1 / 16)
BLURRED = 508  # pixels of 512 that have all their neighbours
COPIES = 10_000
LEVELS = 64


def _wide(data: Data, step: int) -> list[Array]:
    return [x[::step].astype(np.float64) for x in data.inputs]


def softmax_rows(data: Data, step: int) -> Array:
    (rows,) = _wide(data, step)
    powers = np.exp(rows - rows.max(axis=1, keepdims=True))
    result: Array = powers / powers.sum(axis=1, keepdims=True)
    return result


def layernorm(data: Data, step: int) -> Array:
    (rows,) = _wide(data, step)
    centred = rows - rows.mean(axis=1, keepdims=True)
    spread = np.sqrt(rows.var(axis=1, keepdims=True) + EPSILON)
    result: Array = centred / spread * data.tables["gain"] + data.tables["bias"]
    return result


def _differences(data: Data, place: Array) -> Array:
    return np.stack([data.tables[name] - place[k] for k, name in enumerate("xyz")])


def nbody(data: Data, step: int) -> Array:
    """Accelerations: the sum over all bodies of mass · d / (|d|² + softening)^1.5."""
    (places,) = _wide(data, step)
    results = []
    for place in places:
        d = _differences(data, place)
        weight = data.tables["mass"] * ((d * d).sum(axis=0) + SOFTENING) ** -1.5
        results.append((weight * d).sum(axis=1))
    return np.array(results)


def pairwise_kernel(data: Data, step: int) -> Array:
    """Return the sum over all points of exp(-|d|²)."""
    (places,) = _wide(data, step)
    results = []
    for place in places:
        d = _differences(data, place)
        results.append(np.exp(-(d * d).sum(axis=0)).sum())
    return np.array(results)


def solve3x3(data: Data, step: int) -> Array:
    """Cramer's rule in the 80-bit format of x86."""
    matrix, right = (x[::step].astype(np.longdouble) for x in data.inputs)

    def determinant(m: Array) -> Array:
        a, b, c = m[:, :, 0], m[:, :, 1], m[:, :, 2]
        result: Array = (a * np.cross(b, c)).sum(axis=1)
        return result

    solution = []
    for k in range(3):
        replaced = matrix.copy()
        replaced[:, :, k] = right
        solution.append(determinant(replaced) / determinant(matrix))
    return np.stack(solution, axis=1)


def kmeans_assign(data: Data, step: int) -> Array:
    """Return the index of the centre that is nearest."""
    (points,) = _wide(data, step)
    distances = ((points[:, None, :] - data.tables["centres"]) ** 2).sum(axis=2)
    result: Array = distances.argmin(axis=1)
    return result


def images_sqrt(data: Data, step: int) -> Array:
    """Lighten dark pixels, and round."""
    (images,) = _wide(data, step)
    result: Array = np.floor(np.sqrt(255 * images) + 0.5)
    return result


def images_blur(data: Data, step: int) -> Array:
    """Give all images one mean and one spread, then blur along both axes."""
    (images,) = _wide(data, step)
    mean, spread = images.mean(axis=(1, 2), keepdims=True), images.std(axis=(1, 2), keepdims=True)
    x = (images - mean) / spread
    x = sum(f * x[:, :, k : k + BLURRED] for k, f in enumerate(BLUR))
    result: Array = sum(f * x[:, k : k + BLURRED] for k, f in enumerate(BLUR))
    return result


def repeat_sum(data: Data, step: int) -> Array:
    """Return the sum of so many copies of a number."""
    (x,) = _wide(data, step)
    result: Array = x * COPIES
    return result


def conv_small(data: Data, step: int) -> Array:
    """Slide eight kernels over each image, and cut off what is below zero."""
    (images,) = _wide(data, step)
    windows = np.lib.stride_tricks.sliding_window_view(images, (3, 3), axis=(1, 2))
    sums: Array = np.einsum("nijab,kab->nkij", windows, data.tables["kernels"], dtype=np.float64)
    return sums * (sums > 0)


def mlp_forward(data: Data, step: int) -> Array:
    (x,) = _wide(data, step)
    weights1, bias1, weights2, bias2 = (x.astype(np.float64) for x in data.tables.values())
    hidden = np.maximum(x @ weights1 + bias1, 0)
    powers = np.exp(hidden @ weights2 + bias2)
    result: Array = powers / powers.sum(axis=1, keepdims=True)
    return result


def product(data: Data, step: int) -> Array:
    (rows,) = _wide(data, step)
    result: Array = rows @ data.tables["b"].astype(np.float64)
    return result


def crc_table() -> Array:
    """The remainders of all bytes."""
    table = np.arange(256, dtype=np.uint32)
    for _ in range(8):
        table = np.where(table & 1, (table >> 1) ^ 0xEDB88320, table >> 1).astype(np.uint32)
    return table


def ragged_crc(data: Data, step: int) -> Array:
    text, offsets = data.tables["values"].tobytes(), data.tables["offsets"].tolist()
    bounds = list(pairwise(offsets))[::step]
    return np.array([zlib.crc32(text[begin:end]) for begin, end in bounds], np.float64)


def ragged_softmax(data: Data, step: int) -> Array:
    values, offsets = data.tables["values"].astype(np.float64), data.tables["offsets"]
    powers = np.exp(values)
    sums = np.add.reduceat(powers, offsets[:-1])
    result: Array = powers / np.repeat(sums, np.diff(offsets))
    return result.reshape(data.size, -1)[::step]


def tke_column(data: Data, step: int) -> Array:
    """Solve tridiagonal systems, in the 80-bit format: elimination down, and substitution up."""
    below, middle, above, right = (x[::step].T.astype(np.longdouble) for x in data.inputs)
    x, factor = np.empty_like(right), np.empty_like(right)
    x[0], factor[0] = right[0] / middle[0], above[0] / middle[0]
    for k in range(1, LEVELS):
        pivot = middle[k] - below[k] * factor[k - 1]
        factor[k] = above[k] / pivot
        x[k] = (right[k] - below[k] * x[k - 1]) / pivot
    for k in range(LEVELS - 2, -1, -1):
        x[k] -= factor[k] * x[k + 1]
    return x.T
