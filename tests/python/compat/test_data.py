"""``tf.data``: what datasets promise whatever they are made of."""

import collections
import dataclasses
import gc
import weakref

import numpy as np
import pytest
from data_models import listed, plain

import lanewise.compat.tf as tf

Dataset = tf.data.Dataset
Point = collections.namedtuple("Point", ["x", "y"])


@dataclasses.dataclass
class Pair:
    left: object
    right: object


SIZES = [0, 1, 2, 7, 97, 1024, 1025, 2503]


@pytest.mark.parametrize("size", SIZES)
def test_all_elements_come_in_order_whatever_their_number(size):
    ds = Dataset.from_tensor_slices(np.arange(size)).map(lambda x: 3 * x + 1)
    assert listed(ds) == [3 * x + 1 for x in range(size)]
    assert len(ds) == size


def test_elements_are_tensors_of_the_right_type_and_shape():
    element = next(iter(Dataset.from_tensor_slices(np.ones((2, 3), np.float32))))
    assert isinstance(element, tf.Tensor)
    assert (element.dtype, element.shape) == (tf.float32, (3,))
    number = next(iter(Dataset.from_tensor_slices([1, 2])))
    assert (number.dtype, number.shape) == (tf.int32, ())
    assert number + 1 == 2


def test_a_dataset_can_be_iterated_over_again_and_by_several_at_once():
    ds = Dataset.range(5).map(lambda x: x * x)
    first, second = iter(ds), iter(ds)
    assert [int(next(first)), int(next(first)), int(next(second))] == [0, 1, 0]
    assert [int(x) for x in first] == [4, 9, 16]
    assert [int(x) for x in second] == [1, 4, 9, 16]
    assert listed(ds) == listed(ds) == [0, 1, 4, 9, 16]


def test_nothing_is_computed_before_somebody_iterates():
    calls = []

    def note(x):
        calls.append(x)
        return x

    ds = Dataset.range(5).map(note).batch(2).shuffle(3).repeat(2).filter(lambda x: True)
    assert calls == []
    listed(ds)
    assert calls


def test_a_generator_is_pulled_no_further_than_elements_are_asked_for():
    pulled = []

    def numbers():
        for number in range(100):
            pulled.append(number)
            yield number

    ds = Dataset.from_generator(numbers, output_signature=tf.TensorSpec((), tf.int32))
    iterator = iter(ds)
    assert pulled == []
    for expected in range(3):
        assert int(next(iterator)) == expected
        assert pulled == list(range(expected + 1))
    pulled.clear()
    next(iter(ds.batch(4)))
    assert pulled == list(range(4))
    pulled.clear()
    assert len(listed(ds.map(lambda x: x + 1).take(10))) == 10
    assert pulled == list(range(10))


def test_elements_are_nested_as_the_source_is():
    arrays = np.arange(3), np.arange(6.0).reshape(3, 2)
    assert listed(Dataset.from_tensor_slices(arrays))[1] == (1, [2.0, 3.0])
    assert listed(Dataset.from_tensor_slices({"a": arrays[0], "b": arrays[1]}))[2] == {
        "a": 2,
        "b": [4.0, 5.0],
    }
    assert listed(Dataset.from_tensor_slices(Point(*arrays)))[0] == Point(0, [0.0, 1.0])
    nested = listed(Dataset.from_tensor_slices({"a": (arrays[0], Point(arrays[0], arrays[1]))}))
    assert nested[1] == {"a": (1, Point(1, [2.0, 3.0]))}
    pair = next(iter(Dataset.from_tensor_slices(Pair(*arrays))))
    assert isinstance(pair, Pair)
    assert (plain(pair.left), plain(pair.right)) == (0, [0.0, 1.0])


def test_functions_get_tuples_as_arguments_and_everything_else_as_one():
    numbers = np.arange(3)
    assert listed(Dataset.from_tensor_slices((numbers, numbers)).map(lambda a, b: a + b)) == [
        0,
        2,
        4,
    ]
    by_name = Dataset.from_tensor_slices({"a": numbers, "b": numbers})
    assert listed(by_name.map(lambda row: row["a"] * row["b"])) == [0, 1, 4]
    points = Dataset.from_tensor_slices(Point(numbers, numbers))
    assert listed(points.map(lambda point: point.x - point.y)) == [0, 0, 0]
    nested = Dataset.from_tensor_slices((numbers, (numbers, numbers)))
    assert listed(nested.map(lambda a, b: a + b[0] * b[1])) == [0, 2, 6]


def test_functions_return_any_structure():
    ds = Dataset.range(2)
    assert listed(ds.map(lambda x: (x, x + 1))) == [(0, 1), (1, 2)]
    assert listed(ds.map(lambda x: {"a": x, "b": (x, x)})) == [
        {"a": 0, "b": (0, 0)},
        {"a": 1, "b": (1, 1)},
    ]
    assert listed(ds.map(lambda x: Point(x, -x))) == [Point(0, 0), Point(1, -1)]


def test_a_list_that_a_function_returns_is_a_tensor():
    ds = Dataset.range(3).map(lambda x: [x, x * x])
    assert listed(ds) == [[0, 0], [1, 1], [2, 4]]
    assert ds.element_spec == tf.TensorSpec((2,), tf.int64)
    assert listed(ds.map(lambda pair: pair[0] + pair[1])) == [0, 2, 6]
    assert listed(Dataset.range(2).map(lambda x: {"a": [[x, x], [x, 0]]})) == [
        {"a": [[0, 0], [0, 0]]},
        {"a": [[1, 1], [1, 0]]},
    ]


def test_numbers_of_python_that_a_function_returns_have_tensorflows_types():
    ds = Dataset.range(2).map(lambda x: (1, 0.5, True))
    assert listed(ds) == [(1, 0.5, True)] * 2
    assert [spec.dtype for spec in ds.element_spec] == [tf.int32, tf.float32, tf.bool]


def test_as_numpy_iterator_gives_arrays_and_numbers():
    found = list(Dataset.from_tensor_slices((np.arange(2), np.zeros((2, 2)))).as_numpy_iterator())
    assert type(found[0][0]) is np.int64
    assert type(found[0][1]) is np.ndarray
    assert list(Dataset.from_tensor_slices(["a", "b"]).as_numpy_iterator()) == [b"a", b"b"]


def test_iterators_have_next_get_next_and_a_spec():
    iterator = iter(Dataset.range(2))
    assert int(next(iterator)) == 0
    assert int(iterator.get_next()) == 1
    assert iterator.element_spec == tf.TensorSpec((), tf.int64)
    with pytest.raises(tf.errors.OutOfRangeError, match="there is nothing more; got the end"):
        iterator.get_next()
    with pytest.raises(StopIteration):
        next(iterator)


def test_texts_are_elements_too():
    ds = Dataset.from_tensor_slices((["a", "bb"], [1, 2]))
    assert listed(ds) == [(b"a", 1), (b"bb", 2)]
    assert listed(ds.batch(2)) == [([b"a", b"bb"], [1, 2])]
    assert listed(ds.map(lambda text, number: (text, number + 1))) == [(b"a", 2), (b"bb", 3)]
    assert ds.element_spec[0] == tf.TensorSpec((), tf.string)
    for texts in (np.array(["a", "bb"]), np.array([b"a", b"bb"]), np.array(["a", "bb"], object)):
        assert listed(Dataset.from_tensor_slices(texts)) == [b"a", b"bb"]


def test_a_variable_counts_as_it_is_when_the_dataset_is_made():
    variable = tf.Variable([1, 2])
    ds = Dataset.from_tensor_slices(variable)
    variable.assign([3, 4])
    assert listed(ds) == [1, 2]


def test_rows_of_different_lengths_are_elements_of_different_shapes():
    rows = tf.ragged.constant([[1, 2], [], [3]])
    ds = Dataset.from_tensor_slices(rows)
    assert listed(ds) == [[1, 2], [], [3]]
    assert ds.element_spec == tf.TensorSpec((None,), tf.int32)
    assert listed(ds.map(lambda row: row * 2)) == [[2, 4], [], [6]]
    assert listed(Dataset.from_tensor_slices((rows, [7, 8, 9])))[2] == ([3], 9)


def test_elements_cannot_change_the_source():
    array = np.zeros((2, 2))
    element = next(iter(Dataset.from_tensor_slices(array)))
    element[0] = 1.0
    assert element.numpy().tolist() == [1.0, 0.0]
    next(iter(Dataset.from_tensor_slices(array))).numpy()[0] = 1.0
    view = next(Dataset.from_tensor_slices(array).as_numpy_iterator())
    with pytest.raises(ValueError, match="read-only"):
        view[0] = 1.0
    assert not array.any()


def test_the_source_is_not_copied():
    array = np.zeros((4, 2))
    element = next(iter(Dataset.from_tensor_slices(array).batch(2)))
    assert np.shares_memory(np.asarray(element), array)


def test_from_tensors_has_one_element():
    ds = Dataset.from_tensors(([1, 2], {"a": 3.0}))
    assert listed(ds) == [([1, 2], {"a": 3.0})]
    assert len(ds) == 1
    assert plain(ds.get_single_element()) == ([1, 2], {"a": 3.0})


def test_ranges_have_types_and_steps():
    assert listed(Dataset.range(2, 11, 4)) == [2, 6, 10]
    assert listed(Dataset.range(3, 0, -1)) == [3, 2, 1]
    assert Dataset.range(3, output_type=tf.float32).element_spec.dtype == tf.float32
    assert listed(Dataset.range(tf.constant(2))) == [0, 1]
    assert listed(Dataset.counter(5, -2).take(3)) == [5, 3, 1]


def test_random_numbers_follow_their_seed():
    one, other = (listed(Dataset.random(seed=4).take(50)) for _ in range(2))
    assert one == other
    assert len(set(one)) > 45
    assert all(0 <= number < 2**32 for number in one)
    ds = Dataset.random(seed=4, rerandomize_each_iteration=True).take(5)
    assert listed(ds) != listed(ds)


def test_specs_are_known_without_iterating():
    images = np.zeros((10, 4, 3), np.float32), np.arange(10)
    ds = Dataset.from_tensor_slices(images)
    image, label = tf.TensorSpec((4, 3), tf.float32), tf.TensorSpec((), tf.int64)
    assert ds.element_spec == (image, label)
    assert ds.batch(4).element_spec[0] == tf.TensorSpec((None, 4, 3), tf.float32)
    assert ds.batch(4, drop_remainder=True).element_spec[1] == tf.TensorSpec((4,), tf.int64)
    assert ds.batch(4).map(lambda x, y: x * 2).element_spec == tf.TensorSpec(
        (None, 4, 3), tf.float32
    )
    assert ds.shuffle(3).repeat().take(2).skip(1).filter(lambda x, y: y > 1).element_spec == (
        image,
        label,
    )
    assert ds.enumerate().element_spec == (tf.TensorSpec((), tf.int64), (image, label))
    assert Dataset.zip({"a": ds, "b": ds}).element_spec["b"][1] == label
    assert ds.window(2).element_spec[1] == tf.data.DatasetSpec(label)
    assert ds.batch(2).unbatch().element_spec == (image, label)
    assert Dataset.from_tensor_slices([1]).concatenate(
        Dataset.from_tensor_slices([2])
    ).element_spec == tf.TensorSpec((), tf.int32)


def test_the_number_of_elements_is_known_where_it_can_be():
    ds = Dataset.range(10)
    unknown, infinite = tf.data.UNKNOWN_CARDINALITY, tf.data.INFINITE_CARDINALITY
    cases = [
        (ds, 10),
        (ds.map(lambda x: x), 10),
        (ds.batch(4), 3),
        (ds.batch(4, drop_remainder=True), 2),
        (ds.batch(5, drop_remainder=True).unbatch(), 10),
        (ds.batch(5).unbatch(), unknown),
        (ds.take(3), 3),
        (ds.take(-1), 10),
        (ds.skip(3), 7),
        (ds.skip(-1), 0),
        (ds.repeat(3), 30),
        (ds.repeat(), infinite),
        (ds.repeat().take(3), 3),
        (ds.repeat().batch(2), infinite),
        (ds.take(0).repeat(), 0),
        (ds.shard(4, 1), 3),
        (ds.filter(lambda x: True), unknown),
        (ds.filter(lambda x: True).take(2), unknown),
        (ds.shuffle(2), 10),
        (ds.cache(), 10),
        (ds.prefetch(2), 10),
        (ds.enumerate(), 10),
        (ds.concatenate(ds), 20),
        (ds.concatenate(ds.repeat()), infinite),
        (Dataset.zip((ds, ds.take(4))), 4),
        (Dataset.zip((ds, ds.repeat())), 10),
        (Dataset.zip((ds.repeat(), ds.repeat())), infinite),
        (ds.window(3), 4),
        (ds.window(3, 1, drop_remainder=True), 8),
        (ds.flat_map(lambda x: Dataset.range(2)), unknown),
        (Dataset.from_generator(lambda: iter([1]), tf.int32), unknown),
        (Dataset.random(), infinite),
    ]
    for dataset, expected in cases:
        assert dataset.cardinality() == expected
        if expected >= 0:
            assert len(dataset) == len(listed(dataset)) == expected
    assert tf.data.experimental.cardinality(ds).numpy() == 10


def test_a_dataset_without_elements_stays_one():
    empty = Dataset.from_tensor_slices(np.zeros((0, 3), np.float32))
    steps = [
        empty,
        empty.map(lambda x: x + 1),
        empty.batch(2),
        empty.padded_batch(2),
        empty.shuffle(4),
        empty.repeat(),
        empty.repeat(3),
        empty.filter(lambda x: True),
        empty.cache(),
        empty.window(2),
        empty.enumerate(),
        empty.unbatch(),
        empty.flat_map(Dataset.from_tensors),
        Dataset.zip((empty, Dataset.range(3))),
    ]
    for ds in steps:
        assert listed(ds) == []
    assert empty.map(lambda x: x[0]).element_spec == tf.TensorSpec((), tf.float32)
    assert int(empty.reduce(5, lambda state, x: state + 1)) == 5


def test_options_are_kept_and_merged():
    options = tf.data.Options()
    options.autotune.ram_budget = 100
    options.deterministic = True
    ds = Dataset.range(5).with_options(options).map(lambda x: x + 1)
    assert ds.options().autotune.ram_budget == 100
    other = tf.data.Options()
    other.threading.private_threadpool_size = 1
    merged = ds.with_options(other)
    assert merged.options().deterministic is True
    assert merged.options().autotune.ram_budget == 100
    assert merged.options().threading.private_threadpool_size == 1
    assert listed(merged) == [1, 2, 3, 4, 5]
    assert options == options.merged(tf.data.Options())


def test_elements_go_when_nobody_holds_them(is_collected):
    iterator = iter(Dataset.range(100).map(lambda x: x + np.zeros(1000)))
    element = next(iterator)
    array = weakref.ref(element.numpy().base if element.numpy().base is not None else element)
    del element
    for _ in range(20):
        next(iterator)
    gc.collect()
    assert is_collected(array)
