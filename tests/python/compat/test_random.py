"""Random numbers: what they depend on, and how they are distributed."""

from statistics import NormalDist

import numpy as np
import pytest

import lanewise as lw
import lanewise.compat.tf as tf
from lanewise.compat.tf.stateless import threefry

MANY = 100_000
ZEROS = np.zeros(6)


@pytest.fixture(autouse=True)
def program_seed():
    tf.random.set_seed(5)


DRAWS = {
    "normal": (lambda n: tf.random.normal([n]), 0, 1),
    "normal_wide": (lambda n: tf.random.normal([n], 3.0, 2.0, tf.float64), 3, 2),
    "uniform": (lambda n: tf.random.uniform([n]), 0.5, 12**-0.5),
    "uniform_wide": (lambda n: tf.random.uniform([n], -2, 4), 1, 6 * 12**-0.5),
    "uniform_half": (lambda n: tf.random.uniform([n], dtype=tf.float16), 0.5, 12**-0.5),
    "integers": (lambda n: tf.random.uniform([n], 0, 256, tf.int32), 127.5, 256 * 12**-0.5),
    "bytes": (lambda n: tf.random.uniform([n], 0, 256, tf.uint8), 127.5, 256 * 12**-0.5),
    "truncated": (lambda n: tf.random.truncated_normal([n]), 0, 0.8796),
    "gamma": (lambda n: tf.random.gamma([n], 3.0, beta=2.0), 1.5, 0.75**0.5),
    "gamma_low": (lambda n: tf.random.gamma([n], 0.5, dtype=tf.float64), 0.5, 0.5**0.5),
    "poisson": (lambda n: tf.random.poisson([n], 4.0), 4, 2),
    "poisson_high": (lambda n: tf.random.poisson([n], 100.0), 100, 10),
    "poisson_0": (lambda n: tf.random.poisson([n], 0.0), 0, 0),
    "stateless_normal": (lambda n: tf.random.stateless_normal([n], [1, 2]), 0, 1),
    "stateless_double": (
        lambda n: tf.random.stateless_normal([n], [1, 2], 3.0, 2.0, tf.float64),
        3,
        2,
    ),
    "stateless_uniform": (
        lambda n: tf.random.stateless_uniform([n], [1, 2], -2.0, 4.0),
        1,
        6 * 12**-0.5,
    ),
    "stateless_integers": (
        lambda n: tf.random.stateless_uniform([n], [1, 2], 0, 256, tf.int64),
        127.5,
        256 * 12**-0.5,
    ),
    "stateless_truncated": (
        lambda n: tf.random.stateless_truncated_normal([n], [1, 2]),
        0,
        0.8796,
    ),
    "generator": (lambda n: tf.random.Generator.from_seed(3).normal([n]), 0, 1),
}


@pytest.mark.parametrize("name", DRAWS)
def test_numbers_have_their_mean_and_deviation(name):
    draw, mean, deviation = DRAWS[name]
    numbers = draw(MANY).numpy().astype(np.float64)
    assert numbers.shape == (MANY,)
    assert abs(numbers.mean() - mean) <= 5 * deviation / MANY**0.5
    assert abs(numbers.std() - deviation) <= 0.03 * deviation


@pytest.mark.parametrize("name", DRAWS)
def test_elements_of_a_map_draw_numbers_of_the_same_mean(name):
    if "generator" in name:
        pytest.skip("is made outside")
    draw, mean, deviation = DRAWS[name]
    rows = tf.map_fn(lambda _: draw(50), tf.zeros([1000]))
    assert rows.shape == (1000, 50)
    assert rows.dtype == draw(1).dtype
    count = 50 if "stateless" in name else 50_000
    assert abs(rows.numpy().astype(np.float64).mean() - mean) <= 5 * deviation / count**0.5


def test_a_seed_of_the_program_decides_all_that_follows():
    def program():
        tf.random.set_seed(7)
        return [
            tf.random.normal([3]).numpy(),
            tf.random.normal([3]).numpy(),
            tf.map_fn(lambda x: x + tf.random.uniform([], dtype=tf.float64), ZEROS).numpy(),
            tf.map_fn(lambda x: x + tf.random.uniform([], dtype=tf.float64), ZEROS).numpy(),
            tf.random.shuffle(tf.range(20)).numpy(),
        ]

    first, second = program(), program()
    for one, other in zip(first, second, strict=True):
        np.testing.assert_array_equal(one, other)
    assert not np.array_equal(first[0], first[1])
    assert not np.array_equal(first[2], first[3])


def test_a_map_draws_others_at_every_call():
    def body(x):
        return x + tf.random.normal([], dtype=tf.float64)

    calls = [tf.map_fn(body, ZEROS).numpy() for _ in range(3)]
    assert len(np.unique(np.concatenate(calls))) == 3 * len(ZEROS)


def test_calls_with_a_seed_of_their_own_are_the_same_in_every_program():
    tf.random.set_seed(1)
    first = [tf.random.uniform([3], seed=4).numpy() for _ in range(2)]
    tf.random.set_seed(1)
    second = [tf.random.uniform([3], seed=4).numpy() for _ in range(2)]
    np.testing.assert_array_equal(first, second)
    assert not np.array_equal(first[0], first[1])
    assert not np.array_equal(first[0], tf.random.uniform([3], seed=5).numpy())


def test_numbers_do_not_depend_on_threads():
    found = []
    for threads in (1, 2):
        lw.set_num_threads(threads)
        tf.random.set_seed(3)
        found.append(tf.random.normal([300_000]).numpy())
    lw.set_num_threads(0)
    np.testing.assert_array_equal(*found)


def test_a_function_draws_others_at_every_call():
    draw = tf.function(lambda x: x + tf.random.normal([3]))
    first, second = draw(tf.zeros([3])).numpy(), draw(tf.zeros([3])).numpy()
    assert not np.array_equal(first, second)
    alone = tf.function(lambda: tf.random.uniform([2]))
    assert not np.array_equal(alone().numpy(), alone().numpy())


def test_threefry_gives_the_words_that_its_authors_publish():
    known = {
        (0, 0, 0, 0): (0x6B200159, 0x99BA4EFE),
        (0xFFFFFFFF,) * 4: (0x1CB996FC, 0xBB002BE7),
        (0x13198A2E, 0x03707344, 0x243F6A88, 0x85A308D3): (0xC4923A9C, 0x483DF7A0),
    }
    for numbers, words in known.items():
        key, counter = np.split(np.array(numbers, np.uint32)[:, None], 2)
        assert [int(word[0]) for word in threefry(tuple(key), tuple(counter))] == list(words)


@pytest.mark.parametrize(
    "draw",
    [
        lambda seed: tf.random.stateless_normal([4], seed),
        lambda seed: tf.random.stateless_uniform([4], seed, dtype=tf.float64),
        lambda seed: tf.random.stateless_uniform([4], seed, 0, 1000, tf.int32),
        lambda seed: tf.random.stateless_uniform([4], seed, None, None, tf.uint32),
        lambda seed: tf.random.stateless_truncated_normal([2, 2], seed),
        lambda seed: tf.random.split(seed, 3),
        lambda seed: tf.random.fold_in(seed, 9),
        lambda seed: tf.random.stateless_categorical(tf.math.log([[0.3, 0.7]]), 9, seed),
        lambda seed: tf.random.experimental.stateless_shuffle(tf.range(9), seed),
    ],
)
def test_stateless_draws_depend_on_the_seed_alone(draw):
    seeds = np.array([[1, 2], [3, 4], [1, 2], [-1, 2**40]])
    whole = [draw(seed).numpy() for seed in seeds]
    rows = tf.map_fn(draw, seeds).numpy()
    np.testing.assert_array_equal(rows, whole)
    np.testing.assert_array_equal(rows[0], rows[2])
    assert not np.array_equal(rows[0], rows[1])


def test_classes_are_drawn_as_often_as_they_are_likely():
    parts = np.array([0.1, 0.2, 0.7], np.float32)
    for draw in (
        lambda logits: tf.random.categorical(logits, MANY),
        lambda logits: tf.random.stateless_categorical(logits, MANY, [1, 2]),
    ):
        classes = draw(tf.math.log([parts, parts[::-1]]))
        assert classes.dtype == tf.int64
        for row, expected in zip(classes.numpy(), (parts, parts[::-1]), strict=True):
            np.testing.assert_allclose(np.bincount(row) / MANY, expected, atol=0.01)
    rows = tf.map_fn(lambda x: tf.random.categorical(x, 100), np.log([[parts], [parts]]))
    assert rows.shape == (2, 1, 100)


def test_shuffling_keeps_all_rows():
    rows = np.arange(40).reshape(20, 2)
    mixed = tf.random.shuffle(rows).numpy()
    assert not np.array_equal(mixed, rows)
    np.testing.assert_array_equal(mixed[np.argsort(mixed[:, 0])], rows)
    inside = tf.map_fn(tf.random.shuffle, np.stack([rows, rows])).numpy()
    np.testing.assert_array_equal(np.sort(inside, axis=1), np.stack([rows, rows]))
    assert not np.array_equal(inside[0], inside[1])


def test_parameters_may_be_tensors():
    means = np.arange(3) * 100.0
    numbers = tf.random.normal([1000, 3], mean=means, stddev=[1.0, 2.0, 3.0], dtype=tf.float64)
    np.testing.assert_allclose(np.std(numbers, 0), [1, 2, 3], rtol=0.1)
    np.testing.assert_allclose(np.mean(numbers, 0), means, atol=0.5)
    low = tf.random.uniform([1000, 2], minval=[0, 10], maxval=[5, 20], dtype=tf.int32).numpy()
    assert (low.min(0) == [0, 10]).all()
    assert (low.max(0) == [4, 19]).all()
    rows = tf.map_fn(lambda x: tf.random.normal([2], mean=x, stddev=0.0), means).numpy()
    np.testing.assert_array_equal(rows, np.stack([means, means], 1).astype(np.float32))


def test_generators_go_on_and_begin_anew():
    draws = tf.random.Generator.from_seed(1)
    first = [draws.normal([2]).numpy(), draws.uniform([2], 0, 9, tf.int32).numpy()]
    draws.reset_from_seed(1)
    np.testing.assert_array_equal(draws.normal([2]).numpy(), first[0])
    state = draws.state
    np.testing.assert_array_equal(draws.uniform([2], 0, 9, tf.int32).numpy(), first[1])
    again = tf.random.Generator.from_state(state, alg="philox")
    np.testing.assert_array_equal(again.uniform([2], 0, 9, tf.int32).numpy(), first[1])
    others = draws.split(2)
    assert not np.array_equal(others[0].normal([3]).numpy(), others[1].normal([3]).numpy())
    assert draws.make_seeds(4).shape == (2, 4)
    draws.skip(3)
    assert draws.uniform_full_int([2]).dtype == tf.uint64
    assert draws.truncated_normal([2]).dtype == tf.float32
    rows = tf.map_fn(lambda x: x + draws.normal([], dtype=tf.float64), ZEROS)
    assert len(np.unique(rows)) == len(ZEROS)
    assert tf.random.Generator.from_non_deterministic_state().normal([1]).shape == (1,)
    tf.random.set_global_generator(draws)
    assert tf.random.get_global_generator() is draws


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: tf.random.uniform([2], dtype=tf.int32), "integers need a bound; got maxval=None"),
        (lambda: tf.random.uniform([2], 3, 3, tf.int32), "no integers; got 3 to below 3"),
        (lambda: tf.random.stateless_normal([2], [1, 2, 3]), r"not a seed; got the shape \(3,\)"),
        (lambda: tf.random.stateless_normal([2], [1, 2], dtype=tf.int32), "no type of floats"),
    ],
)
def test_what_cannot_be_drawn_is_said(call, words):
    with pytest.raises(tf.errors.InvalidArgumentError, match=words):
        call()


def test_quantiles_of_the_normal_distribution_are_exact():
    parts = np.concatenate([np.linspace(0.001, 0.999, 999), 10.0 ** -np.arange(4, 300, 5)])
    expected = [NormalDist().inv_cdf(part) for part in parts]
    np.testing.assert_allclose(tf.math.ndtri(parts), expected, rtol=1e-14)
    np.testing.assert_array_equal(tf.math.ndtri([0.0, 1.0, 2.0]), [-np.inf, np.inf, np.nan])
    x = np.linspace(-0.999, 0.999, 99)
    np.testing.assert_allclose(tf.math.erf(tf.math.erfinv(x)), x, rtol=1e-13)
    np.testing.assert_allclose(tf.math.erfc(tf.math.erfcinv(1 - x)), 1 - x, rtol=1e-12)
    inside = tf.map_fn(lambda v: tf.math.ndtri(v), parts)
    np.testing.assert_array_equal(inside, tf.math.ndtri(parts))
    np.testing.assert_allclose(tf.math.lbeta([[1.0, 1.0], [2.0, 3.0]]), np.log([1, 1 / 12]), 1e-5)
