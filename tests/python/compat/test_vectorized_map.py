"""Functions of one element give in a map what they give in a loop, to the bit, in every mode."""

import warnings

import numpy as np
import pfor_bodies
import pfor_programs
import pytest
from modes import MODES, TIERS, run, tier

import lanewise.compat.tf as tf
from lanewise.compat.tf.maps import PerElementWarning

FAMILIES = {
    "array": pfor_bodies.ARRAYS,
    "math": pfor_bodies.MATH,
    "linalg": pfor_bodies.LINALG,
    "nn": pfor_programs.NN,
    "bitwise": pfor_programs.BITWISE,
    "scatter": pfor_programs.SCATTER,
    "tensor array": pfor_programs.ARRAYS_OF_TENSORS,
    "control": pfor_programs.CONTROL,
    "calls": pfor_programs.CALLS,
}
ALL = [(family, body) for family, bodies in FAMILIES.items() for body in bodies]
IDS = [f"{family}: {body.name}" for family, body in ALL]


def arrays_of(body):
    return body.elems if isinstance(body.elems, tuple) else (body.elems,)


def called(body, *tensors):
    return body.fn(tensors if isinstance(body.elems, tuple) else tensors[0])


def leaves_of(result):
    return [np.asarray(tf.convert_to_tensor(leaf)) for leaf in tf.nest.flatten(result)]


def looped(body):
    """Call the body for one element after the other, and stack what it returns."""
    arrays = arrays_of(body)
    rows = [
        leaves_of(called(body, *(tf.constant(array[at]) for array in arrays)))
        for at in range(len(arrays[0]))
    ]
    return [np.stack(column) for column in zip(*rows, strict=True)]


def mapped(body, *tensors):
    elems = tensors if isinstance(body.elems, tuple) else tensors[0]
    return tf.vectorized_map(body.fn, elems, fallback_to_while_loop=body.falls_back)


def check(body, result):
    found, expected = leaves_of(result), looped(body)
    assert len(found) == len(expected)
    for one, other in zip(found, expected, strict=True):
        assert one.dtype == other.dtype
        assert one.shape == other.shape
        if body.tolerance:
            np.testing.assert_allclose(one, other, rtol=body.tolerance, atol=body.tolerance)
        else:
            np.testing.assert_array_equal(one, other)


def test_there_are_enough_bodies():
    assert len(ALL) >= 200


@pytest.mark.parametrize("compiled", TIERS)
@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize(("family", "body"), ALL, ids=IDS)
def test_a_map_gives_what_a_loop_gives(family, body, mode, compiled):
    with tier(compiled), warnings.catch_warnings():
        if body.falls_back:
            warnings.simplefilter("ignore", PerElementWarning)
        check(body, run(mode, lambda *tensors: mapped(body, *tensors), *arrays_of(body)))


@pytest.mark.parametrize(("family", "body"), ALL, ids=IDS)
def test_one_element_gives_what_it_gives_among_others(family, body):
    arrays = tuple(array[:1] for array in arrays_of(body))
    first = body._replace(elems=arrays if isinstance(body.elems, tuple) else arrays[0])
    with warnings.catch_warnings():
        if body.falls_back:
            warnings.simplefilter("ignore", PerElementWarning)
        check(first, mapped(first, *map(tf.constant, arrays)))
