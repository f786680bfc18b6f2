"""``Dataset.shuffle``: the same elements in another order."""

import numpy as np
import pytest
from data_models import listed
from hypothesis import given
from hypothesis import strategies as st

import lanewise.compat.tf as tf
from lanewise.compat.tf.data import iterators

Dataset = tf.data.Dataset


@given(st.integers(0, 300), st.integers(1, 400), st.integers(0, 5))
def test_every_element_comes_once_and_none_too_early(size, buffer, seed):
    found = listed(Dataset.range(size).shuffle(buffer, seed=seed))
    assert sorted(found) == list(range(size))
    assert all(element < at + buffer for at, element in enumerate(found))


def test_a_buffer_of_one_keeps_the_order():
    assert listed(Dataset.range(100).shuffle(1)) == list(range(100))


@pytest.mark.parametrize("buffer", [7, 100, 5000])
def test_the_order_depends_on_the_seed_and_not_on_blocks(buffer, monkeypatch):
    def order(seed, most=1024):
        monkeypatch.setattr(iterators, "MOST", most)
        return listed(Dataset.range(2500).shuffle(buffer, seed=seed))

    assert order(1) == order(1) == order(1, most=3) == order(1, most=1)
    assert order(1) != order(2)
    batches = listed(Dataset.range(2500).shuffle(buffer, seed=1).batch(31).unbatch())
    assert batches == order(1)


def test_every_pass_has_another_order_unless_it_shall_not():
    ds = Dataset.range(50).shuffle(50, seed=3)
    first = listed(ds)
    assert first != listed(ds)
    assert first == listed(Dataset.range(50).shuffle(50, seed=3))
    repeated = listed(Dataset.range(50).shuffle(50, seed=3).repeat(2))
    assert sorted(repeated[:50]) == sorted(repeated[50:]) == list(range(50))
    assert repeated[:50] == first
    assert repeated[:50] != repeated[50:]
    fixed = Dataset.range(50).shuffle(50, reshuffle_each_iteration=False)
    assert listed(fixed) == listed(fixed)


def test_the_seed_of_the_program_counts():
    def order(seed):
        tf.random.set_seed(seed)
        return listed(Dataset.range(50).shuffle(50))

    assert order(1) == order(1)
    assert order(1) != order(2)
    tf.random.set_seed(1)
    assert listed(Dataset.range(50).shuffle(50)) != listed(Dataset.range(50).shuffle(50))


def test_any_place_may_come_first():
    firsts = {int(next(iter(Dataset.range(1000).shuffle(10, seed=seed)))) for seed in range(200)}
    assert firsts == set(range(10))


def test_a_full_shuffle_reads_the_source_where_it_is():
    array = np.arange(2000).reshape(1000, 2)
    found = np.stack(list(Dataset.from_tensor_slices(array).shuffle(1000).as_numpy_iterator()))
    assert sorted(found[:, 0].tolist()) == array[:, 0].tolist()
    assert (found[:, 1] == found[:, 0] + 1).all()
    assert (array == np.arange(2000).reshape(1000, 2)).all()


@given(st.integers(1, 60), st.integers(1, 20), st.integers(0, 3))
def test_elements_of_different_shapes_are_shuffled_too(size, buffer, seed):
    def rows():
        for number in range(size):
            yield np.full(number % 3 if number > size // 2 else 2, number)

    ds = Dataset.from_generator(rows, output_signature=tf.TensorSpec((None,), tf.int64))
    expected = sorted(map(tuple, listed(ds)))
    assert sorted(map(tuple, listed(ds.shuffle(buffer, seed=seed)))) == expected


def test_datasets_and_texts_are_shuffled_too():
    ds = Dataset.range(12).window(2).shuffle(4, seed=1)
    assert sorted(listed(ds)) == [[at, at + 1] for at in range(0, 12, 2)]
    words = [str(number) for number in range(100)]
    found = listed(Dataset.from_tensor_slices(words).shuffle(10))
    assert sorted(found) == sorted(word.encode() for word in words)


def test_what_comes_in_does_not_change_what_was_handed_out():
    found = []
    for element in Dataset.from_tensor_slices(np.arange(600).reshape(300, 2)).shuffle(7):
        found.append(element)
    assert sorted(int(element[0]) for element in found) == list(range(0, 600, 2))
