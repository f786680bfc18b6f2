"""``tf.Tensor``: an array that is there, and what becomes one.

Inside of a function that is being recorded a tensor is an element of lanewise's own
(`lanewise.Element`, or a tensor of them), and what is made there from plain numbers is an array of
NumPy. While a graph is built, a tensor is a node of it (``graph.py``). All three are instances of
`Tensor` for who asks.
"""

from typing import Any

import numpy as np

from ... import _core
from ...element import Element, Whole
from ...errors import UsageTypeError
from ...recorder import current
from . import dtypes
from .dtypes import DType, as_dtype
from .shapes import TensorShape

Array = Any  # an array, or a scalar, of NumPy


class _Kind(type):
    """Lets elements that are being recorded be instances of `Tensor`."""

    def __instancecheck__(cls, value: Any) -> bool:
        if type.__instancecheck__(cls, value):
            return True
        return cls is Tensor and isinstance(value, (Element, Whole))


class Tensor(metaclass=_Kind):
    """An array that operations leave as it is.

    Examples
    --------
    >>> import lanewise.compat.tf as tf
    >>> x = tf.constant([1.0, 2.0])
    >>> x * 2 + 1
    <tf.Tensor: shape=(2,), dtype=float32, numpy=array([3., 5.], dtype=float32)>
    """

    __slots__ = ("__weakref__", "_is_own", "_value")
    __array_priority__ = 100
    is_graph = False

    def __init__(self, value: Array) -> None:
        self._value = value
        self._is_own = False

    holds_array = True  # functions that capture it find the array

    @property
    def held_array(self) -> Array:
        """The array."""
        return self._value

    def shared_array(self) -> Array:
        """Return the array for others to keep: items are assigned to a copy from now on."""
        self._is_own = False
        return self._value

    # --- what it is ---

    @property
    def dtype(self) -> DType:
        """The type of its numbers."""
        return dtypes.of_array(self._value)

    @property
    def shape(self) -> TensorShape:
        """The sizes of its dimensions."""
        return TensorShape(self._value.shape)

    def get_shape(self) -> TensorShape:
        """Return the sizes of its dimensions."""
        return self.shape

    def set_shape(self, shape: Any) -> None:
        """Raise an error if the shape is another one."""
        self.shape.assert_is_compatible_with(shape)

    @property
    def ndim(self) -> int:
        """The number of dimensions."""
        return int(self._value.ndim)

    @property
    def name(self) -> str:
        """A name, for those who ask."""
        return "tensor:0"

    @property
    def device(self) -> str:
        """Where it is."""
        return "/job:localhost/replica:0/task:0/device:CPU:0"

    backing_device = device

    def cpu(self) -> "Tensor":
        """Return it where it is: in the memory of the processor."""
        return self

    def numpy(self) -> Any:
        """Return it as an array of NumPy that may be changed, or as a number."""
        self._is_own = False
        value = self._value
        if value.ndim == 0:
            return value[()]
        return value if value.flags.writeable else value.copy()

    def eval(self, feed_dict: Any = None, session: Any = None) -> Any:
        """Return its value, as `Session.run` does."""
        return self.numpy()

    def ref(self) -> "Reference":
        """Return something that can be a key: a tensor cannot."""
        return Reference(self)

    def __array__(self, dtype: Any = None, copy: Any = None) -> Any:
        array = np.asarray(self._value)
        if dtype is not None and array.dtype != dtype:
            return array.astype(dtype)
        self._is_own = False
        return array.copy() if copy else array

    def __dlpack__(self, **options: Any) -> Any:
        return np.asarray(self._value).__dlpack__(**options)

    def __dlpack_device__(self) -> Any:
        return np.asarray(self._value).__dlpack_device__()

    def __len__(self) -> int:
        if self._value.ndim == 0:
            raise TypeError("len: a scalar; got a tensor of shape (), expected a dimension.")
        return len(self._value)

    def __iter__(self) -> Any:
        if self._value.ndim == 0:
            raise TypeError("for: a scalar; got a tensor of shape (), expected a dimension.")
        self._is_own = False
        return map(_part, self._value)

    def __bool__(self) -> bool:
        return bool(self._value)

    def __int__(self) -> int:
        return int(self._value)

    def __float__(self) -> float:
        return float(self._value)

    def __complex__(self) -> complex:
        return complex(self._value)

    def __index__(self) -> int:
        return self._value.item().__index__()  # type: ignore[no-any-return]

    def __format__(self, form: str) -> str:
        return format(self.numpy(), form)

    def __hash__(self) -> int:
        raise TypeError("tensor: cannot be a key; got a tensor, expected x.ref().")

    def __copy__(self) -> "Tensor":
        return self

    def __deepcopy__(self, memo: Any) -> "Tensor":
        return Tensor(np.array(self._value))

    def __reduce__(self) -> Any:
        return type(self), (self._value,)

    def __repr__(self) -> str:
        return (
            f"<tf.Tensor: shape={self.shape}, dtype={self.dtype.name}, "
            f"numpy={inside_repr(self.numpy())}>"
        )

    def __str__(self) -> str:
        return f"tf.Tensor({self._value!s}, shape={self.shape}, dtype={self.dtype.name})"

    # --- items ---

    def __getitem__(self, index: Any) -> Any:
        recorder = current()
        if recorder is not None or has_graph(index):
            from .arranging import item

            return item(self, index)
        try:
            found = self._value[plain_index(index)]
        except IndexError as error:
            raise BadIndexError(
                f"item: {error}; got the shape {self.shape}, expected an index inside of it."
            ) from error
        if type(found) is np.ndarray:
            self._is_own = False
        return _part(found)

    def __setitem__(self, index: Any, value: Any) -> None:
        """Assign to items, which TensorFlow does not have: tensors that share them keep theirs."""
        if not self._is_own:
            self._value = np.array(self._value)
            self._is_own = True
        self._value[plain_index(index)] = array_of(value)


_core.set_holder(Tensor, Tensor.__dict__["_value"])


def inside_repr(value: Any) -> str:
    """Return how a value stands in the text of a tensor."""
    if isinstance(value, np.ndarray) and value.ndim > 1:
        return f"\n{value!r}"
    return str(value) if isinstance(value, np.generic) else repr(value)


def _part(found: Any) -> Tensor:
    """Return a part of an array as a tensor; a text is an array without dimensions."""
    is_array = isinstance(found, (np.ndarray, np.generic))
    return Tensor(found if is_array else np.array(found, object))


class BadIndexError(UsageTypeError, IndexError):
    """An index that is outside of a tensor, or that is none."""


class Reference:
    """A tensor or variable as a key: by identity."""

    __slots__ = ("_of",)

    def __init__(self, of: Any) -> None:
        self._of = of

    def deref(self) -> Any:
        """Return the tensor."""
        return self._of

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Reference) and self._of is other._of

    def __hash__(self) -> int:
        return id(self._of)


def blank(shape: tuple[int, ...], dtype: Any) -> Array:
    """Return an array of zeros, or of texts without characters."""
    if np.dtype(dtype).kind != "O":
        return np.zeros(shape, dtype)
    texts = np.empty(shape, object)
    texts[...] = b""
    return texts


def is_symbol(value: Any) -> bool:
    """Say whether a value is an element, or a tensor of them, that is being recorded."""
    return isinstance(value, (Element, Whole))


def is_tensor(x: Any) -> bool:
    """Say whether a value is a tensor, a variable, or what else TensorFlow counts as one."""
    return isinstance(x, Tensor) or hasattr(type(x), "is_tensor_like")


def has_graph(value: Any) -> bool:
    """Say whether a node of a graph is in a value."""
    if isinstance(value, (tuple, list)):
        return any(map(has_graph, value))
    if isinstance(value, dict):
        return any(map(has_graph, value.values()))
    if isinstance(value, slice):
        return has_graph((value.start, value.stop, value.step))
    is_node = getattr(type(value), "is_graph", False) is True
    return is_node or getattr(value, "has_nodes", False) is True


def plain_index(index: Any) -> Any:
    """Return an index with arrays in place of tensors."""
    if isinstance(index, tuple):
        return tuple(map(plain_index, index))
    if isinstance(index, slice):
        return slice(*map(plain_index, (index.start, index.stop, index.step)))
    if isinstance(index, Tensor):
        value = index.numpy()
        return value.item() if isinstance(value, np.generic) else value
    return index


_PYTHON = {
    bool: np.dtype(bool),
    int: np.dtype(np.int32),
    float: np.dtype(np.float32),
    complex: np.dtype(np.complex128),
}


def array_of(value: Any, dtype: Any = None) -> Array:
    """Return what can be a tensor as an array: Python's numbers are int32 and float32."""
    if isinstance(value, Tensor) and not is_symbol(value):
        array = value._value
    elif isinstance(value, (np.ndarray, np.generic)):
        array = _texts(value) if value.dtype.kind in "USO" else value
    elif hasattr(type(value), "held_array"):  # a variable
        array = value.held_array
    elif type(value) in _PYTHON:
        kind = _number_type(value) if dtype is None else as_dtype(dtype).dtype
        if type(value) is float:
            _refuse_floats_as_integers(value, kind)
        return np.asarray(value, kind)
    else:
        value = list(value) if isinstance(value, (range, TensorShape)) else value
        array = _nested(value)
        if _is_of_python(value):
            array = _narrowed(array) if dtype is None else array
            if dtype is not None and array.dtype.kind == "f" and array.size:
                _refuse_floats_as_integers(value, as_dtype(dtype).dtype)
    if dtype is None:
        return array
    wanted = as_dtype(dtype).dtype
    if array.dtype.kind == "O" and wanted.kind != "O":
        raise UsageTypeError(
            f"convert_to_tensor: texts as numbers; got {_described(value)}, expected {wanted}."
        )
    return array if array.dtype == wanted else np.asarray(array).astype(wanted)


def _refuse_floats_as_integers(value: Any, kind: Any) -> None:
    """Raise an error for floats of Python that are to be integers."""
    if kind.kind in "iu":
        raise UsageTypeError(
            f"convert_to_tensor: floats as integers; got {_described(value)} and {kind}, expected "
            "whole numbers. Use tf.cast."
        )


def _narrowed(array: Any) -> Any:
    """Return numbers of Python in the types that TensorFlow has for them."""
    if array.dtype == np.float64:
        return array.astype(np.float32)
    if array.dtype == np.int64 and np.array_equal(array, array.astype(np.int32)):
        return array.astype(np.int32)
    return array


def _number_type(value: Any) -> Any:
    if type(value) is int and not -(2**31) <= value < 2**31:
        return np.dtype(np.int64)
    return _PYTHON[type(value)]


def _nested(value: Any) -> Any:
    """Return nested lists of numbers, texts and tensors as an array."""
    if isinstance(value, (str, bytes)):
        return np.array(_bytes(value), dtype=object)
    if isinstance(value, (list, tuple)) or hasattr(value, "__array__"):
        parts = value
        if isinstance(value, (list, tuple)) and _holds_tensors(value):
            return np.stack(of_one_type([array_of(part) for part in value], value))
        try:
            array = np.array(parts)
        except ValueError:  # lists of different lengths
            array = np.array(None)
        array = _texts(array) if array.dtype.kind in "US" else array
        if array.dtype.kind != "O" or _are_texts(array):
            return array
    raise ValueError(
        f"convert_to_tensor: not a tensor; got {_described(value)}, expected numbers in lists of "
        "one length, or an array. Lists of different lengths are a tf.ragged.constant."
    )


def of_one_type(parts: list[Any], values: Any) -> list[Any]:
    """Return arrays that are put together: numbers of Python have the type of the others."""
    are_typed = [not isinstance(value, (*_PYTHON, list, tuple)) for value in values]
    typed = [part.dtype for part, is_typed in zip(parts, are_typed, strict=True) if is_typed]
    if len(typed) == len(parts):
        return parts
    floats = [part.dtype for part in parts if part.dtype.kind in "fc"]
    wanted = (typed or floats or [parts[0].dtype])[0]
    return [
        part if is_typed else _as_type(part, wanted)
        for part, is_typed in zip(parts, are_typed, strict=True)
    ]


def _as_type(part: Any, wanted: Any) -> Any:
    order = "biufc"
    fits = part.dtype.kind in order and order.find(part.dtype.kind) <= order.find(wanted.kind)
    return part.astype(wanted) if fits else part


def _described(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= 60 else f"{text[:57]}..."


def _texts(array: Any) -> Any:
    """Return an array of texts as one of bytes; of other objects as it is."""
    if array.dtype.kind == "O" and not _are_texts(array):
        return array
    return np.vectorize(_bytes, otypes=[object])(array)


def _are_texts(array: Any) -> bool:
    return all(isinstance(one, (str, bytes)) for one in array.flat)


def _bytes(text: Any) -> bytes:
    return text.encode() if isinstance(text, str) else bytes(text)


def _holds_tensors(value: Any) -> bool:
    return any(
        is_tensor(part) or (isinstance(part, (list, tuple)) and _holds_tensors(part))
        for part in value
    )


def _is_of_python(value: Any) -> bool:
    """Say whether nothing in a nested list has a type of its own."""
    if isinstance(value, (list, tuple)):
        return all(map(_is_of_python, value))
    return isinstance(value, (bool, int, float)) and not isinstance(value, np.generic)


NAMES = {"Tensor": Tensor, "is_tensor": is_tensor}
