"""The ways to run a program: eagerly, in a function, in a session; interpreted and compiled."""

from contextlib import contextmanager

import numpy as np

import lanewise as lw
import lanewise.compat.tf as tf

MODES = ("eager", "function", "session")
TIERS = ("never", "now")


@contextmanager
def tier(which):
    """Let programs be interpreted, or compiled before they run."""
    lw.config.compile = which
    try:
        yield
    finally:
        del lw.config.compile


def rows(lists, dtype=np.int32):
    """Return a ragged tensor of nested lists."""
    return tf.ragged.constant(lists, dtype=dtype)


def run(mode, function, *values):
    """Call a function on tensors, or ragged ones, and return what it gives with values in it."""
    values = [v if isinstance(v, tf.RaggedTensor) else tf.constant(v) for v in values]
    if mode == "eager":
        return function(*values)
    if mode == "function":
        return tf.function(function)(*values)
    with tf.Graph().as_default(), tf.compat.v1.Session() as session:
        feeds = {}
        symbols = [_fed(value, feeds) for value in values]
        return session.run(function(*symbols), feeds)


def _fed(value, feeds):
    if isinstance(value, tf.RaggedTensor):
        return tf.RaggedTensor(_fed(value.values, feeds), _fed(value.row_splits, feeds))
    array = value.numpy()
    shape = [None, *np.shape(array)[1:]] if np.ndim(array) else []
    symbol = tf.compat.v1.placeholder(value.dtype, shape)
    feeds[symbol] = array
    return symbol


def listed(value):
    """Return what a program gave as nested lists, containers as they are."""
    if isinstance(value, dict):
        return {key: listed(part) for key, part in value.items()}
    if isinstance(value, (list, tuple)):
        parts = map(listed, value)
        return type(value)(*parts) if hasattr(value, "_fields") else type(value)(parts)
    if isinstance(value, tf.RaggedTensor):
        return value.to_list()
    return np.asarray(value).tolist()
