"""Profiles: the table, the trace and the command."""

import json
import os
import threading

import numpy as np
import pytest
from commands import command

import lanewise as lw


def _halvings(x):
    n = 0
    while x > 1:
        x = x * 0.5
        n += 1
    return n


def _events(trace):
    return [event for event in trace["traceEvents"] if event["ph"] == "X"]


def _is_nested(events):
    """Whether each event of a track ends before the one that it began in."""
    open_ends = []
    for event in events:
        start, end = event["ts"], event["ts"] + event["dur"]
        while open_ends and open_ends[-1] <= start + 1e-6:
            open_ends.pop()
        if open_ends and end > open_ends[-1] + 1e-6:
            return False
        open_ends.append(end)
    return True


@pytest.fixture(scope="module")
def trace(tmp_path_factory):
    """Give the trace of two threads that map, fold and stage."""
    path = tmp_path_factory.mktemp("profile") / "trace.json"
    halvings = lw.vectorize(_halvings, name="halvings", threads=2, compile="now")
    strided = np.arange(400_000.0)[::2]

    def work():
        total = lw.Sum()
        add = lw.vectorize(lambda x: total.add(x), name="add", threads=2)
        for _ in range(3):
            halvings(np.arange(300_000.0))
            add(strided)

    with lw.profile(path) as profile:
        other = threading.Thread(target=work)
        other.start()
        work()
        other.join()
    return json.loads(path.read_text()), profile


def test_a_trace_is_json_with_a_track_for_each_thread(trace):
    events = trace[0]["traceEvents"]
    names = {event["args"]["name"] for event in events if event["name"] == "thread_name"}
    threads = {event["tid"] for event in _events(trace[0])}
    assert len(threads) >= 3
    assert any(name.startswith("lw-worker-") for name in names)
    assert trace[0]["otherData"] == {"dropped_events": 0}


def test_the_events_of_a_track_are_nested(trace):
    events = _events(trace[0])
    for thread in {event["tid"] for event in events}:
        track = [event for event in events if event["tid"] == thread]
        assert [event["ts"] for event in track] == sorted(event["ts"] for event in track)
        assert _is_nested(track)


def test_calls_chunks_and_counters_are_in_the_trace(trace):
    categories = {event["cat"] for event in _events(trace[0])}
    assert {"call", "chunk", "machine code", "stage in", "fold", "wait", "compile"} <= categories
    calls = [event for event in _events(trace[0]) if event["cat"] == "call"]
    assert sorted({event["name"] for event in calls}) == ["add", "halvings"]
    chunks = [e for e in _events(trace[0]) if e["cat"] in ("machine code", "tile machine")]
    done = sum(e["args"].get("elements", 0) for e in chunks if e["args"]["function"] == "halvings")
    assert done == 6 * 300_000
    counters = [event for event in trace[0]["traceEvents"] if event["ph"] == "C"]
    scratch = [one["args"]["bytes"] for one in counters if one["name"] == "scratch bytes"]
    assert max(scratch) > 0
    live = [one["args"]["percent"] for one in counters if one["name"] == "live lanes"]
    assert all(0 < one <= 100 for one in live)


def test_live_lanes_are_counted_while_the_tile_machine_runs():
    f = lw.vectorize(_halvings, name="uneven", compile="never", threads=1)
    with lw.profile() as profile:
        f(np.repeat([1e6, 2.0, 2.0], 10_000))
    events = json.loads(profile.json())["traceEvents"]
    live = [one["args"]["percent"] for one in events if one["name"] == "live lanes"]
    assert live
    assert all(0 < one <= 100 for one in live)


def test_the_table_has_a_row_for_each_function(trace):
    summary = trace[1].summary()
    rows = {row.name: row for row in summary.rows}
    assert {"add", "halvings"} <= set(rows)  # others may still be compiled
    assert [row.seconds for row in summary.rows] == sorted(r.seconds for r in summary.rows)[::-1]
    assert (rows["halvings"].calls, rows["halvings"].elements) == (6, 1_800_000)
    assert rows["add"].elements == 6 * 200_000
    assert 0 <= rows["add"].machine_code <= 1
    assert rows["halvings"].ns_an_element > 0
    text = str(trace[1])
    assert text.startswith("function")
    assert "\nhalvings " in text
    assert summary.dropped == 0


def test_results_are_the_same_under_a_profile():
    x = np.linspace(0, 1e6, 10_001)
    f = lw.vectorize(_halvings)
    expected = f(x)
    with lw.profile():
        np.testing.assert_array_equal(f(x), expected)


def test_small_calls_of_machine_code_are_seen():
    f = lw.vectorize(lambda x: x + 3, name="small", compile="now")
    x = np.zeros(8)
    f(x)
    with lw.profile() as profile:
        for _ in range(10):
            f(x)
    called = [row for row in profile.summary().rows if row.calls]  # others may still be compiled
    assert [(row.name, row.calls, row.elements) for row in called] == [("small", 10, 80)]


def test_one_profile_at_a_time():
    with lw.profile(), pytest.raises(lw.UsageError, match="profile: one is being taken"):
        lw.profile().__enter__()
    with lw.profile() as profile:
        pass
    with pytest.raises(lw.UsageError, match="profile: entered twice"):
        profile.__enter__()
    with pytest.raises(lw.UsageError, match="profile: not begun"):
        lw.profile().summary()


def test_a_wrong_path_is_found_before_the_work(tmp_path):
    with pytest.raises(OSError, match="nowhere"):
        lw.profile(tmp_path / "nowhere" / "trace.json").__enter__()
    with lw.profile():
        pass


def test_an_error_inside_leaves_a_trace(tmp_path):
    path = tmp_path / "trace.json"
    with pytest.raises(ZeroDivisionError), lw.profile(path):
        raise ZeroDivisionError
    assert json.loads(path.read_text())["traceEvents"]


def test_a_child_of_a_fork_takes_no_profile(tmp_path):
    path = tmp_path / "trace.json"
    f = lw.vectorize(lambda x: x * 2, name="parents")
    with lw.profile(path) as profile:
        f(np.ones(10))
        child = os.fork()
        if child == 0:
            code = 0 if f(np.ones(10))[0] == 2 and profile.summary().rows[0].calls == 1 else 1
            os._exit(code)
        assert os.waitpid(child, 0)[1] == 0
    assert profile.summary().rows[0].calls == 1
    assert json.loads(path.read_text())["traceEvents"]


SCRIPT = """\
import sys
import lanewise as lw, numpy as np
twice = lw.vectorize(lambda x: x * 2, name="twice")
print(sys.argv[1:], __name__, twice(np.ones(3)).sum())
sys.exit(3)
"""


def test_the_command_runs_a_script_and_writes_a_trace(tmp_path):
    (tmp_path / "script.py").write_text(SCRIPT)
    done = command("profile", "-o", "t.json", "script.py", "-a", "b", cwd=tmp_path)
    assert done.code == 3
    assert done.out == "['-a', 'b'] __main__ 6.0\n"
    assert "\ntwice " in done.err
    assert done.err.endswith("trace: t.json\n")
    events = _events(json.loads((tmp_path / "t.json").read_text()))
    assert "twice" in {event["name"] for event in events}


def test_the_command_shows_errors_of_the_script(tmp_path):
    (tmp_path / "bad.py").write_text("def f():\n    1 / 0\nf()\n")
    done = command("profile", "-o", "-", "bad.py", cwd=tmp_path)
    assert done.code == 1
    assert "ZeroDivisionError" in done.err
    assert list(tmp_path.iterdir()) == [tmp_path / "bad.py"]
    done = command("profile", "missing.py", cwd=tmp_path)
    assert (done.code, done.err.count("\n")) == (2, 1)
    assert "no such file; got missing.py, expected a Python script" in done.err
