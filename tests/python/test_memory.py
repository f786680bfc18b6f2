"""Where results come from, and what is counted."""

import gc
import threading
import time

import numpy as np
import pytest
from scripts import run

import lanewise as lw

LARGE = 1_000_000  # 8 MB of float64


@lw.vectorize
def plus_one(x):
    return x + 1


@pytest.fixture
def held():
    """Say how many bytes of results are held since the test began."""
    gc.collect()
    before = lw.memory_info().outputs.live
    return lambda: lw.memory_info().outputs.live - before


def test_a_large_result_comes_from_the_pool_and_goes_back(held):
    x = np.zeros(LARGE)
    y = plus_one(x)
    assert held() >= y.nbytes
    address = y.ctypes.data
    del y
    assert held() == 0
    assert lw.memory_info().pool.live >= x.nbytes
    assert plus_one(x).ctypes.data == address


def test_results_that_are_held_never_share_memory():
    x = np.arange(LARGE, dtype=np.float64)
    results = [plus_one(x + i) for i in range(5)]
    view = results[2][10:]
    del results[2]
    results.append(plus_one(x))
    assert not any(np.shares_memory(view, y) for y in results)
    assert view[0] == 13
    assert [y[1] for y in results] == [2, 3, 5, 6, 2]


def test_a_small_result_does_not_come_from_the_pool(held):
    y = plus_one(np.zeros(1000))
    assert held() == 0
    assert y[0] == 1


def test_a_large_result_owns_its_memory_and_can_be_resized(held):
    y = plus_one(np.zeros(LARGE))
    assert y.flags.owndata
    assert y.flags.writeable
    assert y.base is None
    y.resize(2 * LARGE)
    assert y[LARGE - 1] == 1
    assert y[2 * LARGE - 1] == 0
    y.resize(10)
    assert (y == 1).all()
    y.resize(0)
    del y
    assert held() == 0


def test_only_results_come_from_the_pool(held):
    y = plus_one(np.zeros(LARGE))
    bytes_held = held()
    copy = y.copy()
    other = np.empty(LARGE)
    assert held() == bytes_held
    assert copy[0] == 1
    assert other.shape == y.shape


def test_shapes_and_several_results_are_kept(held):
    both = lw.vectorize(lambda x: (x + 1, x > 0))
    values, signs = both(np.ones((1000, 2, 300)))
    assert values.shape == signs.shape == (1000, 2, 300)
    assert values.dtype == np.float64
    assert signs.dtype == np.bool_
    assert held() >= values.nbytes + signs.nbytes


def test_a_result_too_large_for_memory_is_refused():
    x = np.broadcast_to(np.float64(1), (1 << 45,))
    with pytest.raises(MemoryError):
        lw._core.empty(x.shape, x.dtype)
    with pytest.raises(ValueError, match="array is too big"):
        lw._core.empty((1 << 40, 1 << 40), x.dtype)


def test_eight_threads_get_memory_of_their_own():
    wrong = []

    def work(number):
        for i in range(20):
            y = plus_one(np.full(100_000, number + i, np.float64))
            time.sleep(0)
            if not (y == number + i + 1).all():
                wrong.append((number, i))

    threads = [threading.Thread(target=work, args=(100 * n,)) for n in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert wrong == []


def test_the_environment_bounds_the_pool():
    for bound, kept in ((0, 0), (10**9, 8 * 2**20)):
        text = run(
            """
            import os
            os.environ["LANEWISE_POOL_BYTES"] = "{bound}"
            import numpy as np, lanewise as lw
            f = lw.vectorize(lambda x: x + 1)
            x = np.zeros(1_000_000)
            for _ in range(3):
                f(x)
            print(lw.memory_info().pool.live)
            """,
            bound=bound,
        )
        assert int(text) == kept


def test_peaks_are_at_least_what_is_live():
    plus_one(np.zeros(LARGE))
    for use in lw.memory_info():
        assert use.peak >= use.live >= 0
    assert lw.memory_info().code.live > 0


def test_results_are_the_same_on_any_budget():
    x = np.linspace(-5, 5, 100_000)
    expected = lw.vectorize(np.sin)(x)
    for memory in (200_000, 2**20, 2**40):
        assert (
            lw.vectorize(np.sin, memory=memory, threads=2, compile="never")(x) == expected
        ).all()


def test_a_budget_that_is_too_small_is_refused():
    f = lw.vectorize(lambda x: x + 1, memory=1000, compile="never")
    with pytest.raises(
        lw.ResourceError,
        match=r"map: the memory budget is too small; got 1000 bytes, expected at least \d+ for one "
        r"worker: \d+ for registers of the tile machine\. Raise memory",
    ) as caught:
        f(np.zeros(10))
    assert isinstance(caught.value, MemoryError)
    assert lw.vectorize(lambda x: x + 1, memory=1000, compile="now")(np.zeros(10))[0] == 1


@pytest.mark.parametrize("threads", [1, 2])
@pytest.mark.parametrize("compile_", ["now", "never"])
def test_a_call_is_projected_and_then_measured(threads, compile_):
    def softmax(row):
        powers = np.exp(row - row.max())
        return powers / powers.sum()

    weights = np.ones((200, 16), np.float32)
    total = lw.Sum()
    apart = np.ones((400, 3000), np.float32)[::2].T
    calls = {
        "inner": (softmax, apart),
        "batched": (lambda row: row @ weights, apart),
        "accumulators": (lambda row: total.add(row), np.ones((3000, 200), np.float32)),
        "numbers": (lambda x: np.sin(x), np.ones((300, 200))[:, ::2].ravel()),
    }
    for name, (function, x) in calls.items():
        core = {"signature": "(n)->(m)"} if name == "batched" else {}
        core = {"signature": "(n)->(n)"} if name == "inner" else core
        options = {"threads": threads, "compile": compile_}
        if name == "accumulators":
            f = lw.Vectorized(function, given=options, core=lw.cores.ROWS)
        else:
            f = lw.vectorize(function, **options, **core)
        f(x)
        projected = f.explain(x).projected_bytes
        f(x)
        run = f.explain(x).last_run
        assert run["peak_bytes"] <= run["scratch_bytes"] == projected, name
        assert f"{projected} projected, {run['peak_bytes']} used" in str(f.explain(x))


def test_a_refusal_is_explained_before_the_call():
    images, out = np.ones((2, 1000, 1000)), np.zeros((2, 1000, 1000))
    f = lw.vectorize(lambda m: m * 2, signature="(n,m)->(n,m)", compile="now", memory=2**20)
    words = "the memory budget is too small; got 1048576 bytes, expected at least "
    with pytest.raises(lw.ResourceError, match=words) as refused:
        f(images, where=True, out=out)
    assert "8000000 for an element of output 0" in str(refused.value)
    one = lw.vectorize(lambda x: x + 1, memory=1000, compile="never")
    assert one.explain(np.zeros(10)).refusal.startswith("map: the memory budget is too small")
    assert "  refused   map: the memory budget" in str(one.explain(np.zeros(10)))


def test_a_budget_is_a_whole_number_of_bytes():
    for memory in (-1, 1.5, "1 MB", 2**63):
        with pytest.raises(lw.UsageError, match="vectorize: memory is not a whole number in range"):
            lw.vectorize(lambda x: x, memory=memory)


def test_ten_thousand_functions_leave_the_memory_where_it_was():
    text = run(
        """
        import gc
        import numpy as np, lanewise as lw

        def resident():
            with open("/proc/self/statm") as file:
                return int(file.read().split()[1]) * 4096

        def call(i):
            names = {{"np": np}}
            exec(f"def f(x): return np.sin(x * {{i}}.5) + (1 if g else 0)", names)
            names["g"] = lw.vectorize(names["f"])  # refers to itself
            names["g"](np.ones(8))

        for i in range(200):
            call(i)
        gc.collect()
        before = resident()
        for i in range(10_000):
            call(1000 + i)
        gc.collect()
        print((resident() - before) // 2**20)
        """
    )
    assert int(text) < 60
