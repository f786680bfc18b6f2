"""Branches, loops and inner maps around tensors, and tensors that are written."""

import numpy as np
import pytest
from tensor_samples import check, numbers

import lanewise as lw

A = numbers((7, 12))
M = numbers((5, 4, 4), seed=1)


def test_a_loop_over_rows():
    def f(m):
        total = 0.0
        for row in m:
            total += row[0] * row.max()
        return total

    check(f, numbers((5, 3, 4)))
    check(f, numbers((5, 20, 4)))


def test_a_loop_over_indices():
    def f(x):
        total = 0.0
        for i in range(x.shape[0]):
            if x[i] > 0:
                total += x[i] * x[-i]
        return total

    check(f, A)


def test_items_are_assigned_one_by_one():
    def f(m):
        y = np.zeros((4, 4))
        for i in range(4):
            for j in range(4):
                y[i, j] = m[j, i] * 2 if m[i, j] > 0 else -1.0
        return y

    check(f, M)


def test_rows_and_slices_are_assigned():
    def f(m):
        y = np.zeros((4, 6))
        y[:, 1:5] = m
        y[0] = 7
        y[-1, ::2] = m[0, :3]
        y[1:] += 1
        y.T[5] = m[:, 0]
        return y, y[0]

    check(f, M)


def test_assignments_are_seen_by_views_and_not_by_results():
    def f(x):
        y = x * 2
        view = y[2:5]
        before = y + 0
        y[3] = 100
        view[0] = -1
        return before, y, view

    check(f, A)


def test_a_shifted_assignment_to_itself():
    def f(x):
        y = x.copy()
        y[1:] = y[:-1]
        return y

    check(f, A)


def test_an_argument_can_be_changed_by_its_element():
    def f(x):
        x -= x.mean()
        x[0] = 1
        return x

    before = A.copy()
    check(f, A, ulp=8)
    np.testing.assert_array_equal(A, before)


def test_an_argument_that_is_changed_in_a_loop():
    def f(x):
        for i in range(1, 12):
            x[i] += x[i - 1]
        return x

    check(f, A)


def test_an_index_out_of_range_is_a_failure_of_the_element():
    def f(x, i):
        return x[i]

    index = np.array([0, -12, 11, 3, 12, -1, -13])
    with pytest.raises(lw.ElementError, match=r"element 4.*got 12, expected 0 to 11"):
        lw.map(f, A, index)
    np.testing.assert_array_equal(lw.map(f, A[:4], index[:4]), A[range(4), index[:4]])


def test_plain_indices_out_of_range():
    with pytest.raises(IndexError, match=r"index: out of range; got 12, expected -12 to 11"):
        lw.map(lambda x: x[12], A)
    with pytest.raises(IndexError, match=r"index: out of range; got 0 to 12"):
        lw.map(lambda x: x[[0, 12]], A)


def test_gathers_are_checked():
    first = np.array([0, 3, 7, 8, 9, 1, 9])
    got = lw.map(lambda x, i: x[i + np.arange(3)], A, first)
    np.testing.assert_array_equal(got, [x[i : i + 3] for x, i in zip(A, first, strict=True)])
    with pytest.raises(lw.ElementError, match=r"element 4.*got 12, expected 0 to 11"):
        lw.map(lambda x, i: x[i + np.arange(4)], A, first)


def test_a_tensor_that_branches_choose():
    def f(x):
        if x[0] > 0:
            y = x * 2
        elif x[1] > 0:
            y = x[::-1]
        else:
            y = x - 1
        return y + 1

    check(f, A)


def test_a_tensor_that_a_branch_changes():
    def f(x):
        y = x + 1
        if x[0] > 0:
            y = y * 2
        return y

    check(f, A)


def test_an_early_return():
    def f(x):
        if x[0] > 0:
            return x * 2
        for v in x:
            if v > 1.5:
                return x - v
        return x

    check(f, A)


def test_a_tensor_that_a_loop_carries():
    def f(m):
        v = np.ones(4)
        n = 0
        while n < 20 and np.abs(v).max() < 100:
            v = m @ v
            n += 1
        return v, n

    check(f, M, rtol=1e-12)


def test_two_tensors_that_a_loop_exchanges():
    def f(x):
        a, b = x, x * 2
        for _ in range(11):
            a, b = b, a + b
        return a, b

    check(f, A, rtol=1e-13)


def test_a_ternary_of_tensors():
    check(lambda x: x * 2 if x[0] > 0 else -x, A)


def test_inner_maps():
    check_map = lw.map(lambda m: lw.map(lambda r: r / (1 + r @ r), m), M)
    expected = M / (1 + np.einsum("nij,nij->ni", M, M))[..., None]
    np.testing.assert_allclose(check_map, expected, rtol=1e-14)
    columns = lw.map(lambda m: lw.map(lambda c: c.max() - c, m, in_axes=1, out_axes=1), M)
    np.testing.assert_array_equal(columns, M.max(axis=1, keepdims=True) - M)


def test_an_inner_map_with_branches_and_loops():
    def one(r, k):
        if r[0] < 0:
            return -1.0
        n = 0.0
        while n * n < k + r[1] * r[1]:
            n += 1
        return n

    got = lw.map(lambda m, k: lw.map(lambda r: one(r, k), m), M, np.arange(5.0))
    expected = [[one(r, k) for r in m] for m, k in zip(M, np.arange(5.0), strict=True)]
    np.testing.assert_array_equal(got, expected)


def test_vectorized_functions_inside():
    @lw.vectorize
    def relu(x):
        if x > 0:
            return x
        return 0.0

    dot = lw.vectorize(lambda x, y: (x * y).sum(), signature="(n),(n)->()")
    got = lw.map(lambda m: relu(m) + dot(m, m[0])[:, None], M)
    expected = np.maximum(M, 0) + np.stack([(m * m[0]).sum(axis=1) for m in M])[..., None]
    np.testing.assert_allclose(got, expected, rtol=1e-14)


def test_an_assignment_from_an_inner_map_to_the_outside_is_refused():
    def f(m):
        y = np.zeros(4)

        def one(r):
            y[0] = r[0]
            return r

        return lw.map(one, m) + y

    with pytest.raises(lw.UsageError, match="written by every position of an inner map"):
        lw.map(f, M)


def test_whole_local_arrays_in_functions_of_numbers():
    @lw.vectorize
    def f(x):
        a = np.zeros(8)
        for i in range(8):
            a[i] = x * i
        return (a * a).sum() + np.max(a) + np.arange(3.0)[1] * x

    x = numbers(9)
    expected = [(np.arange(8) * v) @ (np.arange(8) * v) + max(0, 7 * v) + v for v in x]
    np.testing.assert_allclose(f(x), expected, rtol=1e-14)


def test_arrays_of_elements():
    f = lw.vectorize(lambda x, y: np.array([[x, y], [y, 1.0]]) @ np.array([x, 2.0]))
    x, y = numbers(6), numbers(6, seed=2)
    expected = np.stack([x * x + 2 * y, x * y + 2.0], axis=1)
    np.testing.assert_allclose(f(x, y), expected, rtol=1e-14)


@pytest.mark.parametrize(
    ("function", "error", "message"),
    [
        (lambda x: x + np.zeros(3), ValueError, r"shapes do not broadcast; got \(12,\) and \(3,\)"),
        (lambda x: x @ np.zeros((3, 2)), ValueError, r"matmul: shapes do not fit; got \(12,\) and"),
        (lambda x: x[x > 0], TypeError, r"index: a mask; got a tensor of bools"),
        (lambda x: x[: x[0].astype(int)], TypeError, r"index: an element is a bound of a slice"),
        (lambda x: x.reshape(5, 2), ValueError, r"reshape: another number of values; got \(12,\)"),
        (lambda x: x.sum(axis=1), ValueError, r"sum: no such axis; got 1, expected -1 to 0"),
        (lambda x: np.fft.fft(x), TypeError, r"np.fft.fft: not supported on tensors; got a call"),
        (lambda x: np.cross(x[:3], x[:3], axisa=0), TypeError, r"np.cross with axisa=: not suppor"),
        (lambda x: x.tobytes(), AttributeError, r"tensor: tobytes is not recorded"),
        (lambda x: x[3:3], ValueError, r"a tensor without numbers; got the shape \(0,\)"),
        (lambda x: 1.0 if x else 2.0, TypeError, r"bool: a tensor is neither true nor false; got"),
        (lambda x: np.sort(np.tile(x, 9)), ValueError, r"sort: too many numbers; got 108"),
        (lambda x: np.concatenate([x, x[None]]), ValueError, r"concatenate: shapes differ; got \("),
        (lambda x: x["a"], TypeError, r"index: not an index; got str"),
        (lambda x: x[0, 0], ValueError, r"index: too many indices; got 2, expected at most 1"),
    ],
)  # fmt: skip
def test_what_is_refused_names_the_line(function, error, message):
    with pytest.raises(error, match=rf"test_tensor_flow.py:\d+: .*{message}|^{message}"):
        lw.map(function, A)


def test_kept_tensors_are_refused_later():
    seen = []
    lw.map(lambda x: seen.append(x) or x.sum(), A)
    with pytest.raises(lw.UsageError, match="used after its function was recorded"):
        seen[0] + 1
