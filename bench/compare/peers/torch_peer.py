"""PyTorch on the CPU: torch.compile of a vmap of a function for one element.

Rows and images only. It is not in the bench extra, because its package is so large.
"""

import importlib
from typing import Any

from ..tensor_truths import BLUR, BLURRED, COPIES, EPSILON, SOFTENING
from . import MissingError, Prepared, Task

torch: Any = importlib.import_module("torch")


def _softmax_rows(row: Any) -> Any:
    return torch.softmax(row, 0)


def _layernorm(row: Any, gain: Any, bias: Any) -> Any:
    centred = row - row.mean()
    return centred * torch.rsqrt((centred * centred).mean() + EPSILON) * gain + bias


def _nbody(place: Any, x: Any, y: Any, z: Any, mass: Any) -> Any:
    dx, dy, dz = x - place[0], y - place[1], z - place[2]
    inverse = torch.rsqrt(dx * dx + dy * dy + dz * dz + SOFTENING)
    weight = mass * inverse * inverse * inverse
    return torch.stack([(weight * dx).sum(), (weight * dy).sum(), (weight * dz).sum()])


def _solve3x3(matrix: Any, right: Any) -> Any:
    return torch.linalg.solve(matrix, right)


def _kmeans_assign(point: Any, centres: Any) -> Any:
    return ((centres * centres).sum(1) - 2 * (centres @ point)).argmin()


def _images_sqrt(image: Any) -> Any:
    return (torch.sqrt(image.to(torch.float32) * 255) + 0.5).to(torch.uint8)


def _images_blur(image: Any) -> Any:
    x = image.to(torch.float32)
    x = x - x.mean()
    x = x * torch.rsqrt((x * x).mean())
    x = sum(f * x[:, k : k + BLURRED] for k, f in enumerate(BLUR))
    return sum(f * x[k : k + BLURRED] for k, f in enumerate(BLUR))


def _repeat_sum(x: Any) -> Any:
    return x.expand(COPIES).sum()


def _conv_small(image: Any, kernels: Any) -> Any:
    return torch.relu(torch.nn.functional.conv2d(image[None], kernels[:, None]))


def _mlp_forward(x: Any, weights1: Any, bias1: Any, weights2: Any, bias2: Any) -> Any:
    hidden = torch.relu(x @ weights1 + bias1)
    return torch.softmax(hidden @ weights2 + bias2, 0)


def _product(row: Any, b: Any) -> Any:
    return row @ b


def _pairwise_kernel(place: Any, x: Any, y: Any, z: Any) -> Any:
    dx, dy, dz = x - place[0], y - place[1], z - place[2]
    return torch.exp(-(dx * dx + dy * dy + dz * dz)).sum()


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
}


def prepare(task: Task) -> Prepared:
    if task.workload not in _FUNCTIONS:
        raise MissingError("not written")
    torch.set_num_threads(task.threads)
    axes = (0,) * len(task.inputs) + (None,) * len(task.tables)
    run = torch.compile(torch.func.vmap(_FUNCTIONS[task.workload], in_dims=axes))
    arguments = [torch.from_numpy(x) for x in (*task.inputs, *task.tables.values())]
    return Prepared(lambda: run(*arguments), lambda result: result.numpy())
