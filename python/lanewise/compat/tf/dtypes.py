"""TensorFlow's types: ``tf.float32`` and the like, each of which stands for one of NumPy."""

from typing import Any

import numpy as np

_LIMITS = {"f": np.finfo, "i": np.iinfo, "u": np.iinfo}


class DType:
    """The type of the numbers of a tensor."""

    __slots__ = ("as_numpy_dtype", "dtype", "name")

    def __init__(self, name: str, kind: Any) -> None:
        self.name = name
        self.as_numpy_dtype = kind  # the class, as TensorFlow has it
        self.dtype: np.dtype[Any] = np.dtype(kind)  # by which NumPy knows it too

    @property
    def is_floating(self) -> bool:
        """Whether it is a float type."""
        return self.dtype.kind == "f"

    @property
    def is_integer(self) -> bool:
        """Whether it is an integer type."""
        return self.dtype.kind in "iu"

    @property
    def is_unsigned(self) -> bool:
        """Whether it is an integer type without negative numbers."""
        return self.dtype.kind == "u"

    @property
    def is_complex(self) -> bool:
        """Whether its numbers are complex."""
        return self.dtype.kind == "c"

    @property
    def is_bool(self) -> bool:
        """Whether it is the type of truth values."""
        return self.dtype.kind == "b"

    @property
    def is_numeric(self) -> bool:
        """Whether it is a type of numbers."""
        return self.dtype.kind in "fiuc"

    @property
    def size(self) -> int:
        """Bytes of a number."""
        return self.dtype.itemsize

    @property
    def min(self) -> Any:
        """The smallest number."""
        return self._limit("min", False)

    @property
    def max(self) -> Any:
        """The largest number."""
        return self._limit("max", True)

    def _limit(self, which: str, of_bool: bool) -> Any:
        if self.dtype.kind == "b":
            return of_bool
        if self.dtype.kind not in _LIMITS:
            raise TypeError(f"{self!r}: has no {which}; got a type without an order, expected one.")
        limit = getattr(_LIMITS[self.dtype.kind](self.dtype), which)
        return int(limit) if self.is_integer else self.dtype.type(limit)

    @property
    def real_dtype(self) -> "DType":
        """The type of the parts of a complex number; of others itself."""
        return as_dtype(self.dtype.type(0).real.dtype) if self.is_complex else self

    base_dtype = property(lambda self: self)

    def is_compatible_with(self, other: Any) -> bool:
        """Say whether another type is the same."""
        return bool(self == other)

    def __eq__(self, other: object) -> bool:
        if isinstance(other, DType):
            return self.dtype == other.dtype
        try:
            return as_dtype(other) is self
        except TypeError:
            return False

    def __hash__(self) -> int:
        return hash(self.dtype)

    def __repr__(self) -> str:
        return f"tf.{self.name}"

    def __str__(self) -> str:
        return f"<dtype: {self.name!r}>"

    def __reduce__(self) -> Any:
        return as_dtype, (self.name,)


float16 = half = DType("float16", np.float16)
float32 = DType("float32", np.float32)
float64 = double = DType("float64", np.float64)
int8 = DType("int8", np.int8)
int16 = DType("int16", np.int16)
int32 = DType("int32", np.int32)
int64 = DType("int64", np.int64)
uint8 = DType("uint8", np.uint8)
uint16 = DType("uint16", np.uint16)
uint32 = DType("uint32", np.uint32)
uint64 = DType("uint64", np.uint64)
complex64 = DType("complex64", np.complex64)
complex128 = DType("complex128", np.complex128)
boolean = DType("bool", np.bool_)
string = DType("string", object)

ALL = (
    *(float16, float32, float64, int8, int16, int32, int64, uint8, uint16, uint32, uint64),
    *(complex64, complex128, boolean, string),
)
_BY_NUMPY = {one.dtype: one for one in ALL}
_BY_NAME = {one.name: one for one in ALL} | {"half": half, "double": double, "float": float32}
_BY_PYTHON = {float: float32, int: int32, bool: boolean, complex: complex128, str: string}


def as_dtype(type_value: Any) -> DType:
    """Return the type that something names: one of ours, of NumPy's, Python's, or a text."""
    if isinstance(type_value, DType):
        return type_value
    found = None
    if isinstance(type_value, str):
        found = _BY_NAME.get(type_value)
    elif isinstance(type_value, type) and type_value in _BY_PYTHON:
        found = _BY_PYTHON[type_value]
    if found is None:
        try:
            dtype = np.dtype(type_value)
        except TypeError:
            dtype = None
        if dtype is not None:
            found = string if dtype.kind in "SUO" else _BY_NUMPY.get(dtype)
    if found is None:
        raise TypeError(
            f"as_dtype: no type of tensors; got {type_value!r}, expected one of "
            f"{', '.join(one.name for one in ALL)}."
        )
    return found


def of_array(array: Any) -> DType:
    """Return the type of an array or NumPy scalar."""
    found = _BY_NUMPY.get(array.dtype)
    return as_dtype(array.dtype) if found is None else found


NAMES: dict[str, Any] = {
    **{one.name: one for one in ALL},
    **{f"dtypes.{one.name}": one for one in ALL},
    "half": half,
    "double": double,
    "as_dtype": as_dtype,
    "dtypes.as_dtype": as_dtype,
    "DType": DType,
    "dtypes.DType": DType,
}
