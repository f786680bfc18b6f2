"""``tf.linalg``: products of matrices, and systems of equations.

Systems of up to 8 unknowns are solved by programs, larger ones by NumPy, outside of maps only.
Decompositions (``qr``, ``svd``, ``eigh``) are NumPy's, and for whole tensors only.
"""

import functools
import inspect
from collections.abc import Callable
from typing import Any

import numpy as np

from ...errors import InvalidArgumentError, UsageError
from ...mapping import map as map_each
from ...recorder import current
from ...source import at_line
from ...tensors.linalg import MOST
from . import sampling
from .names import listed
from .ops import (
    Op,
    composite,
    held,
    is_numbers,
    moving,
    public,
    run_whole,
    static_of,
    whole,
    wrapped,
)
from .tensor import Tensor, array_of

_MANY = 1 << 24  # multiplications from which on rows are mapped over


def _turned(x: Any, transposes: bool, adjoins: bool) -> Any:
    if adjoins:
        return np.conjugate(np.swapaxes(x, -1, -2))
    return np.swapaxes(x, -1, -2) if transposes else x


def _rows(values: list[Any], **static: Any) -> dict[str, Any] | None:
    """Map over the rows of the first matrix, or over the first axis of stacks of them."""
    a, b = values
    if a.ndim > 2 and (b.ndim == 2 or (a.ndim == b.ndim and a.shape[0] == b.shape[0])):
        return static
    is_turned = static.get("transpose_a") or static.get("adjoint_a")
    if a.ndim == b.ndim == 2 and not is_turned and a.size * b.shape[-1] >= _MANY:
        return static
    return None


@whole(tensors=2, leads=_rows, shared=lambda values: (1,) if values[1].ndim == 2 else ())
def matmul(
    a: Any,
    b: Any,
    transpose_a: bool = False,
    transpose_b: bool = False,
    adjoint_a: bool = False,
    adjoint_b: bool = False,
    a_is_sparse: bool = False,
    b_is_sparse: bool = False,
    output_type: Any = None,
) -> Any:
    """Return the product of matrices, or of stacks of them.

    Examples
    --------
    >>> import lanewise.compat.tf as tf
    >>> tf.matmul([[1.0, 2.0]], [[3.0], [4.0]]).numpy()
    array([[11.]], dtype=float32)
    """
    left = _turned(a, transpose_a, adjoint_a)
    return np.matmul(left, _turned(b, transpose_b, adjoint_b))


@whole(tensors=2)
def matvec(
    a: Any,
    b: Any,
    transpose_a: bool = False,
    adjoint_a: bool = False,
    a_is_sparse: bool = False,
    b_is_sparse: bool = False,
) -> Any:
    """Return the product of matrices and vectors."""
    return np.matmul(_turned(a, transpose_a, adjoint_a), b[..., None])[..., 0]


@whole(tensors=2)
def tensordot(a: Any, b: Any, axes: Any) -> Any:
    """Return the products of two tensors, summed along axes."""
    return np.tensordot(a, b, axes)


@whole()
def _einsum_of_one(x: Any, equation: str) -> Any:
    return np.einsum(equation, x)


@whole(tensors=2)
def _einsum_of_two(x: Any, y: Any, equation: str) -> Any:
    return np.einsum(equation, x, y)


@composite
def einsum(equation: str, *inputs: Any, **options: Any) -> Any:
    """Return the sums of products that letters for axes describe, of two tensors after another.

    Examples
    --------
    >>> import lanewise.compat.tf as tf
    >>> tf.einsum("ij,j->i", [[1.0, 2.0], [3.0, 4.0]], [1.0, 1.0]).numpy()
    array([3., 7.], dtype=float32)
    """
    ranks = [len(one.shape) if hasattr(one, "shape") else np.ndim(one) for one in inputs]
    terms, result = _letters(equation, ranks)
    values = list(inputs)
    while len(values) > 2:
        needed = set(result).union(*terms[2:])
        kept = "".join(dict.fromkeys(one for one in terms[0] + terms[1] if one in needed))
        both = _einsum_of_two(values[0], values[1], f"{terms[0]},{terms[1]}->{kept}")
        values, terms = [both, *values[2:]], [kept, *terms[2:]]
    if len(values) == 1:
        return _einsum_of_one(values[0], f"{terms[0]}->{result}")
    return _einsum_of_two(values[0], values[1], f"{terms[0]},{terms[1]}->{result}")


def _letters(equation: str, ranks: list[int]) -> tuple[list[str], str]:
    """Return the letters of all axes of the operands and of the result."""
    left, arrow, result = equation.replace(" ", "").partition("->")
    terms = left.split(",")
    if len(terms) != len(ranks):
        raise UsageError(
            f"einsum: as many operands as terms; got {len(ranks)} and {len(terms)}, expected one "
            "for each."
        )
    free = [one for one in "ABCDEFGHIJKLMNOPQRSTUVWXYZ" if one not in equation]
    dots = [rank - len(term) + 3 for term, rank in zip(terms, ranks, strict=True) if "..." in term]
    most = "".join(free[: max(dots, default=0)])
    counts = iter(dots)
    terms = [
        term.replace("...", most[len(most) - next(counts) :]) if "..." in term else term
        for term in terms
    ]
    if not arrow:
        joined = "".join(terms)
        once = [one for one in sorted(set(joined)) if joined.count(one) == 1 and one not in most]
        result = "..." + "".join(once)
    return terms, result.replace("...", most)


# --- systems of equations ---


def of_matrices(tensors: int = 1) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Make a function of matrices, its first arguments, one of stacks of them."""

    def decorate(function: Callable[..., Any]) -> Callable[..., Any]:
        signature = inspect.signature(function)
        names = list(signature.parameters)[tensors:]

        @functools.wraps(function)
        def inside(*args: Any, **kwargs: Any) -> Any:
            one = functools.partial(function, **_static(names, args[tensors:], kwargs))
            return _stacked([held(arg) for arg in args[:tensors]], one, map_each)

        def run(*args: Any, **kwargs: Any) -> Any:
            values = [np.asarray(array_of(arg)) for arg in args[:tensors]]
            static = _static(names, args[tensors:], kwargs)
            size = max(values[0].shape[-2:], default=0)
            if size > MOST or not all(map(is_numbers, values)) or not all(v.size for v in values):
                return wrapped(_by_numpy(function, values, static))

            def by_program(_: Any, *flat: Any) -> Any:
                return run_whole(function, list(flat), static, static)

            return wrapped(_stacked(values, None, by_program))

        return public(Op(function.__name__, inside, run, signature, False))

    return decorate


def _static(names: list[str], args: Any, kwargs: dict[str, Any]) -> dict[str, Any]:
    given = dict(zip(names, args, strict=False)) | kwargs
    return {name: static_of(value) for name, value in given.items()}


def _stacked(values: list[Any], one: Any, each: Callable[..., Any]) -> Any:
    """Call a function of matrices for all in a stack."""
    ranks = {np.ndim(value) for value in values}
    if ranks == {2} and one is not None:
        return one(*values)
    front = np.broadcast_shapes(*(np.shape(value)[:-2] for value in values))
    flat = [
        np.reshape(np.broadcast_to(value, (*front, *np.shape(value)[-2:])), (-1, *value.shape[-2:]))
        for value in values
    ]
    found = each(one, *flat)
    return np.reshape(found, (*front, *np.shape(found)[1:]))


def _by_numpy(function: Callable[..., Any], values: list[Any], static: dict[str, Any]) -> Any:
    try:
        return function(*values, **static)
    except np.linalg.LinAlgError as error:
        if sampling.is_on():
            return np.full_like(values[-1], np.nan)
        raise InvalidArgumentError(f"{function.__name__}: {error}") from None


@of_matrices()
def det(input: Any) -> Any:
    """Return the determinant of matrices."""
    return np.linalg.det(input)


@of_matrices()
def inv(input: Any, adjoint: bool = False) -> Any:
    """Return the inverse of matrices."""
    return _turned(np.linalg.inv(input), False, adjoint)


@of_matrices(tensors=2)
def solve(matrix: Any, rhs: Any, adjoint: bool = False) -> Any:
    """Return the solutions of systems of equations, one for each column on the right."""
    return np.linalg.solve(_turned(matrix, False, adjoint), rhs)


@of_matrices()
def cholesky(input: Any) -> Any:
    """Return the lower triangles whose squares are symmetric positive matrices."""
    return np.linalg.cholesky(input)


@of_matrices(tensors=2)
def triangular_solve(matrix: Any, rhs: Any, lower: bool = True, adjoint: bool = False) -> Any:
    """Return the solutions of systems whose matrix is a triangle."""
    part = np.tril(matrix) if lower else np.triu(matrix)
    return np.linalg.solve(_turned(part, False, adjoint), rhs)


@of_matrices(tensors=2)
def cholesky_solve(chol: Any, rhs: Any) -> Any:
    """Return the solutions of systems whose matrix `cholesky` took apart."""
    half = np.linalg.solve(chol, rhs)
    return np.linalg.solve(_turned(chol, False, True), half)


@composite
def logdet(matrix: Any) -> Any:
    """Return the logarithm of the determinant of symmetric positive matrices."""
    from .elementwise import log
    from .matrices import diag_part
    from .reductions import reduce_sum

    return 2.0 * reduce_sum(log(diag_part(cholesky(matrix))), -1)


# --- decompositions, by NumPy ---


def _by_numpy_only(name: str, about: str, function: Callable[..., Any]) -> Any:
    @functools.wraps(function)
    def decompose(*args: Any, **kwargs: Any) -> Any:
        if current() is not None:
            raise UsageError(
                at_line(
                    f"{name}: not supported inside of maps; got a call for one element, expected "
                    "whole tensors. Call it on the stack of all matrices."
                )
            )
        return function(*map(held, args[:1]), *args[1:], **kwargs)

    decompose.__name__ = decompose.__qualname__ = name
    decompose.__doc__ = f"Return {about}; of whole tensors only."
    return moving(decompose)


def _qr(input: Any, full_matrices: bool = False) -> Any:
    return tuple(np.linalg.qr(input, "complete" if full_matrices else "reduced"))


def _svd(tensor: Any, full_matrices: bool = False, compute_uv: bool = True) -> Any:
    if not compute_uv:
        return np.linalg.svd(tensor, compute_uv=False)
    u, s, vh = np.linalg.svd(tensor, full_matrices)
    return s, u, _turned(vh, False, True)


def _lstsq(matrix: Any, rhs: Any, l2_regularizer: float = 0.0, fast: bool = True) -> Any:
    turned, rhs = _turned(matrix, False, True), held(rhs)
    rows, columns = matrix.shape[-2:]
    added = l2_regularizer * np.eye(min(rows, columns), dtype=matrix.dtype)
    if rows < columns:  # of all solutions the shortest
        return turned @ np.linalg.solve(matrix @ turned + added, rhs)
    return np.linalg.solve(turned @ matrix + added, turned @ rhs)


qr = _by_numpy_only("qr", "an orthogonal matrix and a triangle", _qr)
svd = _by_numpy_only("svd", "singular values, and the vectors of both sides", _svd)
lstsq = _by_numpy_only("lstsq", "the solutions with the least squares", _lstsq)
eigh = _by_numpy_only(
    "eigh",
    "the values and vectors of symmetric matrices",
    lambda tensor: tuple(np.linalg.eigh(tensor)),
)
eigvalsh = _by_numpy_only(
    "eigvalsh", "the values of symmetric matrices", lambda tensor: np.linalg.eigvalsh(tensor)
)
eig = _by_numpy_only("eig", "the values and vectors", lambda tensor: tuple(np.linalg.eig(tensor)))
eigvals = _by_numpy_only("eigvals", "the values", lambda tensor: np.linalg.eigvals(tensor))
pinv = _by_numpy_only(
    "pinv",
    "the inverse as far as there is one",
    lambda a, rcond=None, validate_args=False: np.linalg.pinv(a, rcond),
)
slogdet = _by_numpy_only(
    "slogdet",
    "the sign and the logarithm of the determinant",
    lambda input: tuple(np.linalg.slogdet(input)),
)
matrix_rank = _by_numpy_only(
    "matrix_rank",
    "the number of rows that do not come from others",
    lambda a, tol=None, validate_args=False: np.asarray(np.linalg.matrix_rank(a, tol), np.int32),
)


setattr(Tensor, "__matmul__", lambda self, other: matmul(self, other))  # noqa: B010
setattr(Tensor, "__rmatmul__", lambda self, other: matmul(other, self))  # noqa: B010

NAMES = {
    **listed("linalg", [matmul, einsum, tensordot]),
    **listed(
        "linalg", [matvec, det, inv, solve, cholesky, triangular_solve, cholesky_solve], False
    ),
    **listed("linalg", [logdet, qr, svd, lstsq, eigh, eigvalsh, eig, eigvals, pinv], False),
    **listed("linalg", [slogdet, matrix_rank], False),
}
