"""Arrays of every layout and source go in, most of them without a copy."""

import array
import ctypes
import dataclasses
import threading
from typing import NamedTuple

import numpy as np
import pytest
from samples import assert_same

import lanewise as lw


@lw.vectorize
def combine(x, y):
    return x * 2 + y


LAYOUTS = {
    "C order": lambda x: x,
    "transposed": lambda x: x.transpose(2, 0, 1),
    "Fortran order": np.asfortranarray,
    "every other": lambda x: x[::2, ::3, ::2],
    "reversed": lambda x: x[::-1, :, ::-1],
    "swapped": lambda x: x.swapaxes(0, 2)[1:],
    "one wide": lambda x: x[:, 3:4, :],
    "repeated": lambda x: np.broadcast_to(x[:, :1], x.shape),
    "unaligned": lambda x: np.frombuffer(b"-" + x.tobytes(), np.uint8)[1:].view(x.dtype),
    "a field": lambda x: np.rec.fromarrays([x, x], "f8,f8")["f1"],
    "one number": lambda x: x[0, 0, 0],
    "empty": lambda x: x[:0],
}


@pytest.mark.parametrize("dtype", [np.float64, np.float32, np.int16, np.uint8, np.bool_])
@pytest.mark.parametrize("layout", LAYOUTS.values(), ids=LAYOUTS)
def test_arrays_of_any_layout(layout, dtype):
    x = layout(np.arange(6 * 10 * 8, dtype=np.float64).reshape(6, 10, 8)).astype(
        dtype, order="K", copy=False
    )
    same = lw.vectorize(lambda v: v)
    assert_same(same(x), x)
    if x.ndim and x.shape[-1]:
        assert_same(same(x[..., -1]), x[..., -1])


@pytest.mark.parametrize("threads", [1, 2])
@pytest.mark.parametrize("compile", ["now", "never"])
def test_large_arrays_of_any_layout(compile, threads):
    f = lw.vectorize(combine.__wrapped__, compile=compile, threads=threads)
    x = np.arange(300 * 1000.0).reshape(300, 1000)
    y = np.arange(1000.0)
    for a, b in ((x, y), (x.T, y[:, None]), (x[::-1, ::2], y[::2]), (x[:, :1], y), (y, x)):
        assert_same(f(a, b), a * 2 + b)


def test_results_go_into_arrays_of_any_layout():
    x = np.arange(24.0).reshape(4, 6)
    for out in (
        np.full((4, 12), -1.0)[:, ::2],
        np.full((6, 4), -1.0).T,
        np.full((4, 6), -1.0)[::-1, ::-1],
        np.zeros(24, "f8,i4")["f0"].reshape(4, 6),
        np.full((4, 7), -1.0)[:, 1:],
    ):
        assert combine(x, 1, out=out) is out
        assert_same(out, x * 2 + 1)
    wide = np.full((4, 12), -1.0)
    combine(x, 1, out=wide[:, ::2])
    assert (wide[:, 1::2] == -1).all()


@pytest.mark.parametrize(
    "layout", ["transposed", "Fortran order", "swapped", "C order", "reversed"], ids=str
)
def test_new_results_lie_as_in_numpy(layout):
    x = LAYOUTS[layout](np.arange(480.0).reshape(6, 10, 8))
    got, expected = combine(x, 1), np.add(x * 2, 1)
    assert_same(got, expected)
    assert got.flags.owndata
    if layout != "reversed":
        assert got.strides == expected.strides


def test_the_number_of_a_failing_element_is_that_in_c_order():
    x = np.ones((3, 5), np.int64)
    x[1, 2] = 0
    f = lw.vectorize(lambda x: 10 // x)
    for argument in (x, np.asfortranarray(x), np.asfortranarray(np.pad(x, 1))[1:-1, 1:-1]):
        with pytest.raises(lw.ElementError) as error:
            f(argument)
        assert error.value.element == 7


def test_outputs_that_overlap_are_refused():
    x = np.arange(12.0).reshape(3, 4)
    with pytest.raises(lw.UsageError, match=r"map: output 0 overlaps argument 0"):
        combine(x, 1, out=x)
    with pytest.raises(lw.UsageError, match=r"map: output 0 overlaps argument 0"):
        combine(x[:, :2], 1, out=x[:, 1:3])
    combine(x[:, :2], 1, out=x[:, 2:])
    assert_same(x[:, 2:], x[:, :2] * 2 + 1)
    with pytest.raises(lw.UsageError, match=r"map: output 0 overlaps itself"):
        combine(x, 1, out=np.lib.stride_tricks.as_strided(np.zeros(4), (3, 4), (0, 8)))


def test_strided_arrays_are_not_copied_whole():
    before = lw.memory_info().scratch.peak
    x = np.ones((2000, 1000))
    lw.vectorize(lambda v: v + 1, threads=1, memory=2**20)(x.T)
    assert lw.memory_info().scratch.peak - before < 2 * 2**20


@pytest.mark.parametrize("order", ["<", ">"])
def test_byte_swapped_arrays_are_copied_which_explain_says(order):
    x = np.arange(5.0).astype(np.dtype(np.float64).newbyteorder(order))
    assert_same(combine(x, 1), np.arange(5.0) * 2 + 1)
    said = [] if x.dtype.isnative else ["argument 0: byte-swapped"]
    e = combine.explain(x, 1)
    assert e.copied == said
    assert ("copied    argument 0: byte-swapped" in str(e)) == bool(said)


def test_memory_mapped_files_go_in_and_out(tmp_path):
    n = 100_000
    x = np.lib.format.open_memmap(tmp_path / "x.npy", "w+", np.float32, (n,))
    x[:] = np.arange(n)
    y = np.lib.format.open_memmap(tmp_path / "y.npy", "w+", np.float32, (n,))
    x = np.load(tmp_path / "x.npy", mmap_mode="r")
    assert combine(x, 1, out=y) is y
    y.flush()
    assert_same(np.load(tmp_path / "y.npy"), np.arange(n, dtype=np.float32) * 2 + 1)


def test_buffers_go_in_without_a_copy():
    values = array.array("d", [1, 2, 3])
    assert_same(combine(values, 1), np.array([3.0, 5, 7]))
    assert_same(combine(memoryview(values)[::2], 1), np.array([3.0, 7]))
    assert_same(combine((ctypes.c_int * 3)(1, 2, 3), 1), np.array([3, 5, 7], np.int32))


class OnlyDlpack:
    """What torch and jax give, without NumPy's own protocols."""

    def __init__(self, values):
        self.values = values

    def __dlpack__(self, **options):
        return self.values.__dlpack__(**options)

    def __dlpack_device__(self):
        return self.values.__dlpack_device__()


def test_dlpack_goes_in_without_a_copy():
    from lanewise.arguments import as_array

    x = np.arange(4.0)
    assert np.shares_memory(as_array(OnlyDlpack(x)), x)
    assert_same(combine(OnlyDlpack(x), 1), x * 2 + 1)


def test_arrays_of_jax_and_torch_go_in():
    jax = pytest.importorskip("jax.numpy")
    assert_same(combine(jax.arange(4, dtype=np.float32), 1), np.arange(4, dtype=np.float32) * 2 + 1)


def test_zero_dimensional_arrays_and_numpy_scalars_are_shared():
    x = np.arange(3, dtype=np.float32)
    for number in (np.float32(0.5), np.array(0.5, np.float32), np.int8(3), np.bool_(True)):
        assert_same(combine(x, number), x * 2 + number)
    assert isinstance(combine(np.array(1.0), 2), np.float64)


def test_calls_of_many_kinds_in_turn_give_the_right_results():
    # More kinds than the cache of a call has entries.
    kinds = [
        *(np.arange(5, dtype=d) for d in (np.float32, np.float64, np.int32, np.int64, np.uint8)),
        2.5,
        3,
        np.float32(1.5),
        np.array(4.0),
        np.arange(5.0)[::-1],
        np.ones((2, 5)),
    ]
    for _ in range(4):
        for a in kinds:
            for b in kinds:
                assert_same(combine(a, b), a * 2 + b)


def test_bools_are_shared():
    f = lw.vectorize(lambda x, flag: lw.select(flag, x, -x))
    x = np.arange(3.0)
    for _ in range(3):
        assert_same(f(x, True), x)
        assert_same(f(x, False), -x)
        assert_same(f(x, np.False_), -x)


def test_keywords_defaults_and_out_in_turn_give_the_right_results():
    @lw.vectorize
    def f(x, by=2.0, plus=0, minus=0.5):
        return x * by + plus - minus

    x, y = np.arange(5.0), np.ones(5)
    out, other = np.empty(5), np.empty(5)
    for _ in range(3):
        assert_same(f(x), x * 2 - 0.5)
        assert_same(f(x, 3.0), x * 3 - 0.5)
        assert_same(f(x, plus=7), x * 2 + 7 - 0.5)
        assert_same(f(x, plus=y), x * 2 + y - 0.5)
        assert_same(f(plus=y, x=x), x * 2 + y - 0.5)
        assert_same(f(x, minus=1.5, by=4.0), x * 4 - 1.5)
        assert f(x, out=out) is out
        assert_same(out, x * 2 - 0.5)
        assert f(x, out=other, plus=y, minus=1.0) is other
        assert_same(other, x * 2 + y - 1)
        assert_same(out, x * 2 - 0.5)
        assert f(x, minus=1.0, out=out) is out
        assert_same(out, x * 2 - 1)
        with pytest.raises(lw.UsageError, match="f: out has another shape"):
            f(x, out=np.empty(4))
        with pytest.raises(lw.UsageError, match="f: out has another type"):
            f(x, out=np.empty(5, np.float32))
        with pytest.raises(lw.UsageError, match="overlaps argument 0"):
            f(x, out=x)
        with pytest.raises(lw.UsageError, match="the arguments do not fit the function"):
            f(x, more=1)


def test_large_python_integers_take_the_long_way():
    x = np.arange(3)
    for n in (1, 2**31, 2**40, -(2**62), 5):
        assert_same(lw.vectorize(lambda x, n: x + n)(x, n), x + n)
    with pytest.raises(lw.UsageError, match="does not fit int64"):
        combine(x, 2**63)
    with pytest.raises(lw.UsageError, match="does not fit int32"):
        combine(x.astype(np.int32), 2**31)


def test_subclasses_of_vectorized_are_called_too():
    class Doubled(lw.Vectorized):
        def __call__(self, *args):
            return super().__call__(*args) * 2

    class Plain(lw.Vectorized):
        pass

    x = np.arange(3.0)
    for _ in range(3):
        assert_same(Doubled(lambda x: x + 1)(x), (x + 1) * 2)
        assert_same(Plain(lambda x: x + 1)(x), x + 1)


def test_a_cached_call_from_many_threads():
    f = lw.vectorize(lambda x, k: x * k, compile="now")
    x = np.arange(8, dtype=np.float32)
    wrong = []

    def work(k):
        for i in range(5000):
            if f(x, float(k + i))[3] != np.float32(3 * (k + i)):
                wrong.append(k)

    threads = [threading.Thread(target=work, args=(k,)) for k in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert wrong == []


# --- structures ---


class Point(NamedTuple):
    x: object
    y: object


@dataclasses.dataclass
class Body:
    mass: object
    place: Point


def test_structured_arrays_go_in_by_field():
    bodies = np.zeros(5, [("name", "S4"), ("mass", "f4"), ("speed", "f8"), ("n", ">i4")])
    bodies["mass"], bodies["speed"], bodies["n"] = np.arange(5), np.arange(5) / 4, 7
    energy = lw.vectorize(lambda b: b["mass"] * b.speed * b.speed + b["n"])
    assert_same(energy(bodies), bodies["mass"] * bodies["speed"] ** 2 + 7)
    assert_same(energy(bodies[::2]), (bodies["mass"] * bodies["speed"] ** 2 + 7)[::2])
    assert_same(energy(bodies.view(np.recarray)), energy(bodies))
    with pytest.raises(
        lw.UsageError,
        match=r"record: no such field of numbers; got 'name', expected 'mass', 'speed', 'n'\.$",
    ):
        lw.vectorize(lambda b: b.name)(bodies)


def test_nested_arguments_are_taken_apart():
    x, y = np.arange(4.0), np.ones(4)
    f = lw.vectorize(lambda p, k: p["a"][0] * p["b"].x + p["b"].y * k)
    assert_same(f({"a": (x, 3), "b": Point(y, 2.0)}, 10), x + 20)
    g = lw.vectorize(lambda b: b.mass * b.place.x + b.place.y)
    assert_same(g(Body(x, Point(y, 5))), x + 5)
    h = lw.vectorize(lambda pair: pair[0] - pair[1])
    assert_same(h((x, y)), x - y)
    assert_same(h([x, 1]), x - 1)


def test_results_are_nested_as_the_function_has_them():
    x = np.arange(4.0)
    f = lw.vectorize(lambda x: {"a": (x, [x + 1, 2]), "p": Point(x * 2, Body(x, x > 1))})
    got = f(x)
    assert list(got) == ["a", "p"]
    assert_same(got["a"][0], x)
    assert isinstance(got["a"], tuple)
    assert isinstance(got["a"][1], list)
    assert_same(got["a"][1][1], np.full(4, 2))
    assert isinstance(got["p"], Point)
    assert isinstance(got["p"].y, Body)
    assert_same(got["p"].y.place, x > 1)
    one = lw.vectorize(lambda x: {"a": x})(3.0)
    assert one == {"a": 3.0}


def test_out_may_be_nested():
    x = np.arange(4.0)
    f = lw.vectorize(lambda x: {"a": x + 1, "b": (x * 2, x > 1)})
    out = {"a": np.empty(4), "b": (np.empty(4), np.empty(4, bool))}
    assert f(x, out=out) is out
    assert_same(out["b"][0], x * 2)
    with pytest.raises(
        lw.UsageError,
        match=r"^lambda: out is nested in another way than the results; got out\[0\], out\[1\], "
        r"out\[2\], expected out\['a'\], out\['b'\]\[0\], out\['b'\]\[1\]\.$",
    ):
        f(x, out=(np.empty(4), np.empty(4), np.empty(4, bool)))


def test_arguments_of_other_structure_are_other_signatures():
    seen = []
    f = lw.vectorize(lambda p: seen.append(1) or p["a"] + p["b"])
    x = np.arange(3.0)
    f({"a": x, "b": x})
    f({"a": x + 1, "b": x})
    assert len(seen) == 1
    f({"b": x, "a": x})
    assert len(seen) == 2


def test_columns_of_data_frames():
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame({"price": [1.5, 2.5], "n": [3, 4], "name": ["a", "b"]})
    f = lw.vectorize(lambda row: row.price * row["n"])
    assert_same(f(frame), np.array([4.5, 10.0]))
    assert_same(combine(frame["price"], frame["n"]), np.array([6.0, 9.0]))


def test_columns_of_polars():
    polars = pytest.importorskip("polars")
    frame = polars.DataFrame({"price": [1.5, 2.5], "n": [3, 4], "name": ["a", "b"]})
    f = lw.vectorize(lambda row: row.price * row["n"])
    assert_same(f(frame), np.array([4.5, 10.0]))
    assert_same(combine(frame["price"], frame["n"]), np.array([6.0, 9.0]))


# --- refused ---


@pytest.mark.parametrize(
    ("argument", "message"),
    [
        (np.array([1, "a"], object), "f: argument 0 has an unsupported type; got an object (nda"),
        (np.array(["a"]), "f: argument 0 has an unsupported type; got <U1, expected bool, int8"),
        ({"a": ["x"]}, "f: argument 0['a'] has an unsupported type; got <U1, expected bool, int"),
        (Point([1], None), "f: argument 0.y has an unsupported type; got an object (NoneType)"),
        (
            (np.ones(2), np.ones(3)),
            "f: arguments disagree on the mapped shape; got (2,) (argument 0[0]), (3,) (argument "
            "0[1]), expected shapes that broadcast",
        ),
        ({}, "f: nothing to map over; got no arguments, expected at least one, or count=."),
    ],
    ids=["object", "string", "in a dict", "None", "sizes", "empty dict"],
)
def test_arguments_that_are_refused(argument, message):
    def f(x):
        return x

    with pytest.raises(lw.UsageError) as error:
        lw.vectorize(f)(argument)
    assert str(error.value).startswith(message), str(error.value)


@pytest.mark.parametrize("dtype", [np.bool_, np.int8, np.uint8, np.int16, np.uint16, np.float16])
@pytest.mark.parametrize("index", [np.int32, np.int64])
def test_tables_of_small_types_are_read_wherever_they_stand(dtype, index):
    rng = np.random.default_rng(0)
    whole = rng.integers(-300, 300, 203).astype(dtype)
    at = rng.integers(0, 199, 1000).astype(index)

    def some(i, table):
        if i % 3 == 0:
            return np.float64(-1)
        return table[i].astype(np.float64)

    for shift in range(4):
        table = whole[shift : shift + 199]
        f = lw.vectorize(some, excluded={1}, compile="now")
        expected = np.where(at % 3 == 0, -1.0, table[at].astype(np.float64))
        assert f(at, table).tolist() == expected.tolist()


def test_an_index_behind_a_mask_has_32_bits():
    table = np.arange(256, dtype=np.uint32)
    f = lw.vectorize(lambda x, table: table[x & np.uint32(255)], excluded={1})
    x = np.arange(1000, dtype=np.uint32)
    assert f(x, table).tolist() == (x & 255).tolist()
    assert "i64 %" not in f.lower(x, table)
