"""Elements that are vectors, matrices and images: ``tensor.py`` has their type."""

from collections.abc import Callable
from typing import Any

from . import (
    arranging,
    convolution,
    derived,
    linalg,
    lookups,
    making,
    products,
    reductions,
    scans,
    scatter,
    slopes,
    spaces,
)
from .calls import FUNCTIONS
from .tensor import Tensor, apply, array, as_tensor, record_whole, row, table

# Functions that NumPy does not have, by their public names.
COMPOSITES: dict[str, Callable[..., Any]] = {
    "logsumexp": reductions.logsumexp,
    "softmax": reductions.softmax,
    "conv2d": convolution.conv2d,
    "max_pool": convolution.max_pool,
    "mean_pool": convolution.mean_pool,
}

__all__ = [
    "COMPOSITES",
    "FUNCTIONS",
    "Tensor",
    "apply",
    "arranging",
    "array",
    "as_tensor",
    "derived",
    "linalg",
    "lookups",
    "making",
    "products",
    "record_whole",
    "row",
    "scans",
    "scatter",
    "slopes",
    "spaces",
    "table",
]
