"""The names of TensorFlow that there are, and the page that lists them."""

import doctest
import importlib.util
from pathlib import Path

import pytest

import lanewise.compat.tf as tf

ROOT = Path(__file__).parents[3]


def load_tool():
    path = ROOT / "tools" / "tensorflow_table.py"
    spec = importlib.util.spec_from_file_location("tensorflow_table", path)
    tool = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(tool)
    return tool


def test_the_page_is_up_to_date():
    page = (ROOT / "docs" / "reference" / "tensorflow.md").read_text(encoding="utf-8")
    assert page == load_tool().table(), (
        "run python tools/tensorflow_table.py > docs/reference/tensorflow.md"
    )


def test_there_are_many_names_and_each_leads_to_its_function():
    assert len(tf.KNOWN) >= 300
    for path, value in tf.KNOWN.items():
        found = tf
        for part in path.split("."):
            found = getattr(found, part)
        assert found is value, path


def test_functions_say_what_they_do():
    silent = [
        path
        for path, value in tf.KNOWN.items()
        if callable(value) and not (value.__doc__ or "").strip()
    ]
    assert silent == []


def examples():
    """Return the examples in what functions and classes say of themselves."""
    things = {id(value): (path, value) for path, value in tf.KNOWN.items() if callable(value)}
    finder = doctest.DocTestFinder(exclude_empty=True)
    found = [finder.find(value, path, False, globs={}) for path, value in things.values()]
    return [one for several in found for one in several if one.examples]


@pytest.mark.parametrize("example", examples(), ids=lambda example: example.name)
def test_examples_in_the_documentation_are_true(example):
    assert doctest.DocTestRunner().run(example).failed == 0


@pytest.mark.parametrize("path", ["math.sinn", "reduce_summ", "linalg.matmull", "nn.reluu"])
def test_a_name_that_is_not_there_names_the_nearest(path):
    space, _, name = path.rpartition(".")
    where = getattr(tf, space) if space else tf
    with pytest.raises(NotImplementedError, match=rf"tf\.{path}: .* is tf\.{path[:-1]}\."):
        getattr(where, name)
