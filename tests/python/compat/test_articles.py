"""Programs as people have them: nothing but the import line is another.

They stand in ``programs`` as they were written for TensorFlow.
"""

from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

import lanewise.compat.tf as tf

PROGRAMS = Path(__file__).parent / "programs"
IMPORT = "import tensorflow as tf\n"


def run(name):
    """Run a program with its import line changed; return what it has made."""
    path = PROGRAMS / f"{name}.txt"
    source = path.read_text()
    assert source.startswith(IMPORT)
    changed = source.replace(IMPORT, "import lanewise.compat.tf as tf\n", 1)
    names = {"__name__": f"program_{name}"}
    exec(compile(changed, str(path), "exec"), names)
    return SimpleNamespace(**names)


def test_pixels_of_an_image_are_assigned_one_by_one():
    made = run("pixel_loop")
    images = made.images.numpy()
    with np.errstate(invalid="ignore"):
        expected = np.sqrt(images)
    assert np.array_equal(made.processed_images.numpy(), expected, equal_nan=True)
    assert made.processed_images.shape == (100, 64, 64, 3)
    assert np.isnan(expected).any()
    assert not np.isnan(images).any()  # the images stay what they were


def test_images_are_processed_whole():
    made = run("pixels_at_once")
    with np.errstate(invalid="ignore"):
        expected = np.sqrt(made.images.numpy())
    assert np.array_equal(made.processed_images.numpy(), expected, equal_nan=True)


def test_images_of_bytes_are_converted():
    made = run("bytes_at_once")
    images = made.images.numpy()
    assert images.dtype == np.uint8
    assert images.max() <= 254
    expected = np.sqrt(images.astype(np.float32)).astype(np.uint8)
    assert np.array_equal(made.processed_images.numpy(), expected)


@pytest.mark.parametrize("name", ["repeat_sum", "repeat_sum_deleted", "repeat_sum_compiled"])
def test_a_dataset_sums_what_it_repeats(name, capsys):
    run(name)
    lines = capsys.readouterr().out.splitlines()
    assert lines == [f"tf.Tensor({n * 10000}, shape=(), dtype=int32)" for n in range(1000)]


@pytest.mark.parametrize("name", ["square_loop", "wave_loop", "wave_function"])
def test_a_python_loop_and_a_map_give_the_same(name, capsys):
    made = run(name)
    lines = capsys.readouterr().out.splitlines()
    assert lines[-1] == "True"
    assert made.result_tf.dtype == tf.float64
    # NumPy's power of a scalar may be off in the last place; the others are the same program.
    tolerance = 3e-16 if name == "square_loop" else 0
    assert np.allclose(made.result_python, made.result_tf.numpy(), rtol=tolerance, atol=0)


@pytest.mark.parametrize(
    ("name", "printed"),
    [
        ("python_loop_inside", "[ 4950  9900 14850 19800 24750]"),
        ("operations_inside", "[ 4.  9. 16. 25. 36.]"),
        ("whole_tensor", "[ 4.  9. 16. 25. 36.]"),
    ],
)
def test_a_session_runs_what_is_there_already(name, printed, capsys):
    run(name)
    assert capsys.readouterr().out == f"{printed}\n"


def test_a_placeholder_is_mapped_over_when_it_is_fed():
    made = run("preprocessing")
    rows = np.random.default_rng(1).normal(size=(5, 7)).astype(np.float32)
    with tf.compat.v1.Session() as session:
        result = session.run(made.processed_X, {made.X: rows})
    expected = np.log(np.sin(rows.astype(float)) ** 2 + 1e-6)
    assert result.dtype == np.float32
    assert np.allclose(result, expected, rtol=1e-5, atol=1e-5)
    assert made.processed_X.shape.as_list() == [None, 7]


@pytest.mark.parametrize("decorate", [lambda f: f, tf.function, tf.function(jit_compile=True)])
def test_a_loss_adds_to_a_variable_that_it_makes(decorate):
    loss = decorate(run("loss_with_variable").custom_loss_fn)
    for rows in (3, 40):
        labels, predictions = np.random.default_rng(rows).normal(size=(2, rows, 4)).astype("f")
        result = loss(tf.constant(labels), tf.constant(predictions))
        assert np.isclose(float(result), np.abs(labels - predictions).sum(), rtol=1e-5)
