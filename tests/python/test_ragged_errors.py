"""What goes wrong with rows of different lengths, and what is said about it."""

import pickle
import re
import time
from functools import partial

import numpy as np
import pytest
from ragged_samples import ragged, uneven

import lanewise as lw
from lanewise.ragged import running

ROWS = lw.Ragged.from_lists([[1.0, 2.0, 3.0], [], [4.0], [5.0, 6.0]])
WHOLE = lw.Ragged.from_lists([[1, 2, 3], [4]])
NESTED = lw.Ragged.from_lists([[[1.0], [2.0]], [[3.0]]])


def fails(error, words, call, *args, **kwargs):
    with pytest.raises(error, match=re.escape(words)) as caught:
        call(*args, **kwargs)
    return str(caught.value)


@pytest.mark.parametrize(
    ("values", "offsets", "words"),
    [
        (
            np.zeros(3),
            [0, 2, 1],
            "Ragged: offsets do not ascend; got 2 and then 1 (row 1), expected none",
        ),
        (np.zeros(3), [0, 4], "Ragged: offsets leave the values; got 0 to 4, expected 0 to 3"),
        (np.zeros(3), [-1, 2], "Ragged: offsets leave the values; got -1 to 2"),
        (np.zeros(3), [], "Ragged: offsets are not whole numbers in one dimension"),
        (
            np.zeros(3),
            [0.0, 1.0],
            "Ragged: offsets are not whole numbers in one dimension; got float64",
        ),
        (np.zeros((3, 2)), [0, 1], "Ragged: values are not in one dimension; got the shape (3, 2)"),
        (np.zeros(3, complex), [0, 1], "Ragged: unsupported type of values; got complex128"),
        (np.array(["a"]), [0, 1], "Ragged: unsupported type of values"),
    ],
)
def test_values_and_offsets_that_do_not_fit(values, offsets, words):
    fails(lw.UsageError, words, lw.Ragged, values, offsets)


def test_offsets_that_have_changed_since():
    offsets = np.array([0, 1, 3], np.int32)
    rows = lw.Ragged(np.zeros(3), offsets)
    inner = lw.Ragged(rows, [0, 2])
    offsets[2] = 100
    for changed in (rows, inner):
        fails(lw.UsageError, "lambda: offsets leave the values", lw.map, lambda r: len(r), changed)


def test_conversions_that_cannot_be():
    fails(
        lw.UsageTypeError,
        "Ragged.from_pair: not a ragged tensor; got list",
        lw.Ragged.from_pair,
        [],
    )
    fails(
        lw.UsageTypeError, "Ragged.from_arrow: not a list array; got list", lw.Ragged.from_arrow, []
    )

    class Missing:
        values = np.zeros(0)
        offsets = np.array([0])
        null_count = 1

    fails(
        lw.UsageError, "Ragged.from_arrow: some values are missing", lw.Ragged.from_arrow, Missing()
    )
    fails(lw.UsageTypeError, "Ragged: not one array", np.asarray, ROWS)
    fails(lw.UsageError, "Ragged: a slice has a step; got 2", lambda: ROWS[::2])


def test_other_numbers_of_rows():
    fails(
        lw.UsageError,
        "map: arguments disagree on the mapped size; got 4 (argument 0) and 3 (argument 1)",
        *(lw.map, lambda row, x: row.sum() + x, ROWS, np.zeros(3)),
    )
    f = lw.vectorize(lambda row, x: row.sum() + x)
    fails(lw.UsageError, "ragged arguments have one row for each element", f, ROWS[:1], np.zeros(3))
    fails(
        lw.UsageError, "ragged arguments have one row for each element", f, ROWS, np.zeros((2, 4))
    )


def test_a_signature_has_no_ragged_arguments():
    f = lw.vectorize(lambda row: row.sum(), signature="(n)->()")
    fails(lw.UsageTypeError, "a signature with rows of different lengths", f, ROWS)


# --- elements that fail ---


@pytest.mark.parametrize(
    ("function", "element", "words"),
    [
        (lambda row: row[0], 1, "row: index out of range"),
        (lambda row: row[-2], 1, "row: index out of range"),
        (lambda row: row[len(row) - 1], 1, "row: index out of range"),
        (lambda row: row.max(), 1, "max: a row without values; expected at least one"),
        (lambda row: np.argmin(row), 1, "argmin: a row without values"),
        (lambda row: row + row[1:], 0, "row: rows of different lengths; expected the same"),
        (lambda row: np.dot(row, row[:1]), 0, "row: rows of different lengths"),
    ],
)
def test_elements_that_fail_are_named_with_their_line(function, element, words):
    with pytest.raises(lw.ElementError) as caught:
        lw.map(function, ROWS)
    assert caught.value.element == element
    assert words in str(caught.value)
    assert f"{__file__}:{function.__code__.co_firstlineno}" in str(caught.value)


def test_zip_wants_the_same_length():
    def both(row):
        total = 0.0
        for a, b in zip(row, row[1:], strict=False):  # noqa: RUF007
            total += a * b
        return total

    def beside(row):
        total = 0.0
        for i, a in zip(range(3), row, strict=False):
            total += a * i
        return total

    fails(lw.ElementError, "zip: rows of different lengths", lw.map, both, ROWS)
    with pytest.raises(lw.ElementError, match="zip: a range is not as long as the row") as caught:
        lw.map(beside, ROWS)
    assert caught.value.element == 1


@pytest.mark.parametrize("tier", ["now", "never"])
def test_the_first_row_that_fails_is_named_in_whatever_order_they_run(tier, monkeypatch):
    monkeypatch.setattr(running, "BLOCK", 256)
    lengths = uneven(1000) + 1
    lengths[[401, 777, 900]] = 0
    rows = ragged(lengths)
    for first in (0, 1000):
        with pytest.raises(lw.ElementError) as caught:
            lw.map(lambda row: row[0], rows, compile=tier, first_element=first)
        plain = lw.vectorize(lambda x: lw.check(x > 0) or x, compile=tier, first_element=first)
        with pytest.raises(lw.ElementError) as other:
            plain(lengths)
        assert caught.value.element == other.value.element
        assert f"element {other.value.element} " in str(caught.value)


def test_values_of_results_that_fail_name_their_row(monkeypatch):
    monkeypatch.setattr(running, "VALUES", 2)
    with pytest.raises(lw.ElementError, match=r"element 1 .*divi") as caught:
        lw.map(lambda row: 6 // (row - 4), WHOLE)
    assert caught.value.element == 1


def test_what_fails_is_named_where_it_was_written_not_where_it_is_read():
    def returned(row):
        quotient = 6 // (row - 4)
        other = row + 1
        return quotient * other

    def summed(row):
        quotient = 6 // (row - 4)
        return quotient.sum()

    def later(row):
        other = row + 1
        return other.sum() // (row[0] - 4)

    for function, place in ((returned, 1), (summed, 1), (later, 2)):
        with pytest.raises(lw.ElementError) as caught:
            lw.map(function, WHOLE)
        assert caught.value.element == 1
        line = function.__code__.co_firstlineno + place
        assert f"{__file__}:{line})" in str(caught.value), function


# --- functions that cannot be ---


def of_rows(rows):
    return np.sum(rows)


@pytest.mark.parametrize(
    ("function", "error", "words"),
    [
        (
            lambda row: row * np.zeros(3),
            lw.UsageTypeError,
            "row: something else than a number beside a row",
        ),
        (lambda row: row[1.5], lw.UsageTypeError, "row: not an index; got float"),
        (lambda row: row[row[0]], lw.UsageTypeError, "row: an index is not a whole number"),
        (
            lambda row: row[row[0] :],
            lw.UsageTypeError,
            "row: a bound of a slice is not a whole number",
        ),
        (lambda row: row[::0], lw.UsageTypeError, "row: the step of a slice is not a plain number"),
        (lambda row: row[:: len(row)], lw.UsageTypeError, "the step of a slice is not a plain"),
        (lambda row: row.sum(axis=1), lw.UsageError, "sum: no such axis of a row; got 1"),
        (lambda row: row * 1j, lw.UsageTypeError, "row: complex numbers in a row"),
        (
            lambda row: np.sort(row),
            lw.UsageTypeError,
            "np.sort: not supported on rows of different lengths",
        ),
        (lambda row: np.sum(row, keepdims=True), lw.UsageTypeError, "not supported on rows"),
        (lambda row: np.add.outer(row, 2.0), lw.UsageTypeError, "not supported on rows"),
        (lambda row: lw.conv2d(row, row), lw.UsageTypeError, "lw.conv2d: not supported on rows"),
        (lambda row: np.clip(row, 0, 1, casting="no"), lw.UsageTypeError, "not supported on rows"),
        (lambda row: row.cumsum(), AttributeError, "row: cumsum is not recorded"),
        (lambda row: list(row), lw.UsageTypeError, "row: all its values at once"),
        (lambda row: 1 if row else 2, lw.UsageTypeError, "bool: a row is neither true nor false"),
        (lambda row: np.array(row.__array__()), lw.UsageTypeError, "array: a row has no values"),
        (lambda row: row.__len__(), lw.UsageTypeError, "len: the length of a row differs"),
        (lambda row: row.whole(), lw.UsageTypeError, "row: not a tensor"),
        (
            lambda row: zip(row, [1, 2], strict=False),
            lw.UsageTypeError,
            "zip: something else beside a row",
        ),
    ],
)
def test_what_rows_do_not_do_is_refused_at_its_line(function, error, words):
    message = fails(error, words, lw.map, function, ROWS)
    assert f"{__file__}:{function.__code__.co_firstlineno}" in message


def test_functions_without_source_say_so():
    made = {}
    exec("def f(row):\n    t = 0.0\n    for v in row:\n        t += v\n    return t", made)
    message = fails(lw.UsageTypeError, "row: all its values at once", lw.map, made["f"], ROWS)
    assert "This function could not be rewritten" in message


def test_rows_cannot_be_written():
    def write(row):
        row[0] = 1.0
        return row.sum()

    fails(lw.UsageTypeError, "row: cannot be written", lw.map, write, ROWS)


def test_rows_that_differ_between_paths_are_refused():
    def either(row):
        part = row
        if len(row) > 1:
            part = row[1:]
        return part.sum()

    def number_or_row(row):
        part = 0.0
        if len(row) > 1:
            part = row
        return part + 1

    words = "part: is another row on another path; got two of them"
    fails(lw.UsageError, words, lw.map, either, ROWS)
    words = "got a row on one path and a number on another"
    assert words in fails(lw.UsageError, "is not of one sort", lw.map, number_or_row, ROWS)


@pytest.mark.parametrize(
    ("function", "words"),
    [
        (lambda rows: lw.sin(rows), "a function of a row of rows: not supported on rows"),
        (lambda rows: np.sin(rows), "np.sin of a row of rows: not supported on rows"),
        (of_rows, "np.sum of a row of rows: not supported on rows"),
        (lambda rows: rows[1:], "row: not an index of a row of rows; got slice"),
        (lambda rows: rows, "returns rows of rows"),
    ],
)
def test_rows_of_rows_are_read_one_by_one(function, words):
    fails(lw.UsageTypeError, words, lw.map, function, NESTED)


def test_results_that_are_rows_have_no_types():
    typed = lw.vectorize(lambda row: row * 2, otypes=[np.float32])
    fails(lw.UsageError, "otypes with results that are rows", typed, ROWS)


def test_a_mask_with_results_that_are_rows_needs_rows_that_fit():
    f = lw.vectorize(lambda row: row * 2)
    mask = np.array([True, False, True, True])
    fails(lw.UsageTypeError, "where without out", f, ROWS, where=mask)
    out = lw.Ragged(np.zeros(8), [0, 3, 3, 5, 7])  # the third row has one number
    words = "rows of out have other lengths than the results; got 3, 2, 2 (result 0), expected 3, 1"
    fails(lw.UsageError, words, f, ROWS, out=out, where=mask)
    two = np.ones((2, 4), bool)
    fails(lw.UsageError, "where does not fit rows of results", f, ROWS, out=out, where=two)


def test_parts_of_rows_from_tables_are_not_returned_and_rows_are_not_printed():
    table = np.arange(9.0)
    words = "Ragged: rows that are returned cannot be read from a table"
    fails(lw.UsageTypeError, words, lw.map, lambda row: table[row[1:]] + 1, WHOLE)
    with pytest.raises(lw.ElementError):
        lw.map(lambda row: table[row * 100].sum(), WHOLE)

    def talk(row):
        print(row)
        return len(row)

    fails(lw.UsageTypeError, "print: a whole row", lw.map, talk, ROWS)


def test_too_many_numbers_of_a_row():
    def many(row):
        total = row * 0
        for k in tuple(range(17)):
            total = total + row * (row.sum() + k)
        return total[1:]

    fails(
        lw.UsageError, "rows are made of too many numbers that a row has one of", lw.map, many, ROWS
    )


# --- out ---


def test_out_that_does_not_fit():
    double = partial(lw.map, lambda row: row * 2, ROWS)
    fits = lw.Ragged(np.zeros(6), ROWS.offsets)
    assert double(out=fits) is fits
    fails(
        lw.UsageError,
        "rows of out have other lengths than the results; got 2, 1, 1, 2 (result 0), expected "
        "3, 0, 1, 2",
        double,
        out=lw.Ragged(np.zeros(6), [0, 2, 3, 4, 6]),
    )
    words = "out does not fit rows of results; got ndarray, expected a Ragged of float64"
    fails(lw.UsageTypeError, words, double, out=np.zeros(6))
    narrow = lw.Ragged(np.zeros(6, np.float32), ROWS.offsets)
    fails(lw.UsageTypeError, "out does not fit rows of results", double, out=narrow)
    words = "out is not nested as the rows of results are; got 2 parts, expected 1"
    fails(lw.UsageTypeError, words, double, out=(fits, fits))
    fails(lw.UsageError, "lambda: out overlaps an argument", double, out=ROWS)
    part = lw.Ragged(ROWS.values[::-1][::-1], ROWS.offsets)
    fails(lw.UsageError, "lambda: out overlaps an argument", double, out=part)
    fixed = np.zeros(6)
    fixed.flags.writeable = False
    fixed_rows = lw.Ragged(fixed, ROWS.offsets)
    fails(lw.UsageError, "rows of out cannot be written", double, out=fixed_rows)


def test_out_of_numbers_must_be_apart_from_the_arguments():
    x = np.zeros(4)
    fails(
        *(lw.UsageError, "out overlaps an argument", lw.map, lambda row, x: row.sum() + x, ROWS, x),
        out=x,
    )
    rows = lw.Ragged(np.zeros(6), ROWS.offsets)
    fails(
        lw.UsageError,
        "out[0] overlaps an argument",
        *(lw.map, lambda row, x: (row.sum() + x, row * 2), ROWS, x),
        out=(x, rows),
    )


def test_a_second_pass_that_disagrees_is_an_error(monkeypatch):
    monkeypatch.setattr(running, "BLOCK", 64)
    rows = ragged([5] * 200)
    ends = np.full(200, 3)
    first_pass = running.Run._first_pass

    def then_shorten(self, *args):
        found = first_pass(self, *args)
        ends[100] = 2
        return found

    monkeypatch.setattr(running.Run, "_first_pass", then_shorten)
    with pytest.raises(
        lw.UsageError, match="rows have other lengths in the second pass than in the first"
    ):
        lw.map(lambda row, end: row[:end], rows, ends)


def test_time_ends_between_blocks_too(monkeypatch):
    monkeypatch.setattr(running, "BLOCK", 64)
    told = []

    def wait(progress):
        told.append(progress.done)
        time.sleep(0.3)

    with pytest.raises(lw.Timeout, match=r"ran out of time; got a timeout of 0\.25 s"):
        lw.map(lambda row, end: row[:end], ragged([5] * 200), 3, timeout=0.25, progress=wait)
    assert max(told) < 200


def test_functions_of_rows_that_cannot_be_kept(tmp_path):
    f = lw.vectorize(lambda row: row * 2)
    f(ROWS)
    fails(lw.UsageError, "cannot be pickled; got a function that adds", pickle.dumps, f)
    fails(lw.UsageError, "cannot be saved; got rows of different lengths", f.save, tmp_path / "f")
    g = lw.vectorize(lambda row: row.sum())
    expected = g(ROWS)
    again = pickle.loads(pickle.dumps(g))
    assert again(ROWS).tolist() == expected.tolist()


def test_a_row_that_is_too_long_to_be_reduced():
    rows = lw.Ragged(np.empty(2**31, np.int8), [0, 2**31])  # nobody reads it
    with pytest.raises(lw.ElementError, match="row: too long to be reduced; expected at most"):
        lw.map(lambda row: np.sum(row), rows)
