"""Functions of one number, which give on arrays what they give when called for each element."""

import numpy as np
import pytest

import lanewise as lw

FLOATS = np.array([-7.25, -3.5, -1.0, -0.5, -0.0, 0.0, 0.25, 1.0, 2.0, 3.0, 4.5, 9.0, 17.0, 100.0])
INTEGERS = np.array([-13, -5, -2, -1, 0, 1, 2, 3, 4, 5, 6, 7, 12, 27, 97])
COUNTS = np.array([0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 11, 19, 40])


class Cases:
    """A table of them: ``case(values)`` takes a function into it."""

    def __init__(self):
        self._all = []

    def __call__(self, values):
        def add(function):
            self._all.append(pytest.param(function, values, id=function.__name__))
            return function

        return add

    def test(self):
        """Return a test of all of them, on both tiers."""

        @pytest.mark.parametrize("options", [{"compile": "never"}, {"compile": "now"}], ids=str)
        @pytest.mark.parametrize(("function", "values"), self._all)
        def check(function, values, options):
            got = lw.vectorize(function, **options)(values)
            expected = np.array([function(value) for value in values.tolist()])
            assert got.dtype.kind == expected.dtype.kind
            np.testing.assert_array_equal(got, expected)

        return check
