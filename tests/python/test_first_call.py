"""The first call of functions that take nothing from outside, which are recorded with less ado."""

import sys

import numpy as np
import pytest

import lanewise as lw
from lanewise import specialization

X = np.array([-1.5, 0.0, 2.25])

FUNCTIONS = [
    lambda x: x,
    lambda x: x**2,
    lambda x: 2.5 * x - x / 3,
    lambda x: (x < 1) & (x == x),
    lambda x: -abs(x) % 1.25,
    lambda x: x // 2,
    lambda x: x**3 + x**0.5,
]


def recorded(function, is_straight, monkeypatch):
    with monkeypatch.context() as patch:
        if not is_straight:
            patch.setattr(specialization, "_straight_types", lambda *args: None)
        vectorized = lw.vectorize(function, name="f")
        result = vectorized(X)
        text = vectorized.lower(X)
        vectorized.clear_cache()
    return result, text


@pytest.mark.parametrize("function", FUNCTIONS)
def test_the_program_is_the_one_of_all_other_ways(function, monkeypatch):
    result, text = recorded(function, True, monkeypatch)
    expected, other = recorded(function, False, monkeypatch)
    assert result.tobytes() == expected.tobytes()
    assert result.dtype == expected.dtype
    assert text == other


@pytest.mark.parametrize(
    "function",
    [
        lambda x: not x,
        lambda x: x in (0.0, 2.25),
        lambda x: [x, x + 1],
        lambda x: 3,
        lambda x: (yield x),
        lambda x: 1.0 if x > 0 else x,
    ],
)
def test_others_are_recorded_as_ever(function, monkeypatch):
    def outcome(is_straight):
        try:
            result, text = recorded(function, is_straight, monkeypatch)
        except (TypeError, ValueError) as error:
            return type(error), str(error)
        return np.asarray(result).tolist(), text

    assert outcome(True) == outcome(False)


def test_errors_name_the_line_of_the_function():
    line = sys._getframe().f_lineno + 1
    f = lw.vectorize(lambda x: x & 1)
    with pytest.raises(lw.UsageTypeError, match=rf"test_first_call\.py:{line}\b"):
        f(X)
    assert lw.vectorize(lambda x: x + 1)(X).tolist() == (X + 1).tolist()
