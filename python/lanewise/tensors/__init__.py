"""Elements that are vectors, matrices and images: ``tensor.py`` has their type."""

from . import arranging, making, products, reductions, scans
from .tensor import FUNCTIONS, Tensor, apply, as_tensor, record_whole, row, table

__all__ = [
    "FUNCTIONS",
    "Tensor",
    "apply",
    "arranging",
    "as_tensor",
    "making",
    "products",
    "record_whole",
    "reductions",
    "row",
    "scans",
    "table",
]
