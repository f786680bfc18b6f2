"""Accumulators: values, order, branches and loops, calls that go on and calls that fail."""

import pickle
import sys
import threading

import numpy as np
import pytest
from accumulator_orders import least, summed

import lanewise as lw

SIZES = [0, 1, 7, 1023, 1024, 1025, 16384, 16385, 20_000, 100_003]
WAYS = [
    {"threads": threads, "compile": tier, "memory": memory}
    for threads in (1, 2)
    for tier in ("now", "never")
    for memory in (0, 400_000)
]


def numbers(size, dtype=np.float64, seed=0):
    """Return numbers whose sum depends on the order."""
    rng = np.random.default_rng(seed)
    return (rng.normal(size=size) * 10.0 ** rng.integers(-6, 6, size)).astype(dtype)


def bits(value):
    return np.asarray(value).tobytes()


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("size", SIZES)
def test_a_sum_has_the_documented_order_in_every_way(size, dtype):
    x = numbers(size, dtype)
    expected = summed(x * x - x)
    for way in WAYS:
        total = lw.Sum()
        assert lw.map(lambda x: total.add(x * x - x), x, **way) is None  # noqa: B023
        assert total.value.dtype == dtype
        assert bits(total.value) == bits(expected), way


def test_a_sum_of_a_million_has_the_documented_order():
    x = numbers(10**6, np.float32)
    expected = summed(x)
    for threads in (1, 2):
        total = lw.Sum()
        f = lw.vectorize(lambda x: total.add(x), threads=threads)  # noqa: B023
        f(x)
        assert bits(total.value) == bits(expected)
        assert f.explain(x).last_run["workers"] == threads


@pytest.mark.parametrize("first", [1, 1000, 1024, 5 * 1024 + 17, 10**10])
def test_blocks_are_those_of_the_numbers_of_the_elements(first):
    x = numbers(30_000, np.float32)
    for threads in (1, 2):
        total = lw.Sum()
        lw.map(lambda x: total.add(x), x, first_element=first, threads=threads)  # noqa: B023
        assert bits(total.value) == bits(summed(x, first))


def test_pieces_with_first_element_have_the_blocks_of_the_whole():
    x = numbers(8 * 1024, np.float32)
    total = lw.Sum()
    lw.map(lambda x: total.add(x), x)
    halves = []
    for begin in (0, 4 * 1024):
        half = lw.Sum()
        piece = x[begin : begin + 4 * 1024]
        lw.map(lambda x: half.add(x), piece, first_element=begin)  # noqa: B023
        halves.append(half.value)
    assert bits(total.value) == bits(halves[0] + halves[1])


@pytest.mark.parametrize("layout", ["strided", "backwards", "fortran"])
def test_arrays_that_do_not_stand_together(layout):
    x = numbers(60_000, np.float32).reshape(200, 300)
    view = {"strided": x[::2, ::3], "backwards": x[::-1, ::-1], "fortran": np.asfortranarray(x)}
    expected = summed(view[layout].ravel())
    f_total = lw.Sum()
    f = lw.vectorize(lambda x: f_total.add(x))
    for threads in (1, 2):
        f_total.reset()
        f(view[layout], threads=threads)
        assert bits(f_total.value) == bits(expected)


def test_integers_are_added_as_numpy_adds_them_and_wrap():
    for dtype, added in [(np.uint8, np.uint64), (np.int16, np.int64), (np.bool_, np.int64)]:
        x = np.arange(5000).astype(dtype)
        total = lw.Sum()
        lw.map(lambda x: total.add(x), x)  # noqa: B023
        assert total.value == x.sum()
        assert total.value.dtype == added
    total = lw.Sum(dtype=np.int8)
    lw.map(lambda x: total.add(x), np.full(3000, 100, np.int8))
    assert total.value == np.full(3000, 100, np.int8).sum(dtype=np.int8)


def test_a_dtype_converts_what_is_added():
    x = numbers(3000, np.float32)
    total = lw.Sum(dtype=np.float64)
    lw.map(lambda x: total.add(x), x)
    assert bits(total.value) == bits(summed(x.astype(np.float64)))
    half = lw.Sum()
    lw.map(lambda x: half.add(x), np.ones(5000, np.float16))
    assert half.value == np.float32(5000)
    assert half.value.dtype == np.float32


def test_the_type_is_what_all_that_is_added_has_in_common():
    total = lw.Sum()

    @lw.vectorize
    def f(n, x):
        total.add(n)
        if n > 1:
            total.add(x)
        total.add(1)

    f(np.arange(4), np.full(4, 0.5, np.float32))
    assert total.value == 6 + 2 * 0.5 + 4
    assert total.value.dtype == np.float64


def test_complex_sums_and_means():
    z = (numbers(3000) + 1j * numbers(3000, seed=1)).astype(np.complex64)
    total, mean = lw.Sum(), lw.Mean()

    @lw.vectorize
    def f(z):
        total.add(z)
        mean.add(z)

    f(z)
    expected = summed(z.real.copy()) + 1j * summed(z.imag.copy())
    assert bits(total.value) == bits(expected.astype(np.complex64))
    assert mean.value.dtype == np.complex64
    assert abs(mean.value - total.value / 3000) <= 1e-6 * abs(total.value)


def test_an_element_adds_in_its_own_order_when_it_comes_there():
    total, steps = lw.Sum(), lw.Count()

    @lw.vectorize
    def f(x, n):
        while n > 0:
            if n % 3 == 1:
                n -= 2
                continue
            total.add(x / n)
            steps.add()
            n -= 1
        return n

    rng = np.random.default_rng(1)
    x, n = numbers(5000, np.float32), rng.integers(0, 20, 5000).astype(np.int32)
    partials = np.full(5000, -0.0, np.float32)
    count = 0
    for i in range(5000):
        left = n[i]
        while left > 0:
            if left % 3 == 1:
                left -= 2
                continue
            partials[i] = partials[i] + x[i] / np.float32(left)
            count += 1
            left -= 1
    for way in WAYS:
        total.reset()
        steps.reset()
        f(x, n.astype(np.float32), **way)
        assert bits(total.value) == bits(summed(partials))
        assert steps.value == count


def test_results_and_accumulators_beside_one_another():
    total = lw.Sum()

    @lw.vectorize
    def f(x):
        total.add(x)
        return x + 1, -x

    x = numbers(50_000)
    for way in WAYS:
        total.reset()
        y, z = f(x, **way)
        assert np.array_equal(y, x + 1)
        assert np.array_equal(z, -x)
        assert bits(total.value) == bits(summed(x))


def test_one_element_and_a_count_of_them():
    total = lw.Sum()
    f = lw.vectorize(lambda x: total.add(x))
    assert f(3.0) is None
    assert total.value == 3.0
    total.reset()
    lw.map(lambda: total.add(lw.element()), count=5000)
    assert total.value == 4999 * 5000 // 2


def test_sums_add_up_over_calls_until_they_are_reset():
    total, low, n = lw.Sum(), lw.Min(), lw.Count()

    @lw.vectorize
    def f(x):
        total.add(x)
        low.add(x)
        n.add()

    f(np.array([3.0, 4.0]))
    f(np.array([1.0, 5.0, 6.0]))
    assert (total.value, low.value, n.value) == (19.0, 1.0, 5)
    total.reset()
    f(np.zeros(0))
    assert (total.value, low.value, n.value) == (0.0, 1.0, 5)


def test_a_call_that_fails_adds_nothing():
    total, h, k, where = lw.Sum(), lw.Histogram(4), lw.KeyedSum(4), lw.ArgMin()

    @lw.vectorize
    def f(x):
        total.add(x)
        where.add(x)
        h.add(x.astype(np.int32) % 4)
        k.add(x.astype(np.int32) % 4, x)
        lw.check(x < 50_000)

    f(np.arange(10.0))
    before = total.value, h.value.tolist(), k.value.tolist(), where.value
    for threads in (1, 2):
        with pytest.raises(lw.ElementError):
            f(np.arange(100_000.0)[::-1].copy(), threads=threads)
        assert (total.value, h.value.tolist(), k.value.tolist(), where.value) == before


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_min_and_max_are_those_of_numpy_with_nan_and_zeros(dtype):
    for size in (1, 7, 1025, 40_000):
        x = numbers(size, dtype)
        low, high = lw.Min(), lw.Max()

        @lw.vectorize
        def f(x):
            low.add(x)  # noqa: B023
            high.add(x)  # noqa: B023

        f(x)
        assert (low.value, high.value) == (x.min(), x.max())
        assert low.value.dtype == dtype
        x[size // 2] = np.nan
        f(x)
        assert np.isnan(low.value)
        assert np.isnan(high.value)
    zeros = np.where(np.random.default_rng(0).random(5000) < 0.5, 0.0, -0.0).astype(dtype)
    low = lw.Min()
    lw.map(lambda x: low.add(x), zeros)
    assert bits(low.value) == bits(least(zeros).astype(dtype))


def test_min_and_max_of_integers_and_of_nothing():
    for dtype in (np.int8, np.uint16, np.int32, np.uint64, np.float16):
        x = np.random.default_rng(0).integers(0, 100, 3000).astype(dtype)
        low, high = lw.Min(), lw.Max(dtype=dtype)
        lw.map(lambda x: low.add(x) or high.add(x), x)  # noqa: B023
        assert (low.value, high.value) == (x.min(), x.max())
        assert low.value.dtype == high.value.dtype == dtype
    assert lw.Min().value == np.inf
    assert lw.Max().value == -np.inf
    assert lw.Max(dtype=np.int8).value == -128


@pytest.mark.parametrize("size", [1, 7, 1024, 1025, 40_000, 300_000])
def test_argmin_and_argmax_are_the_first_places(size):
    x = np.random.default_rng(size).integers(0, 50, size).astype(np.float32)
    for way in WAYS:
        low, high = lw.ArgMin(), lw.ArgMax()
        lw.map(lambda x: low.add(x) or high.add(x), x, **way)  # noqa: B023
        assert (low.value, high.value) == (x.argmin(), x.argmax())
        assert (low.least, high.greatest) == (x.min(), x.max())
    x[size // 3 :] = np.nan
    low = lw.ArgMin()
    lw.map(lambda x: low.add(x), x)
    assert low.value == size // 3
    assert np.isnan(low.least)


def test_argmin_knows_only_elements_that_add():
    where = lw.ArgMin()

    @lw.vectorize
    def f(x):
        if x > 5:
            where.add(np.inf)

    f(np.arange(4.0))
    assert where.value == -1
    assert where.least is None
    f(np.arange(3000.0), first_element=1 << 40)
    assert where.value == (1 << 40) + 6
    assert where.least == np.inf


def test_the_first_call_with_the_least_value_stays():
    where = lw.ArgMin()
    f = lw.vectorize(lambda x: where.add(x))
    f(np.array([4, 2, 2]))
    f(np.array([2, 3]), first_element=3)
    assert where.value == 1
    f(np.array([1]), first_element=5)
    assert where.value == 5


def test_means():
    x = numbers(5000, np.float32)
    mean = lw.Mean()
    lw.map(lambda x: mean.add(x), x)
    assert mean.value.dtype == np.float32
    assert bits(mean.value) == bits((summed(x) / np.int64(5000)).astype(np.float32))
    whole = lw.Mean()
    lw.map(lambda n: whole.add(n), np.arange(5))
    assert whole.value == 2.0
    assert whole.value.dtype == np.float64
    assert np.isnan(lw.Mean().value)


@pytest.mark.parametrize("dtype", [np.uint8, np.int8, np.int32, np.int64, np.uint32, np.uint64])
@pytest.mark.parametrize("bins", [100, 256, 5000])
def test_a_histogram_counts(dtype, bins):
    x = np.random.default_rng(0).integers(0, 100, 70_000).astype(dtype)
    for way in WAYS:
        h = lw.Histogram(bins)
        lw.map(lambda x: h.add(x), x, **way)  # noqa: B023
        assert np.array_equal(h.value, np.bincount(x.astype(np.int64), minlength=bins))


def test_a_histogram_in_branches_and_loops():
    walk = lw.Histogram(10)

    @lw.vectorize
    def f(n, steps):
        if steps > 3:
            walk.add(n)
        while steps > 0:
            walk.add((n + steps) % 10)
            steps -= 1

    n = np.arange(4000, dtype=np.int32) % 10
    steps = np.arange(4000, dtype=np.int32) % 7
    expected = np.zeros(10, int)
    for a, b in zip(n, steps, strict=True):
        expected[a] += b > 3
        for step in range(b, 0, -1):
            expected[(a + step) % 10] += 1
    for way in WAYS:
        walk.reset()
        f(n, steps, **{**way, "memory": 0})
        assert np.array_equal(walk.value, expected)


@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.int32])
@pytest.mark.parametrize("keys", [3, 1000, 200_000])
def test_keyed_sums_are_in_the_order_of_the_elements(dtype, keys):
    rng = np.random.default_rng(0)
    where = rng.integers(0, keys, 700_003).astype(np.int32)
    x = numbers(700_003, dtype)
    expected = np.zeros(keys, np.int64 if dtype is np.int32 else dtype)
    np.add.at(expected, where, x)
    for threads in (1, 2):
        for tier in ("now", "never"):
            k = lw.KeyedSum(keys)
            f = lw.vectorize(lambda i, x: k.add(i, x), threads=threads, compile=tier)  # noqa: B023
            f(where, x)
            assert bits(k.value) == bits(expected)
            assert f.explain(where, x).last_run["workers"] == threads


def test_keyed_sums_at_several_places_and_once_in_a_loop():
    k = lw.KeyedSum(8)

    @lw.vectorize
    def f(i, x):
        if i % 2 == 0:
            k.add(i, x)
        n = 0
        while True:
            if n == i:
                k.add((i + 1) % 8, x * 2)
                break
            n += 1

    i = np.arange(5000, dtype=np.int32) % 8
    x = numbers(5000)
    expected = np.zeros(8)
    for a, b in zip(i, x, strict=True):
        if a % 2 == 0:
            expected[a] += b
        expected[(a + 1) % 8] += b * 2
    for threads in (1, 2):
        k.reset()
        f(i, x, threads=threads)
        assert bits(k.value) == bits(expected)


def test_a_short_loop_over_keys():
    k = lw.KeyedSum(4)

    @lw.vectorize
    def f(i, x):
        for shift in range(3):
            k.add((i + shift) % 4, x * (shift + 1))

    i, x = np.arange(3000) % 4, numbers(3000)
    expected = np.zeros(4)
    for a, b in zip(i, x, strict=True):
        for shift in range(3):
            expected[(a + shift) % 4] += b * (shift + 1)
    f(i, x)
    assert bits(k.value) == bits(expected)


@pytest.mark.parametrize("dtype", [np.float32, np.int32])
def test_rows_and_images_are_added_value_by_value(dtype):
    images = numbers(30_000 * 6, dtype).reshape(30_000, 2, 3)
    total, mean, low, high = lw.Sum(), lw.Mean(), lw.Min(), lw.Max()

    def look(image):
        if image[0, 0] > 0:
            total.add(image)
            total.add(image * 2)
        mean.add(image[1])
        low.add(image.T)
        high.add(image)

    added = np.full(images.shape, -0.0 if dtype is np.float32 else 0, dtype)
    added = added.astype(np.int64 if dtype is np.int32 else dtype)
    chosen = images[:, 0, 0] > 0
    added[chosen] = images[chosen] + images[chosen] * dtype(2)
    for way in WAYS:
        for one in (total, mean, low, high):
            one.reset()
        assert lw.map(look, images, **{**way, "memory": way["memory"] * 10}) is None
        for i, j in np.ndindex(2, 3):
            column = added[:, i, j].copy()
            expected = summed(column) if dtype is np.float32 else column.sum()
            assert bits(total.value[i, j]) == bits(expected)
        assert np.array_equal(low.value, images.min(axis=0).T)
        assert np.array_equal(high.value, images.max(axis=0))
        assert np.allclose(mean.value, images[:, 1].mean(axis=0, dtype=np.float64), rtol=1e-3)
    total.reset()
    lw.map(lambda image: total.add(image), images[:2])
    lw.map(lambda image: total.add(image), images[2:3])
    assert np.allclose(total.value, images[:3].sum(axis=0))


def test_a_long_row_is_added_whole():
    rows = numbers(50 * 2000).reshape(50, 2000)
    total = lw.Sum()
    lw.map(lambda row: total.add(row * 0.5), rows)
    expected = [summed(column) for column in (rows * 0.5).T.copy()]
    assert bits(total.value) == bits(expected)


def test_elements_that_are_rows_add_numbers():
    rows = np.arange(12.0).reshape(4, 3)
    total, where = lw.Sum(), lw.ArgMax()

    def f(row):
        total.add(row.sum())
        where.add(row[1])
        return row * 2

    assert np.array_equal(lw.map(f, rows), rows * 2)
    assert (total.value, where.value) == (66.0, 3)
    total.reset()
    lw.vectorize(lambda row: total.add(row), signature="(n)->()")(rows)
    assert total.value.tolist() == [18, 22, 26]


def test_a_mask_says_who_adds():
    total = lw.Sum()
    x = numbers(30_000, np.float32)
    mask = x > 0
    lw.vectorize(lambda x: total.add(x))(x, where=mask)
    assert bits(total.value) == bits(summed(np.where(mask, x, np.float32(-0.0))))

    @lw.vectorize
    def f(x):
        total.add(x)
        return -x

    total.reset()
    out = np.zeros_like(x)
    f(x, where=mask, out=out)
    assert np.array_equal(out, np.where(mask, -x, 0))
    assert bits(total.value) == bits(summed(np.where(mask, x, np.float32(-0.0))))


def test_functions_that_print_add_too(capsys):
    total = lw.Sum()

    @lw.vectorize
    def f(x):
        print("at", x)
        total.add(x)

    f(np.array([1.0, 2.0]))
    assert capsys.readouterr().out == "at 1.0\nat 2.0\n"
    assert total.value == 3.0


def test_another_accumulator_of_the_same_name_is_found():
    def count(x, total):
        return lw.map(lambda x: total.add(x), x)

    first, second = lw.Sum(), lw.Sum()
    count(np.arange(3.0), first)
    count(np.arange(4.0), second)
    assert (first.value, second.value) == (3.0, 6.0)


def test_a_new_accumulator_needs_no_new_program(monkeypatch):
    vectorize = sys.modules["lanewise.vectorize"]
    recorded = []
    record = vectorize.record_program
    monkeypatch.setattr(
        vectorize, "record_program", lambda *args: recorded.append(args) or record(*args)
    )

    def both(x, a, b):
        lw.map(lambda x: a.add(x) or b.add(x + 1), x)
        return a.value, b.value

    x = np.arange(3.0)
    assert both(x, lw.Sum(), lw.Sum()) == (3.0, 6.0)
    assert both(x, lw.Sum(), lw.Sum()) == (3.0, 6.0)
    assert len(recorded) == 1
    assert both(x, lw.Max(), lw.Sum()) == (2.0, 6.0)
    assert len(recorded) == 2
    one = lw.Sum()
    assert both(x, one, one) == (9.0, 9.0)
    assert both(x, lw.Sum(), lw.Sum()) == (3.0, 6.0)
    assert both(x, lw.Sum(dtype=np.float32), lw.Sum()) == (3.0, 6.0)


def test_accumulators_in_objects_containers_and_arguments():
    class Model:
        def __init__(self):
            self.total = lw.Sum()
            self.parts = [lw.Count(), lw.Count()]

        def step(self, x):
            self.total.add(x)
            self.parts[1].add(x > 1)
            return x

    model = Model()
    lw.map(model.step, np.arange(4.0))
    assert model.total.value == 6.0
    assert [part.value for part in model.parts] == [0, 2]
    total = lw.Sum()
    f = lw.vectorize(lambda x, acc: acc.add(x), excluded={1})
    f(np.arange(4.0), total)
    assert total.value == 6.0


def test_nothing_is_added_by_a_look_at_one_element():
    total = lw.Sum()
    f = lw.vectorize(lambda x: total.add(x) or x)
    assert f.on(1, np.array([1.0, 2.0])) == 2.0
    assert total.value == 0.0


def test_explain_and_lower_show_what_is_added():
    total = lw.Sum()
    f = lw.vectorize(lambda x: total.add(x * x), name="square")
    assert "function square(%0: f64) -> (f64)" in f.lower(np.arange(3.0))
    f(np.arange(3000.0))
    assert f.explain(np.arange(3.0)).last_run["scratch_bytes"] > 0


def test_accumulators_travel_in_pickles_but_not_inside_of_functions():
    total = lw.Sum()
    f = lw.vectorize(lambda x: total.add(x))
    f(np.arange(3.0))
    copy = pickle.loads(pickle.dumps(total))
    assert copy.value == 3.0
    lw.map(lambda x: copy.add(x), np.ones(2))
    assert (copy.value, total.value) == (5.0, 3.0)
    with pytest.raises(lw.UsageError, match="cannot be pickled; got a function that adds to"):
        pickle.dumps(f)


def test_functions_that_add_are_not_saved(tmp_path):
    total = lw.Sum()
    f = lw.vectorize(lambda x: total.add(x))
    f(np.arange(3.0))
    with pytest.raises(lw.UsageError, match="adds to accumulators"):
        f.save(tmp_path / "f.npz")


def test_memory_stays_within_the_budget():
    total = lw.Sum()
    f = lw.vectorize(lambda x: total.add(x), compile="now", threads=1)
    x = np.ones(200_000)
    f(x, memory=10_000)
    assert total.value == 200_000
    assert f.explain(x).last_run["scratch_bytes"] <= 10_000
    with pytest.raises(lw.ResourceError, match="1024 elements add to accumulators"):
        f(x, memory=5_000)


def test_only_one_call_at_a_time_adds_to_an_accumulator():
    total = lw.Sum()
    begun, done = threading.Event(), threading.Event()

    def wait(told):
        begun.set()
        done.wait(10)

    @lw.vectorize
    def slow(x):
        for _ in range(300_000):
            x = x * 0.999 + 0.001
        total.add(x)

    thread = threading.Thread(target=lambda: slow(np.ones(1000), progress=wait, threads=1))
    thread.start()
    try:
        assert begun.wait(20)
        with pytest.raises(lw.UsageError, match=r"<Sum 0.0> is in use"):
            lw.map(lambda x: total.add(x), np.ones(3))
    finally:
        done.set()
        thread.join()
    assert total.value == 1000
