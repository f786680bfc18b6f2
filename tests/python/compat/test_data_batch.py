"""Several elements as one: batch, padded_batch and window; generators."""

import numpy as np
import pytest
from data_models import extend, listed, plain

import lanewise as lw
import lanewise.compat.tf as tf

Dataset = tf.data.Dataset


def rows(*lengths):
    """Return a dataset of rows of ones."""
    return Dataset.from_generator(
        lambda: (np.ones(length, np.int32) for length in lengths),
        output_signature=tf.TensorSpec((None,), tf.int32),
    )


def test_batches_of_arrays_are_not_copied():
    array = np.arange(24.0).reshape(12, 2)
    for at, batch in enumerate(Dataset.from_tensor_slices(array).batch(4)):
        assert np.shares_memory(np.asarray(batch), array)
        np.testing.assert_array_equal(batch.numpy(), array[4 * at : 4 * at + 4])


def test_batches_are_nested_as_elements_are():
    ds = Dataset.from_tensor_slices({"a": [1, 2, 3], "b": ([4.0, 5.0, 6.0], [True, False, True])})
    assert listed(ds.batch(2))[0] == {"a": [1, 2], "b": ([4.0, 5.0], [True, False])}


def test_batches_of_batches_have_two_dimensions():
    ds = Dataset.range(5).batch(2).batch(2, drop_remainder=True)
    assert listed(ds) == [[[0, 1], [2, 3]]]
    assert ds.element_spec == tf.TensorSpec((2, None), tf.int64)


def test_batches_of_ragged_tensors_are_ragged():
    ragged = [tf.ragged.constant([[1], [2, 3]]), tf.ragged.constant([[], [4]])]
    both = Dataset.from_tensors(ragged[0]).concatenate(Dataset.from_tensors(ragged[1]))
    batch = next(iter(both.batch(2)))
    assert batch.to_list() == [[[1], [2, 3]], [[], [4]]]


def test_elements_of_different_shapes_are_not_batched():
    with pytest.raises(ValueError, match="elements are not alike") as raised:
        listed(rows(2, 3).batch(2))
    assert str(raised.value) == (
        "Dataset.batch: elements are not alike; got int32[2] and int32[3], expected one shape and "
        "type. Use padded_batch, or map them to one shape."
    )


def test_padded_batches_have_the_size_of_the_largest_element():
    assert listed(rows(1, 3, 2).padded_batch(2)) == [[[1, 0, 0], [1, 1, 1]], [[1, 1]]]
    assert listed(rows(1, 3, 2).padded_batch(2, drop_remainder=True)) == [[[1, 0, 0], [1, 1, 1]]]
    ds = rows(1, 3, 2).padded_batch(3, padded_shapes=[4], padding_values=-1)
    assert listed(ds) == [[[1, -1, -1, -1], [1, 1, 1, -1], [1, 1, -1, -1]]]
    assert ds.element_spec == tf.TensorSpec((None, 4), tf.int32)
    ds = rows(1, 2).padded_batch(2, padded_shapes=[None], drop_remainder=True)
    assert listed(ds) == [[[1, 0], [1, 1]]]
    assert ds.element_spec == tf.TensorSpec((2, None), tf.int32)


def test_padded_batches_of_nested_elements():
    def pairs():
        for length in (1, 2):
            yield np.full((length, 2), 7.0), {"text": ["a"] * length, "n": length}

    signature = (
        tf.TensorSpec((None, 2), tf.float32),
        {"text": tf.TensorSpec((None,), tf.string), "n": tf.TensorSpec((), tf.int32)},
    )
    ds = Dataset.from_generator(pairs, output_signature=signature)
    image, rest = plain(next(iter(ds.padded_batch(2))))
    assert image == [[[7.0, 7.0], [0.0, 0.0]], [[7.0, 7.0], [7.0, 7.0]]]
    assert rest == {"text": [[b"a", b""], [b"a", b"a"]], "n": [1, 2]}
    shapes = ([3, 2], {"text": tf.TensorShape([None]), "n": ()})
    values = (0.5, {"text": "x", "n": None})
    image, rest = plain(next(iter(ds.padded_batch(2, shapes, values))))
    assert image[0] == [[7.0, 7.0], [0.5, 0.5], [0.5, 0.5]]
    assert rest["text"] == [[b"a", b"x"], [b"a", b"a"]]


def test_windows_are_datasets():
    ds = Dataset.range(7).window(3, shift=2)
    assert listed(ds) == [[0, 1, 2], [2, 3, 4], [4, 5, 6], [6]]
    assert listed(Dataset.range(7).window(3, 1, 2, True)) == [[0, 2, 4], [1, 3, 5], [2, 4, 6]]
    windows = Dataset.range(5).window(2, 1, drop_remainder=True)
    assert listed(windows.flat_map(lambda window: window.batch(2))) == [
        [0, 1],
        [1, 2],
        [2, 3],
        [3, 4],
    ]
    assert windows.flat_map(lambda window: window.batch(2)).element_spec == tf.TensorSpec(
        (None,), tf.int64
    )


def test_windows_of_nested_elements_are_nested_datasets():
    ds = Dataset.from_tensor_slices({"a": np.arange(4), "b": np.arange(4.0)}).window(2)
    assert listed(ds) == [{"a": [0, 1], "b": [0.0, 1.0]}, {"a": [2, 3], "b": [2.0, 3.0]}]
    pairs = Dataset.zip(Dataset.range(4), Dataset.range(4)).window(2)
    both = pairs.flat_map(lambda a, b: Dataset.zip((a, b)))
    assert listed(both) == [(0, 0), (1, 1), (2, 2), (3, 3)]


def test_datasets_can_be_mapped_too():
    ds = Dataset.range(6).window(3).map(lambda window: window.skip(1))
    assert listed(ds) == [[1, 2], [4, 5]]


# --- generators ---


def test_generators_are_called_anew_for_every_pass():
    calls = []

    def numbers(first, count):
        calls.append((first, count))
        yield from range(int(first), int(first) + int(count))

    ds = Dataset.from_generator(numbers, tf.int64, args=(tf.constant(5), 3))
    assert calls == []
    assert listed(ds) == listed(ds) == [5, 6, 7]
    assert calls == [(5, 3), (5, 3)]


def test_generators_may_go_on_with_their_arrays():
    def same():
        array = np.zeros(2)
        for number in range(20):
            array[:] = number
            yield array

    for ds in (Dataset.from_generator(same), Dataset.from_generator(same, tf.float32)):
        assert listed(ds) == [[float(number)] * 2 for number in range(20)]
        assert listed(ds.map(lambda x: x * 2)) == [[2.0 * number] * 2 for number in range(20)]


def test_generators_yield_what_their_signature_says():
    ds = Dataset.from_generator(lambda: [(1, [2, 3])], (tf.float32, tf.int32), ((), (2,)))
    assert listed(ds) == [(1.0, [2, 3])]
    assert ds.element_spec == (tf.TensorSpec((), tf.float32), tf.TensorSpec((2,), tf.int32))
    by_name = {"a": tf.TensorSpec((), tf.int32)}
    assert listed(Dataset.from_generator(lambda: [{"a": 1}], output_signature=by_name)) == [
        {"a": 1}
    ]
    as_list = (tf.TensorSpec((), tf.int32),) * 2
    assert listed(Dataset.from_generator(lambda: [[1, 2]], output_signature=as_list)) == [(1, 2)]


def test_generators_need_no_signature():
    ds = Dataset.from_generator(lambda: ({"a": number} for number in range(3)))
    assert listed(ds) == [{"a": 0}, {"a": 1}, {"a": 2}]
    assert ds.element_spec == {"a": tf.TensorSpec((), tf.int32)}


def test_generators_of_rows_of_different_lengths_can_be_mapped():
    ds = rows(2, 2, 5, 1, 0, 3).map(tf.reduce_sum)
    assert listed(ds) == [2, 2, 5, 1, 0, 3]
    assert ds.element_spec == tf.TensorSpec((), tf.int32)
    assert listed(rows(2, 5).map(lambda row: row + 1)) == [[2, 2], [2] * 5]
    assert rows(2, 5).map(lambda row: row + 1).element_spec == tf.TensorSpec((None,), tf.int32)


def test_rows_of_many_lengths_are_one_program():
    calls = []

    def total(row, number):
        calls.append(row)
        assert number != 150, "not this one"
        return {"sum": tf.reduce_sum(row) + number, "twice": row * 2}

    lengths = [number * 7 % 61 for number in range(150)]
    ds = Dataset.zip(rows(*lengths, 5), Dataset.range(151, output_type=tf.int32)).map(total)
    found = []
    with pytest.raises(lw.ElementError, match=r"Dataset\.map: element 150 failed"):
        extend(found, ds)
    assert [one["sum"] for one in found] == [n + at for at, n in enumerate(lengths)]
    assert [one["twice"] for one in found] == [[2] * n for n in lengths]
    assert len(calls) < 6


def test_conditions_on_rows_of_many_lengths_choose_them():
    lengths = [number * 7 % 61 for number in range(200)]
    ds = rows(*lengths).filter(lambda row: tf.reduce_sum(row) % 2 == 0)
    assert list(map(len, listed(ds))) == [length for length in lengths if length % 2 == 0]
    ds = rows(*lengths).take_while(lambda row: tf.reduce_sum(row) < 60)
    assert list(map(len, listed(ds))) == lengths[: lengths.index(60)]


def test_images_of_many_sizes_can_be_mapped():
    images = [np.full((1 + number % 5, 1 + number % 8), number) for number in range(100)]
    ds = Dataset.from_generator(lambda: images).map(lambda image: tf.reduce_sum(image, axis=0))
    assert listed(ds) == [image.sum(0).tolist() for image in images]
