"""What is refused of tensors, and in which words."""

import re

import numpy as np
import pytest
from tensor_samples import numbers

import lanewise as lw

X = numbers((4, 6))
M = numbers((4, 3, 3), seed=1)
NINE = np.ones((3, 3))

OF_VECTORS = {
    "concatenate: numbers have no axis; got ()": lambda x: np.concatenate([x[0], x[1]]),
    "sort: a number has no axes; got axis -1": lambda x: np.sort(x[0]),
    "return: a tensor without numbers; got the shape (0,)": lambda x: np.repeat(x, 0),
    "squeeze: an axis has another size; got (6,)": lambda x: np.squeeze(x, 0),
    "convolve: not two vectors; got (1, 6)": lambda x: np.convolve(x[None], x),
    "index: more than one ellipsis": lambda x: x[..., ...],
    "index: a bool; got a mask": lambda x: x[True],
    "index: not whole numbers; got a tensor of floats": lambda x: x[x],
    "conv2d: shapes do not fit; got (6,)": lambda x: lw.conv2d(x, NINE),
    "max_pool: not an image; got the shape (6,)": lambda x: lw.max_pool(x),
    "matmul: a number; got (6,) and ()": lambda x: np.matmul(x, 3.0),
    "cross: not of three numbers; got (6,)": lambda x: np.cross(x, x),
    "einsum: another number of operands; got 1, expected 2": lambda x: np.einsum("i,i->", x),
    "einsum: an axis of the result is in no operand": lambda x: np.einsum("i,i->k", x, x),
    "einsum: other dimensions than letters; got (6,)": lambda x: np.einsum("ij,i->j", x, x),
    "sum: unsupported type; got object": lambda x: np.sum(x, dtype=object),
    "tensor: unsupported type; got <U2": lambda x: np.zeros_like(x, dtype="U2"),
    "astype: unsupported type; got object": lambda x: x.astype(object),
    "assignment: the result has another shape; got (2, 6)": lambda x: x.__iadd__(np.ones((2, 6))),
    "assignment: the result has another type; got float64": lambda x: x.astype(int).__iadd__(0.5),
    "broadcast_to: shapes do not fit; got (6,)": lambda x: np.broadcast_to(x, (1,)),
    "item: more than one number; got the shape (6,)": lambda x: x.item(),
    "len: a tensor without dimensions": lambda x: len(x[0, ...]),
    "the window is larger than the tensor; got (7,)": lambda x: lw.tensors.convolution.correlated(
        x, np.concatenate([x, x])[:7], "valid"
    ),
    "map: nothing to map over; got no tensor": lambda x: lw.map(lambda y: y, x[0]),
    "map: the function does not return elements; got str": lambda x: lw.map(lambda y: "a", x),
    "map: options inside of a vectorized function; got threads": lambda x: lw.map(
        lambda y: y, x, threads=1
    ),
    "map: arguments disagree on the mapped size; got 6": lambda x: lw.map(
        lambda a, b: a + b, x, x[:3]
    ),
    "shapes differ; got (6,) and (1, 6)": lambda x: np.stack([x, x[None]]),
}


@pytest.mark.parametrize("message", OF_VECTORS)
def test_of_vectors(message):
    with pytest.raises(ValueError, match=re.escape(message)):
        lw.map(OF_VECTORS[message], X)


OF_MATRICES = {
    "np.linalg.norm: not supported on tensors with ord=2 along 2": lambda m: np.linalg.norm(m, 2),
    "np.pad with mode='mean': not supported on tensors": lambda m: np.pad(m, 1, mode="mean"),
    "conv2d: stride is not a size; got 0": lambda m: lw.conv2d(m, NINE, stride=0),
    "np.linalg.solve: shapes do not fit; got (3, 3)": lambda m: np.linalg.solve(m, m[0, :2]),
    "argmax: more than one axis; got (0, 1)": lambda m: np.argmax(m, axis=(0, 1)),
    "sum: an axis is there twice": lambda m: np.sum(m, axis=(0, 0)),
}


@pytest.mark.parametrize("message", OF_MATRICES)
def test_of_matrices(message):
    with pytest.raises(ValueError, match=re.escape(message)):
        lw.map(OF_MATRICES[message], M)


def test_as_many_axes_as_results():
    with pytest.raises(lw.UsageError, match=r"map: out_axes does not fit the results; got 3 axes"):
        lw.map(lambda x: (x, x), X, out_axes=(0, 0, 0))


def test_dimensions_of_a_signature():
    f = lw.vectorize(lambda x, y: x.sum() + y.sum(), signature="(n),(n)->()")
    with pytest.raises(lw.UsageError, match=r"arguments disagree on the dimension n; got 5"):
        f(X, X[:, :5])


def test_arrays_that_change_after_their_use():
    held = {"scale": np.ones(6)}

    def f(x):
        y = x * held["scale"]
        if x[0] > 0:
            y = y + 1
        held["scale"][0] += 1
        return y

    with pytest.raises(lw.UsageError, match=r"an array changes after its use; got other values"):
        lw.map(f, X)


def test_inner_maps_write_nothing_outside():
    def f(m):
        y = m * 1

        def one(r):
            y[0] = r
            return r

        return lw.map(one, m)

    with pytest.raises(lw.UsageError, match="tensor: written by every position of an inner map"):
        lw.map(f, M)


def test_tensors_outside_of_their_function_and_scope():
    seen = []
    lw.map(lambda x: seen.append(x) or x.sum(), X)
    with pytest.raises(lw.UsageError, match="tensor: used after its function was recorded"):
        seen[0] + 1

    def f(m):
        lw.map(lambda r: seen.append(r * 2) or r, m)
        return seen[-1]

    message = "tensor: used outside of the loop or branch it was made in"
    with pytest.raises(lw.UsageError, match=message):
        lw.map(f, M)


def test_conversions_to_plain_arrays():
    message = "array: a tensor has no values while its function is recorded"
    with pytest.raises(lw.UsageTypeError, match=message):
        lw.map(lambda x: np.lib.stride_tricks.as_strided(x, (2,), (8,)), X)


def test_elements_in_plain_arrays():
    assert lw.vectorize(lambda x: np.full(3, x))(np.arange(2.0)).tolist() == [[0.0] * 3, [1.0] * 3]
    target = np.zeros(3)
    with pytest.raises(lw.UsageTypeError, match=r"np.full: an element in a plain array"):
        lw.vectorize(lambda x: np.copyto(target.copy(), x) or x)(np.arange(2.0))


def test_shapes_that_do_not_broadcast_have_the_line_and_both_shapes():
    def wrong(row):
        return row + np.zeros(5)

    line = wrong.__code__.co_firstlineno + 1
    words = rf"test_tensor_errors.py:{line}: .*shapes do not broadcast; got \(6,\) and \(5,\), exp"
    with pytest.raises(lw.UsageError, match=words):
        lw.map(wrong, X)


@pytest.mark.parametrize(
    "out",
    [
        lambda x: x,
        lambda x: x[::-1],
        lambda x: x[:, ::-1],  # whose values do not stand together
    ],
)
def test_rows_are_not_written_over_what_is_read(out):
    x = X.copy()
    words = (
        "map: output 0 overlaps argument 0; got shared memory, expected separate arrays. "
        "Give another out, or none."
    )
    with pytest.raises(lw.UsageError, match=re.escape(words)):
        lw.map(lambda row: row * 2, x, out=out(x))
    assert np.array_equal(x, X)


def test_rows_between_those_that_are_read_are_written():
    both = np.zeros((4, 12))
    both[:, ::2] = X
    lw.map(lambda row: row * 2, both[:, ::2], out=both[:, 1::2])
    np.testing.assert_array_equal(both[:, 1::2], X * 2)
    np.testing.assert_array_equal(both[:, ::2], X)
