"""Loops that each element leaves by itself."""

import numpy as np
import pytest
from samples import assert_same

import lanewise as lw


def mandelbrot(a, b, most):
    def is_inside(x, y, n):
        return (x * x + y * y < 4) & (n < most)

    def step(x, y, n):
        return x * x - y * y + a, 2 * x * y + b, n + 1

    return lw.while_loop(is_inside, step, (0.0, 0.0, 0))


def grid(size, dtype):
    return np.meshgrid(
        np.linspace(-2, 0.6, size, dtype=dtype), np.linspace(-1.2, 1.2, size, dtype=dtype)
    )


@pytest.mark.parametrize("options", [{"compile": "now"}, {"compile": "never"}, {}], ids=str)
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_mandelbrot_equals_a_plain_loop_over_elements(dtype, options):
    a, b = grid(24, dtype)
    x, y, n = lw.vectorize(mandelbrot, **options)(a, b, 50)
    for i in np.ndindex(a.shape):
        plain = mandelbrot(a[i], b[i], 50)  # NumPy scalars, so in the same type
        assert (x[i], y[i], n[i]) == plain


@pytest.mark.parametrize("schedule", ["packets", "refill"])
def test_both_schedules_give_the_same_bits(schedule):
    a, b = grid(200, np.float64)
    expected = lw.vectorize(mandelbrot, compile="never")(a, b, 100)
    got = lw.vectorize(mandelbrot, compile="now", schedule=schedule)(a, b, 100)
    for result, other in zip(got, expected, strict=True):
        assert_same(result, other)


def test_any_number_of_threads_gives_the_same_bits():
    a, b = grid(300, np.float64)
    results = [lw.vectorize(mandelbrot, threads=n)(a, b, 100)[0] for n in (1, 2, 3)]
    assert_same(results[1], results[0])
    assert_same(results[2], results[0])


def test_kepler_converges():
    @lw.vectorize(max_steps=50)
    def kepler(m, e):
        def step(x, d):
            d = (x - e * np.sin(x) - m) / (1 - e * np.cos(x))
            return x - d, d

        return lw.while_loop(lambda x, d: abs(d) > 1e-12, step, (m, 1.0))[0]

    m, e = np.meshgrid(np.linspace(0, 2 * np.pi, 200), np.linspace(0, 0.8, 50))
    x = kepler(m, e)
    np.testing.assert_allclose(x - e * np.sin(x), m, rtol=0, atol=1e-12)


def test_loops_nest():
    def triangle(n):
        def outer(i, total):
            inner = lw.while_loop(lambda j, t: j < i, lambda j, t: (j + 1, t + j), (0, total))
            return i + 1, inner[1]

        return lw.while_loop(lambda i, total: i < n, outer, (0, 0))[1]

    n = np.arange(12)
    assert_same(lw.vectorize(triangle)(n), np.array([triangle(int(k)) for k in n]))


def test_a_single_value_is_carried_as_itself():
    halve = lw.vectorize(lambda x: lw.while_loop(lambda v: v > 1, lambda v: v / 2, x))
    assert_same(halve(np.array([0.5, 6.0])), np.array([0.5, 0.75]))


def test_a_list_is_carried_as_a_tuple_of_one():
    halve = lw.vectorize(lambda x: lw.while_loop(lambda v: v > 1, lambda v: [v / 2], [x])[0])
    assert_same(halve(np.array([0.5, 6.0])), np.array([0.5, 0.75]))


def test_an_element_that_does_not_enter_keeps_its_state():
    f = lw.vectorize(lambda x: lw.while_loop(lambda v: v < 0, lambda v: v + 1, x))
    assert_same(f(np.array([3.5, -1.5])), np.array([3.5, 0.5]))


def loop_type(dtype, initial, body):
    f = lw.vectorize(lambda x: lw.while_loop(lambda v, n: n < 3, lambda v, n: (body(v, x), n + 1),
                                             (initial, 0))[0])  # fmt: skip
    return f(np.ones(4, dtype))


def test_an_int_literal_that_becomes_float_is_carried_as_float():
    assert_same(loop_type(np.float64, 0, lambda v, x: v + 0.5), np.full(4, 1.5))


@pytest.mark.parametrize("initial", [0, 0.0])
def test_a_literal_takes_the_type_of_the_elements_it_meets(initial):
    assert_same(loop_type(np.float32, initial, lambda v, x: v + x), np.full(4, 3, np.float32))


def test_a_numpy_scalar_keeps_its_type():
    assert_same(loop_type(np.float64, np.int32(0), lambda v, x: v + 1), np.full(4, 3, np.int32))


def test_an_int32_that_meets_float32_is_carried_as_float64():
    got = loop_type(np.float32, np.int32(0), lambda v, x: v + x)
    assert_same(got, np.full(4, 3, np.float64))


def test_a_bool_that_becomes_a_number_is_carried_as_one():
    assert_same(loop_type(np.float64, False, lambda v, x: v + 1), np.full(4, 3, np.int64))


def test_a_trial_with_other_types_leaves_nothing_behind():
    f = lw.vectorize(lambda x: lw.while_loop(lambda v: v < 3, lambda v: v + x, 0))
    assert f.lower(np.ones(4)).count("= loop (") == 1


def test_an_exception_in_the_body_that_is_caught_drops_the_loop():
    def failing(v):
        raise KeyError("no")

    def f(x):
        try:
            lw.while_loop(lambda v: v < 3, failing, x)
        except KeyError:
            return x + 1

    vectorized = lw.vectorize(f)
    assert_same(vectorized(np.zeros(3)), np.ones(3))
    assert "= loop (" not in vectorized.lower(np.zeros(3))


def doublings(x, rows):
    def step(state, n):
        return {"row": state["row"] * 2, "pair": (state["pair"][1], x)}, n + 1

    first = {"row": rows, "pair": (0.0, 1.0)}
    return lw.while_loop(lambda state, n: state["row"].sum() < x, step, (first, 0))


def test_tensors_and_nested_parts_are_carried():
    x, rows = np.array([1.0, 10.0, 100.0]), np.full((3, 4), 0.5)
    state, n = lw.map(doublings, x, rows)
    assert n.tolist() == [0, 3, 6]
    assert_same(state["row"], rows * 2.0 ** n[:, None])
    assert_same(state["pair"][0], np.array([0.0, 10.0, 100.0]))
    assert_same(state["pair"][1], np.array([1.0, 10.0, 100.0]))


def test_outside_of_a_vectorized_function_it_is_a_plain_loop():
    assert lw.while_loop(lambda n: n < 10, lambda n: n + 3, 0) == 12
    assert lw.while_loop(lambda n, s: n < 4, lambda n, s: (n + 1, s + n), (0, 0)) == (4, 6)


def test_program_names_the_users_lines():
    here = mandelbrot.__code__.co_firstlineno
    text = lw.vectorize(mandelbrot).lower(np.zeros(2), np.zeros(2), 5)
    (loop,) = [line for line in text.splitlines() if "= loop" in line]
    assert loop.endswith(f"{__file__}:{here + 7}")
    assert f"{__file__}:{here + 2}" in text  # the condition
    assert f"{__file__}:{here + 5}" in text  # the body
