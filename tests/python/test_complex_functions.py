"""Functions of complex numbers are near those of NumPy and `cmath`, and right at special values."""

import cmath
import itertools
import math

import numpy as np
import pytest
from samples import assert_same

import lanewise as lw

RNG = np.random.default_rng(11)
COMPLEX = (np.complex64, np.complex128)
# Functions, and how many units in the last place of a result's length they may be away.
FUNCTIONS = {
    **dict.fromkeys(("exp", "log", "log2", "log10", "sqrt", "sin", "cos", "sinh", "cosh"), 4),
    **dict.fromkeys(("tan", "tanh", "arcsin", "arccos", "arctan", "arcsinh", "arccosh"), 6),
    **dict.fromkeys(("arctanh", "square", "reciprocal", "sign", "exp2", "expm1", "log1p"), 6),
}
# Those of which both parts are near by themselves.
IN_PARTS = ("exp", "log", "sqrt", "sin", "cos", "tan", "sinh", "cosh", "tanh", "arcsin", "arccos")
CMATH = {
    **{name: name for name in ("exp", "log", "log10", "sqrt", "sin", "cos", "tan", "sinh")},
    **{name: name for name in ("cosh", "tanh")},
    **{f"a{name}": f"arc{name}" for name in ("sin", "cos", "tan", "sinh", "cosh", "tanh")},
}


def numbers(dtype, spread):
    """Return random numbers, of about one size or of many."""
    if spread == "near":
        parts = RNG.normal(size=(2, 4000))
    else:
        parts = np.exp(RNG.uniform(-8, 2.5, (2, 4000))) * RNG.choice([-1, 1], (2, 4000))
    return (parts[0] + 1j * parts[1]).astype(dtype)


@pytest.mark.parametrize("spread", ["near", "far"])
@pytest.mark.parametrize("dtype", COMPLEX)
@pytest.mark.parametrize("name", FUNCTIONS)
def test_functions_are_near_those_of_numpy(name, dtype, spread):
    function = getattr(np, name)
    z = numbers(dtype, spread)
    if name == "log1p":
        z = z[np.abs(z + 1) > 1.2]  # NumPy's own is far from exact where results are small
    exact = function(z.astype(np.complex128)).astype(dtype)
    got = lw.vectorize(lambda z: function(z))(z)
    assert got.dtype == dtype
    eps = np.finfo(dtype).eps
    np.testing.assert_array_less(np.abs(got - exact), FUNCTIONS[name] * eps * np.abs(exact) + 1e-40)
    if name in IN_PARTS:
        for part in ("real", "imag"):
            near, want = getattr(got, part), getattr(exact, part)
            np.testing.assert_allclose(near, want, rtol=8 * eps, atol=0)


def special(dtype):
    """Return all pairs of awkward parts."""
    limits = np.finfo(dtype)
    awkward = [0.0, 1.0, 0.5, 2.5, 4.0, float(limits.tiny) / 8, float(limits.max) / 2, math.inf]
    awkward += [700.0 if dtype is np.complex128 else 85.0]
    parts = [sign * part for part in awkward for sign in (1, -1)] + [math.nan]
    return np.array([complex(x, y) for x, y in itertools.product(parts, parts)], dtype)


def agrees(got, want, units, dtype):
    """Say whether parts are the same: NaN, signs of zeros, else near."""
    if math.isnan(want) or math.isnan(got):
        return math.isnan(want) and math.isnan(got)
    if math.isinf(want) or math.isinf(got) or want == 0:
        return got == want and math.copysign(1, got) == math.copysign(1, want)
    return abs(got - want) <= units * np.spacing(abs(dtype(want).real))


@pytest.mark.parametrize("name", CMATH)
def test_special_values_where_numpy_and_python_agree(name):
    function, plain = getattr(np, CMATH[name]), getattr(cmath, name)
    z = special(np.complex128)
    with np.errstate(all="ignore"):
        expected = function(z)
    got = lw.vectorize(lambda z: function(z))(z)
    looked_at = 0
    for number, ours, theirs in zip(z, got, expected, strict=True):
        try:
            other = plain(complex(number))
        except (ValueError, OverflowError):
            continue
        for part in ("real", "imag"):
            want = getattr(theirs, part)
            if not agrees(getattr(other, part), want, 4, np.complex128):
                continue
            looked_at += 1
            near = getattr(ours, part)
            assert agrees(near, want, 8, np.complex128), (number, part, near, want)
    assert looked_at > 200


def test_large_and_small_numbers_do_not_overflow():
    z = np.array([1e308 + 1e308j, 1e-310 - 1e-310j, -1e308 + 1e-310j, 709.9 + 1.57j, -1e200j])
    for function in (np.sqrt, np.log, np.exp, np.arcsinh, np.arccos):
        with np.errstate(all="ignore"):
            expected = function(z.astype(np.clongdouble)).astype(complex)
        got = lw.vectorize(function)(z)
        np.testing.assert_allclose(got, expected, rtol=1e-14, atol=1e-323)


def test_logarithms_of_numbers_near_the_unit_circle():
    angle = RNG.uniform(-np.pi, np.pi, 5000)
    z = np.exp(1j * angle) * (1 + RNG.normal(size=5000) * 1e-6)
    exact = np.log(z.astype(np.clongdouble)).astype(complex)
    got = lw.vectorize(lambda z: np.log(z))(z)
    np.testing.assert_allclose(got.real, exact.real, rtol=1e-15, atol=1e-31)


# --- powers ---


@pytest.mark.parametrize("exponent", [0, 1, 2, 3, 4, 7, -1, -2, 0.5, 1.5, -0.25, 2j, 1 - 1j, 150])
def test_powers_with_plain_exponents(exponent):
    for dtype in COMPLEX:
        z = numbers(dtype, "near")[:500]
        z = z[np.abs(np.log(np.abs(z))) < 0.5]
        got, want = lw.vectorize(lambda z: z**exponent)(z), z**exponent
        assert got.dtype == want.dtype
        np.testing.assert_allclose(got, want, rtol=600 * np.finfo(dtype).eps)
        assert_same(lw.vectorize(lambda z: pow(z, exponent))(z), got)


def test_powers_of_elements():
    z, w = numbers(np.complex128, "near"), numbers(np.complex128, "near")
    x, n = RNG.normal(size=4000), RNG.integers(-9, 10, 4000)
    f = lw.vectorize(lambda a, b: a**b)
    for a, b in ((z, w), (z, x), (x, w), (z, n), (2.0, z), (1j, x)):
        np.testing.assert_allclose(f(a, b), np.power(a, b), rtol=1e-13)
    units = np.array([1j, -1j, -1, 1])
    assert_same(f(units, np.array([2, 3, 5, 7])), np.array([-1 + 0j, 1j, -1 + 0j, 1]))
    with np.errstate(all="ignore"):
        zeros = np.zeros(3, complex)
        assert_same(f(zeros, np.array([0j, 2, -1])), np.power(zeros, np.array([0j, 2, -1])))


# --- the rest of NumPy, and cmath ---

NUMPY = {
    "angle": lambda z: np.angle(z),
    "angle in degrees": lambda z: np.angle(z, deg=True),
    "conj": lambda z: np.conj(z),
    "isnan": lambda z: np.isnan(z),
    "isinf": lambda z: np.isinf(z),
    "isfinite": lambda z: np.isfinite(z),
    "isreal": lambda z: np.isreal(z),
    "iscomplex": lambda z: np.iscomplex(z),
    "where": lambda z: np.where(z.real > 0, z, 1),
    "round": lambda z: np.round(z, 1),
    "rint": lambda z: np.rint(z),
    "isclose": lambda z: np.isclose(z, 1 + 1j, rtol=0.5),
    "nan_to_num": lambda z: np.nan_to_num(z),
    "polyval": lambda z: np.polyval([1, 2j, 3], z),
    "float_power": lambda z: np.float_power(z, 2.5),
    "logical_and": lambda z: np.logical_and(z, 1),
    "select": lambda z: np.select([z.real > 1, z.imag > 1], [z, 2.0], 1j),
    "zeros_like": lambda z: z + np.zeros_like(z),
    "sinc": lambda z: np.sinc(z),
}


@pytest.mark.parametrize("name", NUMPY)
def test_functions_of_numpy(name):
    z = np.array([1 + 1j, -2.26 + 0j, 0j, 0.55 - 3.06j, 2j, 1.1 + 0.8j])
    if name.startswith(("is", "nan")):
        z = np.append(z, [complex(math.nan, 1), complex(1, math.inf), complex(-math.inf, 0)])
    function = NUMPY[name]
    got, want = lw.vectorize(function)(z), function(z)
    assert got.dtype == want.dtype
    np.testing.assert_allclose(got, want, rtol=1e-14, atol=1e-15)


PYTHON = {
    **{name: getattr(cmath, name) for name in CMATH},
    "phase": cmath.phase,
    "polar": cmath.polar,
    "isnan": cmath.isnan,
    "isinf": cmath.isinf,
    "isfinite": cmath.isfinite,
    "log with a base": lambda z: cmath.log(z, 2 + 1j),
    "rect": lambda z: cmath.rect(abs(z), cmath.phase(z)),
    "isclose": lambda z: cmath.isclose(z, 1 + 1j, rel_tol=0.5),
    "constants": lambda z: z * cmath.pi + cmath.infj.imag * 0 if z == 0 else z * cmath.e,
}


@pytest.mark.parametrize("name", PYTHON)
def test_functions_of_cmath(name):
    function = PYTHON[name]
    z = np.array([1.5 + 1j, -2.26 + 0.1j, 0.3 + 0.5j, 0.55 - 3.06j, 1.1 + 0.8j])
    for values in (z, z.real.copy()):
        got = np.array(lw.vectorize(lambda z: function(z))(values))
        want = np.array([function(value.item()) for value in values])
        np.testing.assert_allclose(got, want.T, rtol=1e-14, atol=1e-15)
    small = lw.vectorize(lambda z: function(z))(z.astype(np.complex64))
    assert np.array(small).dtype in (np.complex64, np.float32, np.bool_)


def test_roots_of_negative_numbers_are_complex_in_cmath():
    x = np.array([-4.0, 9.0], np.float32)
    assert_same(lw.vectorize(lambda x: cmath.sqrt(x))(x), np.array([2j, 3], np.complex64))
    assert np.isnan(lw.vectorize(lambda x: np.sqrt(x))(x)[0])


def test_an_infinite_length_without_an_angle_is_real():
    got = lw.vectorize(lambda r: cmath.rect(r, 0.0))(np.array([math.inf, -1.0]))
    assert_same(got, np.array([cmath.rect(math.inf, 0.0), cmath.rect(-1.0, 0.0)]))
