"""Complex arrays and numbers go in, through every statement, and out."""

import cmath
import dataclasses
import itertools
import pickle
from typing import NamedTuple

import numpy as np
import pytest
from samples import assert_same

import lanewise as lw

RNG = np.random.default_rng(5)
Z = RNG.normal(size=50) + 1j * RNG.normal(size=50)
W = RNG.normal(size=50) + 1j * RNG.normal(size=50)
X = RNG.normal(size=50)
COMPLEX = (np.complex64, np.complex128)
STEP = 0.5 - 0.25j
TABLE = np.array([1 + 1j, 2 - 2j, 3 + 0.5j, -4j])
GRID = np.arange(6).reshape(2, 3) * (1 - 2j)


def each(function, *arrays):
    """Call the plain function on each element."""
    return np.array([function(*row) for row in zip(*arrays, strict=True)])


def close(got, expected, units=8):
    """Assert equal types, and values that differ by few units in the last place of their length."""
    expected = np.asarray(expected)
    assert got.dtype == expected.dtype
    np.testing.assert_allclose(got, expected, rtol=units * np.finfo(expected.dtype).eps, atol=0)


# --- types and arithmetic ---

STRONG = [np.dtype(c) for c in "bhilBHILefdFD"]
OPERATIONS = {
    "+": lambda a, b: a + b,
    "-": lambda a, b: a - b,
    "*": lambda a, b: a * b,
    "/": lambda a, b: a / b,
    "where": lambda a, b: np.where(a == b, a, b),
}


@pytest.mark.parametrize("name", OPERATIONS)
@pytest.mark.parametrize("other", [*COMPLEX, 2 - 1j, 2, 2.5], ids=str)
def test_types_mix_as_in_numpy(name, other):
    operation = OPERATIONS[name]
    for dtype in STRONG:
        a = np.array([1, 2, 3], dtype)
        b = np.array([1 + 1j, 2, 3], other) if isinstance(other, type) else other
        for left, right in ((a, b), (b, a)):
            expected = operation(left, right)
            assert_same(lw.vectorize(operation)(left, right), expected)
            if not isinstance(other, type):
                assert_same(lw.vectorize(lambda x: operation(x, other))(a), operation(a, other))


@pytest.mark.parametrize("dtype", COMPLEX)
def test_arithmetic_is_that_of_numpy_numbers(dtype):
    parts = [0.0, -0.0, 1.5, -2.0, np.inf, -np.inf, np.nan]
    numbers = [dtype(complex(x, y)) for x, y in itertools.product(parts, parts)]
    left, right = (np.array(row) for row in zip(*itertools.product(numbers, numbers), strict=True))
    with np.errstate(all="ignore"):
        for name in "+-*/":
            operation = OPERATIONS[name]
            assert_same(lw.vectorize(operation)(left, right), each(operation, left, right))
        real = right.real.copy()
        for name in "+-*/":
            operation = OPERATIONS[name]
            assert_same(lw.vectorize(operation)(left, real), each(operation, left, real))
            assert_same(lw.vectorize(operation)(real, left), each(operation, real, left))
        assert_same(lw.vectorize(lambda z: -z)(left), -left)
        assert_same(lw.vectorize(lambda z: +z)(left), left)
        assert_same(lw.vectorize(lambda a, b: a == b)(left, right), left == right)
        assert_same(lw.vectorize(lambda a, b: a != b)(left, right), left != right)


@pytest.mark.parametrize("compile", ["never", "now"])
def test_tiers_and_threads_give_the_same_bits(compile):
    def f(z, w):
        return np.exp(z) * w / np.sqrt(z + 1j), np.tanh(z) ** w

    z, w = np.tile(Z, 3000), np.tile(W, 3000)
    expected = lw.vectorize(f, compile="never", threads=1)(z, w)
    for threads in (1, 2):
        for got, want in zip(
            lw.vectorize(f, compile=compile, threads=threads)(z, w), expected, strict=True
        ):
            assert_same(got, want)


def test_parts_of_numbers():
    assert_same(lw.vectorize(lambda z: z.real)(Z), Z.real)
    assert_same(lw.vectorize(lambda z: z.imag)(Z), Z.imag)
    assert_same(lw.vectorize(lambda z: z.conjugate())(Z), Z.conj())
    assert_same(lw.vectorize(lambda z: z.conj())(Z), Z.conj())
    assert_same(lw.vectorize(lambda x: x.real + x.imag)(X), X)
    assert_same(lw.vectorize(lambda z: np.imag(z) - np.real(z))(Z), Z.imag - Z.real)
    close(lw.vectorize(abs)(Z), np.abs(Z))
    assert lw.vectorize(abs)(Z.astype(np.complex64)).dtype == np.float32


def test_complex_makes_numbers_of_python():
    small = X.astype(np.float32)
    assert lw.vectorize(lambda x: complex(x, 1) + x)(small).dtype == np.complex64
    assert_same(lw.vectorize(lambda x: complex(x, 1))(X), X + 1j)
    assert_same(lw.vectorize(lambda x: complex(x))(X), X.astype(complex))
    assert_same(lw.vectorize(lambda z: complex(z, 2))(Z), Z + 2j)
    assert_same(lw.vectorize(lambda x, y: complex(1.5, y * 1j))(X, X), 1.5 - X + 0j)
    assert_same(lw.vectorize(lambda x: 2 + 1j * x)(X), 2 + 1j * X)


def test_conversions():
    assert_same(lw.vectorize(lambda x: x.astype(np.complex64))(X), X.astype(np.complex64))
    assert_same(lw.vectorize(lambda z: z.astype(np.complex64))(Z), Z.astype(np.complex64))
    assert_same(
        lw.vectorize(lambda z: z.astype(bool))(np.array([0j, -0.0j, 1j])), [False, False, True]
    )
    assert_same(lw.vectorize(lambda z: np.complex64(z))(Z), Z.astype(np.complex64))
    assert_same(lw.vectorize(lambda x: x, otypes=[np.complex64])(X), X.astype(np.complex64))
    assert_same(lw.vectorize(lambda z: z, otypes="F")(Z), Z.astype(np.complex64))
    assert_same(lw.vectorize(lambda z: z if isinstance(z, complex) else 0.0)(Z), Z)


# --- arrays ---


def test_arrays_lie_in_memory_as_they_will():
    square = lw.vectorize(lambda z, w: z * w)
    wide = RNG.normal(size=(6, 8, 4)) + 1j
    for a in (wide, wide[::2, ::-1], wide.T, np.asfortranarray(wide), wide[:, :, 1], wide[0, 0]):
        assert_same(square(a, 2.0), a * 2.0)
        assert_same(
            square(a, a.real), each(lambda z, w: z * w, a.ravel(), a.real.ravel()).reshape(a.shape)
        )
    assert_same(square(Z[:, None], X[:7]), np.multiply(Z[:, None], X[:7]))
    assert square(wide.T, 1.0).flags.f_contiguous
    swapped = Z.astype(">c16")
    assert_same(square(swapped, 1.0), Z * 1.0)
    assert square.explain(swapped, 1.0).copied == ["argument 0: byte-swapped"]
    assert_same(square(np.zeros((0, 3), np.complex64), 1j), np.zeros((0, 3), np.complex64))


@pytest.mark.parametrize("dtype", COMPLEX)
def test_every_length_and_address(dtype):
    both = lw.vectorize(lambda z: (z, z.imag, -z))
    for length in (*range(1, 20), 255, 1024, 1025, 3001):
        for skip in (0, 1):
            z = np.arange(skip, length + skip).astype(dtype) * dtype(1 + 2j)
            raw = np.zeros(z.nbytes + 1, np.uint8)
            odd = np.frombuffer(raw.data, np.uint8)[1:].view(dtype)
            odd[:] = z
            for a in (z, odd, np.stack([z, z], 1)[:, 0]):
                got = both(a)
                assert_same(got[0], z)
                assert_same(got[1], z.imag)
                assert_same(got[2], -z)


def test_single_numbers():
    f = lw.vectorize(lambda a, b: a * b)
    for a in (1 + 2j, np.complex64(1 + 2j), np.array(3j)):
        got = f(a, 2.0)
        assert got == a * 2.0
        assert got.dtype == np.result_type(a, 2.0)
        assert_same(f(Z, a), Z * a)
    assert f(1j, 2) == f(2, 1j) == 2j


def test_results_go_into_arrays():
    f = lw.vectorize(lambda z, x: (z * x, z.real))
    out = np.empty(50, complex), np.empty(50)
    assert f(Z, X, out=out) is out
    assert_same(out[0], each(lambda z, x: z * x, Z, X))
    assert_same(out[1], Z.real)
    g = lw.vectorize(lambda z: z + 1)
    strided = np.zeros((50, 2), complex)
    for _ in range(2):
        assert g(Z, out=strided[:, 1]) is not None
        assert_same(strided[:, 1], Z + 1)
    assert (strided[:, 0] == 0).all()
    with pytest.raises(TypeError, match="out has another type; got float64, expected complex128"):
        g(Z, out=np.empty(50))
    with pytest.raises(TypeError, match="out has another type; got complex64, expected complex12"):
        g(Z, out=np.empty(50, np.complex64))


def test_masked_elements_stay():
    f = lw.vectorize(lambda z, k: (z * k, abs(z) < 1))
    mask = Z.real > 0
    out = np.full(50, 7j), np.zeros(50, bool)
    f(Z, 2j, out=out, where=mask)
    assert_same(out[0], np.where(mask, Z * 2j, 7j))
    assert_same(out[1], mask & (np.abs(Z) < 1))


def test_captured_numbers_and_tables_are_read_at_every_call():
    step, table = 1 + 1j, TABLE.copy()
    f = lw.vectorize(lambda z, i: z * step + table[i] + GRID[1, i])
    index = np.arange(50) % 3
    for _ in range(3):
        want = Z * step + table[index] + GRID[1, index]
        close(f(Z, index), want, 40)
        step *= 2j
        table += 1
    close(lw.vectorize(lambda z: z * STEP)(Z), Z * STEP)
    close(lw.map(lambda z, t: z * t[-1], Z, TABLE, in_axes=(0, None)), Z * TABLE[-1])
    with pytest.raises(lw.ElementError):
        lw.vectorize(lambda i: TABLE[i])(np.array([0, 9]))


def test_a_captured_number_whose_value_is_asked_for():
    names = {1j: 2.0, 2j: 3.0}
    key = 1j
    f = lw.vectorize(lambda z: z * names[key])
    assert_same(f(Z), Z * 2.0)
    key = 2j
    assert_same(f(Z), Z * 3.0)


class Pair(NamedTuple):
    a: object
    b: object


@dataclasses.dataclass
class Point:
    z: object
    n: object


def test_structures():
    f = lw.vectorize(lambda p: {"sum": p["z"] + p["x"], "pair": Pair(p["z"], Point(-p["z"], 1))})
    got = f({"z": Z, "x": X})
    assert_same(got["sum"], Z + X)
    assert_same(got["pair"].a, Z)
    assert_same(got["pair"].b.z, -Z)
    rows = np.zeros(50, [("z", np.complex64), ("x", np.float64)])
    rows["z"], rows["x"] = Z, X
    close(lw.vectorize(lambda r: r.z * r.x)(rows), rows["z"] * rows["x"])


def test_files_pickles_and_single_elements(tmp_path):
    shift, table = 2 - 1j, TABLE
    f = lw.vectorize(lambda z, i: (z + shift, table[i] * z), name="moved")
    index = np.arange(50) % 4
    want = f(Z, index)
    f.save(tmp_path / "f.npz")
    for other in (lw.Vectorized.load(tmp_path / "f.npz"), pickle.loads(pickle.dumps(f))):
        for got, expected in zip(other(Z, index), want, strict=True):
            assert_same(got, expected)
    assert f.on(3, Z, index) == (Z[3] + shift, TABLE[3] * Z[3])


# --- statements ---


def mandelbrot(c):
    z = 0
    n = 0
    while abs(z) <= 2 and n < 60:
        z = z * z + c
        n += 1
    return n


def mandelbrot_with_break(c):
    z = 0j
    steps = -1
    for n in range(60):
        if abs(z) > 2:
            steps = n
            break
        z = z**2 + c
    return steps, z


def newton(z):
    for _ in range(30):
        step = (z**3 - 1) / (3 * z * z)
        z -= step
        if abs(step) < 1e-9:
            return z
    return 0


def widened(x):
    total = 0
    if x > 0:
        total = cmath.sqrt(-x)
    elif x < -1:
        total = x
    return total


def chosen(z):
    root = z if z.imag > 0 else z.real
    return root or 1j


def listed(z):
    terms = [0, 1.0, z]
    for i in range(20):
        k = i % 3
        terms[k] = terms[k] * z + i
        if terms[k].real > 3:
            terms[0] = -1j
    return terms[0] + terms[2]


def in_memory(z):
    found = np.zeros(4, complex)
    k = 0
    while k < 12:
        found[k % 4] += z * k
        k += 1
    return found[0] - found[3]


def in_a_dict(z):
    state = {"z": z, "n": 0}
    if z.real > 0:
        state["z"] = 1 / z
    return state["z"] + state["n"]


def checked(z):
    assert z == z
    return z if z else 1j


@pytest.mark.parametrize(
    "function",
    [
        *(mandelbrot, mandelbrot_with_break, newton, widened, chosen),
        *(listed, in_memory, in_a_dict, checked),
    ],
)
def test_statements_carry_complex_numbers(function):
    values = X * 2 if function is widened else Z
    got = lw.vectorize(function)(values)
    results = [function(value.item()) for value in values]
    if isinstance(got, tuple):
        for index, part in enumerate(got):
            np.testing.assert_allclose(part, [row[index] for row in results], rtol=1e-11)
    else:
        np.testing.assert_allclose(got, results, rtol=1e-11, atol=1e-13)
    assert got[0].dtype.kind in "ci" or isinstance(got, tuple)


def test_small_types_stay_small_in_loops():
    z = Z.astype(np.complex64)
    assert lw.vectorize(newton)(z).dtype == np.complex64
    grow = lw.vectorize(lambda z: lw.while_loop(lambda w: abs(w) < 9, lambda w: w * 2 + 1j, z))
    got = grow(z)
    assert got.dtype == np.complex64
    assert (np.abs(got) >= 9).all()


def test_loops_compare_lengths_without_a_root():
    text = lw.vectorize(mandelbrot).lower(Z)
    assert " = hypot " not in text
    assert " = sqrt " not in text


LENGTHS = [
    lambda z, bound: abs(z) < bound,
    lambda z, bound: abs(z) <= bound,
    lambda z, bound: abs(z) > bound,
    lambda z, bound: bound <= abs(z),
]


@pytest.mark.parametrize("bound", [2, 2.0, 1e-30, 1e30, -1, 0, np.inf, np.nan])
@pytest.mark.parametrize("dtype", COMPLEX)
def test_lengths_are_compared_as_numbers(dtype, bound):
    parts = [0.0, 1.2, 1.6, -3.0, 1e30, np.inf, -np.inf, np.nan]
    z = np.array([complex(x, y) for x, y in itertools.product(parts, parts)], dtype)
    for compare in LENGTHS:
        got = lw.vectorize(compare, excluded=[1])(z, bound)  # the bound is no literal
        assert_same(got, compare(z, bound))


def test_lengths_are_compared_with_literals():
    z = np.array([2 + 0j, 1.5 + 1.5j, 1j, complex(np.inf, np.nan), complex(np.nan, 1)])
    assert_same(lw.vectorize(lambda z: abs(z) < 2)(z), np.abs(z) < 2)
    assert_same(lw.vectorize(lambda z: abs(z) <= 2)(z), np.abs(z) <= 2)
    assert_same(lw.vectorize(lambda z: abs(z) > 2)(z), np.abs(z) > 2)
    assert_same(lw.vectorize(lambda z: abs(z) >= 2.0)(z), np.abs(z) >= 2)


# --- what is refused ---


@pytest.mark.parametrize(
    ("function", "message"),
    [
        (lambda z: z < 1, r"less: not defined for complex numbers; got \(complex128, int64\), exp"),
        (lambda z: max(z, 1), "less: not defined for complex numbers"),
        (lambda z: np.maximum(z, 1), "maximum: .* They have no order: compare abs\\(z\\), z.real"),
        (lambda z: z % 2, "remainder: not defined for complex numbers; .* Take z.real, z.imag or"),
        (lambda z: z // 2, "floor_divide: not defined for complex numbers"),
        (lambda z: np.floor(z), "floor: not defined for complex numbers"),
        (lambda z: int(z), "element: a complex number cannot become a real one; got complex, "),
        (lambda z: float(z), "a complex number cannot become a real one"),
        (lambda z: z.astype(np.float64), "a complex number cannot become a real one"),
        (lambda z: round(z), "round: not defined for complex numbers; .* Use np.round"),
        (lambda z: __import__("math").sin(z), "math.sin: not defined for complex numbers; .*cmath"),
        (lambda z: TABLE[z], "table: an index is not a whole number; got complex128"),
        (lambda z: [sum(range(z))][0], "range: a bound is not a whole number"),
    ],
    ids=lambda value: "" if callable(value) else value[:20],
)
def test_what_complex_numbers_cannot_do(function, message):
    with pytest.raises(TypeError, match=message) as error:
        lw.vectorize(function)(Z)
    assert __file__ in str(error.value)


def test_results_that_are_not_real():
    with pytest.raises(TypeError, match="a complex number cannot become a real one"):
        lw.vectorize(lambda z: z, otypes="d")(Z)
