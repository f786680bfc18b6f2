"""Datasets do what the same steps do to lists of Python, in any order and at any size."""

import itertools

import pytest
from data_models import listed, plain
from hypothesis import given
from hypothesis import strategies as st

import lanewise.compat.tf as tf

Dataset = tf.data.Dataset


def flat(lists):
    return list(itertools.chain.from_iterable(lists))


def batched(elements, size, drops):
    found = [elements[at : at + size] for at in range(0, len(elements), size)]
    return [one for one in found if len(one) == size or not drops]


def windows(elements, size, shift, stride, drops):
    found = [elements[at : at + size * stride : stride] for at in range(0, len(elements), shift)]
    return [one for one in found if len(one) == size or not drops]


def interleaved(lists, cycle, length):
    """Go through lists in turns, as TensorFlow's interleave does."""
    waiting, places, found = iter(lists), [None] * cycle, []
    has_more, at = True, 0
    while has_more or any(place is not None for place in places):
        if places[at] is None and has_more:
            one = next(waiting, None)
            has_more = one is not None
            places[at] = None if one is None else list(one)
        if places[at] is not None:
            turn, places[at] = places[at][:length], places[at][length:]
            found += turn
            if len(turn) < length:
                places[at] = None
        at = (at + 1) % cycle
    return found


COUNTS = st.integers(1, 9)
BOOLS = st.booleans()

# Steps by name: strategies for their numbers, what they do to a dataset, and to a list.
STEPS = {
    "map": (
        [st.integers(-3, 3)],
        lambda ds, k: ds.map(lambda x: x * k + 1),
        lambda xs, k: [x * k + 1 for x in xs],
    ),
    "map to a tuple and back": (
        [],
        lambda ds: ds.map(lambda x: (x, {"a": x + 1})).map(lambda x, row: x + row["a"]),
        lambda xs: [2 * x + 1 for x in xs],
    ),
    "filter": (
        [COUNTS],
        lambda ds, k: ds.filter(lambda x: x % k != 0),
        lambda xs, k: [x for x in xs if x % k != 0],
    ),
    "take_while": (
        [st.integers(-5, 60)],
        lambda ds, k: ds.take_while(lambda x: x < k),
        lambda xs, k: list(itertools.takewhile(lambda x: x < k, xs)),
    ),
    "take": ([st.integers(0, 50)], lambda ds, k: ds.take(k), lambda xs, k: xs[:k]),
    "skip": ([st.integers(0, 50)], lambda ds, k: ds.skip(k), lambda xs, k: xs[k:]),
    "repeat": ([st.integers(0, 3)], lambda ds, k: ds.repeat(k), lambda xs, k: xs * k),
    "shard": ([COUNTS], lambda ds, k: ds.shard(k, k // 2), lambda xs, k: xs[k // 2 :: k]),
    "concatenate": ([], lambda ds: ds.concatenate(ds), lambda xs: xs + xs),
    "cache": ([], lambda ds: ds.cache(), lambda xs: xs),
    "prefetch": ([COUNTS], lambda ds, k: ds.prefetch(k), lambda xs, k: xs),
    "batch and unbatch": (
        [COUNTS, BOOLS],
        lambda ds, k, drops: ds.batch(k, drop_remainder=drops).unbatch(),
        lambda xs, k, drops: flat(batched(xs, k, drops)),
    ),
    "sums of batches": (
        [COUNTS, BOOLS],
        lambda ds, k, drops: ds.batch(k, drops).map(tf.reduce_sum),
        lambda xs, k, drops: list(map(sum, batched(xs, k, drops))),
    ),
    "rebatch": (
        [COUNTS, COUNTS],
        lambda ds, k, n: ds.batch(k).rebatch(n).unbatch(),
        lambda xs, k, n: xs,
    ),
    "window": (
        [COUNTS, COUNTS, COUNTS, BOOLS],
        lambda ds, *sizes: ds.window(*sizes).flat_map(lambda one: one),
        lambda xs, *sizes: flat(windows(xs, *sizes)),
    ),
    "enumerate": (
        [st.integers(-2, 5)],
        lambda ds, k: ds.enumerate(k).map(lambda at, x: at + x),
        lambda xs, k: [at + x for at, x in enumerate(xs, k)],
    ),
    "zip": (
        [st.integers(0, 70)],
        lambda ds, k: Dataset.zip((ds, {"a": Dataset.range(k)})).map(lambda x, r: x - r["a"]),
        lambda xs, k: [x - y for x, y in zip(xs, range(k), strict=False)],
    ),
    "interleave": (
        [COUNTS, COUNTS, st.integers(0, 3)],
        lambda ds, cycle, length, n: ds.interleave(
            lambda x: Dataset.from_tensors(x).repeat(n), cycle, length
        ),
        lambda xs, cycle, length, n: interleaved([[x] * n for x in xs], cycle, length),
    ),
    "scan": (
        [],
        lambda ds: ds.scan(tf.constant(0, tf.int64), lambda total, x: (total + x, total * 2)),
        lambda xs: [2 * total for total in itertools.accumulate(xs, initial=0)][: len(xs)],
    ),
    "all in one": (
        [],
        lambda ds: ds.padded_batch(10_000).unbatch(),
        lambda xs: xs,
    ),
}


@st.composite
def steps(draw):
    name = draw(st.sampled_from(sorted(STEPS)))
    strategies, on_dataset, on_list = STEPS[name]
    return name, on_dataset, on_list, [draw(strategy) for strategy in strategies]


@given(st.integers(0, 60), st.lists(steps(), max_size=4))
def test_steps_do_to_a_dataset_what_they_do_to_a_list(size, chain):
    ds, expected = Dataset.range(size), list(range(size))
    for _, on_dataset, on_list, numbers in chain:
        if len(expected) > 2000:
            break
        ds, expected = on_dataset(ds, *numbers), on_list(expected, *numbers)
    assert listed(ds) == expected
    assert listed(ds) == expected
    assert ds.cardinality() in (len(expected), tf.data.UNKNOWN_CARDINALITY)


@pytest.mark.parametrize("name", sorted(STEPS))
@pytest.mark.parametrize("size", [1, 1031])
def test_each_step_does_what_it_does_to_a_list(name, size):
    strategies, on_dataset, on_list = STEPS[name]
    numbers = [True if one is BOOLS else 3 for one in strategies]
    assert listed(on_dataset(Dataset.range(size), *numbers)) == on_list(list(range(size)), *numbers)


@given(st.integers(0, 3000), st.integers(1, 700), st.booleans())
def test_batches_have_consecutive_elements(size, count, drops):
    ds = Dataset.range(size).map(lambda x: x + 1).batch(count, drops)
    assert listed(ds) == batched([x + 1 for x in range(size)], count, drops)


@given(st.lists(st.integers(0, 40), max_size=5), st.integers(1, 9), st.integers(1, 9))
def test_interleave_takes_turns(sizes, cycle, length):
    ds = Dataset.from_tensor_slices(sizes or [0]).interleave(
        lambda size: Dataset.range(tf.cast(size, tf.int64)), cycle, length
    )
    assert listed(ds) == interleaved([range(size) for size in sizes], cycle, length)


def test_interleave_takes_turns_as_in_tensorflows_documentation():
    ds = Dataset.range(1, 6).interleave(lambda x: Dataset.from_tensors(x).repeat(6), 2, 4)
    assert listed(ds) == [
        *([1] * 4 + [2] * 4 + [1] * 2 + [2] * 2),
        *([3] * 4 + [4] * 4 + [3] * 2 + [4] * 2 + [5] * 6),
    ]


@given(st.integers(0, 40), st.integers(0, 10))
def test_reduce_goes_through_all_elements(size, start):
    ds = Dataset.range(size)
    assert int(ds.reduce(start, lambda total, x: total + tf.cast(x, tf.int32))) == start + sum(
        range(size)
    )
    pair = ds.enumerate().reduce(
        (0, tf.constant(0, tf.int64)), lambda state, row: (state[0] + 1, state[1] + row[0] * row[1])
    )
    assert plain(pair) == (size, sum(x * x for x in range(size)))


@given(st.integers(0, 60), st.integers(0, 70))
def test_what_is_skipped_and_taken_is_all(size, count):
    ds = Dataset.range(size).map(lambda x: x * 3)
    assert listed(ds.take(count).concatenate(ds.skip(count))) == listed(ds)


def test_apply_calls_a_function_with_the_dataset():
    ds = Dataset.range(10).apply(lambda ds: ds.filter(lambda x: x < 3).map(lambda x: -x))
    assert listed(ds) == [0, -1, -2]


def test_infinite_datasets_are_lazy():
    ds = Dataset.range(3).repeat().map(lambda x: x + 1).batch(4).enumerate()
    assert listed(ds.take(2)) == [(0, [1, 2, 3, 1]), (1, [2, 3, 1, 2])]
    assert int(next(iter(Dataset.counter().filter(lambda x: x > 5000)))) == 5001
