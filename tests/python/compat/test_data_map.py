"""``Dataset.map``: functions of an element that run over blocks of them."""

import tracemalloc
import warnings

import numpy as np
import pytest
from data_models import extend, listed

import lanewise as lw
import lanewise.compat.tf as tf
from lanewise.compat.tf.data import iterators
from lanewise.compat.tf.data.functions import ElementFunction
from lanewise.compat.tf.maps import PerElementWarning

Dataset = tf.data.Dataset


def counted(function):
    """Return a function, and the list to which each of its calls appends."""
    calls = []

    def call(*args):
        calls.append(args)
        return function(*args)

    return call, calls


@pytest.fixture
def sizes(monkeypatch):
    """Return the sizes of the blocks on which functions run, however long that takes."""
    monkeypatch.setattr(iterators, "_SHORT", float("inf"))
    monkeypatch.setattr(iterators, "_LONG", float("inf"))
    found = []
    run = ElementFunction.run

    def noted(self, blocks, place):
        found.append(sum(block.size for block in blocks))
        return run(self, blocks, place)

    monkeypatch.setattr(ElementFunction, "run", noted)
    return found


def test_a_function_is_recorded_once_and_runs_over_blocks(sizes):
    function, calls = counted(lambda x: x * 2)
    ds = Dataset.range(5000).map(function)
    assert listed(ds) == [2 * x for x in range(5000)]
    assert len(calls) == 1
    assert sizes[0] == 1
    assert len(sizes) < 20
    assert max(sizes) == 1024


def test_functions_that_follow_one_another_are_one_program(sizes):
    ds = Dataset.range(3000).map(lambda x: (x, x + 1)).map(lambda a, b: a * b).map(lambda c: c - 1)
    assert listed(ds) == [x * (x + 1) - 1 for x in range(3000)]
    assert sum(sizes) == 3000


def test_a_batch_is_one_block_however_large(sizes):
    ds = Dataset.range(20_000).map(lambda x: x + 1).batch(5000)
    assert [len(batch) for batch in ds] == [5000] * 4
    assert len(sizes) < 8


def test_only_what_is_taken_is_computed(sizes):
    ds = Dataset.range(5000).map(lambda x: x + 1)
    assert len(listed(ds.take(100))) == 100
    assert sum(sizes) == 100
    sizes.clear()
    assert listed(ds.skip(4990).take(3)) == [4991, 4992, 4993]
    assert sum(sizes) == 3


def test_branches_and_loops_of_elements_go_their_own_ways():
    def collatz(n):
        steps = 0
        while n != 1:
            n = n // 2 if n % 2 == 0 else 3 * n + 1
            steps += 1
        return steps

    numbers = list(range(1, 200))
    assert listed(Dataset.range(1, 200).map(collatz)) == [collatz(n) for n in numbers]


def test_rows_and_images_are_elements():
    images = np.random.default_rng(0).random((50, 8, 8, 3)).astype(np.float32)
    ds = Dataset.from_tensor_slices((images, np.arange(50))).map(
        lambda image, label: ((image - tf.reduce_mean(image)) / 2.0, label % 10)
    )
    found = list(ds.as_numpy_iterator())
    expected = (images - images.mean((1, 2, 3), keepdims=True)) / 2
    np.testing.assert_allclose(np.stack([image for image, _ in found]), expected, atol=1e-6)
    assert [int(label) for _, label in found] == [at % 10 for at in range(50)]


def test_batches_are_elements_of_any_size():
    ds = Dataset.range(10).batch(4).map(lambda batch: tf.reduce_sum(batch * batch))
    assert listed(ds) == [14, 126, 145]


def test_captured_tensors_are_read_by_element():
    table = tf.constant([10.0, 20.0, 30.0])
    assert listed(Dataset.range(3).map(lambda i: table[i])) == [10.0, 20.0, 30.0]
    array = np.array([5, 6, 7])
    assert listed(Dataset.range(3).map(lambda i: (i, i)).map(lambda i, j: array[j])) == [5, 6, 7]
    weights = tf.Variable([1.0, 2.0])
    ds = Dataset.from_tensor_slices(np.ones((2, 2), np.float32)).map(lambda x: weights * x)
    assert listed(ds) == [[1.0, 2.0], [1.0, 2.0]]
    weights.assign([5.0, 6.0])
    assert listed(ds) == [[5.0, 6.0], [5.0, 6.0]]


def test_numbers_count_as_they_are_when_a_function_is_given():
    ds = Dataset.range(2)
    each = []
    for number in range(3):
        ds = ds.map(lambda x: x + number)  # noqa: B023
        each.append(Dataset.range(1).map(lambda x: x * 0 + number))  # noqa: B023
    assert listed(ds) == [3, 4]
    assert [listed(one) for one in each] == [[0], [1], [2]]
    space = {"Dataset": Dataset, "each": []}
    exec(
        "for number in range(3):\n"
        "    each.append(Dataset.range(1).filter(lambda x: number > 1).map(lambda x: x + number))",
        space,
    )
    assert [listed(one) for one in space["each"]] == [[], [], [2]]


def test_a_function_may_change_what_it_captures():
    total = 0

    def add(x):
        nonlocal total
        total += 1
        return x.numpy() + total

    with pytest.warns(PerElementWarning):
        assert listed(Dataset.range(3).map(add)) == [1, 3, 5]
    assert total >= 3


def test_defaults_methods_partials_and_functions_of_others_can_be_mapped():
    class Scale:
        def __init__(self, by):
            self.by = by

        def apply(self, x):
            return x * self.by

        def __call__(self, x):
            return x + self.by

    ds = Dataset.range(3)
    assert listed(ds.map(lambda x, k=4: x * k)) == [0, 4, 8]
    assert listed(ds.map(Scale(3).apply)) == [0, 3, 6]
    assert listed(ds.map(Scale(3))) == [3, 4, 5]
    assert listed(ds.map(tf.square)) == [0, 1, 4]
    assert listed(ds.map(np.square)) == [0, 1, 4]
    assert listed(ds.map(lw.vectorize(lambda x: x - 1))) == [-1, 0, 1]
    assert listed(Dataset.zip(ds, ds).map(lambda *both: both[0] * both[1])) == [0, 1, 4]


def test_what_elements_add_to_a_variable_is_there():
    total = tf.Variable(0, dtype=tf.int64)

    def count(x):
        total.assign_add(x)
        return x

    assert listed(Dataset.range(100).map(count)) == list(range(100))
    assert int(total.numpy()) == sum(range(100))


def test_results_of_different_lengths_are_elements():
    ds = Dataset.range(4).map(lambda n: tf.range(n))
    assert listed(ds) == [[], [0], [0, 1], [0, 1, 2]]
    assert listed(ds.padded_batch(4)) == [[[0, 0, 0], [0, 0, 0], [0, 1, 0], [0, 1, 2]]]


# --- draws ---


def noise(x):
    return tf.cast(x, tf.float64) * 0 + lw.random.uniform()


def test_draws_do_not_depend_on_blocks(monkeypatch):
    def drawn(most, growth):
        monkeypatch.setattr(iterators, "MOST", most)
        monkeypatch.setattr(iterators, "_GROWTH", growth)
        ds = Dataset.range(300).map(noise)
        ds.stage._passes.seed = 7
        return listed(ds)

    assert drawn(1, 1) == drawn(1024, 8) == drawn(13, 13)
    assert len(set(drawn(64, 8))) == 300


def test_every_pass_draws_other_numbers():
    ds = Dataset.range(20).map(noise)
    first, second = listed(ds), listed(ds)
    assert not set(first) & set(second)
    repeated = listed(ds.repeat(2))
    assert len(set(repeated)) == 40
    cached = ds.cache()
    assert listed(cached) == listed(cached)


def test_what_is_skipped_draws_nothing_for_others():
    ds = Dataset.range(50).map(noise)
    ds.stage._passes.seed = 3
    whole = listed(ds)
    other = Dataset.range(50).map(noise)
    other.stage._passes.seed = 3
    assert listed(other.skip(20)) == whole[20:]


def test_draws_of_tensorflow_follow_the_seed_of_the_program():
    def drawn(seed):
        tf.random.set_seed(seed)
        ds = Dataset.range(40).map(lambda x: tf.random.uniform([2], maxval=100, dtype=tf.int32))
        return listed(ds), listed(ds.batch(7).unbatch())

    assert drawn(1) == drawn(1)
    assert drawn(1) != drawn(2)
    first, second = drawn(1)
    assert first != second


# --- inside of a tf.function ---


def test_functions_of_tensorflow_can_be_mapped():
    table = tf.constant([5, 6, 7])

    class Adder:
        @tf.function
        def add(self, x):
            return x + 1

    @tf.function(jit_compile=True)
    def look_up(at):
        return table[at] * 2

    assert listed(Dataset.range(3).map(look_up)) == [10, 12, 14]
    assert listed(Dataset.range(3).map(Adder().add)) == [1, 2, 3]


def test_a_function_of_tensorflow_iterates_over_datasets_in_every_call():
    passes = []

    def numbers():
        passes.append(len(passes))
        yield from range(4 + len(passes))

    @tf.function
    def total(ds, scale):
        result = tf.constant(0)
        for x in ds.map(lambda x: x * scale):
            result += x
        return result

    ds = Dataset.from_generator(numbers, tf.int32)
    assert [int(total(ds, tf.constant(2))) for _ in range(2)] == [20, 30]
    assert passes == [0, 1]


# --- errors ---


def test_an_element_that_fails_is_named_by_its_number_in_the_dataset():
    def check(x):
        assert x != 1700, "not this one"
        return x

    found = []
    ds = Dataset.range(3000).map(check)
    with pytest.raises(lw.ElementError) as raised:
        extend(found, ds)
    assert found == list(range(1700))
    assert raised.value.element == 1700
    assert str(raised.value).startswith("Dataset.map: element 1700 failed (")
    assert "not this one; got 1700 and 1700." in str(raised.value)
    assert "assert x != 1700" in raised.value.__notes__[0]
    iterator = iter(ds.skip(1700))
    with pytest.raises(tf.errors.InvalidArgumentError, match="element 1700 failed"):
        next(iterator)
    assert list(iterator) == []


def test_numbers_that_are_not_finite_are_named_by_their_element():
    ds = Dataset.range(20, 0, -1).map(
        lambda x: tf.debugging.check_numerics(tf.math.log(tf.cast(x - 3, tf.float32)), "a root")
    )
    found = []
    with pytest.raises(lw.ElementError, match=r"Dataset\.map: element 17 .*check_numerics: a root"):
        extend(found, ds)
    assert len(found) == 17


def test_elements_that_nobody_asks_for_do_not_fail():
    def check(x):
        assert x < 10, "too far"
        return x

    ds = Dataset.range(100).map(check)
    assert listed(ds.take(10)) == list(range(10))
    assert listed(ds.batch(5).take(2)) == [[0, 1, 2, 3, 4], [5, 6, 7, 8, 9]]
    found = []
    with pytest.raises(lw.ElementError, match="element 10 failed"):
        extend(found, ds.batch(4))
    assert found == [[0, 1, 2, 3], [4, 5, 6, 7]]


def test_errors_in_a_filter_name_the_element():
    def check(x):
        assert x < 30, "too far"
        return x % 2 == 0

    found = []
    with pytest.raises(lw.ElementError, match=r"Dataset\.filter: element 30 failed"):
        extend(found, Dataset.range(100).filter(check))
    assert found == list(range(0, 30, 2))


def test_an_error_of_a_generator_comes_after_its_elements():
    def numbers():
        yield from range(20)
        raise KeyError("gone")

    ds = Dataset.from_generator(numbers, tf.int32)
    for dataset in (ds, ds.map(lambda x: x + 0)):
        found = []
        with pytest.raises(KeyError, match="gone"):
            extend(found, dataset)
        assert found == list(range(20))


def test_a_function_that_cannot_be_recorded_runs_one_element_after_the_other(sizes):
    function, calls = counted(lambda x: int(x.numpy()) + 1)
    ds = Dataset.range(40).map(lambda x: x * 2).map(function).map(lambda x: x * 10)
    iterator = iter(ds)
    with pytest.warns(PerElementWarning, match=r"Dataset\.map: runs one element after the other"):
        first = next(iterator)
    assert int(first) == 10
    assert len(calls) <= 3
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert [int(x) for x in iterator] == [20 * x + 10 for x in range(1, 40)]
        assert listed(ds) == [20 * x + 10 for x in range(40)]


def test_the_warning_names_the_line_that_iterates():
    with pytest.warns(PerElementWarning) as caught:
        listed(Dataset.range(2).map(lambda x: x.numpy()))
    assert "data_models" in caught[0].filename


@pytest.mark.filterwarnings("ignore::lanewise.compat.tf.maps.PerElementWarning")
def test_an_error_of_such_a_function_names_the_element():
    def check(x):
        if x.numpy() == 7:
            raise KeyError("seven")
        return x

    ds = Dataset.range(20).map(check)
    found = []
    with pytest.raises(KeyError, match="seven") as raised:
        extend(found, ds)
    assert found == list(range(7))
    assert raised.value.__notes__ == ["Dataset.map: element 7"]


def test_a_function_that_fails_anyway_says_why_it_cannot_be_recorded():
    with pytest.raises(AttributeError, match="no attribute 'nonsense'"):
        listed(Dataset.range(3).map(lambda x: x.nonsense))


# --- memory ---


def test_results_that_are_large_are_computed_a_few_at_a_time(sizes):
    ds = Dataset.range(200).map(lambda x: tf.repeat(x, 100_000))
    assert all(int(row[-1]) == at for at, row in enumerate(ds))
    assert max(sizes) == 64 or max(sizes) * 800_000 <= 4 << 20
    assert all(size * 800_000 <= 4 << 20 for size in sizes[3:])


def test_a_budget_can_be_given(sizes):
    options = tf.data.Options()
    options.autotune.ram_budget = 80_000
    ds = Dataset.range(300).map(lambda x: tf.repeat(x, 1000)).with_options(options)
    assert len(list(ds)) == 300
    assert set(sizes[4:]) == {10} or max(sizes[4:]) == 10


def test_what_one_function_makes_and_the_next_sums_up_is_never_there():
    ds = Dataset.range(20_000).map(lambda x: tf.repeat(x, 10_000)).map(tf.reduce_sum)
    listed(ds.take(10))
    tracemalloc.start()
    try:
        assert sum(1 for _ in ds) == 20_000
        assert tracemalloc.get_traced_memory()[1] < 4 << 20
    finally:
        tracemalloc.stop()
