"""Programs in files."""

import io
import json
import re

import numpy as np
import pytest
from samples import assert_same

import lanewise as lw

X = np.arange(4.0)


@pytest.fixture
def path(tmp_path):
    return tmp_path / "f.npz"


def test_a_saved_function_gives_the_same(path):
    scale, table = 2.5, np.array([1.0, 5.0, 7.0, 9.0])
    f = lw.vectorize(lambda i, x: {"a": table[i] * scale, "b": (np.sin(x), x > 1)})
    i = np.array([3, 0, 1, 2])
    expected = f(i, X)
    f(i.astype(np.int32), X.astype(np.float32))
    f.save(path)
    scale, table = 0.0, None
    g = lw.Vectorized.load(path)
    assert repr(g) == "<vectorized lambda>"
    for _ in range(3):
        got = g(i, X)
        assert_same(got["a"], expected["a"])
        assert_same(got["b"][0], expected["b"][0])
        assert_same(got["b"][1], expected["b"][1])
    assert g(i.astype(np.int32), X.astype(np.float32))["b"][0].dtype == np.float32
    with pytest.raises(
        lw.UsageError,
        match=r"^lambda: there is no program for such arguments; got <element int64>, "
        r"<element int64>, expected kinds that the function was called with before it was saved",
    ):
        g(i, i)


def test_a_saved_function_can_be_saved_again(path):
    f = lw.vectorize(lambda x, k: x * k)
    f(X, 2.0)
    f.save(path)
    g = lw.Vectorized.load(path, compile="now")
    g.save(path)
    assert_same(lw.Vectorized.load(path)(X, 3.0), X * 3)


def test_a_function_that_was_called_with_a_mask_is_saved_with_it(path):
    scale = 3
    f = lw.vectorize(lambda n: 12 // n * scale)
    mask = np.array([True, False, True])
    n = np.array([3, 0, 4])
    f(n, out=np.zeros(3, int), where=mask)
    f.save(path)
    g = lw.Vectorized.load(path)
    out = np.full(3, -1)
    assert g(n, out=out, where=mask) is out
    assert out.tolist() == [12, -1, 9]
    with pytest.raises(lw.UsageError, match=r"^lambda: there is no program for such arguments"):
        g(n)
    f(np.array([3, 2, 4]))
    f.save(path)
    assert lw.Vectorized.load(path)(np.array([3, 2, 4])).tolist() == [12, 18, 9]


def test_loops_need_a_limit_when_they_are_loaded(path):
    f = lw.vectorize(lambda x: lw.while_loop(lambda v: v > 1, lambda v: v / 2, x))
    expected = f(X)
    f.save(path)
    with pytest.raises(lw.UsageError, match=r"^load: lambda has loops, which may never end; got"):
        lw.Vectorized.load(path)
    assert_same(lw.Vectorized.load(path, max_steps=100)(X), expected)
    with pytest.raises(lw.ElementError, match="got a limit of 1 steps"):
        lw.Vectorized.load(path, max_steps=1)(X * 100)


def test_functions_that_cannot_be_saved(path):
    f = lw.vectorize(lambda x: x)
    with pytest.raises(lw.UsageError, match=r"^lambda: nothing to save; got a function that was"):
        f.save(path)
    g = lw.vectorize(lambda x, how: x, excluded=[1])
    g(X, "how")
    with pytest.raises(lw.UsageError, match=r"^lambda: cannot be saved; got an excluded argument"):
        g.save(path)
    h = lw.vectorize(lambda x: {(1, 2): x})
    h(X)
    with pytest.raises(lw.UsageError, match=r"got a dict with the key \(1, 2\), expected strings"):
        h.save(path)


READ_TOO_EARLY = """function f(%0: f64) -> (f64) {
  %1 = slot f64
  %2 = slot_read f64 %1
  return (%2)
}
"""


def change(path, **changes):
    """Write the file again with another header."""
    with np.load(path) as file:
        arrays = dict(file)
    header = json.loads(arrays["header"].tobytes())
    for key, value in changes.items():
        if key in header["programs"][0]:
            header["programs"][0][key] = value
        else:
            header[key] = value
    arrays["header"] = np.frombuffer(json.dumps(header).encode(), np.uint8)
    buffer = io.BytesIO()
    np.savez(buffer, **arrays)
    path.write_bytes(buffer.getvalue())


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"lanewise": 99}, "has another format; got 99, expected 3"),
        ({"program": "function f("}, "parse"),
        ({"leaves": [["F32", False, "Mapped", []]]}, "has other parameters than the file says"),
        ({"leaves": [["F99", False, "Mapped", []]]}, "is not a file of programs; got KeyError"),
        ({"types": ["F32"]}, "has other results than the file says"),
        ({"captured": [["nothing", True]]}, "is not a file of programs"),
        ({"structures": 3}, "is not a file of programs; got TypeError"),
        (
            {"structures": [["dict", ["a", "b"], [None]]]},
            "load: a dict has other names than parts; got 2, expected 1 that differ.",
        ),
        ({"structures": [["dict", [[1]], [None]]]}, "is not a file of programs; got TypeError"),
        (
            {"structures": [["tuple", [], []]]},
            "load: containers hold other arguments than there are; got 0, expected 1.",
        ),
        (
            {"result": ["list", [], [None, None]]},
            "load: containers hold other results than there are; got 2, expected 1.",
        ),
        ({"leaves": [["F64", False, "Mapped", [2]]]}, "has other parameters than the file says"),
        ({"result_shapes": [[-1, -1]]}, "another size than its shape; got (-1, -1), expected f64"),
        ({"result_shapes": [[2**40] * 4]}, "another size than its shape"),
        ({"sizes": {"a": 1}}, "is not a file of programs; got ValueError"),
        ({"signature": "(n"}, "not a signature"),
        ({"program": READ_TOO_EARLY}, "the slot has a value"),
    ],
    ids=lambda changes: next(iter(changes)) if isinstance(changes, dict) else "",
)
def test_files_that_are_refused(path, changes, message):
    k = 2.0
    f = lw.vectorize(lambda x: x * k)
    f(X)
    f.save(path)
    change(path, **changes)
    with pytest.raises(lw.UsageError, match=re.escape(message)):
        lw.Vectorized.load(path)


def test_compressed_files_are_refused(path):
    f = lw.vectorize(lambda x: x + 1)
    f(X)
    f.save(path)
    with np.load(path) as file:
        arrays = dict(file)
    np.savez_compressed(path, **arrays)
    with pytest.raises(lw.UsageError, match="is compressed; got data that may unpack to any size"):
        lw.Vectorized.load(path)


def test_a_file_that_is_not_there_is_the_error_of_any_such_file(path):
    with pytest.raises(FileNotFoundError):
        lw.Vectorized.load(path)


def test_other_files_are_refused(path):
    path.write_bytes(b"nothing of the kind")
    with pytest.raises(lw.UsageError, match="is not a file of programs"):
        lw.Vectorized.load(path)


def test_unchecked_indices_are_refused(path):
    table = np.ones(3)
    f = lw.vectorize(lambda i: table[i])
    f(np.array([0, 1]))
    f.save(path)
    with np.load(path) as file:
        text = json.loads(file["header"].tobytes())["programs"][0]["program"]
    assert text.count(" check  #") == 1
    change(path, program=text.replace(" check  #", " unchecked  #"))
    with pytest.raises(lw.UsageError, match=r"^load: a program uses unchecked indices"):
        lw.Vectorized.load(path)


def test_places_that_nobody_checks_are_refused(path):
    f = lw.vectorize(lambda x: x + 1)
    f(X)
    f.save(path)
    program = """function f(%0: f64) -> (f64) {
  %1 = array f64 %0 4
  %2 = constant i32 1000000
  %3 = each 4 (%4: i32) {
    collect keep %0, %1, %2
  }
  return (%0)
}
"""
    change(path, program=program)
    with pytest.raises(lw.UsageError, match=r"^load: a program uses unchecked indices"):
        lw.Vectorized.load(path)


def test_a_description_that_would_fill_the_memory_is_refused(path, monkeypatch):
    f = lw.vectorize(lambda x: x + 1)
    f(X)
    f.save(path)
    monkeypatch.setattr("lanewise.saved._MOST_BYTES", 10)
    with pytest.raises(lw.UsageError, match=r"is too large; got \d+ bytes, expected at most 10\.$"):
        lw.Vectorized.load(path)
