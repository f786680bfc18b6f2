"""Small systems of equations: solve, inverse, determinant, Cholesky, for up to 8 unknowns.

Every step is written out for each number. The pivot of a column is the number of largest magnitude,
of equal ones the first. An element whose matrix is singular, or not positive, fails.
"""

from typing import Any

import numpy as np

from .._core import DType
from ..element import Element, record
from ..errors import UsageError
from ..recorder import Recorder
from ..source import at_line, say
from . import spaces
from .calls import FUNCTIONS
from .making import stacked
from .reductions import operand
from .tensor import Tensor, as_tensor, recorder_of

MOST = 8
Rows = list[list[Any]]


def _square(call: str, a: Any) -> Tensor:
    tensor = operand(a)
    if tensor.ndim != 2 or tensor.shape[0] != tensor.shape[1] or tensor.shape[0] > MOST:
        raise UsageError(
            at_line(
                f"{call}: not a small square matrix; got the shape {tensor.shape}, expected (n, n) "
                f"with n up to {MOST}. Map over stacks of matrices."
            )
        )
    is_float = tensor.dtype.kind in "fc" and tensor.element_type is not DType.F16
    return tensor if is_float else tensor.astype(np.float64)


def _numbers(tensor: Tensor) -> Rows:
    recorder = tensor.recorder
    places = [spaces.number(recorder, at) for at in range(max(tensor.shape))]
    n, m = tensor.shape
    return [[tensor.at([places[i], places[j]]) for j in range(m)] for i in range(n)]


def _tensor(recorder: Recorder, rows: Rows) -> Tensor:
    return stacked(recorder, [stacked(recorder, row) for row in rows])


def _fail_if(condition: Element, why: str) -> None:
    recorder = condition.recorder
    recorder.locate()
    say(why)
    recorder.recording.fail_if(condition.value)


def _exchange(rows: Rows, column: int) -> Any:
    """Bring the row with the pivot of a column up; returns whether rows were exchanged."""
    best = np.int32(column)
    largest = abs(rows[column][column])
    place: Any = None
    for i in range(column + 1, len(rows)):
        size = abs(rows[i][column])
        is_larger = size > largest
        largest = record("select", is_larger, size, largest)
        place = record("select", is_larger, np.int32(i), best if place is None else place)
    if place is None:
        return None
    for j in range(len(rows[column])):
        top = rows[column][j]
        chosen = top
        for i in range(column + 1, len(rows)):
            is_here = place == np.int32(i)
            chosen = record("select", is_here, rows[i][j], chosen)
            rows[i][j] = record("select", is_here, top, rows[i][j])
        rows[column][j] = chosen
    return place != np.int32(column)


def _solve(rows: Rows, size: int, call: str) -> Rows:
    """Solve for the columns behind the first `size`, by elimination from top to bottom."""
    width = len(rows[0])
    for k in range(size):
        _exchange(rows, k)
        pivot = rows[k][k]
        _fail_if(pivot == 0, f"{call}: the matrix is singular")
        for i in range(k + 1, size):
            factor = rows[i][k] / pivot
            for j in range(k + 1, width):
                rows[i][j] = rows[i][j] - factor * rows[k][j]
    solution: Rows = [[] for _ in range(size)]
    for k in reversed(range(size)):
        for column in range(size, width):
            total = rows[k][column]
            for j in range(k + 1, size):
                total = total - rows[k][j] * solution[j][column - size]
            solution[k].append(total / rows[k][k])
    return solution


def solve(a: Any, b: Any) -> Any:
    """Return x with a @ x = b."""
    recorder = recorder_of([a, b])
    matrix = _square("np.linalg.solve", as_tensor(recorder, a))
    right = as_tensor(recorder, b)
    size = matrix.shape[0]
    if right.ndim not in (1, 2) or right.shape[0] != size:
        raise UsageError(
            at_line(
                f"np.linalg.solve: shapes do not fit; got {matrix.shape} and {right.shape}, "
                f"expected ({size},) or ({size}, k) on the right."
            )
        )
    common = np.result_type(matrix.dtype, right.dtype)
    columns = right.reshape(size, -1).astype(common)
    rows = [
        [*row, *more]
        for row, more in zip(_numbers(matrix.astype(common)), _numbers(columns), strict=True)
    ]
    result = _tensor(recorder, _solve(rows, size, "np.linalg.solve"))
    return result.reshape(right.shape)


def inv(a: Any) -> Any:
    """Return the inverse of a matrix."""
    matrix = _square("np.linalg.inv", a)
    size = matrix.shape[0]
    one, zero = matrix.dtype.type(1), matrix.dtype.type(0)
    rows = [
        [*row, *(one if i == j else zero for j in range(size))]
        for i, row in enumerate(_numbers(matrix))
    ]
    for row in rows:
        row[size:] = [_as_element(matrix.recorder, number) for number in row[size:]]
    return _tensor(matrix.recorder, _solve(rows, size, "np.linalg.inv"))


def _as_element(recorder: Recorder, number: Any) -> Element:
    return as_tensor(recorder, number).at([])


def det(a: Any) -> Any:
    """Return the determinant of a matrix, which is 0 where it is singular."""
    matrix = _square("np.linalg.det", a)
    size = matrix.shape[0]
    rows = _numbers(matrix)
    result: Any = _as_element(matrix.recorder, matrix.dtype.type(1))
    for k in range(size):
        is_exchanged = _exchange(rows, k)
        pivot = rows[k][k]
        result = result * pivot
        if is_exchanged is not None:
            result = record("select", is_exchanged, -result, result)
        divisor = record("select", pivot == 0, matrix.dtype.type(1), pivot)
        for i in range(k + 1, size):
            factor = rows[i][k] / divisor
            for j in range(k + 1, size):
                rows[i][j] = rows[i][j] - factor * rows[k][j]
    return result


def cholesky(a: Any) -> Any:
    """Return the lower triangle whose product with its conjugate transpose is the matrix."""
    matrix = _square("np.linalg.cholesky", a)
    size = matrix.shape[0]
    given = _numbers(matrix)
    zero = _as_element(matrix.recorder, matrix.dtype.type(0))
    rows: Rows = [[zero] * size for _ in range(size)]
    for j in range(size):
        for i in range(j, size):
            total = given[i][j]
            for k in range(j):
                total = total - rows[i][k] * rows[j][k].conjugate()
            if i == j:
                size_of = total.real
                _fail_if(~(size_of > 0), "np.linalg.cholesky: the matrix is not positive")
                rows[j][j] = record("sqrt", size_of)
            else:
                rows[i][j] = total / rows[j][j]
    return _tensor(matrix.recorder, rows)


def matrix_power(a: Any, n: Any) -> Any:
    """Return a product of the matrix with itself, by squares; of its inverse, if n is negative."""
    matrix = _square("np.linalg.matrix_power", a)
    if n < 0:
        return matrix_power(inv(matrix), -n)
    if n == 0:
        return as_tensor(matrix.recorder, np.eye(len(matrix), dtype=matrix.dtype))
    result = matrix
    for bit in bin(n)[3:]:
        result = result @ result
        if bit == "1":
            result = result @ matrix
    return result


FUNCTIONS.update(
    {
        np.linalg.matrix_power: matrix_power,
        np.linalg.solve: solve,
        np.linalg.inv: inv,
        np.linalg.det: det,
        np.linalg.cholesky: cholesky,
    }
)
