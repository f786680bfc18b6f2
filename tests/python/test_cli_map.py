"""``lanewise map`` and ``lanewise explain``."""

import os
import pty
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest
from commands import command

import lanewise as lw
from lanewise.cli import main
from lanewise.cli import map as cli_map
from lanewise.cli.inputs import read


@pytest.fixture
def here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return tmp_path


def files():
    return sorted(path.name for path in Path().iterdir())


def run(capsys, *words):
    """Run a command in this process; return its code and its lines on stderr."""
    try:
        code = main([str(word) for word in words])
    except SystemExit as error:  # as the parser ends
        code = error.code
    return code, capsys.readouterr().err


def mapped(capsys, *words):
    assert run(capsys, "map", *words) == (0, "")


def refused(capsys, *words):
    code, err = run(capsys, *words)
    assert code == 2
    assert err.count("\n") == 1
    return err


def test_an_expression_is_mapped_over_a_file(here):
    x = np.linspace(-3, 3, 1000)
    np.save("in.npy", x)
    done = command("map", "sin(x) + cos(x) * exp(x)", "in.npy", "out.npy")
    assert done == (0, "out.npy: expression float64 (1000,)\n", "")
    expected = np.sin(x) + np.cos(x) * np.exp(x)
    np.testing.assert_allclose(np.load("out.npy"), expected, rtol=1e-13, atol=1e-13)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("y - x", lambda a, b: b - a),  # x, y, z in this order
        ("q - p", lambda a, b: a - b),  # others as they appear
        ("z / y", lambda a, b: b / a),
        ("max(x, y, 0) + min(x, y)", lambda a, b: np.maximum(a, b) + np.minimum(a, b)),
        ("where(x > y, pi, e) + inf * 0 * 0 if False else x + y", None),
        ("arctan2(x, y) - atan2(x, y) + x + y", lambda a, b: a + b),
        ("int(x * 10) // 2 + 0 * int(y)", lambda a, b: (a * 10).astype(int) // 2),
        ("float32(x) + float32(y)", lambda a, b: a.astype("f4") + b.astype("f4")),
        ("-x ** 2 + abs(-y)", lambda a, b: -(a**2) + b),
        ("(x < y) & ~(x == 0) | (y != y)", lambda a, b: (a < b) & (a != 0)),
    ],
)
def test_free_names_are_parameters_and_functions_have_plain_names(here, capsys, text, expected):
    a, b = np.linspace(0, 4, 9), np.linspace(1, 2, 9)
    np.save("a.npy", a)
    np.save("b.npy", b)
    mapped(capsys, text, "a.npy", "b.npy", "out.npy")
    wanted = a + b if expected is None else expected(a, b)
    got = np.load("out.npy")
    assert got.dtype == wanted.dtype
    np.testing.assert_array_equal(got, wanted)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("x if x > 0 else -x", np.abs),
        ("0.2 < x < 0.4 or x > 0.9", lambda x: ((x > 0.2) & (x < 0.4)) | (x > 0.9)),
        ("not x > 0.5", lambda x: ~(x > 0.5)),
        ("6 // int(x) if x >= 1 else 7", lambda x: np.array([7, 7, 7, 7, 7, 6, 2])),
    ],
)
def test_expressions_have_pythons_branches(here, capsys, text, expected):
    x = np.array([-2.0, 0.0, 0.3, 0.5, 0.95, 1.0, 3.0])
    np.save("in.npy", x)
    mapped(capsys, text, "in.npy", "out.npy")
    np.testing.assert_array_equal(np.load("out.npy"), expected(x))


def test_draws_are_those_of_the_whole_array(here, capsys, monkeypatch):
    x = np.zeros((7, 150))
    np.save("in.npy", x)
    (here / "noise.py").write_text(
        "import lanewise as lw\ndef noise(x):\n    return x + lw.random.normal()\n"
    )
    monkeypatch.setattr(cli_map, "_BLOCK", 100)
    mapped(capsys, "--seed=3", "noise.py:noise", "in.npy", "out.npy")
    noise = lw.vectorize(lambda x: x + lw.random.normal())
    np.testing.assert_array_equal(np.load("out.npy"), noise(x, seed=3))


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("__import__('os').system('true')", "unknown function; got __import__('os').system"),
        ("x.real", "not allowed in an expression; got x.real"),
        ("x[0]", "not allowed in an expression; got x[0]"),
        ("(lambda: x)()", "unknown function; got lambda: x"),
        ("[x for x in y]", "not allowed in an expression"),
        ("f'{x}'", "not allowed in an expression"),
        ("(x := 1)", "not allowed in an expression; got (x := 1)"),
        ("x @ y", "not allowed in an expression; got MatMult"),
        ("x in y", "not allowed in an expression; got In"),
        ("sin(*x)", "arguments by keyword"),
        ("clip(x, low=1)", "arguments by keyword"),
        ("'x' + x", "not a number; got 'x'"),
        ("open(x)", "unknown function; got open"),
        ("sin + x", "a function that is not called; got sin"),
        ("x +", "not an expression"),
        ("1 + 2", "no parameters; got '1 + 2'"),
        ("", "not an expression"),
        ("(" * 500 + "x" + ")" * 500, "not an expression"),
    ],
)
def test_expressions_are_arithmetic_and_nothing_else(here, capsys, text, problem):
    np.save("in.npy", np.ones(3))
    assert problem in refused(capsys, "map", text, "in.npy", "out.npy")
    assert files() == ["in.npy"]


def test_a_function_of_a_file_is_mapped_with_its_neighbours_imported(here, capsys):
    (here / "helper.py").write_text("SCALE = 3.0\n")
    (here / "mine.py").write_text(
        "import lanewise as lw\nfrom helper import SCALE\n"
        "def plain(x, k=2.0):\n    return x * SCALE + k, x > 1\n"
        "ready = lw.vectorize(plain, threads=1)\n"
    )
    np.save("in.npy", np.arange(3.0))
    for name in ("plain", "ready"):
        mapped(capsys, f"mine.py:{name}", "in.npy", "out.npz")
        with np.load("out.npz") as out:
            assert out.files == ["plain_0", "plain_1"]
            np.testing.assert_array_equal(out["plain_0"], [2, 5, 8])
            assert out["plain_1"].tolist() == [False, False, True]
    mapped(capsys, "mine.py:plain", "in.npy", "k=7", "out.csv")
    assert (here / "out.csv").read_text() == "plain_0,plain_1\n7.0,False\n10.0,False\n13.0,True\n"
    assert "options for a function that is vectorized already; got threads" in refused(
        capsys, "map", "--threads=2", "mine.py:ready", "in.npy", "out.npz"
    )


def test_errors_of_the_users_file_name_its_line_without_a_traceback(here, capsys):
    np.save("in.npy", np.arange(3.0))
    (here / "bad.py").write_text("import math\n\nbroken = 1 / 0\n")
    assert f"{here}/bad.py:3: ZeroDivisionError" in refused(
        capsys, "map", "bad.py:f", "in.npy", "out.npy"
    )
    (here / "worse.py").write_text("def f(x)\n    return x\n")
    assert "worse.py:1: SyntaxError" in refused(capsys, "map", "worse.py:f", "in.npy", "out.npy")
    (here / "fine.py").write_text("def f(x):\n    return x.wrong\n\ndef g(x):\n    return None\n")
    assert f"{here}/fine.py:2: AttributeError" in refused(
        capsys, "map", "fine.py:f", "in.npy", "out.npy"
    )
    assert f"{here}/fine.py:4: g: the function does not return elements" in refused(
        capsys, "map", "fine.py:g", "in.npy", "out.npy"
    )
    assert "no such function in fine.py; got h, expected one of f, g." in refused(
        capsys, "map", "fine.py:h", "in.npy", "out.npy"
    )
    assert "no such file; got none.py" in refused(capsys, "map", "none.py:f", "in.npy", "out.npy")


def test_arrays_of_one_file_go_to_the_parameters_of_their_names(here, capsys):
    a, b = np.arange(5.0), np.full(5, 2.0, np.float32)
    records = np.zeros(5, [("b", "f4"), ("a", "f8")])
    records["a"], records["b"] = a, b
    np.savez("plain.npz", b=b, a=a, other=np.zeros(3))
    np.savez_compressed("packed.npz", b=b, a=a)
    np.save("records.npy", records)
    (here / "table.csv").write_text(
        "b,a\n" + "".join(f"{y},{x}\n" for x, y in zip(a, b, strict=True))
    )
    for file in ("plain.npz", "packed.npz", "records.npy", "table.csv"):
        mapped(capsys, "a - b", file, "out.npy")
        np.testing.assert_array_equal(np.load("out.npy"), a - b)
        mapped(capsys, "u / v", f"{file}:b", f"{file}:a", "out.npy")
        with np.errstate(all="ignore"):
            np.testing.assert_array_equal(np.load("out.npy"), b / a)
        mapped(capsys, "u - v", f"v={file}:a", f"u={file}:b", "out.npy")
        np.testing.assert_array_equal(np.load("out.npy"), b - a)


def test_uncompressed_members_are_mapped_into_memory(here):
    fortran = np.asfortranarray(np.arange(6.0).reshape(2, 3))
    np.savez("a.npz", a=np.arange(4), b=fortran, empty=np.zeros((0, 2)))
    arrays = read("a.npz", []).arrays
    assert isinstance(arrays["a"].base, np.memmap)
    np.testing.assert_array_equal(arrays["a"], np.arange(4))
    np.testing.assert_array_equal(arrays["b"], fortran)
    assert arrays["empty"].shape == (0, 2)


def test_tables_without_a_header_give_their_columns_in_order(here, capsys):
    (here / "in.csv").write_text("1,0.5\n2,0.25\n\n3,1\n")
    mapped(capsys, "y / x", "in.csv", "out.csv")
    assert (here / "out.csv").read_text() == f"expression\n0.5\n0.125\n{1 / 3}\n"
    mapped(capsys, "x * 2", "in.csv:0", "out.npy")
    np.testing.assert_array_equal(np.load("out.npy"), np.array([2, 4, 6]))
    assert np.load("out.npy").dtype == np.int64


def test_whole_numbers_of_a_table_are_exact_and_mixed_columns_are_floats(here, capsys):
    (here / "in.csv").write_text(f"n,m\n{2**60 + 1},1\n5,2\n")
    mapped(capsys, "n + m", "in.csv", "out.csv")
    assert (here / "out.csv").read_text() == f"expression\n{2**60 + 2}\n7\n"
    (here / "in.csv").write_text("n\n1\n2.5\n")
    mapped(capsys, "n * 2", "in.csv", "out.csv")
    assert (here / "out.csv").read_text() == "expression\n2.0\n5.0\n"
    (here / "in.csv").write_text("n\n")
    mapped(capsys, "n * 2", "in.csv", "out.csv")
    assert (here / "out.csv").read_text() == "expression\n"
    (here / "in.csv").write_text("n,m\n1,2\n3,x\n")
    assert "cannot read in.csv; got could not convert string 'x'" in refused(
        capsys, "map", "n + m", "in.csv", "out.csv"
    )


def test_numbers_are_shared_and_shapes_broadcast(here, capsys):
    np.save("row.npy", np.arange(4, dtype=np.float32))
    np.save("column.npy", np.arange(3, dtype=np.float32).reshape(3, 1))
    mapped(capsys, "x * k + y", "row.npy", "k=0.5", "column.npy", "out.npy")
    got = np.load("out.npy")
    assert got.dtype == np.float32
    np.testing.assert_array_equal(got, np.load("row.npy") * 0.5 + np.load("column.npy"))
    mapped(capsys, "x + y", 2, 3, "one.npy")
    assert np.load("one.npy")[()] == 5
    np.save("none.npy", np.zeros((0, 3)))
    mapped(capsys, "x * 2", "none.npy", "out.npy")
    assert np.load("out.npy").shape == (0, 3)


@pytest.mark.parametrize("shape", [(10_000,), (7, 1000), (3, 2, 1111), (5, 4, 3, 2)])
def test_results_do_not_depend_on_the_size_of_blocks(here, capsys, monkeypatch, shape):
    x = np.random.default_rng(1).normal(size=shape)
    np.save("in.npy", x)
    np.save("turned.npy", np.asfortranarray(x))
    monkeypatch.setattr(cli_map, "_BLOCK", 100)
    mapped(capsys, "x * 3 + y", "in.npy", "turned.npy", "out.npy")
    np.testing.assert_array_equal(np.load("out.npy"), x * 3 + x)


def test_a_failing_element_is_named_by_its_number_in_the_whole(here, capsys, monkeypatch):
    x = np.ones(1000, np.int64)
    x[777] = 0
    np.save("in.npy", x)
    monkeypatch.setattr(cli_map, "_BLOCK", 100)
    err = refused(capsys, "map", "10 // x", "in.npy", "out.npy")
    assert "element 777 divides an integer by zero" in err
    assert files() == ["in.npy"]


def test_an_input_is_never_overwritten(here, capsys):
    np.save("in.npy", np.arange(3.0))
    os.link("in.npy", "same.npy")
    Path("link.npy").symlink_to("in.npy")
    for name in ("in.npy", "./in.npy", "same.npy", "link.npy"):
        assert "the output is an input; got" in refused(capsys, "map", "x * 2", "in.npy", name)
    np.testing.assert_array_equal(np.load("in.npy"), np.arange(3.0))


def test_other_files_are_replaced_in_one_step(here, capsys):
    np.save("in.npy", np.arange(3.0))
    (here / "out.npy").write_text("before")
    assert run(capsys, "map", "wrong(x)", "in.npy", "out.npy")[0] == 2
    assert (here / "out.npy").read_text() == "before"
    mapped(capsys, "x * 2", "in.npy", "out.npy")
    assert files() == ["in.npy", "out.npy"]
    assert (here / "out.npy").stat().st_mode & 0o777 == (here / "in.npy").stat().st_mode & 0o777


@pytest.mark.parametrize(
    ("words", "problem"),
    [
        (["x", "none.npy", "out.npy"], "no such file; got none.npy"),
        (["x", "in.txt", "out.npy"], "not an input; got in.txt, expected a number or a .npy"),
        (["x", "in.npy", "out.txt"], "not an output; got out.txt, expected a name that ends in"),
        (["x", "in.npy", "no/out.npy"], "cannot be written; got no/out.npy"),
        (["x * y", "in.npy", "out.npy"], "no input for y; got 1 (in.npy), expected those of"),
        (["x", "in.npy", "in.npy", "out.npy"], "more inputs than parameters; got 2"),
        (["x * y", "in.npy", "x=3", "x=4", "o.npy"], "two inputs for one parameter; got x twice"),
        (["x", "x=pair.npz", "out.npy"], "several arrays for one parameter; got x=pair.npz"),
        (["x", "pair.npz:c", "out.npy"], "no such array in pair.npz; got c, expected one of a, b"),
        (["x", "objects.npy", "out.npy"], "cannot read objects.npy"),
        (["x", "words.npy", "out.npy"], "unsupported type"),
        (["x", "torn.npy", "out.npy"], "cannot read torn.npy"),
        (["x", "torn.npz", "out.npy"], "cannot read torn.npz"),
        (["x + y", "in.npy", "four.npy", "out.npy"], "the inputs do not fit together; got shapes"),
        (["x, x", "in.npy", "out.npy"], "several results in one .npy file; got 2, expected 1"),
        (["x", "flat.npy", "out.csv"], "not a table; got results of shape (2, 2)"),
        (["x"], "FILE"),
        (["--threads=-1", "x", "in.npy", "out.npy"], "threads"),
        (["--math=loose", "x", "in.npy", "out.npy"], "invalid choice: 'loose'"),
    ],
)
def test_wrong_commands_end_with_one_line_and_leave_nothing(here, capsys, words, problem):
    np.save("in.npy", np.arange(3.0))
    np.save("four.npy", np.arange(4.0))
    np.save("flat.npy", np.ones((2, 2)))
    np.savez("pair.npz", a=np.ones(3), b=np.ones(3))
    np.save("objects.npy", np.array([{}, 1], object), allow_pickle=True)
    np.save("words.npy", np.array(["a", "b"]))
    (here / "torn.npy").write_bytes((here / "in.npy").read_bytes()[:100])
    (here / "torn.npz").write_bytes((here / "pair.npz").read_bytes()[:100])
    before = files()
    assert problem in refused(capsys, "map", *words)
    assert files() == before


ENDLESS = """
import lanewise as lw
def f(x):
    return lw.while_loop(lambda v: v > 0, lambda v: v * 0.5 + 1, x)
"""


@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_a_stopped_command_leaves_nothing(here, number, code):
    np.save("in.npy", np.ones(10))
    (here / "endless.py").write_text(ENDLESS)
    words = [sys.executable, "-m", "lanewise", "map", "endless.py:f", "in.npy", "out.npy"]
    process = subprocess.Popen(words, stderr=subprocess.PIPE)
    while not any(name.startswith(".lanewise-") for name in files()):
        time.sleep(0.01)
        assert process.poll() is None
    time.sleep(0.2)
    process.send_signal(number)
    _, err = process.communicate(timeout=30)
    assert process.returncode == code
    assert b"Traceback" not in err
    assert sorted(set(files()) - {"__pycache__"}) == ["endless.py", "in.npy"]


def test_a_step_limit_of_the_command_line_ends_endless_elements(here, capsys):
    np.save("in.npy", np.array([-1.0, 1.0]))
    (here / "endless.py").write_text(ENDLESS)
    err = refused(capsys, "map", "--max-steps=1000", "endless.py:f", "in.npy", "out.npy")
    assert "element 1" in err


def test_a_full_disk_is_an_error_that_leaves_nothing(here):
    np.save("in.npy", np.ones(100_000))

    words = f"{sys.executable} -m lanewise map x in.npy out.npy"
    done = subprocess.run(
        ["bash", "-c", f"ulimit -f 100; trap '' XFSZ; exec {words}"],
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert done.returncode == 2
    assert "File too large" in done.stderr
    assert done.stderr.count("\n") == 1
    assert files() == ["in.npy"]


def test_memory_does_not_grow_with_the_file(here):
    script = (
        "import resource, sys; from lanewise.cli import main\n"
        "code = main(['map', 'x * 2', 'in.npy', 'out.npy', '--threads=1'])\n"
        "lines = open('/proc/self/status').read().splitlines()\n"
        "print(code, next(l.split()[1] for l in lines if l.startswith('RssAnon')))\n"
    )
    anonymous = []
    for size in (1_000_000, 20_000_000):
        np.lib.format.open_memmap("in.npy", "w+", np.float64, (size,)).flush()
        done = subprocess.run(
            [sys.executable, "-c", script], capture_output=True, text=True, check=True, timeout=120
        )
        code, kilobytes = done.stdout.splitlines()[-1].split()
        assert code == "0"
        anonymous.append(int(kilobytes))
    assert anonymous[1] - anonymous[0] < 40_000  # the larger file has 160 MB


def test_a_terminal_shows_progress_and_a_pipe_does_not(here):
    np.save("in.npy", np.ones(3_000_000))
    words = [sys.executable, "-m", "lanewise", "map", "x * 2", "in.npy", "out.npy"]
    terminal, theirs = pty.openpty()
    process = subprocess.Popen(words, stderr=theirs, stdout=subprocess.DEVNULL)
    os.close(theirs)
    shown = b""
    while True:
        try:
            part = os.read(terminal, 4096)
        except OSError:  # the other end is closed
            break
        if not part:
            break
        shown += part
    assert process.wait(timeout=60) == 0
    assert b"100%" in shown
    assert b"M elements/s" in shown
    assert command("map", "x * 2", "in.npy", "out.npy").err == ""


def test_explain_takes_the_words_of_the_map(here, capsys):
    np.save("in.npy", np.linspace(0, 1, 100))
    for words in (["in.npy"], ["in.npy", "out.npy"], []):
        assert main(["explain", "sin(x) * 2", *words]) == 0
        text = capsys.readouterr().out
        assert text.startswith(f"expression: small map: {100 if words else 1} elements")
        assert "function expression(%0: f64) -> (f64)" in text
        assert ("last run  0 elements by the tile machine, 100 by" in text) == bool(words)
    assert files() == ["in.npy"]
    np.savez("pair.npz", a=np.ones(3), b=np.ones(3))
    assert main(["explain", "a * b", "pair.npz", "out.npz"]) == 0
    assert "no such file; got none.npy" in refused(capsys, "explain", "x", "none.npy")


def test_expressions_may_be_complex(here, capsys):
    np.save("in.npy", np.array([0.0, 1.0]))
    mapped(capsys, "exp(1j * x)", "in.npy", "out.npy")
    np.testing.assert_allclose(np.load("out.npy"), np.exp(1j * np.array([0.0, 1.0])), rtol=1e-15)


def test_archives_with_objects_and_tables_without_names(here, capsys):
    np.savez("objects.npz", x=np.array([None]))
    assert main(["map", "x + 1", "objects.npz", "out.npy"]) == 2
    assert "x.npy with Python objects" in capsys.readouterr().err
    Path("twice.csv").write_text("a,a\n1,2\n")
    assert main(["map", "x + 1", "twice.csv", "out.npy"]) == 2
    assert "columns a, a" in capsys.readouterr().err


@pytest.mark.parametrize("rows", [65535, 65536, 65537, 200_000])
def test_a_long_table_is_read_in_blocks(here, capsys, rows):
    n = np.arange(rows)
    (here / "in.csv").write_text("n,m\n" + "".join(f"{i},{i * 0.5}\n" for i in range(rows)))
    mapped(capsys, "n + m", "in.csv", "out.npy")
    np.testing.assert_array_equal(np.load(here / "out.npy"), n + n * 0.5)
    with (here / "in.csv").open("a") as file:
        file.write("0.5,1\n")  # no whole number after all
    mapped(capsys, "n", "in.csv", "out.npy")
    np.testing.assert_array_equal(np.load(here / "out.npy"), [*n, 0.5])
