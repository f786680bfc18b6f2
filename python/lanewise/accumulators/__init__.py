"""Accumulators: what all elements of a map add to, in an order that is always the same.

An accumulator is made outside of the function and captured by it. Inside, ``add`` is a statement
like any other: it happens exactly when its own element comes there. Values add up over calls until
`Accumulator.reset`; a call that fails adds nothing.

Elements belong to blocks of 1024 by their numbers, and in a block to one of 64 stripes, by their
number modulo 64. A stripe combines its elements in sequence; stripes are combined with those 32,
16, 8, 4, 2 and 1 further on, and blocks by a binary tree. What an element adds several times is
combined first. So results do not depend on threads, lanes or chunks.

>>> import lanewise as lw, numpy as np
>>> total, hits = lw.Sum(), lw.Count()
>>> @lw.vectorize
... def tally(x):
...     if x > 1:
...         total.add(x)
...         hits.add()
>>> tally(np.array([0.5, 2.0, 4.0]))
>>> total.value, hits.value
(np.float64(6.0), np.int64(2))
"""

from .base import Accumulator
from .extremes import ArgMax, ArgMin, Max, Min
from .keyed import Histogram, KeyedSum
from .sums import Count, Mean, Sum
from .users import Fold

__all__ = [
    "Accumulator",
    "ArgMax",
    "ArgMin",
    "Count",
    "Fold",
    "Histogram",
    "KeyedSum",
    "Max",
    "Mean",
    "Min",
    "Sum",
]
