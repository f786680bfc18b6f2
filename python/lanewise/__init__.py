"""Write a function for one element; lanewise runs it over all of them.

>>> import lanewise as lw, numpy as np
>>> @lw.vectorize
... def steps(a, b):
...     def inside(x, y, n):
...         return (x * x + y * y < 4) & (n < 100)
...     def step(x, y, n):
...         return x * x - y * y + a, 2 * x * y + b, n + 1
...     return lw.while_loop(inside, step, (0.0, 0.0, 0))[2]
>>> steps(np.array([0.0, 0.4, 1.0]), np.array([0.0, 0.5, 1.0]))
array([100,   7,   2])
"""

from . import numpy_functions as _numpy_functions  # noqa: F401  # elements know them now
from ._core import __version__
from .element import Element
from .errors import (
    Cancelled,
    ElementError,
    InternalError,
    ResourceError,
    UsageError,
    UsageTypeError,
)
from .functions import (
    abs,
    ceil,
    copysign,
    cos,
    floor,
    fma,
    maximum,
    minimum,
    round,
    select,
    sin,
    sqrt,
    trunc,
    where,
)
from .loops import while_loop
from .settings import CacheInfo, cache_info, clear_cache, set_num_threads
from .vectorize import Vectorized, vectorize

__all__ = [
    "CacheInfo",
    "Cancelled",
    "Element",
    "ElementError",
    "InternalError",
    "ResourceError",
    "UsageError",
    "UsageTypeError",
    "Vectorized",
    "__version__",
    "abs",
    "cache_info",
    "ceil",
    "clear_cache",
    "copysign",
    "cos",
    "floor",
    "fma",
    "maximum",
    "minimum",
    "round",
    "select",
    "set_num_threads",
    "sin",
    "sqrt",
    "trunc",
    "vectorize",
    "where",
    "while_loop",
]
