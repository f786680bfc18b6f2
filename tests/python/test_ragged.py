"""Rows of different lengths: what holds them, loops over them, and results that are rows."""

import pickle
import tracemalloc
import zlib

import numpy as np
import pytest
from ragged_samples import bits, ragged, uneven

import lanewise as lw
from lanewise.ragged import running

ROWS = lw.Ragged.from_lists([[1.0, 2.0, 3.0], [], [4.0], [5.0, 6.0]])
WAYS = [{"threads": threads, "compile": tier} for threads in (1, 2) for tier in ("now", "never")]


# --- what holds them ---


def test_rows_are_views():
    values = np.arange(5.0)
    rows = lw.Ragged(values, [0, 2, 2, 5])
    assert len(rows) == 3
    assert rows.lengths.tolist() == [2, 0, 3]
    assert np.shares_memory(rows[2], values)
    assert rows[-1].tolist() == [2.0, 3.0, 4.0]
    assert [row.tolist() for row in rows] == rows.to_list()
    assert rows[1:].to_list() == [[], [2.0, 3.0, 4.0]]
    assert rows[5:].to_list() == []
    with pytest.raises(IndexError):
        rows[3]


def test_offsets_of_32_bits_are_not_copied():
    offsets = np.array([0, 1, 3], np.int32)
    assert lw.Ragged(np.zeros(3), offsets).offsets is offsets
    assert lw.Ragged(np.zeros(3), offsets.astype(np.int64)).offsets.dtype == np.int32


def test_lists_and_arrays_become_rows():
    assert lw.Ragged.from_lists([[1, 2], [], [3]]).dtype == np.int64
    assert lw.Ragged.from_lists([[1], np.array([2.5])]).to_list() == [[1.0], [2.5]]
    assert lw.Ragged.from_lists([[], []]).dtype == np.float64
    assert lw.Ragged.from_lists([], np.uint8).to_list() == []
    nested = lw.Ragged.from_lists([[[1, 2], []], [], [[3]]])
    assert nested.depth == 2
    assert nested.to_list() == [[[1, 2], []], [], [[3]]]


class Splits:
    """As ``tf.RaggedTensor`` is."""

    def __init__(self, values, row_splits):
        self.values = values
        self.row_splits = row_splits


def test_pairs_become_rows():
    inner = Splits(np.array([1.0, 2.0, 3.0]), np.array([0, 2, 2, 3]))
    assert lw.Ragged.from_pair(inner).to_list() == [[1.0, 2.0], [], [3.0]]
    nested = lw.Ragged.from_pair(Splits(inner, np.array([0, 1, 3])))
    assert nested.to_list() == [[[1.0, 2.0]], [[], [3.0]]]


def test_arrow_lists_become_rows():
    pa = pytest.importorskip("pyarrow")
    array = pa.array([[1, 2], [], [3], [4, 5]])
    assert lw.Ragged.from_arrow(array).to_list() == array.to_pylist()
    assert lw.Ragged.from_arrow(array[1:3]).to_list() == [[], [3]]
    chunks = pa.chunked_array([array, array])
    assert lw.Ragged.from_arrow(chunks).to_list() == chunks.to_pylist()
    nested = pa.array([[[1.0], []], [], [[2.0, 3.0]]])
    assert lw.Ragged.from_arrow(nested).to_list() == nested.to_pylist()
    large = pa.array([[1], [2, 3]], pa.large_list(pa.int8()))
    assert lw.Ragged.from_arrow(large).dtype == np.int8


class Numbers:
    """As Arrow's arrays of numbers are."""

    def __init__(self, values, null_count=0):
        self._values = values
        self.null_count = null_count

    def to_numpy(self, zero_copy_only):
        assert not zero_copy_only
        return self._values


class Lists:
    """As Arrow's list arrays are."""

    def __init__(self, values, offsets, null_count=0):
        self.values = values
        self.offsets = offsets
        self.null_count = null_count


def test_what_looks_like_arrow_becomes_rows():
    inner = Lists(Numbers(np.array([1, 2, 3])), np.array([0, 2, 3], np.int32))
    assert lw.Ragged.from_arrow(inner).to_list() == [[1, 2], [3]]
    outer = Lists(inner, np.array([0, 0, 2], np.int32))
    assert lw.Ragged.from_arrow(outer).to_list() == [[], [[1, 2], [3]]]


def test_rows_are_pickled():
    assert pickle.loads(pickle.dumps(ROWS)).to_list() == ROWS.to_list()
    assert repr(ROWS) == "<Ragged of 4 rows, 6 values, float64>"


# --- what a function does with a row ---


def crc_table():
    table = np.arange(256, dtype=np.uint32)
    for _ in range(8):
        table = np.where(table & 1, (table >> 1) ^ np.uint32(0xEDB88320), table >> 1)
    return table.astype(np.uint32)


def test_crc_of_rows_of_bytes():
    table = crc_table()

    def crc(row):
        c = np.uint32(0xFFFFFFFF)
        for b in row:
            c = table[(c ^ b) & np.uint32(255)] ^ (c >> np.uint32(8))
        return c ^ np.uint32(0xFFFFFFFF)

    rng = np.random.default_rng(0)
    lengths = uneven(2000)
    offsets = np.concatenate([[0], np.cumsum(lengths)])
    for shift in range(4):  # the bytes may begin anywhere
        values = rng.integers(0, 256, offsets[-1] + shift).astype(np.uint8)[shift:]
        rows = lw.Ragged(values, offsets)
        expected = [zlib.crc32(row.tobytes()) for row in rows]
        for way in WAYS:
            assert lw.map(crc, rows, **way).tolist() == expected, (way, shift)


@pytest.mark.parametrize("dtype", [np.int8, np.uint8, np.int16, np.uint16, np.float16, np.bool_])
def test_small_types_are_read_wherever_they_stand(dtype):
    values = np.random.default_rng(0).integers(-300, 300, 3000).astype(dtype)
    for shift in range(4):
        rows = lw.Ragged(values[shift:], np.linspace(0, 2990, 300).astype(int))
        expected = [row.astype(np.float64).sum() for row in rows]
        assert lw.map(lambda row: row.astype(np.float64).sum(), rows, compile="now").tolist() == (
            expected
        )


def test_loops_and_indices():
    def several(row, scale):
        total = 0.0
        for i, v in enumerate(row):
            total += i * v
        for a, b in zip(row, row * 2, strict=True):
            total += a * b
        for i, v in zip(range(1, len(row) + 1), row, strict=True):
            total += i * v
        k = 0
        while k < len(row):
            total += row[k] + row[-1 - k]
            k += 1
        for v in reversed(row):
            if v > 5:
                break
            total -= v
        return total * scale

    scale = np.array([1.0, 2.0, 3.0, 4.0])

    def lists(row, scale):
        row = np.array(row)
        total = float(sum(i * v for i, v in enumerate(row)))
        total += float(sum(a * b for a, b in zip(row, row * 2, strict=True)))
        total += float(sum((i + 1) * v for i, v in enumerate(row)))
        total += 2 * float(row.sum())
        for v in row[::-1]:
            if v > 5:
                break
            total -= float(v)
        return total * scale

    for way in WAYS:
        found = lw.map(several, ROWS, scale, **way)
        assert found.tolist() == [lists(r, s) for r, s in zip(ROWS, scale, strict=True)], way


@pytest.mark.parametrize(
    "part",
    [
        *(slice(1, None), slice(None, -1), slice(-2, None), slice(None, None, -1)),
        *(slice(None, None, 2), slice(1, None, 3), slice(None, 0, -2), slice(2, 1), slice(-9, 9)),
        *(slice(-2, None, -1), slice(9, -9, -3)),
    ],
)
def test_slices_are_those_of_numpy(part):
    rows = ragged(range(12))
    found = lw.map(lambda row: row[part], rows)
    assert found.to_list() == [row[part].tolist() for row in rows]
    sums = lw.map(lambda row: sum((row * 2)[part]), rows)
    assert sums.tolist() == [sum((row * 2)[part].tolist()) for row in rows]


def test_slices_by_elements():
    rows = ragged([5, 6, 7])
    begin, end = np.array([0, -2, 9]), np.array([2, 100, 3])
    found = lw.map(lambda row, a, b: row[a:b], rows, begin, end)
    expected = [row[a:b].tolist() for row, a, b in zip(rows, begin, end, strict=True)]
    assert found.to_list() == expected
    assert lw.map(lambda row, a: row[a:][1:], rows, begin).to_list() == [
        row[a:][1:].tolist() for row, a in zip(rows, begin, strict=True)
    ]


def test_rows_of_indices_read_tables():
    rows = lw.Ragged.from_lists([[3, 0, 1], [], [-1]])
    table = np.array([1.0, 2.0, 4.0, 8.0])
    assert lw.map(lambda row: table[row].sum(), rows).tolist() == [11.0, 0.0, 8.0]
    got = lw.map(lambda row: table[row] + 1, rows)
    assert got.to_list() == [(table[row] + 1).tolist() for row in rows]
    found = lw.map(
        lambda row, t: (t[row] * row).max() if len(row) else 0.0, rows, table, in_axes=(0, None)
    )
    assert found.tolist() == [24.0, 0.0, -8.0]


def test_loops_in_loops_over_rows():
    def distances(row):
        total = 0.0
        for v in row:
            total += ((row - v) ** 2).sum()
        return total

    def products(row):
        best = 0.0
        for i in range(len(row)):
            for w in row[i:]:
                best = max(best, row[i] * w)
        return best

    assert lw.map(distances, ROWS).tolist() == [12.0, 0.0, 0.0, 2.0]
    assert lw.map(products, ROWS).tolist() == [9.0, 0.0, 16.0, 36.0]


def test_rows_of_rows():
    nested = lw.Ragged.from_lists([[[1.0, 2.0], []], [], [[3.0], [4.0, 5.0], [6.0]]])

    def several(rows):
        total = 0.0
        for row in rows:
            total += row.sum() * len(row)
        return total, len(rows)

    for way in WAYS:
        total, count = lw.map(several, nested, **way)
        assert total.tolist() == [6.0, 0.0, 27.0]
        assert count.tolist() == [2, 0, 3]
    found = lw.map(lambda rows: rows[-1] * 2, lw.Ragged.from_lists([[[1.0], [2.0, 3.0]], [[4.0]]]))
    assert found.to_list() == [[4.0, 6.0], [8.0]]


def test_rows_beside_other_arguments():
    matrix = np.arange(8.0).reshape(4, 2)
    found = lw.map(lambda row, pair: row.sum() + pair.sum(), ROWS, matrix)
    assert found.tolist() == [7.0, 5.0, 13.0, 24.0]
    in_dict = lw.map(lambda d: d["row"].sum() * d["k"], {"row": ROWS, "k": np.arange(4)})
    assert in_dict.tolist() == [0.0, 0.0, 8.0, 33.0]
    scaled = lw.vectorize(lambda row, k: (row * k).sum())
    assert scaled(ROWS, 2.0).tolist() == [12.0, 0.0, 8.0, 22.0]
    assert scaled(ROWS, np.array([3.0])).tolist() == [18.0, 0.0, 12.0, 33.0]


def test_the_plain_function_runs_on_one_row():
    f = lw.vectorize(lambda row, k: row.sum() * k)
    assert f.on(3, ROWS, np.arange(4.0)) == 33.0
    nested = lw.Ragged.from_lists([[[1.0], [2.0, 3.0]]])
    assert lw.vectorize(lambda rows: rows[1].sum()).on(0, nested) == 5.0


def test_numbers_of_elements_draws_prints_and_accumulators_go_by_rows(capsys):
    rows = ragged(uneven(1000))
    assert lw.map(lambda row: lw.element() + 0 * len(row), rows).tolist() == list(range(1000))
    drawn = lw.map(lambda row: lw.random.uniform() + 0 * len(row), rows, seed=3)
    plain = lw.map(lambda x: lw.random.uniform() + 0 * x, np.zeros(1000, np.int64), seed=3)
    assert bits(drawn) == bits(plain)

    def talk(row):
        if len(row) == 3:
            print("three", row[0])
        return len(row)

    some = lw.Ragged.from_lists([[1.0], [2.0, 3.0, 4.0], [], [5.0, 6.0, 7.0]])
    assert lw.map(talk, some).tolist() == [1, 3, 0, 3]
    assert capsys.readouterr().out == "three 2.0\nthree 5.0\n"
    total = lw.Sum()
    lw.map(lambda row: total.add(row.sum()), rows)
    sums = lw.map(lambda row: row.sum(), rows)
    other = lw.Sum()
    lw.map(lambda x: other.add(x), sums)
    assert bits(total.value) == bits(other.value)


# --- results that are rows ---


def test_functions_of_all_numbers_keep_the_offsets():
    rows = ragged(uneven(500), np.float32)
    found = lw.map(lambda row: np.exp(row * 0.001) + 1, rows)
    assert found.offsets is rows.offsets
    plain = lw.map(lambda x: np.exp(x * 0.001) + 1, rows.values)
    assert bits(found.values) == bits(plain)


def test_softmax_of_rows():
    rows = ragged([*uneven(3000), 0, 1, 70_000], np.float32)
    rows = lw.Ragged(np.clip(rows.values, -30, 30), rows.offsets)
    for way in WAYS:
        found = lw.map(lambda row: lw.softmax(row), rows, **way)
        for row, result in zip(rows, found, strict=True):
            if len(row):
                powers = np.exp(row.astype(np.float64) - row.max())
                np.testing.assert_allclose(result, powers / powers.sum(), rtol=1e-4, atol=1e-30)


def test_results_in_blocks_are_those_of_all_rows(monkeypatch):
    rows = ragged(uneven(700), np.float32)
    weight = np.linspace(0, 1, 700, dtype=np.float32)

    def several(row, w):
        return lw.softmax(row), row.sum(), (row - row.mean() * w)[1:], len(row)

    expected = lw.map(several, rows, weight)
    monkeypatch.setattr(running, "BLOCK", 128)
    monkeypatch.setattr(running, "VALUES", 100)
    for way in WAYS:
        found = lw.map(several, rows, weight, **way)
        for a, b in zip(found, expected, strict=True):
            if isinstance(a, lw.Ragged):
                assert a.offsets.tolist() == b.offsets.tolist(), way
                a, b = a.values, b.values
            assert bits(a) == bits(b), way


def test_two_rows_and_numbers_of_a_row():
    other = lw.Ragged(ROWS.values * 10, ROWS.offsets)
    apart = lw.Ragged(ROWS.values * 10, ROWS.offsets.copy())
    for second in (other, apart):
        found = lw.map(lambda a, b: a * b.sum() + b[::-1], ROWS, second)
        assert found.to_list() == [
            (a * b.sum() + b[::-1]).tolist() for a, b in zip(ROWS, second, strict=True)
        ]


def test_rows_of_a_part_of_the_values():
    part = lw.Ragged(np.arange(10.0), [3, 5, 9])
    found = lw.map(lambda row: (row * 2, row[1:] + len(row)), part)
    assert found[0].to_list() == [[6.0, 8.0], [10.0, 12.0, 14.0, 16.0]]
    assert found[1].to_list() == [[6.0], [10.0, 11.0, 12.0]]


def test_captured_numbers_and_functions_with_several_results():
    scale, exponent = 3.0, 2
    assert (
        lw.map(lambda row: row**exponent * scale, ROWS).values.tolist()
        == (ROWS.values**2 * 3).tolist()
    )
    whole, rest = lw.map(lambda row: divmod(row, 2), ROWS)
    assert whole.values.tolist() == (ROWS.values // 2).tolist()
    assert rest.values.tolist() == (ROWS.values % 2).tolist()
    chosen = lw.map(lambda row: np.where(row > 2, row, -1), ROWS)
    assert chosen.to_list() == [[-1.0, -1.0, 3.0], [], [4.0], [5.0, 6.0]]
    assert lw.map(lambda row: lw.sin(row).clip(0, 1), ROWS).values.dtype == np.float64
    assert lw.map(lambda row: -abs(~(row > 2)).astype(np.int32), ROWS).dtype == np.int32


def test_no_rows_and_rows_without_values():
    nothing = lw.Ragged.from_lists([])
    assert lw.map(lambda row: row.sum(), nothing).shape == (0,)
    assert lw.map(lambda row: row * 2, nothing).to_list() == []
    assert lw.map(lambda row: row[1:], nothing).to_list() == []
    empty = lw.Ragged.from_lists([[], []])
    assert lw.map(lambda row: row.sum(), empty).tolist() == [0.0, 0.0]
    assert lw.map(lambda row: lw.softmax(row), empty).to_list() == [[], []]


def test_results_go_where_they_are_wanted():
    out = lw.Ragged(np.zeros(8), [1, 4, 4, 5, 7])
    found = lw.map(lambda row: row + 1, ROWS, out=out)
    assert found is out
    assert out.values.tolist() == [0.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 0.0]
    sums = np.zeros(4)
    rows = lw.Ragged(np.zeros(3), [0, 2, 2, 2, 3])
    lw.map(lambda row: (row.sum(), row[1:]), ROWS, out=(sums, rows))
    assert sums.tolist() == [6.0, 0.0, 4.0, 11.0]
    assert rows.to_list() == [[2.0, 3.0], [], [], [6.0]]
    strided = np.zeros(8)
    lw.map(lambda row: row.sum(), ROWS, out=strided[::2])
    assert strided.tolist() == [6.0, 0.0, 0.0, 0.0, 4.0, 0.0, 11.0, 0.0]


def test_progress_counts_rows(monkeypatch):
    monkeypatch.setattr(running, "BLOCK", 100)
    told = []
    lw.map(
        lambda row: row[1:],
        ragged(uneven(450)),
        progress=lambda progress: told.append(progress[:2]),
    )
    assert told[-1] == (450, 450)
    assert all(total == 450 for _, total in told)


def test_only_some_rows():
    out = np.full(4, -1.0)
    mask = np.array([True, True, False, True])
    f = lw.vectorize(lambda row: row.sum())
    f(ROWS, out=out, where=mask)
    assert out.tolist() == [6.0, 0.0, -1.0, 11.0]


def test_only_some_rows_of_results():
    mask = np.array([True, True, False, True])
    out = lw.Ragged(np.full(9, -1.0), [1, 4, 4, 6, 8])  # the third row may have any length
    f = lw.vectorize(lambda row: row + row.sum())
    assert f(ROWS, out=out, where=mask) is out
    assert out.values.tolist() == [-1.0, 7.0, 8.0, 9.0, -1.0, -1.0, 16.0, 17.0, -1.0]
    assert f(ROWS, out=out, where=False) is out
    assert out.values[6] == 16.0
    sums = np.full(8, -1.0)[::2]
    rows = lw.Ragged(np.full(4, -1.0), [0, 2, 2, 3, 4])
    lw.vectorize(lambda row: (row.sum(), row[1:]))(ROWS, out=(sums, rows), where=mask)
    assert sums.tolist() == [6.0, 0.0, -1.0, 11.0]
    assert rows.to_list() == [[2.0, 3.0], [], [-1.0], [6.0]]


def test_rows_that_are_not_chosen_cannot_fail():
    rows = lw.Ragged.from_lists([[4, 8], [0, 3], [2]], np.int64)
    f = lw.vectorize(lambda row: 16 // row)
    out = lw.Ragged(np.zeros(5, np.int64), rows.offsets)
    f(rows, out=out, where=[True, False, True])
    assert out.to_list() == [[4, 2], [0, 0], [8]]
    with pytest.raises(lw.ElementError) as caught:
        f(rows, out=out, where=[False, True, True])
    assert caught.value.element == 1


def test_chosen_rows_have_the_same_bits_in_blocks_and_in_any_order(monkeypatch):
    monkeypatch.setattr(running, "BLOCK", 100)
    monkeypatch.setattr(running, "VALUES", 37)
    lists = uneven(450)
    rows = ragged(lists)
    mask = np.random.default_rng(3).random(450) < 0.6

    def f(row, x):
        return row * x + lw.element(), row.sum(), row[::-1][1:]

    x = np.linspace(1, 2, 450)
    whole = lw.map(f, rows, x)
    out = tuple(
        lw.Ragged(np.full(one.values.shape, -1.0), one.offsets)
        if isinstance(one, lw.Ragged)
        else np.full(450, -1.0)
        for one in whole
    )
    lw.vectorize(f)(rows, x, out=out, where=mask)
    for got, expected in zip(out, whole, strict=True):
        for row in range(450):
            wanted = expected[row] if mask[row] else np.full_like(expected[row], -1.0)
            np.testing.assert_array_equal(got[row], wanted)


def test_a_call_explains_itself():
    f = lw.vectorize(lambda row: row.sum(), name="total")
    f(ROWS)
    assert f.explain(ROWS).name == "total"
    assert "table" in f.lower(ROWS)


def _last_large(row):
    last = 0.0
    for x in row:
        if x > last:
            last = x * 0.5
    return last


@pytest.mark.parametrize(
    "function",
    [_last_large, lambda row: row + row.sum(), lambda row: row[::-1][1:] * 2],
    ids=["numbers", "rows", "slices"],
)
def test_the_memory_of_a_call_is_projected(function):
    rows = ragged(uneven(3000))
    f = lw.vectorize(function, threads=1, compile="now")
    result = f(rows)
    projected = f.explain(rows).projected_bytes
    held = result.nbytes if isinstance(result, np.ndarray) else result.values.nbytes
    if isinstance(result, lw.Ragged) and result.offsets is not rows.offsets:
        held += result.offsets.nbytes
    del result
    tracemalloc.start()
    try:
        f(rows)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    small = 20_000  # objects of Python
    assert projected > 0
    assert peak - held <= projected + small


# --- lanes hold values of one row ---


def _all(row):
    return np.sum(row), np.prod(row), np.max(row), np.min(row), np.argmin(row), np.any(row > 2)


@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.int32])
def test_long_rows_have_all_lanes_and_the_same_bits(dtype):
    random = np.random.default_rng(5)
    lengths = [1, 2, 7, 8, 9, 15, 16, 17, 40, 63, 64, 65, 100, 128, 129, 300] * 5
    lists = [random.uniform(-1.5, 1.5, length).astype(dtype) for length in lengths]
    for row in lists[::3]:
        row[random.uniform(0, 1, row.size) < 0.5] *= 0  # extremes that are zeros of both signs
        np.minimum(row, 0, out=row)
    rows = lw.Ragged.from_lists(lists)
    found = lw.vectorize(_all, compile="now")(rows)
    assert lw.vectorize(_all, compile="now").explain(rows).schedule.startswith("inner")
    for one, other in zip(found, lw.map(_all, rows, compile="never"), strict=True):
        assert bits(one) == bits(other)


def test_short_rows_share_the_lanes():
    rows = lw.Ragged(np.ones(600, np.float32), np.arange(0, 601, 6))
    function = lw.vectorize(lambda row: np.sum(row) * 7, compile="now")
    assert function(rows)[3] == 42
    assert function.explain(rows).schedule.startswith("packets")
