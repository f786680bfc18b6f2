"""Small systems of equations, convolutions and pools, against NumPy element by element."""

import numpy as np
import pytest
from tensor_samples import check, numbers

import lanewise as lw

SIZES = [1, 2, 3, 5, 8]


def matrices(size, seed=0):
    return numbers((6, size, size), seed=seed) + 3 * np.eye(size)


@pytest.mark.parametrize("size", SIZES)
def test_solve(size):
    a = numbers((6, size, size)) + np.eye(size)[::-1] * 4  # the diagonal is no good pivot
    tiers = ("never", "now") if size <= 3 else ("never",)
    check(np.linalg.solve, a, numbers((6, size), seed=1), rtol=1e-11, tiers=tiers)
    many = numbers((6, size, 2), seed=2)
    check(lambda m, b: np.linalg.solve(m, b), a, many, rtol=1e-11, tiers=tiers)


@pytest.mark.parametrize("size", SIZES)
def test_inverse_and_determinant(size):
    a = matrices(size)
    check(lambda m: (np.linalg.inv(m), np.linalg.det(m)), a, rtol=1e-11, tiers=("never",))


@pytest.mark.parametrize("size", SIZES)
def test_cholesky(size):
    a = matrices(size)
    positive = a @ np.swapaxes(a, 1, 2) + np.eye(size)
    check(lambda m: np.linalg.cholesky(m), positive, rtol=1e-11, tiers=("never",))


def test_a_zero_where_the_pivot_would_be():
    a = np.array([[[0.0, 1.0], [2.0, 3.0]], [[0.0, 0.0], [0.0, 1.0]]])
    np.testing.assert_array_equal(lw.map(lambda m: np.linalg.det(m), a), [-2.0, 0.0])
    got = lw.map(lambda m: np.linalg.solve(m, np.array([1.0, 2.0])), a[:1])
    np.testing.assert_array_equal(got, [[-0.5, 1.0]])


def test_singular_systems_are_failures_of_their_element():
    a = np.stack([np.eye(2), np.ones((2, 2)), np.eye(2)])
    with pytest.raises(
        lw.ElementError, match=r"element 1.*np.linalg.solve: the matrix is singular"
    ):
        lw.map(lambda m: np.linalg.solve(m, m[0]), a)
    with pytest.raises(lw.ElementError, match=r"element 1.*the matrix is not positive"):
        lw.map(lambda m: np.linalg.cholesky(m), a)


def test_systems_that_are_too_large_are_refused():
    with pytest.raises(
        lw.UsageError, match=r"inv: not a small square matrix; got the shape \(9, 9\)"
    ):
        lw.map(lambda m: np.linalg.inv(m), np.ones((2, 9, 9)))


@pytest.mark.parametrize("mode", ["full", "same", "valid"])
def test_convolutions_of_vectors(mode):
    x, y = numbers((4, 20)), numbers((4, 3), seed=1)
    check(lambda a, b: np.convolve(a, b, mode), x, y, rtol=1e-13)
    check(lambda a, b: np.correlate(a, b, mode), x, y, rtol=1e-13)


def direct(image, kernel):
    windows = np.lib.stride_tricks.sliding_window_view(image, kernel.shape[-2:], axis=(-2, -1))
    if image.ndim == 2:
        return np.einsum("xyij,ij->xy", windows, kernel)
    return np.einsum("cxyij,ocij->oxy", windows, kernel)


def test_convolutions_of_images():
    images, kernel = numbers((3, 8, 7)), numbers((3, 3), seed=1)
    got = lw.map(lambda image: lw.conv2d(image, kernel), images)
    np.testing.assert_allclose(got, [direct(i, kernel) for i in images], atol=1e-13)
    padded = np.pad(images, ((0, 0), (1, 1), (1, 1)))
    got = lw.map(lambda image: lw.conv2d(image, kernel, padding="same"), images)
    np.testing.assert_allclose(got, [direct(i, kernel) for i in padded], atol=1e-13)
    got = lw.map(lambda image: lw.conv2d(image, kernel, stride=2), images)
    np.testing.assert_allclose(got, [direct(i, kernel)[::2, ::2] for i in images], atol=1e-13)


def test_convolutions_with_channels():
    images, kernel = numbers((2, 3, 6, 6)), numbers((4, 3, 3, 3), seed=1)
    got = lw.map(lambda image: lw.conv2d(image, kernel), images)
    np.testing.assert_allclose(got, [direct(i, kernel) for i in images], atol=1e-13)


def test_pools():
    images = numbers((3, 6, 8))
    blocks = images.reshape(3, 3, 2, 4, 2)
    np.testing.assert_array_equal(lw.map(lambda i: lw.max_pool(i), images), blocks.max((2, 4)))
    means = lw.map(lambda i: lw.mean_pool(i), images)
    np.testing.assert_allclose(means, blocks.mean((2, 4)), rtol=1e-14)
    assert lw.map(lambda i: lw.max_pool(i, (3, 2), stride=1), images).shape == (3, 4, 7)


def test_on_plain_arrays_they_compute():
    image, kernel = numbers((6, 6)), numbers((3, 3), seed=1)
    np.testing.assert_allclose(lw.conv2d(image, kernel), direct(image, kernel), atol=1e-13)
    np.testing.assert_allclose(lw.softmax(image).sum(axis=1), np.ones(6), rtol=1e-14)
    expected = np.log(np.exp(image).sum(axis=0))
    np.testing.assert_allclose(lw.logsumexp(image, axis=0), expected, rtol=1e-14, atol=1e-14)
    np.testing.assert_array_equal(lw.max_pool(image), image.reshape(3, 2, 3, 2).max((1, 3)))
