"""Complex elements beside other things of Python: `print`, texts, `:=`, integers from outside."""

import pickle

import numpy as np
import pytest
from test_flow_print import plain, printed, same

import lanewise as lw

Z = np.array([1 + 2j, -0.5 + 0.25j, 0j, complex(-0.0, -3.0), complex(np.inf, np.nan), 1e20 - 1e-7j])
N = np.arange(len(Z))
OFFSET = 1 - 0.5j


def values(z):
    print(z, -z, z.real, z.imag, abs(z.real), sep=" | ")
    return z + 1


def structures(z):
    print([z, 1j], (z.real, z), {"z": z, "n": 1})
    return z


def texts(z):
    form = "{:.2f}"
    print(f"{z} {z!r} {z:.3e} {z.imag:+.1f}", form.format(z), str(z) + "!", format(z, "g"))
    return z


def branches(z, n):
    if n % 2 == 0:
        print("even", n, z)
    elif z.imag > 0:
        print("odd", z * 2)
        z = z + 0
    return z


def mixed(z, n):
    for k in range(3):
        if k < n:
            print(k, z + k, n, n > 1, end=";")
    print(OFFSET, z == 0, sep="~")
    return z * n, n


def local_arrays(z):
    a = np.zeros(2, np.complex128)
    a[1] = z
    print(a, [a[1]])
    return a[0]


@pytest.mark.parametrize(
    "function", [values, structures, texts], ids=lambda function: function.__name__
)
@pytest.mark.parametrize("dtype", [np.complex64, np.complex128], ids=lambda dtype: dtype.__name__)
def test_prints_what_numpy_scalars_print(function, dtype):
    same(function, Z.astype(dtype))


def test_local_arrays_print_as_those_of_numpy():
    same(local_arrays, Z)


def test_lines_of_branches_and_loops():
    same(branches, Z, N)
    expected, _ = plain(mixed, Z, N)
    got, (z, n) = printed(lambda: lw.vectorize(mixed)(Z, N))
    assert got == expected
    np.testing.assert_array_equal(z, Z * N)
    np.testing.assert_array_equal(n, N)


def test_numbers_that_give_way_print_as_those_of_python():
    f = lw.vectorize(lambda x, c: print(c, [c], c * 2, complex(x)) or x)
    got, _ = printed(lambda: f(np.array([1.5]), 2 - 1j))
    assert got == "(2-1j) [(2-1j)] (4-2j) (1.5+0j)\n"


def test_masks_lines_of_other_shapes_and_pickles():
    f = lw.vectorize(values)
    expected, _ = plain(values, Z[::2])
    out = np.zeros((2, 3), complex)
    mask = np.array([[True, False, True], [False, True, False]])
    got, _ = printed(lambda: f(Z.reshape(2, 3), out=out, where=mask))
    assert got == expected
    np.testing.assert_array_equal(out, np.where(mask, Z.reshape(2, 3) + 1, 0))

    all_lines, _ = plain(values, Z)
    assert printed(lambda: f(Z))[0] == all_lines
    again = pickle.loads(pickle.dumps(f))
    got, result = printed(lambda: again(Z))
    assert got == all_lines
    np.testing.assert_array_equal(result, Z + 1)


def test_a_failing_element_prints_up_to_its_failure():
    def f(z):
        print("at", z)
        assert z.real < 1e9
        return z

    def run():
        with pytest.raises(lw.ElementError, match="element 4 failed"):
            lw.vectorize(f)(Z)

    got, _ = printed(run)
    assert got == "".join(f"at {z}\n" for z in Z[:5])


def test_draws_beside_complex_elements_are_those_of_the_element():
    def f(z):
        u = lw.random.uniform()
        print(z * u)
        return z * u

    got, result = printed(lambda: lw.vectorize(f, seed=3)(Z[:4]))
    assert got == "".join(f"{r}\n" for r in result)


def test_a_complex_result_counts_as_two_values_beside_the_number_of_lines():
    def f(z):
        print(z)
        return [z for _ in range(number)]

    number = 7
    got, results = printed(lambda: lw.vectorize(f)(Z[:2]))
    assert got == f"{Z[0]}\n{Z[1]}\n"
    assert len(results) == 7
    number = 8
    with pytest.raises(
        lw.UsageError, match="returns too many values for a function that prints; got 16, "
    ):
        lw.vectorize(f)(Z)


# --- := ---


def behind_and(z, x):
    if x > 0 and abs(w := z * z) < 10:
        return w
    return 0


def with_a_real_value_before(z, x):
    w = 2
    y = (w := z) + 1 if x > 0 else w
    return w * y


def in_both_parts(z, x):
    y = (w := z) if x > 0 else (w := x)
    return w + y


def in_a_loop(z, x):
    total = 0
    for k in range(12):
        if x > k and (w := z + k) != 0:
            total += w
    return total


def chained(z, x):
    if x > 0 and (w := z + 1) != 0 and (v := w * 1j).real < (u := 5):
        return v + u
    return w if x > 1 else z


WALRUS = (behind_and, with_a_real_value_before, in_both_parts, in_a_loop, chained)


@pytest.mark.parametrize("function", WALRUS, ids=lambda function: function.__name__)
def test_assignment_expressions_with_complex_values(function):
    z = np.array([1 + 1j, 2 - 2j, -1j, 3 + 4j, 0.5j, -1 + 0j])
    x = np.array([1.0, -1, 2, 3, 0, 5])
    expected = [function(*row) for row in zip(z, x, strict=True)]
    np.testing.assert_allclose(lw.vectorize(function)(z, x), expected, rtol=1e-15)


def test_a_complex_value_that_not_all_elements_have_is_checked():
    def f(z):
        if z.real > 0 and (w := z * 2) != 0:
            pass
        return w

    np.testing.assert_array_equal(lw.vectorize(f)(np.array([1 + 1j, 2j + 3])), [2 + 2j, 6 + 4j])
    with pytest.raises(lw.ElementError, match="w: used before it has a value"):
        lw.vectorize(f)(np.array([1 + 1j, -1j]))


# --- integers from outside ---


@pytest.mark.parametrize("dtype", [np.complex64, np.complex128])
def test_integers_from_outside_meet_complex_elements(dtype):
    z = Z[:4].astype(dtype)
    big = 2**40 + 1
    for f in (lambda z, n: z + n, lambda z, n: z * n, lambda z, n: n - z):
        got = lw.vectorize(f)(z, big)
        assert got.dtype == dtype
        np.testing.assert_array_equal(got, f(z, big))
    np.testing.assert_array_equal(lw.vectorize(lambda z, n: z == n)(z, 0), z == 0)
    np.testing.assert_array_equal(lw.vectorize(lambda z: z + big)(z), z + big)


def test_integers_from_outside_beside_complex_elements_still_fit_their_type():
    f = lw.vectorize(lambda z, k, n: z * (k + n))
    k = np.array([1, 2], np.int8)
    np.testing.assert_array_equal(f(Z[:2], k, 100), Z[:2] * (k + np.int8(100)))
    with pytest.raises(lw.ElementError, match="does not fit int8"):
        f(Z[:2], k, 300)


# --- maps without arrays ---


def turned(step):
    z = step ** lw.element() + lw.element()
    if z.real > 1:
        print(lw.element(), z)
    return z


@pytest.mark.parametrize("compile", ["now", "never"])
@pytest.mark.parametrize("count", [0, 1, 5, 1000])
def test_complex_results_of_maps_without_arrays(count, compile):
    f = lw.vectorize(lambda step: step * lw.element(), count=count, compile=compile)
    for _ in range(2):
        np.testing.assert_array_equal(f(1 - 2j), (1 - 2j) * np.arange(count))
    out = np.zeros((count, 2), complex)
    f(0.5j, out=out[:, 1])
    np.testing.assert_array_equal(out, np.stack([np.zeros(count), np.arange(count) * 0.5j], 1))
    pair = lw.vectorize(lambda z: (lw.element(np.int32), z), count=count)(2j)
    np.testing.assert_array_equal(pair[0], np.arange(count))
    np.testing.assert_array_equal(pair[1], np.full(count, 2j))


def test_maps_without_arrays_print_with_the_numbers_of_their_elements():
    f = lw.vectorize(turned, count=6, first_element=2)
    got, result = printed(lambda: f(1j))
    numbers = np.arange(2, 8)
    np.testing.assert_allclose(result, 1j**numbers + numbers, rtol=1e-15)
    lines = [f"{n} {z}" for n, z in zip(numbers, result, strict=True) if z.real > 1]
    assert got.splitlines() == lines
    expected, _ = printed(lambda: [f.on(i, 1j) for i in range(6)])
    assert len(expected.splitlines()) == len(lines)


def test_a_map_without_arrays_that_fails_prints_what_came_before():
    def f(c):
        print(c * lw.element())
        assert lw.element() < 3
        return c

    def run():
        with pytest.raises(lw.ElementError, match="element 3 failed"):
            lw.vectorize(f, count=9)(1j)

    got, _ = printed(run)
    assert got == "".join(f"{1j * np.int64(n)}\n" for n in range(4))


def test_bits_in_lines_are_those_of_the_element():
    def f():
        b = lw.random.bits()
        print(b)
        return b

    got, result = printed(lambda: lw.map(f, count=5, seed=4))
    assert got == "".join(f"{b}\n" for b in result)
