"""Random functions with nested control flow give what Python gives for each element."""

import linecache

import numpy as np
import pytest
from flow_programs import Programs

import lanewise as lw

X, Y = (values.ravel() for values in np.meshgrid(np.arange(-4, 9), np.arange(-2, 6)))


def make(seed):
    """Return a random function whose source can be read."""
    text, file = Programs(seed).function(), f"<program {seed}>"
    linecache.cache[file] = (len(text), None, text.splitlines(keepends=True), file)
    names = {}
    exec(compile(text, file, "exec"), names)
    return names["f"]


@pytest.mark.parametrize("first", range(0, 200, 20))
def test_random_functions_give_what_python_gives(first):
    for seed in range(first, first + 20):
        f = make(seed)
        expected = np.array([f(x, y) for x, y in zip(X.tolist(), Y.tolist(), strict=True)])
        got = lw.vectorize(f, compile="now" if seed % 10 == 0 else "never")(X, Y)
        np.testing.assert_array_equal(got, expected, err_msg=f"seed {seed}")
