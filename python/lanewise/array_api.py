"""The Array-API namespace of elements, ``x.__array_namespace__()``: 2023.12 of the standard.

An element is an array of no dimensions. What takes such arrays is here, by the names of the
standard; what needs dimensions says so when it is called.
"""

import math
from collections.abc import Callable
from types import ModuleType
from typing import Any, NoReturn

import numpy as np

from . import flow
from .dtypes import TO_NUMPY
from .element import Element
from .errors import UsageError, UsageTypeError
from .source import at_line

VERSIONS = ("2021.12", "2022.12", "2023.12")

# Names of the standard that NumPy 1 has under others.
_OTHER_NAMES = {
    **{name: f"arc{name[1:]}" for name in ("acos", "acosh", "asin", "asinh", "atan", "atanh")},
    "atan2": "arctan2",
    "bitwise_left_shift": "left_shift",
    "bitwise_invert": "invert",
    "bitwise_right_shift": "right_shift",
    "conj": "conjugate",
    "pow": "power",
}
_ELEMENTWISE = (
    *("abs", "acos", "acosh", "add", "asin", "asinh", "atan", "atan2", "atanh", "bitwise_and"),
    *("bitwise_left_shift", "bitwise_invert", "bitwise_or", "bitwise_right_shift", "bitwise_xor"),
    *("ceil", "conj", "copysign", "cos", "cosh", "divide", "equal", "exp", "expm1"),
    *("floor", "floor_divide", "greater", "greater_equal", "hypot", "imag", "isfinite", "isinf"),
    *("isnan", "less", "less_equal", "log", "log1p", "log2", "log10", "logaddexp", "logical_and"),
    *("logical_not", "logical_or", "logical_xor", "maximum", "minimum", "multiply", "negative"),
    *("not_equal", "positive", "pow", "real", "remainder", "round", "sign", "signbit", "sin"),
    *("sinh", "square", "sqrt", "subtract", "tan", "tanh", "trunc"),
)
_AS_NUMPY = (
    *("where", "sum", "prod", "min", "max", "mean", "any", "all", "squeeze"),
    *("zeros", "ones", "full", "empty", "arange"),
    *("zeros_like", "ones_like", "full_like", "empty_like", "result_type", "iinfo"),
)
_DTYPES = (
    *("int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64"),
    *("float32", "float64", "complex64", "complex128"),
)
_OF_ARRAYS = (
    *("argmax", "argmin", "argsort", "concat", "cumulative_sum", "expand_dims", "eye", "flip"),
    *("from_dlpack", "linspace", "matmul", "matrix_transpose", "meshgrid", "moveaxis", "nonzero"),
    *("permute_dims", "repeat", "reshape", "roll", "searchsorted", "sort", "stack", "std", "take"),
    *("tensordot", "tile", "tril", "triu", "unique_all", "unique_counts", "unique_inverse"),
    *("unique_values", "unstack", "var", "vecdot"),
)


def clip(x: Any, /, min: Any = None, max: Any = None) -> Any:
    """Return the nearest number from `min` to `max`."""
    return np.clip(x, min, max)


def astype(x: Any, dtype: Any, /, *, copy: bool = True, device: Any = None) -> Any:
    """Convert to another type."""
    del copy, device
    return x.astype(dtype)


def asarray(obj: Any, /, *, dtype: Any = None, device: Any = None, copy: Any = None) -> Any:
    """Return an element or number as one; lists as arrays of the element's own."""
    del device, copy
    if isinstance(obj, Element):
        return obj if dtype is None else obj.astype(dtype)
    return flow.call(np.asarray, obj) if dtype is None else flow.call(np.asarray, obj, dtype=dtype)


def can_cast(from_: Any, to: Any, /) -> bool:
    """Say whether a type, or that of an element, can be converted without loss."""
    return np.can_cast(_dtype(from_), to)


def finfo(type: Any, /) -> Any:
    """Return the limits of a floating-point type, or of that of an element."""
    return np.finfo(_dtype(type))


def isdtype(dtype: Any, kind: Any) -> bool:
    """Say whether a type is of a kind: a type, the name of a kind, or a tuple of them."""
    if isinstance(kind, tuple):
        return any(isdtype(dtype, one) for one in kind)
    if isinstance(kind, str) and kind in _KINDS:
        return np.dtype(dtype).kind in _KINDS[kind]
    return bool(np.dtype(dtype) == np.dtype(kind))


_KINDS = {
    "bool": "b",
    "signed integer": "i",
    "unsigned integer": "u",
    "integral": "iu",
    "real floating": "f",
    "complex floating": "c",
    "numeric": "iufc",
}


def broadcast_arrays(*arrays: Any) -> list[Any]:
    """Return elements as they are: all have the same shape."""
    return list(arrays)


def broadcast_to(x: Any, /, shape: tuple[int, ...]) -> Any:
    """Return an element as it is; it has no dimensions, and gets none."""
    if tuple(shape) != ():
        raise _refused("broadcast_to")
    return x


def count_nonzero(x: Any, /, *, axis: Any = None, keepdims: bool = False) -> Any:
    """Return 1 for a number that is not zero."""
    del axis, keepdims
    return astype(astype(x, np.bool_), np.int64)


class Info:
    """What there is: types and devices."""

    def capabilities(self) -> dict[str, Any]:
        """Return what the standard leaves open."""
        return {"boolean indexing": False, "data-dependent shapes": False, "max dimensions": 0}

    def default_device(self) -> str:
        """Return the only device."""
        return "cpu"

    def devices(self) -> list[str]:
        """Return all devices."""
        return ["cpu"]

    def default_dtypes(self, *, device: Any = None) -> dict[str, np.dtype[Any]]:
        """Return the types of Python's numbers."""
        names = {"real floating": "float64", "complex floating": "complex128"}
        names |= {"integral": "int64", "indexing": "int64"}
        return {kind: np.dtype(name) for kind, name in names.items()}

    def dtypes(self, *, device: Any = None, kind: Any = None) -> dict[str, np.dtype[Any]]:
        """Return the types of the standard that elements have, or those of a kind."""
        own = [dtype for dtype in TO_NUMPY.values() if dtype.name in (*_DTYPES, "bool")]
        return {dtype.name: dtype for dtype in own if kind is None or isdtype(dtype, kind)}


def namespace(version: str | None) -> ModuleType:
    """Return the namespace, unless another version of the standard is asked for."""
    if version is not None and version not in VERSIONS:
        raise UsageError(
            at_line(
                f"__array_namespace__: no such version; got {version!r}, expected one of "
                f"{', '.join(VERSIONS)}."
            )
        )
    return _NAMESPACE


def _dtype(of: Any) -> Any:
    return of.dtype if isinstance(of, Element) else of


def _refused(name: str) -> UsageTypeError:
    return UsageTypeError(
        at_line(
            f"{name}: needs an array with dimensions; got a call inside a vectorized function, "
            "expected a function of single elements. Write it as a loop over a list or local "
            "array, or apply it outside of the function."
        )
    )


def _of_arrays(name: str) -> Callable[..., NoReturn]:
    def refuse(*_: Any, **__: Any) -> NoReturn:
        raise _refused(name)

    refuse.__name__ = name
    return refuse


_OWN: tuple[Any, ...] = (
    *(clip, astype, asarray, can_cast, finfo, isdtype, broadcast_arrays, broadcast_to),
    *(count_nonzero, Info),
)


def _make_namespace() -> ModuleType:
    made = ModuleType("lanewise.array_api.namespace", "Functions of elements, by standard names.")
    names = vars(made)
    for name in (*_ELEMENTWISE, *_AS_NUMPY, *_DTYPES):
        names[name] = getattr(np, _OTHER_NAMES.get(name, name))
    names |= {name: _of_arrays(name) for name in _OF_ARRAYS}
    names |= {function.__name__: function for function in _OWN}
    names |= {"e": math.e, "inf": math.inf, "nan": math.nan, "pi": math.pi, "newaxis": None}
    names |= {"bool": np.bool_, "__array_api_version__": VERSIONS[-1]}
    names["__array_namespace_info__"] = names.pop("Info")
    return made


_NAMESPACE = _make_namespace()
