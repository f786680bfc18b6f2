"""The Array-API namespace of elements: every name of the standard is there."""

import math

import numpy as np
import pytest

import lanewise as lw

# Of https://data-apis.org/array-api/2023.12/API_specification.
OF_ONE = """abs acos acosh asin asinh atan atanh bitwise_invert ceil conj cos cosh exp expm1 floor
    imag isfinite isinf isnan log log1p log2 log10 logical_not negative positive real round sign
    signbit sin sinh square sqrt tan tanh trunc"""
OF_TWO = """add atan2 bitwise_and bitwise_left_shift bitwise_or bitwise_right_shift bitwise_xor
    copysign divide equal floor_divide greater greater_equal hypot less less_equal logaddexp
    logical_and logical_or logical_xor maximum minimum multiply not_equal pow remainder subtract"""
OTHERS = """clip e inf nan newaxis pi
    bool int8 int16 int32 int64 uint8 uint16 uint32 uint64 float32 float64 complex64 complex128
    astype broadcast_arrays broadcast_to can_cast finfo iinfo isdtype result_type
    arange asarray empty empty_like eye from_dlpack full full_like linspace meshgrid ones ones_like
    tril triu zeros zeros_like take matmul matrix_transpose tensordot vecdot concat expand_dims
    flip moveaxis permute_dims repeat reshape roll squeeze stack tile unstack argmax argmin nonzero
    searchsorted where unique_all unique_counts unique_inverse unique_values argsort sort
    cumulative_sum max mean min prod std sum var all any __array_namespace_info__
    __array_api_version__"""
ARRAYS = """argmax argmin argsort concat cumulative_sum expand_dims eye flip from_dlpack linspace
    matmul matrix_transpose meshgrid moveaxis nonzero permute_dims repeat reshape roll searchsorted
    sort stack std take tensordot tile tril triu unique_all unique_counts unique_inverse
    unique_values unstack var vecdot"""
ORDERS = ("greater", "greater_equal", "less", "less_equal", "maximum", "minimum")
FLOATS = np.array([-2.5, -1.0, -0.0, 0.0, 0.4, 1.0, 3.7, np.inf, np.nan])
INTEGERS = np.array([-7, -1, 0, 1, 2, 5])
BOOLS = np.array([False, True])
COMPLEX = np.array([1 + 2j, -0.5 + 0.25j, 2j, -3 + 0j, 0.3 - 0.4j])
OF_ALL_KINDS = (
    *(FLOATS, FLOATS.astype(np.float32), INTEGERS, BOOLS),
    *(COMPLEX, COMPLEX.astype(np.complex64)),
)


def namespace(x=FLOATS):
    found = []
    lw.vectorize(lambda x: found.append(x.__array_namespace__()) or x)(x)
    return found[-1]


def close(got, expected):
    assert got.dtype == expected.dtype
    if got.dtype.kind in "fc":
        rtol = 1e-6 if got.dtype in (np.float32, np.complex64) else 1e-13
        np.testing.assert_allclose(got, expected, rtol=rtol)
    else:
        np.testing.assert_array_equal(got, expected)


@pytest.mark.parametrize("name", f"{OF_ONE} {OF_TWO} {OTHERS}".split())
def test_every_name_of_the_standard_is_there(name):
    assert hasattr(namespace(), name)


@pytest.mark.parametrize("name", OF_ONE.split())
@pytest.mark.parametrize("values", OF_ALL_KINDS, ids=str)
def test_functions_of_one_element(name, values):
    def f(x):
        return getattr(x.__array_namespace__(), name)(x)

    if values.dtype == np.bool_ and name not in ("bitwise_invert", "logical_not"):
        pytest.skip("not defined by the standard")
    agree(f, getattr(np, name), values)


@pytest.mark.parametrize("name", OF_TWO.split())
@pytest.mark.parametrize("values", [FLOATS, INTEGERS, BOOLS, COMPLEX], ids=str)
def test_functions_of_two_elements(name, values):
    def f(x, y):
        return getattr(x.__array_namespace__(), name)(x, y)

    is_logic = name.startswith(("bitwise", "logical", "equal", "not_equal")) and "shift" not in name
    if values.dtype == np.bool_ and not is_logic:
        pytest.skip("not defined by the standard")
    x = np.repeat(values, len(values))
    y = np.tile(values, len(values))
    if values.dtype.kind == "i" and name in ("floor_divide", "remainder", "pow"):
        y = y % 5 + 1
    if values.dtype.kind == "i" and name == "pow":
        f = lw.vectorize(lambda x: x.__array_namespace__().pow(x, 3))
        np.testing.assert_array_equal(f(x), x**3)
        return
    if "shift" in name:
        y = abs(y)
    if values.dtype.kind == "c" and name in ORDERS:
        with pytest.raises(TypeError, match=f"{name}: not defined for complex numbers; got "):
            lw.vectorize(f)(x, y)
        return
    agree(f, getattr(np, name), x, y)


def agree(function, plain, *values):
    """Expect what NumPy gives, or an error where it gives one."""
    try:
        expected = plain(*values)
    except TypeError:
        with pytest.raises(TypeError):
            lw.vectorize(function)(*values)
        return
    close(lw.vectorize(function)(*values), expected)


def program(x, n):
    xp = x.__array_namespace__()
    if xp.isdtype(x.dtype, "real floating"):
        x = xp.clip(x, min=-1.0, max=2.0)
    y = xp.where(xp.isnan(x), xp.asarray(0.5), xp.astype(x, xp.float64))
    total = xp.zeros_like(y)
    for k in range(3):
        total = total + xp.pow(y, 2) * xp.pi / (k + 1)
    if xp.all(total > xp.e) or xp.any(y < 0):
        total = xp.sqrt(xp.abs(total))
    small = xp.finfo(y.dtype).eps
    return total + small + xp.astype(xp.bitwise_left_shift(n, 1), xp.float64)


def test_a_program_written_with_the_namespace_runs():
    n = np.arange(len(FLOATS))
    expected = [program(x, k) for x, k in zip(FLOATS, n, strict=True)]
    np.testing.assert_allclose(lw.vectorize(program)(FLOATS, n), expected, rtol=1e-14)


def test_constants_and_types():
    xp = namespace()
    assert (xp.e, xp.pi, xp.inf, xp.newaxis) == (math.e, math.pi, math.inf, None)
    assert math.isnan(xp.nan)
    assert xp.float32 is np.float32
    assert np.dtype(xp.bool) == np.bool_


def test_questions_about_types():
    found = {}

    def f(x):
        xp = x.__array_namespace__()
        found.update(
            can_cast=(xp.can_cast(x, xp.float64), xp.can_cast(x, xp.int8)),
            result_type=xp.result_type(x, xp.float64),
            finfo=xp.finfo(x).bits,
            iinfo=xp.iinfo(xp.int8).max,
            isdtype=[
                xp.isdtype(x.dtype, kind)
                for kind in ("bool", "real floating", "numeric", ("integral", "bool"), xp.float32)
            ],
            devices=(x.device, x.to_device("cpu") is x),
        )
        return x

    lw.vectorize(f)(np.ones(2, np.float32))
    assert found == {
        "can_cast": (True, False),
        "result_type": np.float64,
        "finfo": 32,
        "iinfo": 127,
        "isdtype": [False, True, True, False, True],
        "devices": ("cpu", True),
    }


def test_making_and_reducing():
    def f(x):
        xp = x.__array_namespace__()
        a, b = xp.broadcast_arrays(x, x * 2)
        c = xp.broadcast_to(a, ()) + xp.full_like(b, 3) + xp.ones_like(x) + xp.squeeze(b)
        d = xp.asarray(x, dtype=xp.float32) + xp.asarray([1.0, 2.0], dtype=xp.float64)[1]
        return c + xp.sum(x) + xp.max(x) + xp.mean(x) + d

    np.testing.assert_array_equal(lw.vectorize(f)(INTEGERS), INTEGERS * 7 + 6)


def test_the_inspection_of_the_namespace():
    info = namespace().__array_namespace_info__()
    assert info.default_device() in info.devices()
    assert info.capabilities() == {
        "boolean indexing": False,
        "data-dependent shapes": False,
        "max dimensions": 0,
    }
    assert info.default_dtypes()["real floating"] == np.float64
    assert info.default_dtypes()["complex floating"] == np.complex128
    assert set(info.dtypes(kind="complex floating")) == {"complex64", "complex128"}
    assert set(info.dtypes(kind="signed integer")) == {"int8", "int16", "int32", "int64"}
    assert "float16" not in info.dtypes()


@pytest.mark.parametrize("name", [*ARRAYS.split(), "broadcast_to"])
def test_what_needs_dimensions_names_itself_and_the_repair(name):
    def f(x):
        return getattr(x.__array_namespace__(), name)(x, (1,))

    with pytest.raises(lw.UsageTypeError) as error:
        lw.vectorize(f)(FLOATS)
    assert str(error.value) == (
        f"{__file__}:{f.__code__.co_firstlineno + 1}: {name}: needs an array with dimensions; "
        "got a call inside a vectorized function, expected a function of single elements. Write it "
        "as a loop over a list or local array, or apply it outside of the function."
    )


def test_versions():
    def f(x, version):
        return x.__array_namespace__(api_version=version).abs(x)

    for version in ("2021.12", "2022.12", "2023.12", None):
        g = lw.vectorize(lambda x, version=version: f(x, version), excluded=["version"])
        np.testing.assert_array_equal(g(FLOATS), np.abs(FLOATS))
    with pytest.raises(lw.UsageError) as error:
        lw.vectorize(lambda x: f(x, "2019.01"))(FLOATS)
    assert str(error.value) == (
        f"{__file__}:{f.__code__.co_firstlineno + 1}: __array_namespace__: no such version; got "
        "'2019.01', expected one of 2021.12, 2022.12, 2023.12."
    )


def polynomial(z, n):
    xp = z.__array_namespace__()
    assert xp.isdtype(z.dtype, "complex floating")
    total = xp.zeros_like(z)
    for k in range(3):
        total = total + xp.pow(z, 2) / (k + 1)
    if xp.abs(total) > 1 and xp.any(xp.real(z) > 0):
        total = xp.conj(total) * xp.astype(n, xp.complex128)
    return xp.where(xp.isfinite(total), total, xp.imag(z)), xp.sum(z) + xp.asarray(n)


def test_a_program_of_complex_elements_runs():
    n = np.arange(len(COMPLEX))
    expected = np.array([polynomial(*row) for row in zip(COMPLEX, n, strict=True)])
    for got, column in zip(lw.vectorize(polynomial)(COMPLEX, n), expected.T, strict=True):
        np.testing.assert_allclose(got, column, rtol=1e-14)
