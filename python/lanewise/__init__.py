"""Write a function for one element; lanewise runs it over all of them.

>>> import lanewise as lw, numpy as np
>>> @lw.vectorize
... def steps(a, b):
...     x = y = 0.0
...     n = 0
...     while x * x + y * y < 4 and n < 100:
...         x, y = x * x - y * y + a, 2 * x * y + b
...         n += 1
...     return n
>>> steps(np.array([0.0, 0.4, 1.0]), np.array([0.0, 0.5, 1.0]))
array([100,   7,   2])
"""

from typing import TYPE_CHECKING as _TYPE_CHECKING

from . import complex_functions as _complex_functions  # noqa: F401  # elements know them now
from . import functions as _functions
from . import numpy_functions as _numpy_functions  # noqa: F401  # elements know them now
from . import random
from ._core import CancelToken, Explanation, Silence, __version__
from .composites import conv2d, logsumexp, max_pool, mean_pool, softmax
from .element import Element
from .errors import (
    Cancelled,
    ElementError,
    InternalError,
    ResourceError,
    Timeout,
    UsageError,
    UsageOverflowError,
    UsageTypeError,
)
from .flow.checks import check, check_numerics
from .functions import (
    abs,
    acos,
    acosh,
    asin,
    asinh,
    atan,
    atan2,
    atanh,
    cbrt,
    ceil,
    copysign,
    cos,
    cosh,
    digamma,
    erf,
    erfc,
    exp,
    exp2,
    expm1,
    floor,
    fma,
    fmax,
    fmin,
    fmod,
    hypot,
    isfinite,
    isinf,
    isnan,
    lgamma,
    log,
    log1p,
    log2,
    log10,
    maximum,
    minimum,
    mod,
    nextafter,
    power,
    round,
    rsqrt,
    select,
    sigmoid,
    sign,
    signbit,
    sin,
    sinh,
    sqrt,
    tan,
    tanh,
    trunc,
    where,
)
from .loops import while_loop
from .mapping import map
from .numbering import element
from .options import Config, config
from .profiling import Profile, profile
from .progress import Progress
from .ragged import Ragged
from .settings import (
    CacheInfo,
    MemoryInfo,
    MemoryUse,
    cache_info,
    clear_cache,
    memory_info,
    set_num_threads,
)
from .vectorize import Vectorized, vectorize

__all__ = [
    "Accumulator",
    "ArgMax",
    "ArgMin",
    "CacheInfo",
    "CancelToken",
    "Cancelled",
    "Config",
    "Count",
    "Element",
    "ElementError",
    "Explanation",
    "Failures",
    "Fold",
    "Histogram",
    "InternalError",
    "KeyedSum",
    "Max",
    "Mean",
    "MemoryInfo",
    "MemoryUse",
    "Min",
    "Partial",
    "Profile",
    "Progress",
    "Ragged",
    "ResourceError",
    "Silence",
    "Sum",
    "Timeout",
    "UsageError",
    "UsageOverflowError",
    "UsageTypeError",
    "Vectorized",
    "__version__",
    "abs",
    "acos",
    "acosh",
    "asin",
    "asinh",
    "atan",
    "atan2",
    "atanh",
    "cache_info",
    "cbrt",
    "ceil",
    "check",
    "check_numerics",
    "clear_cache",
    "config",
    "conv2d",
    "copysign",
    "cos",
    "cosh",
    "digamma",
    "element",
    "erf",
    "erfc",
    "exp",
    "exp2",
    "expm1",
    "floor",
    "fma",
    "fmax",
    "fmin",
    "fmod",
    "hypot",
    "isfinite",
    "isinf",
    "isnan",
    "lgamma",
    "log",
    "log1p",
    "log2",
    "log10",
    "logsumexp",
    "map",
    "max_pool",
    "maximum",
    "mean_pool",
    "memory_info",
    "minimum",
    "mod",
    "nextafter",
    "power",
    "profile",
    "random",
    "round",
    "rsqrt",
    "select",
    "set_num_threads",
    "sigmoid",
    "sign",
    "signbit",
    "sin",
    "sinh",
    "softmax",
    "sqrt",
    "tan",
    "tanh",
    "trunc",
    "vectorize",
    "where",
    "while_loop",
]

if _TYPE_CHECKING:
    from .accumulators import (
        Accumulator,
        ArgMax,
        ArgMin,
        Count,
        Fold,
        Histogram,
        KeyedSum,
        Max,
        Mean,
        Min,
        Sum,
    )
    from .failures import Failures
    from .partial import Partial
else:
    _ACCUMULATORS = frozenset(
        {
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
        }
    )

    def __getattr__(name: str) -> object:
        """Give accumulators and failures, which many programs do without, and functions of ops.

        Those are written nowhere but in their row.
        """
        if name in _ACCUMULATORS:
            from . import accumulators

            return getattr(accumulators, name)
        if name == "Failures":
            from .failures import Failures

            return Failures
        if name == "Partial":
            from .partial import Partial

            return Partial
        function = _functions.function_of_row(name)
        if function is None:
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        return function
