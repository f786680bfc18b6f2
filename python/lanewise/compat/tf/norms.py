"""Lengths of tensors, and tensors that are made shorter; sums of several tensors."""

from functools import reduce
from typing import Any

import numpy as np

from ...errors import UsageError
from .elementwise import add, maximum, multiply, sqrt, truediv
from .names import listed
from .ops import composite, static_of, whole
from .reductions import by_axis, reduce_sum


@composite
def add_n(inputs: Any) -> Any:
    """Return the sum of several tensors of one shape."""
    from .making import convert_to_tensor

    tensors = [convert_to_tensor(one) for one in inputs]
    if not tensors:
        raise UsageError("add_n: nothing to add; got no tensors, expected some.")
    return reduce(add, tensors)


@composite
def accumulate_n(inputs: Any, shape: Any = None, tensor_dtype: Any = None) -> Any:
    """Return the sum of several tensors of one shape."""
    return add_n(inputs)


@composite
def scalar_mul(scalar: Any, x: Any) -> Any:
    """Return a tensor times a number."""
    return multiply(scalar, x)


@composite
def polyval(coeffs: Any, x: Any) -> Any:
    """Return the polynomial with these coefficients, the highest power first."""
    from .making import zeros_like

    if not len(coeffs):
        return zeros_like(x)
    return reduce(lambda so_far, one: add(multiply(so_far, x), one), list(coeffs))


@whole(leads=by_axis("axis"))
def norm(tensor: Any, ord: Any = "euclidean", axis: Any = None, keepdims: Any = None) -> Any:
    """Return the length of vectors, or of matrices where two axes are given."""
    return _norm(tensor, ord, axis, bool(keepdims)).astype(tensor.dtype)


def _norm(tensor: Any, ord: Any, axis: Any, keeps: bool) -> Any:
    along = tuple(axis) if isinstance(axis, (list, tuple)) else axis
    if isinstance(along, tuple) and len(along) == 2 and ord not in ("euclidean", "fro"):
        return np.linalg.norm(tensor, ord, along, keeps)
    sizes = np.absolute(tensor)
    if ord in ("euclidean", "fro", 2):
        return np.sqrt(np.sum(sizes * sizes, axis=along, keepdims=keeps))
    if ord == np.inf:
        return np.max(sizes, axis=along, keepdims=keeps)
    if ord == 1:
        return np.sum(sizes, axis=along, keepdims=keeps)
    power = sizes.dtype.type(ord)
    return np.sum(sizes**power, axis=along, keepdims=keeps) ** (1 / power)


@whole(leads=by_axis("axis"))
def _l2_normalize(x: Any, axis: Any, epsilon: Any) -> Any:
    along = tuple(axis) if isinstance(axis, (list, tuple)) else axis
    total = np.sum(x * x, axis=along, keepdims=True)
    return x / np.sqrt(np.maximum(total, x.dtype.type(epsilon)))


@composite
def l2_normalize(x: Any, axis: Any = None, epsilon: Any = 1e-12, *, dim: Any = None) -> Any:
    """Return vectors with a length of 1; shorter ones than the root of epsilon stay shorter."""
    return _l2_normalize(x, dim if axis is None else axis, epsilon)


@composite
def normalize(tensor: Any, ord: Any = "euclidean", axis: Any = None) -> Any:
    """Return vectors over their length, and the length."""
    length = norm(tensor, ord, axis, True)
    return truediv(tensor, length), length


@composite
def clip_by_norm(t: Any, clip_norm: Any, axes: Any = None) -> Any:
    """Return a tensor that is at most so long."""
    length = sqrt(reduce_sum(multiply(t, t), static_of(axes), True))
    return truediv(multiply(t, clip_norm), maximum(length, clip_norm))


@composite
def global_norm(t_list: Any) -> Any:
    """Return the length of all numbers of several tensors."""
    return sqrt(add_n([reduce_sum(multiply(t, t)) for t in t_list if t is not None]))


@composite
def clip_by_global_norm(t_list: Any, clip_norm: Any, use_norm: Any = None) -> Any:
    """Return tensors that are together at most so long, and how long they were."""
    length = global_norm(t_list) if use_norm is None else use_norm
    scale = truediv(clip_norm, maximum(length, clip_norm))
    return [None if t is None else multiply(t, scale) for t in t_list], length


NAMES = {
    **listed("math", [add_n, scalar_mul]),
    **listed("math", [accumulate_n, polyval, l2_normalize], top=False),
    **listed("", [norm, clip_by_norm, clip_by_global_norm]),
    **listed("linalg", [norm, normalize, global_norm, l2_normalize], top=False),
    "nn.l2_normalize": l2_normalize,
}
