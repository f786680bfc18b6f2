"""NumPy's functions on elements: each gives what NumPy gives, or an error that names it."""

import importlib.util
import warnings
from pathlib import Path

import numpy as np
import pytest

import lanewise as lw
from lanewise.element import NUMPY_FUNCTIONS, numpy_name
from lanewise.tensors import FUNCTIONS

ROOT = Path(__file__).parents[2]


def load_tool():
    path = ROOT / "tools" / "numpy_table.py"
    spec = importlib.util.spec_from_file_location("numpy_table", path)
    tool = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(tool)
    return tool


TOOL = load_tool()
X = np.array([-3.5, -1.0, -0.25, 0.0, 0.5, 1.0, 2.5, 7.0])
Y = np.array([2.0, -2.0, 3.0, 1.0, -0.75, 2.0, 4.0, 3.0])
N = np.array([-7, -1, 0, 1, 5, 6, 8, 100])
M = np.array([2, 3, 1, 4, 5, -3, 7, 9])
# How a function is called, where it is not on one float or, as its signature says, on two.
CALLS = {
    "np.astype": lambda x: np.astype(x, np.float32),
    "np.arccosh": lambda x: np.arccosh(np.abs(x) + 1),
    "np.clip": lambda x: np.clip(x, -1, 2),
    "np.empty_like": lambda x: np.zeros_like(np.empty_like(x)),
    "np.full_like": lambda x: np.full_like(x, 7),
    "np.isclose": lambda x, y: np.isclose(x, y, rtol=0.5),
    "np.allclose": lambda x, y: np.allclose(x, y) | np.isnan(y),
    "np.ldexp": lambda x: np.ldexp(x, 3),
    "np.polyval": lambda x: np.polyval([1.0, -2.0, 3.0], x),
    "np.result_type": lambda x: x.astype(np.result_type(x, np.float32)),
    "np.round": lambda x: np.round(x / 3, 1),
    "np.around": lambda x: np.around(x),
    "np.select": lambda x: np.select([x > 2, x > 0], [x, -x], 5.0),
    "np.where": lambda x, y: np.where(x > 0, x, y),
    "np.power": lambda x, y: np.power(np.abs(x), y),
    "np.float_power": lambda x, y: np.float_power(np.abs(x), y),
    "np.isrealobj": lambda x: x + np.isrealobj(x),
    "np.iscomplexobj": lambda x: x + np.iscomplexobj(x),
    "np.ndim": lambda x: x + np.ndim(x),
    "np.shape": lambda x: x + len(np.shape(x)),
    "np.size": lambda x: x + np.size(x),
}
INTEGERS = {
    *("np.bitwise_and", "np.bitwise_count", "np.bitwise_or", "np.bitwise_xor", "np.invert"),
    *("np.left_shift", "np.right_shift", "np.gcd", "np.lcm"),
}
# What reduces an array is one number's own business.
SINGLE = {"np.ndim", "np.shape", "np.size", "np.allclose"}
NAMED = {name: f for name, f in TOOL.overridable().items() if f in NUMPY_FUNCTIONS}


def call_of(name, function):
    if name in CALLS:
        return CALLS[name]
    if isinstance(function, np.ufunc) and function.nin == 2:
        return lambda x, y: function(x, y)
    return lambda x: function(x)


@pytest.mark.parametrize("name", NAMED)
def test_a_function_that_works_gives_what_numpy_gives(name):
    call = call_of(name, NAMED[name])
    left, right = (N, np.abs(M)) if name in INTEGERS else (X, Y)
    arguments = (left, right)[: call.__code__.co_argcount]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        got = lw.vectorize(call)(*arguments)
        if name in SINGLE:
            expected = np.array([call(*values) for values in zip(*arguments, strict=True)])
        else:
            expected = call(*arguments)
    if not isinstance(got, tuple):
        got, expected = (got,), (expected,)
    for a, b in zip(got, expected, strict=True):
        assert a.dtype == np.asarray(b).dtype
        np.testing.assert_allclose(a, b, rtol=4e-16 if name not in ("np.sinc",) else 1e-14)


OTHERS = [n for n, f in TOOL.overridable().items() if n not in NAMED and f not in FUNCTIONS]


@pytest.mark.parametrize("name", OTHERS)
def test_any_other_function_raises_an_error_that_names_it(name):
    function = TOOL.overridable()[name]

    def f(x):
        if isinstance(function, np.ufunc):
            return x.__array_ufunc__(function, "__call__", x)
        return x.__array_function__(function, (), (x,), {})

    with pytest.raises(TypeError, match=f": {name}: not supported on elements; got a call"):
        lw.vectorize(f)(X)


def test_the_page_is_up_to_date():
    page = (ROOT / "docs" / "reference" / "numpy.md").read_text()
    version = ".".join(np.__version__.split(".")[:2])
    if f"of NumPy {version}." in page:
        assert page == TOOL.table(), "run python tools/numpy_table.py > docs/reference/numpy.md"
    works, others = page.split("that raise an error")
    for name, function in TOOL.overridable().items():
        is_recorded = function in NUMPY_FUNCTIONS or function in FUNCTIONS
        assert f"`{name}`" not in (others if is_recorded else works)


def test_names_have_their_module():
    assert numpy_name(np.linalg.norm) == "np.linalg.norm"
    assert numpy_name(np.sin) == "np.sin"
