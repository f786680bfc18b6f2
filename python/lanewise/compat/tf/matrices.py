"""The parts of matrices: diagonals, bands, and what is turned round."""

import math
from typing import Any

import numpy as np

from ...errors import UsageError
from .names import listed
from .ops import held, moving, static_of, whole


def _one_diagonal(call: str, k: Any) -> int:
    above = static_of(k)
    if not isinstance(above, int):
        raise UsageError(f"{call}: several diagonals; got k={above}, expected one number.")
    return above


def _with_diagonal(matrix: Any, numbers: Any, rows: int, columns: int, above: int) -> Any:
    """Return matrices, or a number, with others on a diagonal."""
    before = max(-above, 0)
    after = rows - before - np.shape(numbers)[-1]
    widths = [(0, 0)] * (np.ndim(numbers) - 1) + [(before, max(after, 0))]
    column = np.pad(numbers, widths) if before or after > 0 else numbers
    is_there = np.arange(columns) - np.arange(rows)[:, None] == above
    return np.where(is_there, column[..., None], matrix)


@moving
def diag(
    diagonal: Any,
    k: Any = 0,
    num_rows: Any = -1,
    num_cols: Any = -1,
    padding_value: Any = 0,
    align: str = "RIGHT_LEFT",
) -> Any:
    """Return matrices with these numbers on a diagonal, `k` above the middle."""
    numbers, above = held(diagonal), _one_diagonal("diag", k)
    size = np.shape(numbers)[-1] + abs(above)
    rows, columns = (size if static_of(n) == -1 else static_of(n) for n in (num_rows, num_cols))
    other = numbers.dtype.type(static_of(padding_value))
    return _with_diagonal(other, numbers, rows, columns, above)


@moving
def diag_part(input: Any, k: Any = 0, padding_value: Any = 0, align: str = "RIGHT_LEFT") -> Any:
    """Return a diagonal of matrices, `k` above the middle."""
    return np.diagonal(held(input), _one_diagonal("diag_part", k), -2, -1)


@moving
def set_diag(input: Any, diagonal: Any, k: Any = 0, align: str = "RIGHT_LEFT") -> Any:
    """Return matrices with other numbers on a diagonal, `k` above the middle."""
    matrix = held(input)
    rows, columns = np.shape(matrix)[-2:]
    numbers = held(diagonal).astype(matrix.dtype)
    return _with_diagonal(matrix, numbers, rows, columns, _one_diagonal("set_diag", k))


@moving
def band_part(input: Any, num_lower: Any, num_upper: Any) -> Any:
    """Return matrices with zeros outside of so many diagonals; all below 0."""
    matrix = held(input)
    rows, columns = np.shape(matrix)[-2:]
    above = np.arange(columns) - np.arange(rows)[:, None]
    low, high = static_of(num_lower), static_of(num_upper)
    is_inside = ((low < 0) | (-above <= low)) & ((high < 0) | (above <= high))
    return np.where(is_inside, matrix, matrix.dtype.type(0))


@whole()
def trace(x: Any) -> Any:
    """Return the sum of the diagonal of matrices."""
    return np.sum(np.diagonal(x, 0, -2, -1), axis=-1, dtype=x.dtype)


@moving
def matrix_transpose(a: Any, conjugate: bool = False) -> Any:
    """Return matrices with their rows as columns."""
    turned = np.swapaxes(held(a), -1, -2)
    return np.conjugate(turned) if conjugate and turned.dtype.kind == "c" else turned


@moving
def adjoint(matrix: Any) -> Any:
    """Return the conjugates of matrices with their rows as columns."""
    turned = np.swapaxes(held(matrix), -1, -2)
    return np.conjugate(turned) if turned.dtype.kind == "c" else turned


@whole(tensors=2)
def cross(a: Any, b: Any) -> Any:
    """Return the vector products of vectors of three numbers."""
    turned = [(1, 2), (2, 0), (0, 1)]
    return np.stack([a[..., i] * b[..., j] - a[..., j] * b[..., i] for i, j in turned], axis=-1)


@moving
def tensor_diag(diagonal: Any) -> Any:
    """Return a tensor of twice as many dimensions with these numbers on its diagonal."""
    numbers = held(diagonal)
    shape = np.shape(numbers)
    flat = np.reshape(numbers, -1)
    size = math.prod(shape)
    matrix = _with_diagonal(flat.dtype.type(0), flat, size, size, 0)
    return np.reshape(matrix, (*shape, *shape))


@moving
def tensor_diag_part(input: Any) -> Any:
    """Return the diagonal of a tensor whose first half of dimensions is as the second."""
    tensor = held(input)
    half = np.shape(tensor)[: np.ndim(tensor) // 2]
    size = math.prod(half)
    return np.reshape(np.diagonal(np.reshape(tensor, (size, size))), half)


NAMES = {
    **listed("linalg", [diag, diag_part, set_diag, band_part, trace, matrix_transpose], False),
    **listed("linalg", [adjoint, cross, tensor_diag, tensor_diag_part], False),
}
