"""``tf.strings``: texts, which are bytes in arrays of objects. They are done one by one."""

from typing import Any

import numpy as np

from .names import listed
from .ops import moving
from .tensor import array_of


def _joined(texts: Any, separator: str) -> bytes:
    return separator.encode().join(texts)


@moving
def reduce_join(inputs: Any, axis: Any = None, keepdims: bool = False, separator: str = "") -> Any:
    """Return texts joined along an axis; all if none is given.

    Examples
    --------
    >>> import lanewise.compat.tf as tf
    >>> tf.strings.reduce_join(["a", "b", "c"], separator="-").numpy()
    b'a-b-c'
    """
    texts = np.asarray(array_of(inputs))
    if axis is None:
        whole = np.empty((1,) * (texts.ndim if keepdims else 0), object)
        whole[...] = _joined(texts.reshape(-1).tolist(), separator)
        return whole
    moved = np.moveaxis(texts, int(axis), -1)
    made = np.empty(moved.shape[:-1], object)
    for place in np.ndindex(made.shape):
        made[place] = _joined(moved[place].tolist(), separator)
    return np.expand_dims(made, int(axis)) if keepdims else made


@moving
def join(inputs: Any, separator: str = "") -> Any:
    """Return texts at the same places of several tensors joined."""
    parts = np.broadcast_arrays(*(np.asarray(array_of(part)) for part in inputs))
    made = np.empty(parts[0].shape, object)
    for place in np.ndindex(made.shape):
        made[place] = _joined([part[place] for part in parts], separator)
    return made


@moving
def length(input: Any, unit: str = "BYTE") -> Any:
    """Return how long texts are: in bytes, or in characters with ``unit="UTF8_CHAR"``."""
    count = len if unit == "BYTE" else lambda text: len(text.decode())
    return np.vectorize(count, otypes=[np.int32])(array_of(input))


NAMES = listed("strings", [reduce_join, join, length], False)
