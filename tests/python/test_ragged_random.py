"""Functions of rows against NumPy's on each row, for random rows: ragged by hypothesis."""

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st
from ragged_samples import bits

import lanewise as lw

LENGTHS = st.lists(st.integers(0, 90), min_size=0, max_size=200)
TYPES = st.sampled_from([np.uint8, np.int16, np.int32, np.int64, np.float32, np.float64])


def rows_of(lengths, dtype, seed, gap):
    """Return rows in the middle of their values."""
    rng = np.random.default_rng(seed)
    offsets = gap + np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64)
    return lw.Ragged(rng.integers(0, 100, offsets[-1] + gap).astype(dtype), offsets)


def whole(row, k):
    total = 0
    for i, v in enumerate(row):
        if v > k:
            total += i
        else:
            total -= 1
    return total


def plain_whole(row, k):
    return sum(i if v > k else -1 for i, v in enumerate(row.tolist()))


@settings(max_examples=40, deadline=None)
@given(LENGTHS, TYPES, st.integers(0, 1000), st.integers(0, 5), st.sampled_from(["now", "never"]))
def test_loops_over_rows_are_those_of_python(lengths, dtype, seed, gap, tier):
    rows = rows_of(lengths, dtype, seed, gap)
    k = np.random.default_rng(seed).integers(0, 100, len(rows))
    found = lw.map(whole, rows, k, compile=tier)
    assert found.tolist() == [plain_whole(row, x) for row, x in zip(rows, k, strict=True)]


PARTS = st.builds(
    slice,
    st.none() | st.integers(-100, 100),
    st.none() | st.integers(-100, 100),
    st.none() | st.sampled_from([-3, -2, -1, 1, 2, 3]),
)


@settings(max_examples=40, deadline=None)
@given(LENGTHS, TYPES, st.integers(0, 1000), st.integers(0, 5), PARTS, PARTS)
def test_rows_that_are_returned_are_those_of_numpy(lengths, dtype, seed, gap, part, other):
    rows = rows_of(lengths, dtype, seed, gap)
    scale = dtype(3)

    def several(row):
        return row * scale, (row + row)[part], row[part][other]

    found = lw.map(several, rows)
    expected = [several(row) for row in rows]
    for place, result in enumerate(found):
        parts = [row[place] for row in expected]
        assert result.lengths.tolist() == [len(row) for row in parts]
        assert result.dtype == dtype
        assert bits(result.values) == bits(np.concatenate([*parts, np.empty(0, dtype)]))


@settings(max_examples=20, deadline=None)
@given(LENGTHS, st.integers(0, 1000), st.integers(0, 5))
def test_offsets_of_64_bits_give_the_same(lengths, seed, gap):
    rows = rows_of(lengths, np.float32, seed, gap)
    wide = lw.Ragged(rows.values, rows.offsets)
    wide.offsets = rows.offsets.astype(np.int64)  # as rows of very many values have them

    def several(row):
        return row.sum(), len(row), lw.softmax(row), row[1:] - row[:-1]

    for a, b in zip(lw.map(several, rows), lw.map(several, wide), strict=True):
        if isinstance(a, lw.Ragged):
            assert a.offsets.tolist() == b.offsets.tolist()
            a, b = a.values, b.values
        assert bits(a) == bits(b)
