"""Products of matrices and systems of equations give what NumPy gives."""

import cases
import numpy as np
import pytest
from cases import Case

import lanewise.compat.tf as tf

RANDOM = np.random.default_rng(1)
A = RANDOM.standard_normal((3, 4))
B = RANDOM.standard_normal((4, 2))
F = A.astype(np.float32)
STACK = RANDOM.standard_normal((2, 3, 4))
V = RANDOM.standard_normal(4)
S = RANDOM.standard_normal((3, 3)) + 4 * np.eye(3)
SS = np.stack([S, S.T + np.eye(3)])
P = S @ S.T + np.eye(3)
R = RANDOM.standard_normal((3, 2))
C = S + 1j * S.T
N = np.arange(12, dtype=np.int32).reshape(3, 4)
NEAR = 1e-10


def turned(x):
    return np.swapaxes(x, -1, -2)


CASES = [
    Case("matmul", tf.matmul, (A, B), lambda a, b: a @ b, NEAR),
    Case("matmul_float32", tf.matmul, (F, F.T.copy()), lambda a, b: a @ b, 1e-5),
    Case("matmul_int", tf.matmul, (N, N.T.copy()), lambda a, b: a @ b),
    Case("matmul_complex", tf.matmul, (C, C), lambda a, b: a @ b, NEAR),
    Case(
        "matmul_transpose",
        lambda a, b: tf.linalg.matmul(a, b, transpose_a=True, transpose_b=True),
        (B, A),
        lambda a, b: a.T @ b.T,
        NEAR,
    ),
    Case(
        "matmul_adjoint",
        lambda a, b: tf.matmul(a, b, adjoint_a=True, adjoint_b=True),
        (C, C),
        lambda a, b: a.conj().T @ b.conj().T,
        NEAR,
    ),
    Case("matmul_stack", tf.matmul, (STACK, B), lambda a, b: a @ b, NEAR),
    Case(
        "matmul_stacks",
        lambda a, b: tf.matmul(a, b, transpose_b=True),
        (STACK, STACK),
        lambda a, b: a @ turned(b),
        NEAR,
    ),
    Case("operator", lambda a, b: a @ b, (A, B), lambda a, b: a @ b, NEAR),
    Case("matvec", tf.linalg.matvec, (STACK, V), lambda a, b: a @ b, NEAR),
    Case(
        "matvec_transpose",
        lambda a, b: tf.linalg.matvec(a, b, transpose_a=True),
        (A, V[:3]),
        lambda a, b: a.T @ b,
        NEAR,
    ),
    Case("tensordot", lambda a, b: tf.tensordot(a, b, 1), (STACK, B), lambda a, b: a @ b, NEAR),
    Case(
        "tensordot_axes",
        lambda a, b: tf.tensordot(a, b, [[2, 1], [1, 0]]),
        (STACK, A),
        lambda a, b: np.tensordot(a, b, [[2, 1], [1, 0]]),
        NEAR,
    ),
    *(
        Case(
            f"einsum {equation}",
            lambda *inputs, e=equation: tf.einsum(e, *inputs),
            inputs,
            lambda *inputs, e=equation: np.einsum(e, *inputs),
            NEAR,
        )
        for equation, inputs in {
            "ij,jk->ik": (A, B),
            "ij,jk": (A, B),
            "ij->ji": (A,),
            "bij,jk->bik": (STACK, B),
            "...ij,...jk->...ik": (STACK, B),
            "bij,bij->b": (STACK, STACK),
            "i,j->ij": (V, V),
            "bij,jk,k->bi": (STACK, B, V[:2]),
            "ij->": (A,),
        }.items()
    ),
    Case("det", tf.linalg.det, (SS,), np.linalg.det, NEAR),
    Case("inv", tf.linalg.inv, (S,), np.linalg.inv, NEAR),
    Case(
        "inv_adjoint",
        lambda a: tf.linalg.inv(a, adjoint=True),
        (SS,),
        lambda a: turned(np.linalg.inv(a)),
        NEAR,
    ),
    Case("solve", tf.linalg.solve, (S, R), np.linalg.solve, NEAR),
    Case("solve_stack", tf.linalg.solve, (SS, np.stack([R, R])), np.linalg.solve, NEAR),
    Case("cholesky", tf.linalg.cholesky, (P,), np.linalg.cholesky, NEAR),
    Case("logdet", tf.linalg.logdet, (P,), lambda a: np.linalg.slogdet(a)[1], NEAR),
    Case(
        "triangular_solve",
        tf.linalg.triangular_solve,
        (S, R),
        lambda a, b: np.linalg.solve(np.tril(a), b),
        NEAR,
    ),
    Case(
        "triangular_solve_upper",
        lambda a, b: tf.linalg.triangular_solve(a, b, lower=False, adjoint=True),
        (S, R),
        lambda a, b: np.linalg.solve(np.triu(a).T, b),
        NEAR,
    ),
    Case(
        "cholesky_solve",
        lambda a, b: tf.linalg.cholesky_solve(tf.linalg.cholesky(a), b),
        (P, R),
        np.linalg.solve,
        NEAR,
    ),
    Case("qr", tf.linalg.qr, (A,), lambda a: tuple(np.linalg.qr(a)), NEAR, False),
    Case(
        "svd",
        lambda a: tf.linalg.svd(a, compute_uv=False),
        (A,),
        lambda a: np.linalg.svd(a, compute_uv=False),
        NEAR,
        False,
    ),
    Case("eigh", tf.linalg.eigh, (P,), lambda a: tuple(np.linalg.eigh(a)), NEAR, False),
    Case("eigvalsh", tf.linalg.eigvalsh, (P,), np.linalg.eigvalsh, NEAR, False),
    Case("eig", tf.linalg.eig, (C,), lambda a: tuple(np.linalg.eig(a)), NEAR, False),
    Case("eigvals", tf.linalg.eigvals, (C,), np.linalg.eigvals, NEAR, False),
    Case("pinv", tf.linalg.pinv, (A,), np.linalg.pinv, NEAR, False),
    Case("slogdet", tf.linalg.slogdet, (S,), lambda a: tuple(np.linalg.slogdet(a)), NEAR, False),
    Case("matrix_rank", tf.linalg.matrix_rank, (A,), lambda a: np.int32(3), 0, False),
    Case(
        "lstsq",
        tf.linalg.lstsq,
        (B, A.T[:, :1].copy()),
        lambda a, b: np.linalg.lstsq(a, b, None)[0],
        NEAR,
        False,
    ),
    # --- parts ---
    Case("diag", tf.linalg.diag, (A,), lambda a: np.stack([np.diag(row) for row in a])),
    Case("diag_above", lambda v: tf.linalg.diag(v, k=1), (V,), lambda v: np.diag(v, 1)),
    Case("diag_below", lambda v: tf.linalg.diag(v, k=-2), (V,), lambda v: np.diag(v, -2)),
    Case(
        "diag_padding",
        lambda v: tf.linalg.diag(v, padding_value=7),
        (V,),
        lambda v: np.where(np.eye(4) > 0, np.diag(v), 7),
    ),
    Case("diag_part", tf.linalg.diag_part, (STACK,), lambda a: np.diagonal(a, 0, -2, -1)),
    Case("diag_part_1", lambda a: tf.linalg.diag_part(a, k=1), (A,), lambda a: np.diagonal(a, 1)),
    Case(
        "set_diag",
        tf.linalg.set_diag,
        (A, V[:3]),
        lambda a, v: np.where(np.eye(3, 4) > 0, v[:, None], a),
    ),
    Case(
        "set_diag_below",
        lambda a, v: tf.linalg.set_diag(a, v, k=-1),
        (A, V[:2]),
        lambda a, v: np.where(np.eye(3, 4, -1) > 0, np.append(0, v)[:, None], a),
    ),
    Case(
        "band_part", lambda a: tf.linalg.band_part(a, 1, 0), (A,), lambda a: np.tril(np.triu(a, -1))
    ),
    Case("band_part_upper", lambda a: tf.linalg.band_part(a, 0, -1), (STACK,), np.triu),
    Case("trace", tf.linalg.trace, (N,), lambda a: np.trace(a).astype(np.int32)),
    Case("matrix_transpose", tf.linalg.matrix_transpose, (STACK,), turned),
    Case("adjoint", tf.linalg.adjoint, (C,), lambda a: a.conj().T),
    Case("cross", tf.linalg.cross, (SS, SS[::-1].copy()), np.cross, NEAR),
    Case(
        "tensor_diag",
        tf.linalg.tensor_diag,
        (N,),
        lambda a: np.diag(a.ravel()).reshape(3, 4, 3, 4),
    ),
    Case(
        "tensor_diag_part",
        tf.linalg.tensor_diag_part,
        (np.arange(36.0).reshape(2, 3, 2, 3),),
        lambda a: np.diag(a.reshape(6, 6)).reshape(2, 3),
    ),
]


@pytest.mark.parametrize("case", CASES, ids=cases.name_of)
def test_whole_tensors_give_what_numpy_gives(case):
    cases.check_eagerly(case)


@pytest.mark.parametrize("case", [case for case in CASES if case.in_map], ids=cases.name_of)
def test_elements_of_a_map_give_what_numpy_gives(case):
    cases.check_in_map(case)


@pytest.mark.parametrize("case", CASES, ids=cases.name_of)
def test_a_graph_gives_what_numpy_gives(case):
    cases.check_in_graph(case)


def test_singular_values_come_with_their_vectors():
    s, u, v = tf.linalg.svd(A)
    np.testing.assert_allclose(u.numpy() * s.numpy() @ v.numpy().T, A)


def test_large_products_are_mapped_over_rows():
    a = RANDOM.standard_normal((300, 300)).astype(np.float32)
    b = RANDOM.standard_normal((300, 300)).astype(np.float32)
    np.testing.assert_allclose(tf.matmul(a, b), a @ b, rtol=1e-3, atol=1e-3)


def test_large_systems_are_solved_too():
    a = RANDOM.standard_normal((2, 20, 20)) + 9 * np.eye(20)
    b = RANDOM.standard_normal((2, 20, 1))
    np.testing.assert_allclose(tf.linalg.solve(a, b), np.linalg.solve(a, b))
    np.testing.assert_allclose(tf.linalg.inv(a), np.linalg.inv(a))


@pytest.mark.parametrize("size", [3, 20])
def test_singular_matrices_are_an_error(size):
    with pytest.raises(tf.errors.InvalidArgumentError, match=r"[Ss]ingular"):
        tf.linalg.inv(np.zeros((size, size)))


def test_shapes_that_do_not_fit_are_said():
    with pytest.raises(tf.errors.InvalidArgumentError, match=r"\(3, 4\).*\(3, 4\)"):
        tf.matmul(A, A)
    with pytest.raises(
        tf.errors.InvalidArgumentError, match="as many operands as terms; got 1 and 2"
    ):
        tf.einsum("ij,jk->ik", A)
    with pytest.raises(tf.errors.InvalidArgumentError, match=r"several diagonals; got k=\(0, 1\)"):
        tf.linalg.diag(V, k=(0, 1))
    with pytest.raises(ValueError, match="qr: not supported inside of maps"):
        tf.vectorized_map(tf.linalg.qr, STACK, fallback_to_while_loop=False)
