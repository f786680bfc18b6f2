"""Arrays and numbers in, arrays out."""

import numpy as np
import pytest
from samples import DTYPES, assert_same

import lanewise as lw


@lw.vectorize
def combine(x, y):
    return x * 2 + y


@pytest.mark.parametrize("shape", [(0,), (1,), (7,), (3, 0, 2), (2, 3, 5), (100_003,)], ids=str)
def test_results_have_the_shape_of_the_arrays(shape):
    x = np.random.default_rng(1).normal(size=shape)
    assert_same(combine(x, x), x * 2 + x)


@pytest.mark.parametrize(
    ("a", "b"), [((3, 1), (4,)), ((2, 1, 3), (5, 1)), ((4,), (1,)), ((0, 1), (3,))], ids=str
)
def test_arrays_broadcast_as_in_numpy(a, b):
    x, y = np.random.default_rng(2).normal(size=a), np.random.default_rng(3).normal(size=b)
    assert_same(combine(x, y), x * 2 + y)


@pytest.mark.parametrize(
    "change",
    {
        "transposed": lambda x: x.T,
        "strided": lambda x: x[::2, ::3],
        "reversed": lambda x: x[::-1],
        "Fortran order": np.asfortranarray,
        "one wide": lambda x: x[:, 3:4],
        "byte-swapped": lambda x: x.astype(x.dtype.newbyteorder()),
        "unaligned": lambda x: np.frombuffer(b"-" + x.tobytes(), np.uint8)[1:].view(x.dtype),
    }.items(),
    ids=lambda change: change[0],
)
def test_arrays_in_any_layout_are_taken(change):
    x = change[1](np.arange(60.0).reshape(6, 10))
    assert_same(combine(x, 1), np.asarray(x * 2 + 1, np.float64))


def test_read_only_arrays_are_taken():
    x = np.arange(5.0)
    x.flags.writeable = False
    assert_same(combine(x, 1), x * 2 + 1)


def test_lists_and_subclasses_are_taken_as_arrays():
    assert_same(combine([1, 2], (3, 4)), np.array([5, 8]))
    assert_same(combine(np.arange(4.0).view(np.recarray), 1), np.arange(4.0) * 2 + 1)


@pytest.mark.parametrize("dtype", DTYPES)
def test_each_type_goes_through_unchanged(dtype):
    x = np.array([0, 1, 1, 0], dtype)
    assert_same(lw.vectorize(lambda x: x)(x), x)


def test_a_tuple_of_results_gives_a_tuple_of_arrays():
    x = np.arange(4.0)
    got = lw.vectorize(lambda x: (x + 1, x > 2, 7, np.float32(0.5)))(x)
    assert isinstance(got, tuple)
    expected = (x + 1, x > 2, np.full(4, 7), np.full(4, 0.5, np.float32))
    for result, other in zip(got, expected, strict=True):
        assert_same(result, other)


def test_a_tuple_of_one_stays_a_tuple():
    (got,) = lw.vectorize(lambda x: (x + 1,))(np.zeros(2))
    assert_same(got, np.ones(2))


def test_numbers_only_give_a_numpy_scalar():
    got = combine(2.0, 1)
    assert isinstance(got, np.float64)
    assert got == 5
    assert_same(combine(np.array(2, np.int32), np.int32(1)), np.int32(5))


def test_defaults_and_keywords_are_those_of_the_function():
    @lw.vectorize
    def scaled(x, by=3.0, plus=0):
        return x * by + plus

    x = np.arange(3.0)
    assert_same(scaled(x), x * 3)
    assert_same(scaled(x, plus=x), x * 3 + x)
    assert_same(scaled(by=2.0, x=x), x * 2)


def test_functions_take_any_number_of_arguments():
    total = lw.vectorize(lambda *xs: sum(xs))
    assert_same(total(np.ones(2), 2.0, np.ones(2)), np.full(2, 4.0))
    assert_same(lw.vectorize(np.sqrt)(np.array([4.0])), np.array([2.0]))


def test_fifty_numbers_need_one_trace():
    traces = []

    @lw.vectorize
    def f(x, scale, shift):
        traces.append(1)
        return x * scale + shift

    x = np.arange(5.0)
    for i in range(50):
        assert_same(f(x, i / 3, i), x * (i / 3) + i)
    assert len(traces) == 1


def test_sizes_and_shapes_need_one_trace():
    traces = []
    f = lw.vectorize(lambda x: traces.append(1) or x + 1)
    for shape in [(1,), (5,), (2, 3), (0,), (1000,)]:
        f(np.zeros(shape))
    assert len(traces) == 1


def test_another_type_needs_another_trace():
    traces = []
    f = lw.vectorize(lambda x, y: traces.append(1) or x + y)
    x = np.zeros(2, np.float32)
    assert f(x, 1.0).dtype == np.float32
    assert f(x, np.float64(1)).dtype == np.float64  # a NumPy scalar is not weak
    assert f(x, 2.0).dtype == np.float32
    assert len(traces) == 2


def test_a_failed_trace_is_tried_again():
    attempts = []

    @lw.vectorize
    def f(x):
        attempts.append(1)
        if len(attempts) == 1:
            raise KeyError("not yet")
        return x

    with pytest.raises(KeyError, match="not yet"):
        f(np.ones(2))
    assert_same(f(np.ones(2)), np.ones(2))


def test_out_receives_the_result_and_is_returned():
    x, out = np.arange(6.0).reshape(2, 3), np.zeros((2, 3))
    assert combine(x, 1, out=out) is out
    assert_same(out, x * 2 + 1)


def test_out_may_be_a_tuple():
    x = np.arange(3.0)
    out = np.empty(3), np.empty(3, np.bool_)
    got = lw.vectorize(lambda x: (x + 1, x > 1))(x, out=out)
    assert got[0] is out[0]
    assert_same(out[0], x + 1)
    assert_same(out[1], x > 1)


def test_out_of_rank_0_takes_one_number():
    out = np.zeros(())
    assert combine(2.0, 1, out=out) is out
    assert out[()] == 5


def test_a_vectorized_function_calls_another():
    double = lw.vectorize(lambda x: x * 2)
    twice = lw.vectorize(lambda x: double(double(x)) + double(3))
    assert_same(twice(np.arange(3.0)), np.arange(3.0) * 4 + 6)


def test_a_vectorized_function_looks_like_its_own():
    @lw.vectorize
    def documented(x):
        """Say something."""
        return x

    assert documented.__name__ == "documented"
    assert documented.__doc__ == "Say something."
    assert documented.__wrapped__(3) == 3
    assert repr(documented) == "<vectorized documented>"


def test_explain_says_what_was_done():
    f = lw.vectorize(lambda x: x + 1, name="increment", compile="now")
    x = np.arange(1000.0)
    f(x)
    text = str(f.explain(x))
    assert text.startswith("increment: small map: 1000 elements")
    assert "\n  schedule  packets" in text
    assert "1000 by machine code" in text


def test_explain_is_data_that_prints_itself():
    f = lw.vectorize(lambda x, n: np.sin(x) + n, name="shifted", compile="now", threads=1)
    x = np.arange(1000, dtype=np.float32)
    assert f.explain(x, 1).last_run is None
    f(x, 1)
    e = f.explain(x, 1)
    assert isinstance(e, lw.Explanation)
    assert repr(e) == str(e)
    assert e.name == "shifted"
    assert e.program.startswith("function shifted(%0: f32, %1: ")
    assert " = sin f32 %0\n" in e.program
    assert e.instructions > 10
    assert (e.bytes_in, e.bytes_out) == (4, 4)
    assert e.scratch_bytes > 0
    assert e.compiled
    assert not e.refill
    assert e.schedule.startswith(f"packets, {e.lanes} lanes x {e.interleave} registers")
    assert e.reason == "no loop: every element takes the same steps"
    assert e.source in ("compiled", "disk", "memory")
    assert set(e.times) == {"read", "emit", "passes", "code", "link"}
    assert sum(e.times.values()) > 0
    assert e.code_bytes > 0
    assert e.error == ""
    assert e.last_run["workers"] == 1
    assert e.last_run["tier0_elements"] == 0
    assert e.last_run["tier1_elements"] == 1000


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_inverse_roots_have_every_bit_of_numpys(dtype):
    x = np.random.default_rng(5).uniform(0, 100, 10_001).astype(dtype)
    x[:7] = [0, -0.0, np.inf, np.nan, -1, np.finfo(dtype).tiny / 8, np.finfo(dtype).max]
    with np.errstate(all="ignore"):
        expected = 1 / np.sqrt(x)
    plain = lw.vectorize(lambda x: 1 / np.sqrt(x), compile="now")
    np.testing.assert_array_equal(plain(x), expected)
    rows = lw.vectorize(lambda row: 1 / np.sqrt(row), signature="(n)->(n)", compile="now")
    np.testing.assert_array_equal(rows(x.reshape(1, -1)), expected.reshape(1, -1))


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_fast_quotients_and_roots_are_within_two_units(dtype):
    x = np.random.default_rng(6).uniform(1e-3, 100, 10_001).astype(dtype)
    special = np.array([0, -0.0, np.inf, -np.inf, np.nan], dtype)
    functions = [
        lambda x: 1 / np.sqrt(x),
        lambda x: 1 / x,
        lambda x: np.sqrt(x),
        lambda x: (x + 1) / x,
    ]
    for f in functions:
        fast = lw.vectorize(f, math="fast", compile="now")
        with np.errstate(all="ignore"):
            np.testing.assert_array_max_ulp(fast(x), f(x), maxulp=2, dtype=dtype)
            np.testing.assert_array_equal(fast(special), f(special))


def test_fast_math_contracts_what_tensors_bring_together():
    def f(row):
        return (row * row + row).sum()

    x = np.linspace(0.9, 1.1, 500, dtype=np.float32).reshape(1, -1)
    fast = lw.vectorize(f, signature="(n)->()", math="fast")
    assert "fma" in fast.lower(x)
    np.testing.assert_allclose(fast(x)[0], f(x.astype(np.float64)), rtol=1e-6)


@pytest.mark.parametrize("compile", ["never", "now"])
def test_fast_math_contracts_what_the_user_wrote(compile):
    x = np.array([1 + 2.0**-12, np.nan, np.inf, 3], np.float32)

    def f(x):
        return x * x - 1

    strict = lw.vectorize(f, compile=compile)(x)
    fast = lw.vectorize(f, compile=compile, math="fast")
    np.testing.assert_array_equal(strict, x * x - 1)
    exact = (x.astype(np.float64) ** 2 - 1).astype(np.float32)
    np.testing.assert_array_equal(fast(x), exact)
    assert fast(x)[0] != strict[0]
    assert "fma" in fast.lower(x)
    assert fast.explain(x).math == "fast"
    assert lw.vectorize(f).explain(x).math == "strict"


def test_lower_gives_the_program():
    text = combine.lower(np.ones(2, np.float32), 1.0)
    assert text.startswith("function combine(%0: f32, %1: f64 shared) -> (f32)")


def test_compile_never_stays_on_the_tile_machine():
    f = lw.vectorize(lambda x: x + 1, compile="never")
    x = np.arange(1000.0)
    f(x)
    assert "tile machine; machine code is not there yet" in str(f.explain(x))


def test_equal_functions_share_a_program_in_the_cache():
    lw.clear_cache()
    before = lw.cache_info()
    for f in (lambda x: x * 3 - 1, lambda y: y * 3 - 1, lambda z: z * 3 - 1):
        lw.vectorize(f, name="f")(np.ones(2))
    after = lw.cache_info()
    assert after.misses - before.misses == 1
    assert after.hits - before.hits == 2
    assert 0 < after.bytes <= after.most_bytes


def test_number_of_threads_can_be_set_and_reset():
    from lanewise import _core

    default = _core.num_threads()
    lw.set_num_threads(3)
    try:
        assert _core.num_threads() == 3
    finally:
        lw.set_num_threads(0)
    assert _core.num_threads() == default
