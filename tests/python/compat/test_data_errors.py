"""What datasets say of calls that are wrong."""

import re

import numpy as np
import pytest
from data_models import listed

import lanewise.compat.tf as tf
from lanewise.compat.tf import graph
from lanewise.compat.tf.maps import PerElementWarning

Dataset = tf.data.Dataset
NUMBERS = Dataset.range(4)
PAIRS = Dataset.zip(NUMBERS, NUMBERS)


def iterated(make):
    return lambda: listed(make())


def rows(*shapes, signature=None):
    signature = tf.TensorSpec(None, tf.float64) if signature is None else signature
    return Dataset.from_generator(
        lambda: (np.zeros(shape) for shape in shapes), output_signature=signature
    )


def yielding(*elements, **options):
    return iterated(lambda: Dataset.from_generator(lambda: elements, **options))


SCALAR = tf.TensorSpec((), tf.int32)
CASES = [
    (
        lambda: Dataset.from_tensor_slices(([1, 2], {"a": [1, 2, 3]})),
        ValueError,
        "Dataset.from_tensor_slices: tensors disagree on the first size; got 2 (tensors[0]), "
        "3 (tensors[1]['a']), expected one size.",
    ),
    (
        lambda: Dataset.from_tensor_slices(5),
        ValueError,
        "Dataset.from_tensor_slices: a scalar has no slices; got 5, expected tensors of at least "
        "one dimension. Use from_tensors.",
    ),
    (
        lambda: Dataset.from_tensor_slices(()),
        ValueError,
        "Dataset.from_tensor_slices: no tensors; got (), expected at least one.",
    ),
    (
        lambda: Dataset.from_tensor_slices([[1], [2, 3]]),
        ValueError,
        "convert_to_tensor: not a tensor; got [[1], [2, 3]], expected numbers in lists of one "
        "length, or an array. Lists of different lengths are a tf.ragged.constant.",
    ),
    (
        lambda: Dataset.from_generator([1, 2]),
        TypeError,
        "Dataset.from_generator: not a function; got list, expected a function that returns an "
        "iterator.",
    ),
    (
        lambda: Dataset.from_generator(list, output_signature=(tf.int32,)),
        TypeError,
        "from_generator: output_signature has something else than specs; got tf.int32, expected "
        "tf.TensorSpec. Types alone go to output_types.",
    ),
    (
        lambda: Dataset.from_generator(list).element_spec,
        ValueError,
        "from_generator: nothing is known of elements; got a generator that yields none, expected "
        "output_signature.",
    ),
    (
        yielding((1, 2, 3), output_signature=(SCALAR, SCALAR)),
        TypeError,
        "from_generator: an element is nested differently; got (1, 2, 3), expected tuple of 2, as "
        "output_signature says.",
    ),
    (
        yielding({"b": 1}, output_signature={"a": SCALAR}),
        TypeError,
        "from_generator: an element is nested differently; got {'b': 1}, expected dict of 1, as "
        "output_signature says.",
    ),
    (
        yielding("text", output_signature=SCALAR),
        TypeError,
        "from_generator: an element has another type; got 'text', expected int32, as "
        "output_signature says.",
    ),
    (
        yielding([1, 2], output_signature=SCALAR),
        TypeError,
        "from_generator: an element has another shape; got (2,), expected (), as output_signature "
        "says.",
    ),
    (
        lambda: Dataset.range(),
        ValueError,
        "Dataset.range: another number of bounds; got 0, expected 1 to 3.",
    ),
    (
        lambda: Dataset.zip(NUMBERS, [1, 2]),
        TypeError,
        "Dataset.zip: not a dataset; got list, expected a tf.data.Dataset.",
    ),
    (
        lambda: NUMBERS.apply(len),
        TypeError,
        "Dataset.apply: not a dataset; got int, expected a tf.data.Dataset.",
    ),
    (
        lambda: NUMBERS.map(3),
        TypeError,
        "Dataset.map: not a function; got int, expected a callable.",
    ),
    (
        lambda: NUMBERS.map(abs, num_parallel_calls=0),
        ValueError,
        "Dataset.map: num_parallel_calls is not a whole number in range; got 0, expected at least "
        "1.",
    ),
    (
        lambda: NUMBERS.batch(0),
        ValueError,
        "Dataset.batch: batch_size is not a whole number in range; got 0, expected at least 1.",
    ),
    (
        lambda: NUMBERS.shuffle(2.5),
        ValueError,
        "Dataset.shuffle: buffer_size is not a whole number in range; got 2.5, expected at least "
        "1.",
    ),
    (
        lambda: NUMBERS.take(True),
        ValueError,
        "Dataset.take: count is not a whole number in range; got True, expected at least -1.",
    ),
    (
        lambda: NUMBERS.shard(2, 2),
        tf.errors.InvalidArgumentError,
        "Dataset.shard: no such shard; got index 2, expected below 2.",
    ),
    (
        lambda: NUMBERS.cache("file"),
        NotImplementedError,
        "Dataset.cache: files are not written; got 'file', expected no name, which keeps elements "
        "in memory.",
    ),
    (
        lambda: NUMBERS.get_single_element(),
        tf.errors.InvalidArgumentError,
        "Dataset.get_single_element: another number of elements; got more than one, expected one.",
    ),
    (
        lambda: NUMBERS.take(0).get_single_element(),
        tf.errors.InvalidArgumentError,
        "Dataset.get_single_element: another number of elements; got none, expected one.",
    ),
    (
        lambda: len(NUMBERS.repeat()),
        TypeError,
        "len: the number of elements is infinite; got <RepeatDataset>, expected a known one. Use "
        "cardinality().",
    ),
    (
        lambda: len(NUMBERS.filter(lambda x: True)),
        TypeError,
        "len: the number of elements is unknown; got <FilterDataset>, expected a known one. Use "
        "cardinality().",
    ),
    (
        iterated(lambda: NUMBERS.filter(lambda x: x)),
        TypeError,
        "Dataset.filter: the condition is no truth value; got TensorSpec(shape=(), dtype=tf.int64, "
        "name=None), expected a scalar of type bool.",
    ),
    (
        iterated(lambda: NUMBERS.take_while(lambda x: (x < 2, x < 3))),
        TypeError,
        "Dataset.take_while: the condition is no truth value; got (TensorSpec(shape=(), "
        "dtype=tf.bool, name=None), TensorSpec(shape=(), dtype=tf.bool, name=None)), expected a "
        "scalar of type bool.",
    ),
    (
        iterated(lambda: NUMBERS.flat_map(lambda x: x)),
        TypeError,
        "Dataset.flat_map: the function does not return a dataset; got Tensor, expected a "
        "tf.data.Dataset. Use Dataset.map.",
    ),
    (
        iterated(lambda: NUMBERS.scan(0, lambda state, x: state)),
        TypeError,
        "Dataset.scan: the function does not return two things; got <tf.Tensor: shape=(), "
        "dtype=int32, numpy=0>, expected the new state and an output.",
    ),
    (
        iterated(lambda: NUMBERS.unbatch()),
        ValueError,
        "Dataset.unbatch: elements have no common first axis; got int64[], expected tensors of one "
        "first size.",
    ),
    (
        lambda: NUMBERS.unbatch().element_spec,
        ValueError,
        "Dataset.unbatch: elements have no first axis; got TensorSpec(shape=(), dtype=tf.int64, "
        "name=None), expected tensors of at least one dimension.",
    ),
    (
        iterated(lambda: NUMBERS.window(2).batch(2)),
        TypeError,
        "Dataset.batch: elements cannot be stacked; got Dataset, expected tensors.",
    ),
    (
        lambda: NUMBERS.window(2).batch(2).element_spec,
        TypeError,
        "Dataset.batch: elements cannot be stacked; got DatasetSpec(TensorSpec(shape=(), "
        "dtype=tf.int64, name=None), TensorShape([])), expected tensors.",
    ),
    (
        iterated(lambda: NUMBERS.window(2).padded_batch(2)),
        TypeError,
        "Dataset.padded_batch: elements cannot be padded; got Dataset, expected tensors.",
    ),
    (
        iterated(lambda: rows((1,), (1, 1)).padded_batch(2)),
        ValueError,
        "Dataset.padded_batch: elements have other ranks; got (1,), (1, 1), expected one rank.",
    ),
    (
        iterated(lambda: rows((1,)).padded_batch(2, padded_shapes=[None, None])),
        ValueError,
        "Dataset.padded_batch: elements have other ranks; got (1,), expected the rank of "
        "(None, None).",
    ),
    (
        iterated(lambda: rows((5,)).padded_batch(2, padded_shapes=[3])),
        ValueError,
        "Dataset.padded_batch: an element is larger than padded_shapes; got (5,), expected at most "
        "(3,).",
    ),
    (
        iterated(lambda: PAIRS.padded_batch(2, padded_shapes=([],))),
        ValueError,
        "Dataset.padded_batch: padded_shapes is nested differently than elements; got ([],), "
        "expected tuple of 2.",
    ),
    (
        lambda: NUMBERS.concatenate(PAIRS).element_spec,
        TypeError,
        "Dataset: elements are nested differently; got TensorSpec(shape=(), dtype=tf.int64, "
        "name=None) and (TensorSpec(shape=(), dtype=tf.int64, name=None), TensorSpec(shape=(), "
        "dtype=tf.int64, name=None)), expected one structure.",
    ),
    (
        lambda: NUMBERS.concatenate(Dataset.from_tensor_slices([1.0])).element_spec,
        TypeError,
        "Dataset: elements have different types; got int64 and float32, expected one. Use tf.cast.",
    ),
    (
        lambda: NUMBERS.concatenate(NUMBERS.window(2)).element_spec,
        TypeError,
        "Dataset: elements differ; got TensorSpec(shape=(), dtype=tf.int64, name=None) and "
        "DatasetSpec(TensorSpec(shape=(), dtype=tf.int64, name=None), TensorShape([])), expected "
        "one kind.",
    ),
    (
        lambda: setattr(tf.data.Options().threading, "threads", 2),
        AttributeError,
        "ThreadingOptions: no such option; got threads, expected one of max_intra_op_parallelism, "
        "private_threadpool_size.",
    ),
    (
        lambda: NUMBERS.shuffled,
        NotImplementedError,
        "tf.data.Dataset.shuffled: not supported by lanewise.compat.tf; got a name outside of "
        "what is listed in docs/reference/tensorflow.md, expected one of these. The nearest is "
        "tf.data.Dataset.shuffle.",
    ),
    (
        lambda: Dataset.list_files,
        NotImplementedError,
        "tf.data.Dataset.list_files: not supported by lanewise.compat.tf; got a name outside of "
        "what is listed in docs/reference/tensorflow.md, expected one of these. The nearest is "
        "tf.data.Dataset.filter.",
    ),
]


@pytest.mark.parametrize(("call", "kind", "message"), CASES, ids=lambda case: str(case)[:40])
def test_what_is_said_of_a_wrong_call(call, kind, message):
    with pytest.raises(kind) as raised:
        call()
    assert str(raised.value) == message


def test_names_that_there_are_not_are_no_attributes():
    assert not hasattr(NUMBERS, "ragged_batches")
    assert not hasattr(Dataset, "list_files")


@pytest.mark.filterwarnings("ignore::lanewise.compat.tf.maps.PerElementWarning")
def test_datasets_inside_of_mapped_functions_work_one_by_one():
    ds = Dataset.range(3).map(lambda x: sum(Dataset.range(x)))
    assert listed(ds) == [0, 0, 1]


def test_why_datasets_are_not_recorded_is_said():
    expected = re.escape(
        "Dataset: iterated over inside of a function that is recorded; got a dataset, expected "
        "tensors. Use Dataset.flat_map, or iterate outside."
    )
    with pytest.warns(PerElementWarning, match=expected):
        listed(NUMBERS.map(lambda x: sum(int(one) for one in NUMBERS) + x))
    expected = re.escape(
        "Dataset.from_tensors: a dataset inside of a function that is recorded; got one, expected "
        "tensors. Use Dataset.flat_map or interleave, or make it outside."
    )
    with pytest.warns(PerElementWarning, match=expected):
        assert listed(NUMBERS.map(Dataset.from_tensors)) == [[0], [1], [2], [3]]


def test_nodes_of_a_graph_are_refused():
    expected = r"Dataset\.from_tensors: the value of a tensor is not known"
    with pytest.raises(TypeError, match=expected):
        Dataset.from_tensors(graph.fed(tf.int32, ()))
    with graph.Graph().as_default(), pytest.raises(TypeError, match="Dataset: the value of a"):
        listed(NUMBERS)
