"""Blocks of large arrays, and `lanewise.dask`."""

import subprocess
import sys

import numpy as np
import pytest

import lanewise as lw
from lanewise.blocks import runs, split
from lanewise.dask import map_blocks

SHAPES = [(), (1,), (10,), (3, 7), (7, 1, 3), (2, 3, 4, 5), (0,), (4, 0, 3)]


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("most", [1, 2, 5, 12, 1000])
def test_blocks_are_contiguous_and_cover_all_elements_in_order(shape, most):
    numbers = np.arange(int(np.prod(shape))).reshape(shape)
    seen = []
    for block in split(shape, most):
        part = numbers[(*block.place, ...)]
        assert part.size == block.size <= max(most, 1)
        assert part.ravel().tolist() == list(range(block.first, block.first + block.size))
        seen.extend(part.ravel().tolist())
    assert seen == list(range(numbers.size))


@pytest.mark.parametrize(
    ("shape", "offset", "part", "count"),
    [
        ((10,), (3,), (4,), 1),
        ((4, 6), (1, 0), (2, 6), 1),
        ((4, 6), (1, 2), (2, 3), 2),
        ((3, 4, 5), (1, 1, 0), (2, 2, 5), 2),
        ((3, 4, 5), (0, 1, 1), (3, 2, 3), 6),
        ((3, 4, 5), (0, 0, 0), (3, 4, 5), 1),
        ((3, 4), (0, 4), (3, 0), 0),
    ],
)
def test_runs_of_a_part_have_the_numbers_of_the_whole(shape, offset, part, count):
    numbers = np.arange(np.prod(shape)).reshape(shape)
    block = numbers[tuple(slice(o, o + p) for o, p in zip(offset, part, strict=True))]
    found = list(runs(shape, offset, part))
    assert len(found) == count
    for place, first in found:
        run = block[place].ravel()
        assert run.tolist() == list(range(first, first + run.size))
    assert sum(block[place].size for place, _ in found) == block.size


def test_without_dask_the_call_says_what_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, "dask.array", None)
    with pytest.raises(lw.UsageError, match=r"map_blocks: dask is not installed; .*pip install"):
        map_blocks(lambda x: x, np.ones(3))


@pytest.fixture
def da():
    return pytest.importorskip("dask.array")


@pytest.mark.parametrize("chunks", [(2, 3, 2), (3, 4, 5), (1, 4, 5), (3, 1, 1)])
def test_blocks_of_any_shape_give_the_same(da, chunks):
    x = np.arange(60.0).reshape(3, 4, 5)
    cut = da.from_array(x, chunks=chunks)
    got = map_blocks(lambda x, k, y: x * k + y, cut, 2.0, np.arange(5, dtype=np.float32))
    assert got.dtype == np.float64
    np.testing.assert_array_equal(got.compute(), x * 2 + np.arange(5))
    product, is_large = map_blocks(lw.vectorize(lambda x: (x * 3, x > 30)), cut)
    np.testing.assert_array_equal(product.compute(), x * 3)
    np.testing.assert_array_equal(is_large.compute(), x > 30)
    (one,) = map_blocks(lambda x: (x + 1,), cut)
    np.testing.assert_array_equal(one.compute(), x + 1)
    assert map_blocks(lambda x: x * 2, da.zeros((0, 3))).compute().shape == (0, 3)


@pytest.mark.parametrize("chunks", [(6, 50), (2, 50), (4, 30), (1, 7)])
def test_draws_are_those_of_the_whole_array(da, chunks):
    noise = lw.vectorize(lambda x: x + lw.random.normal())
    x = np.zeros((6, 50))
    got = map_blocks(noise, da.from_array(x, chunks=chunks), seed=5).compute()
    np.testing.assert_array_equal(got, noise(x, seed=5))
    assert not np.array_equal(got, noise(x, seed=6))


def test_a_function_is_recorded_once_for_all_blocks(da):
    traces = []

    def f(x):
        traces.append(1)
        return x + 1

    got = map_blocks(f, da.zeros(1000, chunks=10)).compute(scheduler="synchronous")
    assert got.sum() == 1000
    assert len(traces) == 1


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda da: map_blocks(3, da.zeros(3)), "map_blocks: not a function; got int"),
        (lambda da: map_blocks(lambda x: x, 3.0), "map_blocks: nothing to map over; got 1 numbers"),
        (
            lambda da: map_blocks(lambda x: x, (d := da.arange(9, chunks=3))[d > 2]),
            "map_blocks: the size of an array is not known",
        ),
    ],
)
def test_wrong_calls_say_what_to_do(da, call, message):
    with pytest.raises(lw.UsageError, match=message):
        call(da)


CLUSTER = """
import os, signal, time
import dask.array as da, numpy as np
from distributed import Client, LocalCluster
import lanewise as lw
from lanewise.dask import map_blocks

@lw.vectorize
def steps(x, k):
    n = 0
    while x > 1:
        x = x * k + 0.01 * lw.random.uniform()
        n += 1
    return n

def slow(block):
    time.sleep(0.1)
    return block

if __name__ == "__main__":
    x = np.linspace(1, 1000, 40_000).reshape(40, 1000)
    expected = steps(x, 0.9, seed=3)
    options = dict(n_workers=2, threads_per_worker=1, processes=True, dashboard_address=None)
    with LocalCluster(**options) as cluster, Client(cluster) as client:
        pids = list(client.run(os.getpid).values())
        cut = da.from_array(x, chunks=(1, 500)).map_blocks(slow, dtype=x.dtype)
        future = client.compute(map_blocks(steps, cut, 0.9, seed=3))
        time.sleep(0.5)
        os.kill(pids[0], signal.SIGKILL)
        got = future.result(timeout=60)
        assert pids[0] not in client.run(os.getpid).values()
    assert np.array_equal(got, expected)
    print("fine")
"""


def test_a_cluster_that_loses_a_worker_gives_the_right_answer(tmp_path):
    pytest.importorskip("distributed")
    script = tmp_path / "cluster.py"
    script.write_text(CLUSTER)
    done = subprocess.run(
        [sys.executable, script], capture_output=True, text=True, timeout=180, check=False
    )
    assert (done.returncode, done.stdout) == (0, "fine\n"), done.stderr
