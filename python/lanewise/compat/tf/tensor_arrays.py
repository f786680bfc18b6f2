"""``tf.TensorArray``: tensors by number.

Outside of what is being recorded it is a list. Inside it is an array of the element's own, which
elements may write to by numbers that they have computed; as long as all numbers are plain, a list.
"""

from typing import Any, NamedTuple

import numpy as np

from ...dtypes import FROM_NUMPY
from ...element import Element
from ...errors import InvalidArgumentError, UsageError
from ...flow.containers import Place
from ...recorder import current
from ...source import at_line, user_line
from .dtypes import DType, as_dtype
from .errors import NoSuchPlaceError
from .ops import held, plain, static_of
from .shapes import TensorShape
from .tensor import Tensor, array_of, has_graph, is_symbol


class Kind(NamedTuple):
    """What an array is without its tensors; it is a part of a program."""

    dtype: str
    size: int
    is_dynamic: bool
    element_shape: tuple[int, ...] | None
    is_filled: bool


class TensorArray:
    """Tensors of one shape by number; `write` returns the array to go on with.

    Examples
    --------
    >>> import lanewise.compat.tf as tf
    >>> squares = tf.TensorArray(tf.float32, size=3)
    >>> for i in range(3):
    ...     squares = squares.write(i, float(i * i))
    >>> squares.stack().numpy()
    array([0., 1., 4.], dtype=float32)
    """

    is_carried = True  # by loops of a program, as it is

    def __init__(
        self,
        dtype: Any,
        size: Any = None,
        dynamic_size: bool | None = None,
        clear_after_read: bool | None = None,
        tensor_array_name: str | None = None,
        handle: Any = None,
        flow: Any = None,
        infer_shape: bool = True,
        element_shape: Any = None,
        colocate_with_first_write_call: bool = True,
        name: str | None = None,
    ) -> None:
        self._dtype = as_dtype(dtype)
        self._is_dynamic = bool(dynamic_size)
        shape = TensorShape(element_shape)
        self._shape: tuple[int, ...] | None = None
        if shape.is_fully_defined():
            self._shape = tuple(int(size or 0) for size in shape)
        self._items: list[Any] = [None] * _size(size)
        self._array: Any = None  # inside of what is recorded, or a stack of what is there
        recorder = current()
        self._place: Place | None = None
        if recorder is not None:
            self._place = Place(recorder, (user_line(), "TensorArray"))
            if self._place.mode is not None:
                self._shape = tuple(int(part) for part in self._place.mode.split())
                self._make(self._shape)

    # --- what it is ---

    @property
    def dtype(self) -> DType:
        """The type of its tensors."""
        return self._dtype

    @property
    def dynamic_size(self) -> bool:
        """Whether it grows."""
        return self._is_dynamic

    @property
    def element_shape(self) -> TensorShape:
        """The shape of its tensors, as far as it is known."""
        return TensorShape(self._shape)

    @property
    def handle(self) -> None:
        """Nothing: there is no other object behind it."""

    flow = handle

    def size(self, name: Any = None) -> Any:
        """Return how many tensors there are places for."""
        if self._array is not None:
            from .arranging import shape

            return shape(self._array)[0]
        count = np.int32(len(self._items))
        return count if current() is not None else Tensor(np.asarray(count))

    def identity(self) -> "TensorArray":
        """Return itself."""
        return self

    def close(self, name: Any = None) -> None:
        """Do nothing."""

    def mark_used(self) -> None:
        """Do nothing."""

    # --- one tensor ---

    def write(self, index: Any, value: Any, name: Any = None) -> "TensorArray":
        """Put a tensor in its place; go on with what is returned."""
        if current() is not None:
            return self._write_inside(plain(index), self._converted_inside(value))
        if self._array is not None:
            self._items, self._array = self._unstacked(self._array), None
        at = self._at("write", index, self._is_dynamic)
        self._items.extend([None] * (at + 1 - len(self._items)))
        self._items[at] = self._converted(value)
        return self

    def read(self, index: Any, name: Any = None) -> Any:
        """Return the tensor in a place."""
        if self._array is not None:
            from .arranging import item

            return item(self._array, plain(index) if not has_graph(index) else index)
        if current() is not None and isinstance(index, Element):
            self._require_array()
        at = self._at("read", index)
        found = self._items[at]
        if found is None:
            if self._shape is not None:
                return self._zeros()
            raise InvalidArgumentError(
                f"TensorArray.read: nothing was written; got index {at}, expected one that was."
            )
        return found

    def _at(self, call: str, index: Any, may_grow: bool = False) -> int:
        at = int(static_of(plain(index)) if not has_graph(index) else index)
        if at < 0 or (at >= len(self._items) and not may_grow):
            raise NoSuchPlaceError(
                f"TensorArray.{call}: no such place; got index {at}, expected 0 to "
                f"{len(self._items) - 1}. With dynamic_size=True it grows."
            )
        return at

    def _converted(self, value: Any) -> Any:
        from .making import convert_to_tensor

        if has_graph(value):
            return convert_to_tensor(value)
        array = np.asarray(array_of(value, None if hasattr(value, "dtype") else self._dtype))
        if as_dtype(array.dtype) != self._dtype:
            raise ValueError(
                f"TensorArray.write: another type; got {array.dtype}, expected {self._dtype.name}. "
                "Use tf.cast."
            )
        return Tensor(array)

    def _converted_inside(self, value: Any) -> Any:
        value = plain(value)
        if isinstance(value, list):
            value = held(value)
        if not is_symbol(value):
            return array_of(value, self._dtype)[()]
        return value if value.dtype == self._dtype.dtype else value.astype(self._dtype.dtype)

    # --- all tensors ---

    def stack(self, name: Any = None) -> Any:
        """Return all tensors along a new first axis; zeros where none was written."""
        if self._array is not None:
            return self._array if current() is None else self._array.copy()
        written = [item for item in self._items if item is not None]
        if not written and self._shape is None:
            raise InvalidArgumentError(
                "TensorArray.stack: nothing was written; got no tensor, expected one, or "
                "element_shape."
            )
        from .arranging import stack
        from .making import zeros_like

        empty = zeros_like(written[0]) if written else self._zeros()
        items = [empty if item is None else item for item in self._items]
        if not items:
            return Tensor(np.zeros((0, *(self._shape or ())), self._dtype.dtype))
        return stack(items)

    def concat(self, name: Any = None) -> Any:
        """Return all tensors one behind the other along their first axis."""
        from .arranging import concat

        if self._array is not None:
            whole = self.stack()
            return (
                whole.reshape((-1, *whole.shape[2:]))
                if is_symbol(whole)
                else concat(list(whole), 0)
            )
        return concat([self.read(at) for at in range(len(self._items))], 0)

    def gather(self, indices: Any, name: Any = None) -> Any:
        """Return some tensors along a new first axis."""
        from .selecting import gather

        return gather(self.stack(), indices)

    def unstack(self, value: Any, name: Any = None) -> "TensorArray":
        """Put the parts of a tensor along its first axis in the places."""
        if current() is not None:
            whole = self._converted_inside(value)
            for at in range(len(whole)):
                self._write_inside(at, whole[at])
            return self
        if has_graph(value):
            self._items, self._array = [], value
            return self
        self._items = self._unstacked(self._converted(value))
        return self

    def scatter(self, indices: Any, value: Any, name: Any = None) -> "TensorArray":
        """Put the parts of a tensor along its first axis in some places."""
        result = self
        for place, at in enumerate(static_of(plain(indices))):
            result = result.write(at, value[place])
        return result

    def split(self, value: Any, lengths: Any, name: Any = None) -> "TensorArray":
        """Put parts of a tensor, of these lengths along its first axis, in the places."""
        first = 0
        result = self
        for at, length in enumerate(static_of(plain(lengths))):
            result = result.write(at, value[first : first + length])
            first += length
        return result

    def _unstacked(self, whole: Any) -> list[Any]:
        return [whole[at] for at in range(len(whole))]

    def _zeros(self) -> Any:
        zeros = np.zeros(self._shape or (), self._dtype.dtype)
        return zeros[()] if current() is not None else Tensor(zeros)

    # --- inside of what is being recorded ---

    def _write_inside(self, index: Any, value: Any) -> "TensorArray":
        if self._array is None:
            assert self._place is not None
            if self._place.is_for_all() and not isinstance(index, Element):
                at = self._at("write", index, self._is_dynamic)
                self._items.extend([None] * (at + 1 - len(self._items)))
                self._items[at] = value
                self._shape = tuple(np.shape(value))
                return self
            self._shape = tuple(np.shape(value))
            self._require_array()
        self._array[index] = value
        return self

    def _require_array(self) -> None:
        """Record the function again, with memory of the element's own."""
        assert self._place is not None
        if self._shape is None or not self._items:
            raise UsageError(
                at_line(
                    "TensorArray: its size and the shape of its tensors have to be known where "
                    f"elements choose places; got size {len(self._items)}, expected size=, and a "
                    "write before the first read."
                )
            )
        self._place.require(" ".join(map(str, self._shape)))

    def _make(self, shape: tuple[int, ...]) -> None:
        from ...tensors.making import new_array

        assert self._place is not None
        dtype = FROM_NUMPY[self._dtype.dtype]
        self._array = new_array(self._place.recorder, (len(self._items), *shape), dtype)

    # --- into loops, and out of them ---

    @property
    def kind(self) -> Kind:
        """What it is without its tensors."""
        is_filled = self._array is not None or any(item is not None for item in self._items)
        size = len(self._items) if self._array is None else len(self._array)
        return Kind(self._dtype.name, size, self._is_dynamic, self._shape, is_filled)

    def passed(self) -> Any:
        """Return its tensors as an array that is passed to a program."""
        return array_of(self.stack()) if self.kind.is_filled else np.int32(0)

    @classmethod
    def of_kind(cls, kind: Kind, tensors: Any) -> "TensorArray":
        """Return one inside of a program that is given its tensors."""
        made = cls(kind.dtype, kind.size, kind.is_dynamic, element_shape=kind.element_shape)
        return made.unstack(tensors) if kind.is_filled else made

    def holding(self, tensors: Any) -> "TensorArray":
        """Return one like it that holds a stack of tensors."""
        made = TensorArray(self._dtype, 0, self._is_dynamic)
        if has_graph(tensors):
            made._array = tensors
        else:
            made._items = made._unstacked(tensors)
        return made

    def graph_parts(self) -> list[Any]:
        """Return its tensors, among which may be nodes."""
        return [*self._items, self._array]

    def with_graph_parts(self, parts: list[Any]) -> "TensorArray":
        """Return one like it with other tensors."""
        made = TensorArray(self._dtype, 0, self._is_dynamic)
        made._shape = self._shape
        *made._items, made._array = parts
        if made._array is not None:
            made._items, made._array = made._unstacked(made._array), None
        return made


def _size(size: Any) -> int:
    if size is None:
        return 0
    size = size if has_graph(size) else plain(size)
    if isinstance(size, Element) and not hasattr(size, "known"):
        raise UsageError(
            at_line(
                "TensorArray: the size is an element; got a number that differs between elements, "
                "expected a plain one."
            )
        )
    return int(size if has_graph(size) else static_of(size))


NAMES = {"TensorArray": TensorArray}
