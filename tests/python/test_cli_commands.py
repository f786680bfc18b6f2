"""The other commands: version, help, cache, doctor, bench, tour."""

import os
import re
import xml.etree.ElementTree
import zlib
from base64 import b64decode

import numpy as np
import pytest
from commands import command

import lanewise as lw
from lanewise.cli import fuzz, main
from lanewise.cli.pictures import Bar, bars, lanes, png
from lanewise.cli.workloads import numpy_mandelbrot, plain_mandelbrot, workloads


def test_the_command_prints_its_version():
    assert command("--version") == (0, f"lanewise {lw.__version__}\n", "")


def test_every_command_has_help():
    for name in ("map", "explain", "tour", "bench", "profile", "cache", "fuzz", "doctor"):
        done = command(name, "--help")
        assert (done.code, done.err) == (0, "")
        assert f"lanewise {name}" in done.out
    assert command("--help").out.count("lanewise") >= 2


@pytest.mark.parametrize(
    "words",
    [[], ["dance"], ["cache"], ["cache", "dance"], ["bench", "x"], ["doctor", "--programs", "1"]],
)
def test_wrong_commands_end_with_one_line(words):
    done = command(*words)
    assert (done.code, done.out, done.err.count("\n")) == (2, "", 1)


def test_the_fuzzer_gets_its_options(tmp_path, monkeypatch):
    fuzzer = tmp_path / "build" / "release" / "bin" / "lanewise_fuzz"
    fuzzer.parent.mkdir(parents=True)
    fuzzer.write_text("")
    fuzzer.chmod(0o755)
    called = []
    monkeypatch.setattr(fuzz, "_TREE", tmp_path)
    monkeypatch.setattr(fuzz.os, "execv", lambda *words: called.append(words))
    main(["fuzz", "--programs", "3", "--digest"])
    assert called == [(str(fuzzer), ["lanewise_fuzz", "--programs", "3", "--digest"])]


def test_a_missing_fuzzer_ends_with_one_line(tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(fuzz, "_TREE", tmp_path)
    monkeypatch.setattr(fuzz.shutil, "which", lambda _: None)
    assert main(["fuzz"]) == 2
    error = capsys.readouterr().err
    assert error.count("\n") == 1
    assert "no lanewise_fuzz to run; expected one in a build folder" in error
    assert "ninja -C build/release lanewise_fuzz" in error


@pytest.fixture
def cache(tmp_path):
    """Give an environment with a cache directory of its own."""
    directory = tmp_path / "cache"
    environment = os.environ | {"LANEWISE_CACHE_DIR": str(directory)}
    del environment["LANEWISE_DISK_CACHE"]
    return directory, environment


def test_the_cache_is_shown_and_cleared(cache, tmp_path):
    directory, environment = cache
    assert "0 programs" in command("cache", "info", env=environment).out
    np.save(tmp_path / "in.npy", np.ones(3))
    words = ("map", "--compile=now", "x * 2", tmp_path / "in.npy", tmp_path / "out.npy")
    assert command(*words, env=environment).code == 0
    assert len(list(directory.iterdir())) == 1
    (directory / "mine.txt").write_text("not ours")
    done = command("cache", "info", env=environment)
    assert str(directory) in done.out
    assert "1 programs" in done.out
    assert "removed 1 programs" in command("cache", "clear", env=environment).out
    assert [file.name for file in directory.iterdir()] == ["mine.txt"]


def test_without_a_cache_there_is_nothing_to_show_or_clear():
    for action in ("info", "clear"):
        done = command("cache", action)
        assert (done.code, done.err) == (0, "")
        assert "nothing is kept on disk" in done.out


def test_the_doctor_finds_all_well(cache):
    directory, environment = cache
    done = command("doctor", env=environment)
    assert (done.code, done.err) == (0, "")
    lines = {line.split()[1]: line for line in done.out.splitlines()}
    for topic in ("lanewise", "python", "numpy", "system", "threads", "formula", "loop", "cache"):
        assert lines[topic].startswith("ok"), lines[topic]
    assert "x86-64-v" in lines["loop"]
    directory.chmod(0o777)
    assert "others own it or may write to it" in command("doctor", env=environment).out


def test_the_doctor_reports_what_is_in_the_way(tmp_path, monkeypatch, capsys):
    (tmp_path / "numpy.py").write_text("")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("lanewise.cli.doctor.plain_mandelbrot", lambda a, b: 0)
    assert main(["doctor"]) == 1
    text = capsys.readouterr().out
    assert f"{tmp_path}/numpy.py hides the package numpy" in text
    assert "bad  loop     differs from plain Python" in text


def test_bench_times_each_function_here_and_elsewhere():
    done = command("bench", "--elements", "10000")
    assert done.code == 0
    for name in ("wave", "mandelbrot"):
        _, _, table = done.out.partition(f"{name}, 10000 elements\n")
        rows = table.partition("\n\n")[0].splitlines()[1:]
        assert [row.split()[0] for row in rows][:2] == ["lanewise", "NumPy"]
        assert rows[-1].split()[0] == "plain"
        for row in rows[:-1]:
            assert re.fullmatch(r"  \S+( +[\d.]+ ms){2} +[\d.]+x", row)
    assert command("bench", "--elements", "0").code == 2


def test_the_three_versions_of_a_workload_agree():
    a, b = workloads(900)[1].arguments
    expected = [plain_mandelbrot(*point) for point in zip(a.flat, b.flat, strict=True)]
    np.testing.assert_array_equal(numpy_mandelbrot(a, b), expected)


def test_the_tour_agrees_with_plain_python_and_writes_a_page(tmp_path):
    done = command("tour", cwd=tmp_path)
    assert (done.code, done.err) == (0, "")
    for name in ("wave", "mandelbrot"):
        assert f"@lw.vectorize\ndef {name}(" in done.out
    assert done.out.count("which differ by at most") == 2
    assert done.out.count("which differ by at most 0)") == 1  # sine differs in the last bits
    assert "@@" in done.out
    page = (tmp_path / "lanewise-tour.html").read_text()
    assert "http" not in page.replace("http://www.w3.org/2000/svg", "")  # nothing is loaded
    assert page.count("<svg") == 4
    for drawing in re.findall("<svg.*?</svg>", page):
        xml.etree.ElementTree.fromstring(drawing)
    found = re.search(r'base64,([^"]+)"', page)
    assert found is not None
    assert b64decode(found[1]).startswith(b"\x89PNG")


def test_the_tour_goes_without_a_page(tmp_path):
    assert "Pictures" not in command("tour", "--html", "-", cwd=tmp_path).out
    assert list(tmp_path.iterdir()) == []


def test_images_are_written_as_png():
    image = np.arange(2 * 3 * 3, dtype=np.uint8).reshape(2, 3, 3)
    data = png(image)
    assert data[16:24] == bytes([0, 0, 0, 3, 0, 0, 0, 2])  # width and height
    at = data.index(b"IDAT")
    length = int.from_bytes(data[at - 4 : at])
    rows = np.frombuffer(zlib.decompress(data[at + 4 : at + 4 + length]), np.uint8)
    np.testing.assert_array_equal(rows.reshape(2, 10)[:, 1:], image.reshape(2, 9))


def test_lanes_wait_in_packets_and_not_with_refill():
    counts = np.array([1, 9, 1, 9, 1, 1, 1, 1])
    assert "20 steps, lanes at work 60% of them" in lanes(counts, 2, refill=False)
    assert "12 steps, lanes at work 100% of them" in lanes(counts, 2, refill=True)


def test_longer_bars_are_longer():
    text = bars([Bar("a", 1.0, "1 s"), Bar("b", 100.0, "100 s")])
    first, second = (float(width) for width in re.findall(r'width="([\d.]+)" height="20"', text))
    assert second > first > 0


def test_numbers_of_elements_that_make_no_sense():
    done = command("bench", "--elements", "0")
    assert done.err == "lanewise bench: not a number of elements; got 0, expected 1 or more.\n"


def test_an_expression_without_names(tmp_path):
    done = command("map", "1 + 2", tmp_path / "in.npy", tmp_path / "out.npy")
    assert "the expression has no parameters; got '1 + 2', expected names" in done.err


def test_a_page_that_cannot_be_written(tmp_path, monkeypatch, capsys):
    monkeypatch.setattr("lanewise.cli.tour._ELEMENTS", 1000)
    assert main(["tour", "--html", str(tmp_path / "none" / "page.html")]) == 2
    assert "the page cannot be written; got " in capsys.readouterr().err


def test_a_cache_that_cannot_be_emptied(cache):
    directory, environment = cache
    directory.mkdir()
    (directory / "a.code").write_text("code")
    directory.chmod(0o777)
    done = command("cache", "clear", env=environment)
    assert done.code == 2
    assert f"cannot be emptied; got 1 programs, 0.0 MB left in {directory}, expected " in done.err
    assert [file.name for file in directory.iterdir()] == ["a.code"]
