"""What stands around programs: prints, nests, devices, threads, profiles, functions of Python."""

import collections
import io
import json
import logging
import sys
import time

import numpy as np
import pytest

import lanewise.compat.tf as tf

# --- print ---

TEXTS = {
    "text": ("hello", "hello"),
    "number": (3, "3"),
    "scalar": (tf.constant(1.5), "1.5"),
    "whole": (tf.constant(2.0), "2"),
    "double": (tf.constant(0.1, tf.float64), "0.1"),
    "truth": (tf.constant([True, False]), "[1 0]"),
    "vector": (tf.constant([1, 2, 3]), "[1 2 3]"),
    "long": (tf.range(10), "[0 1 2 ... 7 8 9]"),
    "matrix": (tf.constant([[1, 2], [3, 4]]), "[[1 2]\n [3 4]]"),
    "bytes": (tf.constant("x"), "x"),
    "texts": (tf.constant(["a", "b"]), '["a" "b"]'),
    "list": ([tf.constant(1), 2], "[1, 2]"),
    "tuple": ((tf.constant(1),), "(1,)"),
    "dict": ({"a": tf.constant([1])}, "{'a': [1]}"),
    "variable": (tf.Variable([1.0, 2.0]), "[1 2]"),
}


@pytest.mark.parametrize("name", TEXTS)
def test_values_are_printed_as_tensorflow_prints_them(name, capsys):
    value, text = TEXTS[name]
    tf.print(value)
    assert capsys.readouterr().err == f"{text}\n"


def test_where_and_how_is_said(capsys, tmp_path):
    tf.print("a", tf.range(4), sep="|", end="!", summarize=1, output_stream=sys.stdout)
    assert capsys.readouterr().out == "a|[0 ... 3]!"
    tf.print(tf.range(9), summarize=-1)
    assert capsys.readouterr().err == "[0 1 2 3 4 5 6 7 8]\n"
    tf.print("kept", output_stream=f"file://{tmp_path}/log")
    assert (tmp_path / "log").read_text() == "kept\n"
    stream = io.StringIO()
    tf.print("in memory", output_stream=stream)
    assert stream.getvalue() == "in memory\n"
    with pytest.raises(ValueError, match="nowhere to print; got 5"):
        tf.print("x", output_stream=5)


def test_elements_print_their_lines(capsys):
    tf.map_fn(lambda x: [tf.print("x is", x), x][1], np.array([1, 2]))
    assert capsys.readouterr().err == "x is 1\nx is 2\n"


def test_functions_print_when_they_run(capsys):
    def body(x):
        tf.print("x is", x)
        return x

    call = tf.function(body)
    for number in (1, 2, 3):
        call(tf.constant([number]))
    assert capsys.readouterr().err == "x is [1]\nx is [2]\nx is [3]\n"


# --- nest ---

Pair = collections.namedtuple("Pair", "left right")


def test_nested_values_are_taken_apart_and_put_together():
    nested = {"b": [1, (2, 3)], "a": Pair(4, 5)}
    assert tf.nest.flatten(nested) == [4, 5, 1, 2, 3]
    assert tf.nest.flatten(7) == [7]
    packed = tf.nest.pack_sequence_as(nested, [10, 20, 30, 40, 50])
    assert packed == {"b": [30, (40, 50)], "a": Pair(10, 20)}
    assert list(packed) == ["b", "a"]
    assert tf.nest.map_structure(lambda x, y: x + y, nested, nested)["a"] == Pair(8, 10)
    assert tf.nest.is_nested([1])
    assert not tf.nest.is_nested(tf.constant([1]))
    tensors = tf.nest.map_structure(lambda x: x * 2, (tf.constant([1]), {"k": tf.constant(2)}))
    assert tensors[1]["k"].numpy() == 4


def test_nests_that_differ_are_an_error():
    tf.nest.assert_same_structure([1, (2,)], [3, (4,)])
    with pytest.raises(ValueError, match="nested differently"):
        tf.nest.assert_same_structure([1, 2], [1])
    with pytest.raises(TypeError, match="nested differently"):
        tf.nest.assert_same_structure([1, 2], (1, 2))
    tf.nest.assert_same_structure([1, 2], (1, 2), check_types=False)
    with pytest.raises(ValueError, match="got 1, expected 2"):
        tf.nest.pack_sequence_as([1, 2], [1])
    with pytest.raises(TypeError, match="no function; got int"):
        tf.nest.map_structure(1, [1])


# --- devices, threads, profiles ---


def test_programs_run_on_the_processor_whatever_they_name():
    for name in ("/CPU:0", "/GPU:0", "/device:GPU:7", None):
        with tf.device(name):
            assert tf.reduce_sum([1, 2]).numpy() == 3
    with pytest.raises(ValueError, match="no name; got 3"), tf.device(3):
        pass


def test_the_processor_is_the_only_device():
    assert [one.device_type for one in tf.config.list_physical_devices()] == ["CPU"]
    assert tf.config.list_physical_devices("GPU") == []
    assert tf.config.list_logical_devices("CPU")[0].name == "/device:CPU:0"
    assert tf.config.experimental.list_physical_devices("GPU") == []
    assert not tf.test.is_gpu_available()
    assert not tf.test.is_built_with_cuda()
    assert tf.test.gpu_device_name() == ""
    processor = tf.config.get_visible_devices("CPU")
    tf.config.set_visible_devices([], "GPU")
    tf.config.set_visible_devices(processor, "CPU")
    tf.config.set_visible_devices(processor[0])
    other = tf.config.PhysicalDevice("/physical_device:GPU:0", "GPU")
    with pytest.raises(ValueError, match="no such device"):
        tf.config.set_visible_devices([other])
    tf.config.experimental.set_memory_growth(other, True)
    assert tf.config.experimental.get_memory_growth(other)


def test_threads_are_those_of_lanewise():
    tf.config.threading.set_intra_op_parallelism_threads(1)
    tf.config.threading.set_inter_op_parallelism_threads(3)
    assert tf.config.threading.get_intra_op_parallelism_threads() == 1
    assert tf.config.threading.get_inter_op_parallelism_threads() == 3
    assert tf.reduce_sum(tf.ones([100_000])).numpy() == 100_000
    tf.config.threading.set_intra_op_parallelism_threads(0)
    with pytest.raises(ValueError, match="not a number of threads; got -1"):
        tf.config.threading.set_intra_op_parallelism_threads(-1)


def test_settings_are_kept():
    tf.config.set_soft_device_placement(False)
    assert not tf.config.get_soft_device_placement()
    tf.config.set_soft_device_placement(True)
    tf.config.optimizer.set_jit("autoclustering")
    assert tf.config.optimizer.get_jit() == "autoclustering"
    tf.config.optimizer.set_experimental_options({"remapping": False})
    assert tf.config.optimizer.get_experimental_options() == {"remapping": False}
    tf.config.experimental.enable_op_determinism()
    memory = tf.config.experimental.get_memory_info("CPU:0")
    assert 0 <= memory["current"] <= memory["peak"]


def test_a_profile_is_written_into_its_folder(tmp_path):
    tf.profiler.experimental.start(str(tmp_path))
    with pytest.raises(tf.errors.AlreadyExistsError, match="a profile is being taken"):
        tf.profiler.experimental.start(str(tmp_path))
    with tf.profiler.experimental.Trace("step", step_num=1, _r=1):
        tf.map_fn(lambda x: x * 3, np.arange(1000.0))
    tf.profiler.experimental.stop()
    (written,) = tmp_path.rglob("*.trace.json")
    assert json.loads(written.read_text())
    with pytest.raises(tf.errors.UnavailableError, match="no profile is being taken"):
        tf.profiler.experimental.stop()
    options = tf.profiler.experimental.ProfilerOptions(host_tracer_level=3)
    with tf.profiler.experimental.Profile(str(tmp_path / "other"), options):
        tf.reduce_sum([1.0])
    assert list((tmp_path / "other").rglob("*.trace.json"))


# --- functions of Python ---


def test_functions_of_python_get_arrays_or_tensors():
    def double(x):
        assert type(x) is np.ndarray
        return x * 2

    def triple(x):
        assert isinstance(x, tf.Tensor)
        return x * 3, x.numpy().sum()

    x = tf.constant([1.0, 2.0])
    assert tf.numpy_function(double, [x], tf.float32).numpy().tolist() == [2, 4]
    three, total = tf.py_function(triple, [x], [tf.float32, tf.float64])
    assert three.numpy().tolist() == [3, 6]
    assert total.numpy() == 3
    assert total.dtype == tf.float64
    seen = []
    assert tf.py_function(seen.append, [x], []) is None
    assert len(seen) == 1
    with pytest.raises(ValueError, match="another number of results; got 2, expected 1"):
        tf.py_function(triple, [x], [tf.float32])


def test_functions_of_python_are_called_when_a_graph_runs():
    called = []

    def note(x):
        called.append(x.tolist())
        return x + 1

    call = tf.function(lambda x: tf.numpy_function(note, [x], tf.float32) * 2)
    assert call(tf.constant([1.0])).numpy().tolist() == [4]
    assert call(tf.constant([2.0])).numpy().tolist() == [6]
    assert called == [[1.0], [2.0]]


def test_a_map_that_calls_python_runs_for_one_element_after_the_other():
    with pytest.warns(UserWarning, match="calls Python with values"):
        result = tf.map_fn(
            lambda x: tf.numpy_function(lambda v: v * 2, [x], tf.float64), np.array([1.0, 2.0])
        )
    assert result.numpy().tolist() == [2, 4]


# --- others ---


def test_small_things_are_there():
    assert tf.get_logger() is logging.getLogger("tensorflow")
    assert abs(tf.timestamp().numpy() - time.time()) < 60
    assert tf.get_static_value(tf.constant(3)) == 3
    assert not tf.is_symbolic_tensor(tf.constant(3))
    seen = []
    tf.function(lambda x: [seen.append(tf.is_symbolic_tensor(x)), x][1])(tf.constant(1.0))
    assert seen[0]
    assert tf.broadcast_static_shape([2, 1], tf.TensorShape([3])) == [2, 3]
