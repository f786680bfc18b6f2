"""The ways to run a program that takes tensors: also as the body of a map."""

import numpy as np
from modes import MODES, listed, run

import lanewise.compat.tf as tf

WAYS = (*MODES, "map")


def gives(way, function, *values):
    """Return what a function gives, as nested lists."""
    if way != "map":
        return listed(run(way, function, *values))
    stacks = tuple(np.stack([value] * 3) for value in map(np.asarray, map(tf.constant, values)))
    found = tf.map_fn(lambda parts: function(*parts), stacks)
    alike = tf.nest.map_structure(lambda part: listed(part[0]), found)
    assert alike == tf.nest.map_structure(lambda part: listed(part[2]), found)
    return alike
