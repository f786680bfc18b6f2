"""Maps over rows, images and matrices: arguments, results, options, and what is refused."""

import pickle

import numpy as np
import pytest
from tensor_samples import numbers

import lanewise as lw

A = numbers((6, 4))
B = numbers((3, 5, 4), np.float32, seed=1)


def test_the_axis_that_is_mapped_can_be_any():
    for axis in (0, 1, 2, -1):
        got = lw.map(lambda m: m.T * 2, B, in_axes=axis)
        expected = np.stack([m.T * 2 for m in np.moveaxis(B, axis, 0)])
        np.testing.assert_array_equal(got, expected)


def test_the_axis_of_the_results_can_be_any():
    for axis in (0, 1, 2, -1):
        got = lw.map(lambda m: m * 2, B, out_axes=axis)
        np.testing.assert_array_equal(got, np.moveaxis(B * 2, 0, axis))
    first, second = lw.map(lambda m: (m, m[0]), B, out_axes=(2, 1))
    np.testing.assert_array_equal(first, np.moveaxis(B, 0, 2))
    np.testing.assert_array_equal(second, B[:, 0].T)


def test_results_go_into_given_arrays():
    out = np.zeros_like(B)
    assert lw.map(lambda m: m + 1, B, out=out) is out
    np.testing.assert_array_equal(out, B + 1)
    turned = np.zeros((5, 4, 3), np.float32)
    lw.map(lambda m: m + 1, B, out=turned, out_axes=2)
    np.testing.assert_array_equal(turned, np.moveaxis(B + 1, 0, 2))
    apart = np.zeros((3, 5, 8), np.float32)[:, :, ::2]
    lw.map(lambda m: m + 1, B, out=apart)
    np.testing.assert_array_equal(apart, B + 1)


def test_an_output_of_another_shape_is_refused():
    with pytest.raises(
        lw.UsageError, match=r"out has another shape; got \(3, 5\), expected \(3, 5, 4"
    ):
        lw.map(lambda m: m + 1, B, out=np.zeros((3, 5), np.float32))


@pytest.mark.parametrize("compile_", ["now", "never"])
@pytest.mark.parametrize("size", [1, 3, 40, 300])
def test_a_mask_with_rows_as_results(size, compile_):
    x = np.linspace(-3, 3, 100 * size).reshape(100, size)
    mask = np.arange(100) ** 2 % 7 < 3

    def softmax(row):
        powers = np.exp(row - row.max())
        return powers / powers.sum(), powers.sum(), row[::-1]

    every = lw.map(softmax, x)
    out = np.full((100, size), -1.0), np.full(100, -2.0), np.full((100, size), -3.0)
    lw.map(softmax, x, out=out, where=mask, compile=compile_)
    np.testing.assert_array_equal(out[0], np.where(mask[:, None], every[0], -1))
    np.testing.assert_array_equal(out[1], np.where(mask, every[1], -2))
    np.testing.assert_array_equal(out[2], np.where(mask[:, None], every[2], -3))


def test_rows_that_are_left_out_neither_run_nor_fail():
    systems = np.array([[[2.0, 0.0], [0.0, 4.0]], [[1.0, 2.0], [2.0, 4.0]]])
    right = np.ones((2, 2))
    solve = lw.vectorize(np.linalg.solve, signature="(n,n),(n)->(n)")
    out = np.full((2, 2), -1.0)
    solve(systems, right, out=out, where=np.array([True, False]))
    np.testing.assert_array_equal(out, [[0.5, 0.25], [-1, -1]])
    with pytest.raises(lw.ElementError, match="singular"):
        solve(systems, right, out=out, where=np.array([False, True]))


def test_a_mask_with_images_that_stand_apart():
    apart = np.full((4, 5, 3), -1, np.float32).T
    lw.map(lambda m: m + 1, B, out=apart, where=np.array([True, False, True]))
    expected = B + 1
    expected[1] = -1
    np.testing.assert_array_equal(apart, expected)


def test_a_mask_and_what_rows_add():
    total, largest = lw.Sum(), lw.Max()

    def add(row):
        total.add(row)
        largest.add(row.max())
        return row * 2

    x = np.arange(3000.0).reshape(1000, 3)
    mask = np.arange(1000) % 3 == 1
    out = np.zeros_like(x)
    lw.map(add, x, out=out, where=mask)
    np.testing.assert_array_equal(out, np.where(mask[:, None], x * 2, 0))
    np.testing.assert_array_equal(total.value, x[mask].sum(axis=0))
    assert largest.value == x[mask].max()


def test_a_mask_with_rows_as_arguments():
    out = np.full(3, -1, np.float32)
    lw.map(lambda m: m.max(), B, out=out, where=np.array([True, False, True]))
    np.testing.assert_array_equal(out, [B[0].max(), -1, B[2].max()])


def test_maps_without_elements():
    assert lw.map(lambda m: m.T, np.zeros((0, 2, 3))).shape == (0, 3, 2)
    assert lw.map(lambda m: m.sum(), np.zeros((0, 2, 3))).shape == (0,)


def test_rows_that_stand_apart():
    apart = np.asfortranarray(A)
    np.testing.assert_array_equal(lw.map(lambda r: r * 2, apart), A * 2)
    np.testing.assert_array_equal(lw.map(lambda r: r * 2, A[::-2]), A[::-2] * 2)
    np.testing.assert_array_equal(lw.map(lambda r: r * 2, A[:, ::2]), A[:, ::2] * 2)
    np.testing.assert_array_equal(
        lw.map(lambda r: r * 2, np.broadcast_to(A[0], (5, 4))), [A[0] * 2] * 5
    )


def test_rows_of_swapped_bytes():
    np.testing.assert_array_equal(lw.map(lambda r: r * 2, A.astype(">f8")), A * 2)


def test_numbers_beside_rows():
    got = lw.map(lambda r, s, k: r * s + k, A, np.arange(6.0), 10)
    np.testing.assert_array_equal(got, A * np.arange(6.0)[:, None] + 10)


def test_structures_of_rows():
    got = lw.map(
        lambda d: {"sum": d["a"] + d["b"][0], "c": (d["a"], d["b"][1])}, {"a": A, "b": (A, A * 3)}
    )
    np.testing.assert_array_equal(got["sum"], A * 2)
    np.testing.assert_array_equal(got["c"][1], A * 3)


def test_another_shape_is_recorded_again():
    f = lw.vectorize(lambda x: x * x.size, signature="(n)->(n)")
    np.testing.assert_array_equal(f(A), A * 4)
    np.testing.assert_array_equal(f(A[:, :3]), A[:, :3] * 3)
    np.testing.assert_array_equal(f(A), A * 4)


def test_signatures_as_numpy_has_them():
    for signature, function, arguments in (
        ("(n),(n)->()", lambda x, y: (x * y).sum(), (A, A[0])),
        ("(n),()->(n)", lambda x, k: x * k, (A, np.arange(6.0))),
        ("(i,j),(j)->(i)", lambda m, v: m @ v, (B, A[:3].astype(np.float32))),
        ("(n)->(),()", lambda x: (x.min(), x.max()), (B,)),
        ("(n)->(n,n)", lambda x: np.outer(x, x), (A,)),
        ("( i , 4 )->(i)", lambda m: m.max(axis=1), (B,)),
    ):
        numpy = np.vectorize(function, signature=signature)(*arguments)
        got = lw.vectorize(function, signature=signature)(*arguments)
        for a, b in zip(
            *((r if isinstance(r, tuple) else (r,)) for r in (got, numpy)), strict=True
        ):
            assert a.shape == b.shape
            np.testing.assert_allclose(a, b, rtol=1e-5)


def test_mapped_dimensions_broadcast():
    f = lw.vectorize(lambda x, y: x @ y, signature="(n),(n)->()")
    x, y = numbers((5, 1, 3)), numbers((4, 3), seed=2)
    np.testing.assert_allclose(f(x, y), (x * y).sum(-1), rtol=1e-12, atol=1e-14)
    assert f(x[0, 0], y[0]).shape == ()


@pytest.mark.parametrize(
    ("signature", "arguments", "message"),
    [
        (
            "(n),(n)->()",
            (A, A[:, :3]),
            r"disagree on the dimension n; got 3 \(argument 1\), expected 4",
        ),
        (
            "(n,m),(n)->()",
            (A[0], A),
            r"argument 0 has too few dimensions; got the shape \(4,\), expec",
        ),
        ("(n)->()", (A, A), r"more arguments than the signature has; got argument 1, expected 1"),
        (
            "(3),(n)->()",
            (A, A),
            r"disagree on the dimension 3; got 4 \(argument 0\), expected 3, as",
        ),
        (
            "(n),(n)->(n)",
            (A, A),
            r"result 0 has other dimensions than the signature says; got the shape \(\)",
        ),
        ("(n),(n)->(),()", (A, A), r"other results than the signature has; got 1, expected 2"),
    ],
)
def test_arguments_that_do_not_fit_the_signature(signature, arguments, message):
    with pytest.raises(lw.UsageError, match=message):
        lw.vectorize(lambda x, y=None: x.sum(), signature=signature)(*arguments)


def test_excluded_arguments_are_whole():
    weights = numbers((4, 2), seed=3)
    f = lw.vectorize(lambda x, w: x @ w, signature="(n)->(k)", excluded={1})
    np.testing.assert_allclose(f(A, weights), A @ weights, rtol=1e-12, atol=1e-14)
    np.testing.assert_allclose(f(A, weights[:, :1]), A @ weights[:, :1], rtol=1e-12, atol=1e-14)
    got = lw.map(lambda x, w: x @ w, A, weights, in_axes=(0, None))
    np.testing.assert_allclose(got, A @ weights, rtol=1e-12, atol=1e-14)


def test_captured_arrays_are_read_at_every_call():
    weights = numbers((4, 2), seed=3)
    f = lw.vectorize(lambda x: x @ weights + weights[0] + weights.sum(axis=0), signature="(n)->(k)")
    for _ in range(2):
        expected = A @ weights + weights[0] + weights.sum(axis=0)
        np.testing.assert_allclose(f(A), expected, rtol=1e-12, atol=1e-13)
        weights += 1
    weights = numbers((4, 3), seed=4)
    expected = A @ weights + weights[0] + weights.sum(axis=0)
    np.testing.assert_allclose(f(A), expected, rtol=1e-12, atol=1e-13)


def test_arrays_in_objects_are_read_at_every_call():
    class Model:
        def __init__(self):
            self.weights = numbers((4, 2), seed=3)

        def run(self, x):
            return x @ self.weights

    model = Model()
    for _ in range(2):
        got = lw.map(model.run, A)
        np.testing.assert_allclose(got, A @ model.weights, rtol=1e-12, atol=1e-14)
        model.weights *= 2


def test_arrays_that_the_function_changes_after_their_use():
    def f(x):
        scale = np.arange(4.0)
        y = x * scale
        scale[0] = 7
        return y + scale

    np.testing.assert_array_equal(lw.map(f, A), A * np.arange(4.0) + [7, 1, 2, 3])


def test_rows_of_a_table_by_an_index_of_the_element():
    table = numbers((7, 4), seed=5)
    index = np.array([6, 0, -1, 3, 2, 2])
    got = lw.map(lambda x, i: x + table[i], A, index)
    np.testing.assert_array_equal(got, A + table[index])
    with pytest.raises(lw.ElementError, match="element 1"):
        lw.map(lambda x, i: x + table[i], A, np.array([6, 7, 0, 0, 0, 0]))


def test_threads_and_many_elements():
    x = numbers((5000, 12), np.float32)
    expected = lw.map(lambda r: r / r.sum(), x, threads=1, compile="never")
    for options in ({"threads": 2}, {"compile": "now"}, {"threads": 2, "compile": "now"}):
        np.testing.assert_array_equal(lw.map(lambda r: r / r.sum(), x, **options), expected)


def test_pickles_carry_shapes():
    f = lw.vectorize(lambda x: x @ np.eye(4)[:, :2] + x[:2], signature="(n)->(k)")
    expected = f(A)
    again = pickle.loads(pickle.dumps(f))
    np.testing.assert_array_equal(again(A), expected)
    with pytest.raises(lw.UsageError, match="no program for such arguments"):
        again(A[:, :3])


def test_files_carry_shapes(tmp_path):
    f = lw.vectorize(lambda x: np.outer(x, x).sum(axis=0), signature="(n)->(n)", name="outer")
    expected = f(A)
    f.save(tmp_path / "outer.npz")
    again = lw.Vectorized.load(tmp_path / "outer.npz")
    np.testing.assert_array_equal(again(A), expected)
    with pytest.raises(lw.UsageError, match="no program for such arguments"):
        again(A[:, :3])


def test_one_element_by_the_plain_function():
    f = lw.vectorize(lambda x: x.sum(), signature="(n)->()")
    assert f.on(2, A) == A[2].sum()


def test_explain_and_lower_show_rows():
    f = lw.vectorize(lambda x: x * 2, signature="(n)->(n)", name="twice")
    assert f.lower(A).startswith("function twice(%0: f64[4]) -> (f64[4])")
    assert f.explain(A).bytes_in == 32


def test_one_each_for_one_operation():
    f = lw.vectorize(lambda m: np.sqrt(m + 1), signature="(i,j)->(i,j)", name="f")
    assert f.explain(B).program.count("each 20") == 2
    g = lw.vectorize(lambda m: m.T + m.T[0], signature="(i,j)->(j,i)", name="g")
    assert [g.explain(B).program.count(f"each {n} ") for n in (4, 5)] == [1, 1]


def test_a_sum_of_copies_is_a_product():
    f = lw.vectorize(lambda x: np.repeat(x, 10000).sum(), name="copies")
    x = np.array([0.1, 3.0, -7.5])
    np.testing.assert_array_equal(f(x), x * 10000)
    assert "each" not in f.explain(x).program
    g = lw.vectorize(lambda x: np.sin(np.broadcast_to(x, (1000, 2))).sum(), signature="(n)->()")
    np.testing.assert_allclose(g(A[:, :2]), np.sin(A[:, :2]).sum(1) * 1000, rtol=1e-12)
