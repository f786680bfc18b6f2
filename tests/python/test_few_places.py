"""Tables of which a program reads few places: registers hold them, and nobody sees that."""

import zlib

import numpy as np
import pytest

import lanewise as lw

TYPES = ["bool", "int8", "uint8", "int16", "float16", "int32", "uint32", "float32"]
TYPES += ["int64", "uint64", "float64"]
WAYS = [{"compile": "now"}, {"compile": "never"}]
INDICES = np.random.default_rng(3).integers(-(2**31), 2**31, 1000, np.int32)


def table_of(dtype, size):
    values = np.random.default_rng(size).integers(-(2**31), 2**31, size)
    return values.astype(dtype)


@pytest.mark.parametrize("dtype", TYPES)
@pytest.mark.parametrize("size", [1, 2, 16, 31, 64, 128, 256])
def test_each_place_is_found(dtype, size):
    table = table_of(dtype, size)
    most = 1 << (size.bit_length() - 1)
    for way in WAYS:
        found = lw.map(lambda i: table[i & (most - 1)], INDICES, **way)
        np.testing.assert_array_equal(found, table[INDICES & (most - 1)])


@pytest.mark.parametrize("size", [3, 17, 100, 255])
def test_a_place_behind_the_end_fails(size):
    table = table_of("int32", size)
    inside = np.arange(size, dtype=np.int32)
    for way in WAYS:
        found = lw.map(lambda i: table[i & 255], inside, **way)
        np.testing.assert_array_equal(found, table)
        with pytest.raises(lw.ElementError, match=f"element {size}"):
            lw.map(lambda i: table[i & 255], np.arange(256, dtype=np.int32), **way)


def linear(dtype, size):
    """Return a table where place a ^ b has what a has, xor what b has."""
    basis = np.random.default_rng(9).integers(0, 2**31, 8).astype(dtype)
    table = np.zeros(size, dtype)
    for bit in range(8):
        has_bit = (np.arange(size) >> bit & 1).astype(bool)
        table[has_bit] ^= basis[bit]
    return table


@pytest.mark.parametrize("dtype", ["int32", "uint32"])
@pytest.mark.parametrize("size", [48, 64, 128, 200, 256])
@pytest.mark.parametrize("wrong", [None, 0, 1, 16, 33, -1])
def test_linear_tables_and_those_that_are_not_quite(dtype, size, wrong):
    indices = np.arange(1000, dtype=np.int32) % size
    table = linear(dtype, size)
    if wrong is not None:
        table[wrong] ^= 4
    for way in WAYS:
        found = lw.map(lambda i: table[np.minimum(i & 255, size - 1)], indices, **way)
        np.testing.assert_array_equal(found, table[indices])


def test_several_tables_share_the_registers():
    a, b, c, d = (table_of(dtype, 256) for dtype in ("uint8", "float32", "float64", "int16"))
    for way in WAYS:
        found = lw.map(lambda i: (a[i & 255], b[i & 255], c[i & 255], d[i & 255]), INDICES, **way)
        for one, table in zip(found, (a, b, c, d), strict=True):
            np.testing.assert_array_equal(one, table[INDICES & 255])


def crc_table():
    table = np.arange(256, dtype=np.uint32)
    for _ in range(8):
        table = np.where(table & 1, table >> 1 ^ np.uint32(0xEDB88320), table >> 1)
    return table


@pytest.mark.parametrize("size", [1, 5, 15, 16, 17, 40, 5000])
def test_bytes_of_rows_up_to_the_end_of_their_table(size):
    random = np.random.default_rng(size)
    values = random.integers(0, 256, size, np.uint8)
    offsets = np.sort(np.append(random.integers(0, size + 1, 200), [0, size]))
    rows = lw.Ragged(values, offsets)
    table = crc_table()

    def crc(row):
        c = np.uint32(0xFFFFFFFF)
        for byte in row:
            c = table[(c ^ byte) & np.uint32(255)] ^ (c >> np.uint32(8))
        return ~c

    expected = [zlib.crc32(row.tobytes()) for row in rows]
    for way in WAYS:
        assert lw.map(crc, rows, **way).tolist() == expected


@pytest.mark.parametrize("dtype", ["int8", "uint8", "int16", "uint16"])
@pytest.mark.parametrize("size", [1, 7, 8, 9, 33, 1000])
def test_small_values_are_read_one_behind_the_other(dtype, size):
    random = np.random.default_rng(size)
    values = random.integers(0, 100, size).astype(dtype)
    offsets = np.sort(np.append(random.integers(0, size + 1, 300), [0, size]))

    def mixed(row):
        total = np.int32(1)
        for value in row:
            total = total * np.int32(31) + value
        return total

    rows = lw.Ragged(values, offsets)
    slow, fast = (lw.map(mixed, rows, compile=tier) for tier in ("never", "now"))
    np.testing.assert_array_equal(slow, fast)
    for row, found in zip(rows, fast, strict=True):
        total = 1
        for value in row.tolist():
            total = (total * 31 + value) % 2**32
        assert int(found) % 2**32 == total
