"""Convolutions and pools: products of a window that moves over a tensor."""

from typing import Any

import numpy as np

from ..errors import UsageError
from ..source import at_line
from .arranging import pad
from .calls import FUNCTIONS, unsupported_tensor
from .products import contract
from .reductions import max_, mean, operand
from .tensor import Tensor, as_tensor, recorder_of

Pair = tuple[int, int]


def _pair(call: str, name: str, value: Any) -> Pair:
    pair = (value, value) if isinstance(value, int) else tuple(value)
    if len(pair) != 2 or any(not isinstance(n, int) or n < 1 for n in pair):
        raise UsageError(
            at_line(f"{call}: {name} is not a size; got {value!r}, expected a number or two.")
        )
    return pair


def _windows(call: str, x: Tensor, sizes: tuple[int, ...], strides: tuple[int, ...]) -> Tensor:
    """Return a view with the places of windows in the last axes, and what is in them behind."""
    rank = len(sizes)
    front, last = x.shape[: x.ndim - rank], x.shape[x.ndim - rank :]
    counts = tuple(
        (n - size) // stride + 1 for n, size, stride in zip(last, sizes, strides, strict=True)
    )
    if any(n < size for n, size in zip(last, sizes, strict=True)):
        raise UsageError(
            at_line(
                f"{call}: the window is larger than the tensor; got {sizes} and {last}, expected "
                "one that fits."
            )
        )
    steps = x.strides_in_base[x.ndim - rank :]
    moved = tuple(step * stride for step, stride in zip(steps, strides, strict=True))
    outer = x.strides_in_base[: x.ndim - rank]
    return x.view((*front, *counts, *sizes), (*outer, *moved, *steps))


def convolve(a: Any, v: Any, mode: str = "full") -> Any:
    """Do the convolution of two vectors, as NumPy has it."""
    recorder = recorder_of([a, v])
    x, y = as_tensor(recorder, a), as_tensor(recorder, v)
    if x.ndim != 1 or y.ndim != 1:
        raise UsageError(
            at_line(f"convolve: not two vectors; got {x.shape} and {y.shape}, expected one axis.")
        )
    if y.size > x.size:
        x, y = y, x
    return correlated(x, y[::-1], mode)


def correlated(x: Tensor, y: Tensor, mode: str) -> Any:
    """Sum the products of a vector with the parts of another."""
    n = y.size
    widths = {"valid": (0, 0), "same": (n // 2, (n - 1) // 2), "full": (n - 1, n - 1)}
    if mode not in widths:
        raise unsupported_tensor(f"np.convolve with mode={mode!r}")
    before, after = widths[mode]
    x = x.astype(np.result_type(x.dtype, y.dtype))
    padded = pad(x, (before, after)) if before or after else x
    return contract(_windows("convolve", padded, (n,), (1,)), "xk", y, "k", "x", "convolve")


def correlate(a: Any, v: Any, mode: str = "valid") -> Any:
    """Do the correlation of two vectors, as NumPy has it."""
    recorder = recorder_of([a, v])
    x, y = as_tensor(recorder, a), as_tensor(recorder, v)
    if y.size > x.size:
        return correlated(y, x, mode)[::-1]
    return correlated(x, y, mode)


def conv2d(image: Any, kernel: Any, stride: Any = 1, padding: Any = 0) -> Any:
    """Slide kernels over an image, and sum the products."""
    recorder = recorder_of([image, kernel])
    x, k = as_tensor(recorder, image), as_tensor(recorder, kernel)
    if (x.ndim, k.ndim) not in ((2, 2), (3, 4)) or (x.ndim == 3 and x.shape[0] != k.shape[1]):
        raise UsageError(
            at_line(
                f"conv2d: shapes do not fit; got {x.shape} and {k.shape}, expected (height, width) "
                "and (rows, columns), or (channels, height, width) and (outputs, channels, rows, "
                "columns)."
            )
        )
    sizes = (k.shape[-2], k.shape[-1])
    if padding == "same":
        widths = [((n - 1) // 2, n // 2) for n in sizes]
    else:
        both = (padding, padding) if isinstance(padding, int) else tuple(padding)
        widths = [(n, n) for n in both]
    if any(n for pair in widths for n in pair):
        x = pad(x, [(0, 0)] * (x.ndim - 2) + widths)
    steps = _pair("conv2d", "stride", stride)
    windows = _windows("conv2d", x, sizes, steps)
    if x.ndim == 2:
        return contract(windows, "xyij", k, "ij", "xy", "conv2d")
    return contract(windows, "cxyij", k, "ocij", "oxy", "conv2d")


def _pooled(call: str, image: Any, size: Any, stride: Any) -> Tensor:
    x = operand(image)
    if x.ndim < 2:
        raise UsageError(
            at_line(f"{call}: not an image; got the shape {x.shape}, expected two axes or more.")
        )
    sizes = _pair(call, "size", size)
    steps = sizes if stride is None else _pair(call, "stride", stride)
    windows = _windows(call, x, sizes, steps)
    return windows.reshape(*windows.shape[:-2], -1) if windows.size else windows


def max_pool(image: Any, size: Any = 2, stride: Any = None) -> Any:
    """Return the largest number of every window of the last two axes."""
    return max_(_pooled("max_pool", image, size, stride), -1)


def mean_pool(image: Any, size: Any = 2, stride: Any = None) -> Any:
    """Return the mean of every window of the last two axes."""
    return mean(_pooled("mean_pool", image, size, stride), -1)


FUNCTIONS.update({np.convolve: convolve, np.correlate: correlate})
