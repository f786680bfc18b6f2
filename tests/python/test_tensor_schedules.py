"""What schedules leave out, a whole image or work that elements share, nobody sees in results."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import lanewise as lw

WEIGHTS = [np.float32(w) for w in (0.0625, 0.25, 0.375, 0.25, 0.0625)]


def across(x: Any, size: int) -> Any:
    return sum(w * x[:, k : k + size - 4] for k, w in enumerate(WEIGHTS))


def down(x: Any, size: int) -> Any:
    return sum(w * x[k : k + size - 4] for k, w in enumerate(WEIGHTS))


def scaled(x: Any) -> Any:
    return np.sqrt(x / np.float32(3)) / (x + np.float32(1))


FUNCTIONS: list[Callable[[Any], Any]] = [
    lambda x: down(across(scaled(x), 132), 132),
    lambda x: across(down(scaled(x), 132), 132),
    lambda x: down(scaled(x), 132),
    lambda x: down(across(x, 132), 132) - scaled(x)[2:-2, 2:-2],
    lambda x: scaled(x)[1:] * scaled(x)[:-1] - down(across(scaled(x), 132), 132).max(),
]


@pytest.mark.parametrize("number", range(len(FUNCTIONS)))
def test_images_that_are_kept_by_rows_have_numpys_bits(number: int) -> None:
    function = FUNCTIONS[number]
    images = np.random.default_rng(number).uniform(0, 9, (3, 132, 132)).astype(np.float32)
    mapped = lw.vectorize(function, signature="(n,m)->(p,q)")
    truth = np.stack([function(image) for image in images])
    for _ in range(3):  # both tiers
        np.testing.assert_array_equal(mapped(images), truth)


def test_what_elements_share_is_the_same_for_all() -> None:
    rng = np.random.default_rng(5)
    weights = rng.uniform(-1, 1, (48, 64)).astype(np.float32)

    def normed(row: Any) -> Any:
        lengths = np.sqrt((weights * weights).sum(axis=0))
        return row * lengths + np.exp(weights[0] * np.float32(0.5))

    rows = rng.uniform(-1, 1, (500, 64)).astype(np.float32)
    mapped = lw.vectorize(normed, signature="(n)->(n)")
    first = mapped(rows[:1])
    results = [mapped(rows, threads=threads) for threads in (1, 1, 2)]
    alone = np.concatenate([mapped(row[None]) for row in rows[:40]])
    np.testing.assert_array_equal(results[0][:40], alone)
    np.testing.assert_array_equal(results[0][:1], first)
    for result in results:
        np.testing.assert_array_equal(result, results[0])
        np.testing.assert_allclose(result, normed(rows), rtol=2e-6, atol=1e-6)
