"""Calls of functions, what NumPy gives for them, and the ways to run them."""

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

import lanewise.compat.tf as tf


class Case(NamedTuple):
    """A call on arrays, and what is expected of it."""

    name: str
    call: Callable[..., Any]
    arrays: tuple[Any, ...]
    expected: Callable[..., Any]
    tolerance: float = 0.0
    in_map: bool = True


def name_of(case):
    return case.name


def leaves_of(result):
    """Return the arrays of a result, which may be nested in lists and tuples."""
    if isinstance(result, (list, tuple)):
        return [leaf for part in result for leaf in leaves_of(part)]
    return [np.asarray(result)]


def check(case, result, expected):
    found, wanted = leaves_of(result), leaves_of(expected)
    assert len(found) == len(wanted)
    for one, other in zip(found, wanted, strict=True):
        assert one.dtype == other.dtype
        assert one.shape == other.shape
        if one.dtype == object:
            assert one.tolist() == other.tolist()
        elif case.tolerance:
            np.testing.assert_allclose(one, other, rtol=case.tolerance, atol=case.tolerance)
        else:
            np.testing.assert_array_equal(one, other)


def check_eagerly(case):
    """Run a call on whole tensors."""
    result = case.call(*(tf.constant(array) for array in case.arrays))
    for leaf in result if isinstance(result, (list, tuple)) else [result]:
        assert isinstance(leaf, tf.Tensor)
    check(case, result, case.expected(*case.arrays))


def variants(array):
    """Return several arrays like one."""
    array = np.asarray(array)
    scales = (1, 1.25, 0.5) if array.dtype.kind in "fc" else (1, 1, 1)
    return [(array * scale).astype(array.dtype) for scale in scales]


def check_in_map(case):
    """Run a call for each of several elements."""
    rows = list(zip(*map(variants, case.arrays), strict=True))
    stacked = tuple(np.stack(column) for column in zip(*rows, strict=True))
    result = tf.map_fn(lambda parts: case.call(*parts), stacked)
    each = [leaves_of(case.expected(*row)) for row in rows]
    check(case, leaves_of(result), [np.stack(column) for column in zip(*each, strict=True)])


def check_in_graph(case):
    """Write a call down and run it."""
    result = tf.function(case.call)(*(tf.constant(array) for array in case.arrays))
    check(case, result, case.expected(*case.arrays))
