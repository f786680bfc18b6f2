"""What is said of a map in which no element has ended for some time."""

import inspect
import re

import numpy as np
import pytest

import lanewise as lw


def stuck(x):
    while x > 0:
        x = x * 0.5 + 1
    return x


LOOP = inspect.getsourcelines(stuck)[1] + 1
X = np.full(500, -1.0)
X[300] = 1.0


@pytest.mark.parametrize("compile_", ["never", "now"])
@pytest.mark.parametrize("threads", [1, 2])
def test_elements_that_run_are_told(compile_, threads):
    told = []
    f = lw.vectorize(stuck, compile=compile_, threads=threads)
    f(X[:10])  # while a compile lasts no element runs
    with pytest.raises(lw.Timeout):
        f(X, timeout=0.5, watchdog=0.1, on_silence=told.append)
    assert 2 <= len(told) <= 5
    for one in told:
        assert isinstance(one, lw.Silence)
        assert one.function == "stuck"
        assert one.seconds >= 0.1
        assert any(first <= 300 < last for _, first, last, _, _ in one.running)
        assert [line for _, line in one.loops] == [LOOP]
        assert all([line for _, line in loops] == [LOOP] for *_, loops in one.running)
    assert told[-1].seconds > told[0].seconds


def test_a_line_is_written_where_nobody_asks(capsys):
    with pytest.raises(lw.Timeout):
        lw.map(stuck, X, timeout=0.4, watchdog=0.15, threads=1, compile="never")
    line = re.compile(
        r"map: stuck: no element has ended for 0\.[1-9] s; worker 0 has been at elements (\d+) to "
        rf"(\d+) for 0\.[1-9] s, in the loop of .*test_watchdog\.py:{LOOP}\."
    )
    said = [line.fullmatch(one) for one in capsys.readouterr().err.splitlines()]
    assert said
    assert all(one and int(one[1]) <= 300 <= int(one[2]) for one in said)


def test_a_map_that_comes_further_is_left_alone(capsys):
    assert lw.map(stuck, X[:10], timeout=10, watchdog=5) is not None
    assert capsys.readouterr().err == ""


def test_an_exception_of_on_silence_ends_the_map():
    def stop(told):
        raise KeyError("enough")

    with pytest.raises(KeyError, match="enough"):
        lw.map(stuck, X, watchdog=0.1, on_silence=stop)


def test_messages():
    with pytest.raises(lw.UsageError, match=r"watchdog is not a time; got -1, expected seconds"):
        lw.map(stuck, X, watchdog=-1)
    with pytest.raises(lw.UsageTypeError, match=r"on_silence cannot be told anything; got int"):
        lw.map(stuck, X, on_silence=3)
