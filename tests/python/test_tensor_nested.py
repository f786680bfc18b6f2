"""Inner maps with axes, structures and captured tensors; loops and branches around tensors."""

import re

import numpy as np
import pytest
from tensor_samples import check, numbers

import lanewise as lw

T = numbers((5, 3, 4, 2))
M = numbers((6, 3, 4))
X = numbers((7, 12))


def test_inner_axes_of_any_number():
    for in_axis in (0, 1, 2, -1):
        for out_axis in (0, 1, -1):
            got = lw.map(nested(in_axis, out_axis), T)
            parts = np.moveaxis(T, in_axis + 1 if in_axis >= 0 else in_axis, 1)
            expected = np.moveaxis(
                parts - parts.max(axis=(2, 3), keepdims=True), 1, out_axis % 3 + 1
            )
            np.testing.assert_array_equal(got, expected)


def nested(in_axis, out_axis):
    return lambda t: lw.map(lambda p: p - p.max(), t, in_axes=in_axis, out_axes=out_axis)


def test_some_arguments_of_an_inner_map_are_shared():
    def f(m, v):
        rows = lw.map(lambda r, s: r * s[0] + s[1:5], m, v, in_axes=(0, None))
        columns = lw.map(lambda c, k: c * k, m, v[:4], in_axes=(1, 0), out_axes=1)
        return rows, columns

    got = lw.map(f, M, X[:6])
    np.testing.assert_array_equal(got[0], M * X[:6, :1, None] + X[:6, None, 1:5])
    np.testing.assert_array_equal(got[1], M * X[:6, None, :4])


def test_inner_results_that_are_structures():
    def f(m):
        return lw.map(lambda r: {"sum": r.sum(), "pair": (r * 2, [r.max(), r[0]])}, m)

    got = lw.map(f, M)
    np.testing.assert_allclose(got["sum"], M.sum(axis=2), rtol=1e-13)
    np.testing.assert_array_equal(got["pair"][0], M * 2)
    np.testing.assert_array_equal(got["pair"][1][0], M.max(axis=2))
    np.testing.assert_array_equal(got["pair"][1][1], M[:, :, 0])


def test_inner_arguments_that_are_structures():
    def f(m):
        return lw.map(lambda d: d["a"] @ d["b"][0] + d["b"][1], {"a": m, "b": (m * 2, m[:, 0])})

    expected = (M * M * 2).sum(axis=2) + M[:, :, 0]
    np.testing.assert_allclose(lw.map(f, M), expected, rtol=1e-12)


def test_axes_of_several_inner_results():
    first, second = lw.map(lambda t: lw.map(lambda p: (p * 2, p[0]), t, out_axes=(2, 1)), T)
    np.testing.assert_array_equal(first, np.moveaxis(T * 2, 1, 3))
    np.testing.assert_array_equal(second, np.moveaxis(T[:, :, 0], 1, 2))


def test_tensors_that_an_inner_function_captures():
    def f(m):
        scale, total = m[0] * 2, m.sum()

        def one(r):
            return r * scale + total * m[-1, 0]

        return lw.map(one, m)

    expected = M * M[:, :1] * 2 + M.sum(axis=(1, 2))[:, None, None] * M[:, -1:, :1]
    np.testing.assert_allclose(lw.map(f, M), expected, rtol=1e-12)


def test_three_maps_one_in_another():
    def f(t):
        return lw.map(lambda p: lw.map(lambda r: lw.map(lambda v: v * r.sum() + p[0, 0], r), p), t)

    expected = T * T.sum(axis=-1, keepdims=True) + T[:, :, :1, :1]
    np.testing.assert_allclose(lw.map(f, T), expected, rtol=1e-12)


def test_an_inner_map_in_a_loop_and_in_a_branch():
    def f(m):
        y = m * 1
        n = 0
        while np.abs(y).max() > 0.5 and n < 30:
            y = lw.map(lambda r: r / (1 + np.abs(r).max()), y)
            n += 1
        if m[0, 0] > 0:
            y = lw.map(lambda c: c[::-1], y, in_axes=1, out_axes=1)
        return y, n

    def plainly(m):
        y, n = m * 1, 0
        while np.abs(y).max() > 0.5 and n < 30:
            y = y / (1 + np.abs(y).max(axis=1, keepdims=True))
            n += 1
        return (y[::-1] if m[0, 0] > 0 else y), n

    got, counts = lw.map(f, M)
    for element, m in enumerate(M):
        expected, n = plainly(m)
        np.testing.assert_allclose(got[element], expected, rtol=1e-12)
        assert counts[element] == n


@pytest.mark.parametrize("size", [3, 12, 80])
def test_a_loop_over_an_axis_that_is_left(size):
    def f(x):
        total = np.zeros(2)
        n = 0
        for v in x:
            if v > 1.5:
                break
            if v < -1:
                continue
            total[n % 2] += v
            n += 1
        return total, n

    check(f, numbers((40, size)))


def test_a_loop_over_rows_that_returns():
    def f(m):
        for i, row in enumerate(m):
            if row.sum() > 1:
                return row * i
        return -m[0]

    check(f, M)


def test_a_loop_over_two_axes():
    def f(m):
        best = m[0, 0]
        at = 0
        for row, column in zip(m, m.T):  # noqa: B905  # the shorter one ends
            for v in row:
                if v > best:
                    best = v
                    at += 1
            best = best + 0 * column[0]
        return best, at

    check(f, M)


def test_while_with_tensors_of_several_types():
    def f(x):
        y = x * 1
        seen = np.zeros(12, bool)
        counts = np.zeros(12, np.int32)
        n = 0
        while not seen.all() and n < 50:
            y = np.where(seen, y, y * 0.5)
            seen = seen | (np.abs(y) < 0.05)
            counts += seen
            n += 1
        return y, seen, counts, n

    check(f, X)


DIFFERENT = {
    "if": """
def f(x):
    y = x
    if x[0] > 0:
        y = x[:3]
    return y
""",
    "else": """
def f(x):
    if x[0] > 0:
        y = x * 2
    else:
        y = x[:3]
    return y
""",
    "number": """
def f(x):
    y = 0.0
    if x[0] > 0:
        y = x
    return y
""",
    "while": """
def f(x):
    y = x
    while y.sum() > 0:
        y = np.concatenate([y, -y])
    return y
""",
    "ternary": """
def f(x):
    return x[:2] if x[0] > 0 else x[:3]
""",
    "return": """
def f(x):
    if x[0] > 0:
        return x[:2]
    return x[:3]
""",
}


@pytest.mark.parametrize("name", DIFFERENT)
def test_branches_that_give_other_shapes_are_refused(name, tmp_path):
    path = tmp_path / "shapes.py"
    path.write_text(f"import numpy as np\n{DIFFERENT[name]}")
    namespace = {}
    exec(compile(path.read_text(), str(path), "exec"), namespace)
    with pytest.raises(lw.UsageError) as error:
        lw.map(namespace["f"], X)
    assert re.search(r"shapes\.py:\d+: ", str(error.value)), str(error.value)
    assert re.search(r"tensor of shape \(\d+,\)", str(error.value))


def test_captured_numbers_are_axes_and_sizes():
    for axis in (0, 1):
        np.testing.assert_allclose(lw.map(along(axis), M), M.sum(axis=axis + 1), rtol=1e-13)
        np.testing.assert_array_equal(lw.map(cut(axis + 1), X), X[:, : axis + 1] * (axis + 1))


def along(axis):
    return lambda m: np.sum(m, axis=axis)


def cut(size):
    return lambda x: x[:size] * np.full(size, size)


def test_as_many_inner_axes_as_results():
    with pytest.raises(lw.UsageError, match=r"map: out_axes does not fit the results; got 3 axes"):
        lw.map(lambda m: lw.map(lambda r: (r, r), m, out_axes=(0, 1, 0)), M)
