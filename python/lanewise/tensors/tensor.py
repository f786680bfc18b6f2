"""An element that is a vector, matrix or image, while its function is recorded.

A ``Tensor`` looks like a NumPy array. It is a view of a base (``base.py``): an offset, a shape and
strides, so slices and transposes record nothing. Operators and NumPy functions are recorded as
`each` of the program, one for each of them; what they mean for one number is said where it is said
for elements. The other files of this folder add functions to ``FUNCTIONS``.
"""

import functools
import itertools
import math
from collections.abc import Callable, Iterator, Sequence
from typing import Any, NoReturn

import numpy as np

from .._core import Value
from ..complex_element import as_values, of_values
from ..dtypes import (
    OF_PARTS,
    TO_NUMPY,
    ComplexType,
    Kind,
    Type,
    parts_of,
    settled,
)
from ..element import (
    ARRAY_METHODS,
    NUMPY_FUNCTIONS,
    Element,
    Varying,
    Whole,
    another_trial,
    divide,
    floor_divide,
    is_operand,
    kind_of,
    numpy_name,
    options_of,
    power,
    record,
    unsupported,
)
from ..errors import UsageError, UsageTypeError
from ..flow.containers import PlainArray
from ..number_types import type_of
from ..operators import Operators
from ..recorder import Recorder, current
from ..source import at_line
from . import indexing, spaces
from .base import ARRAY, KEPT, NUMBER, ROW, TABLE, Base
from .calls import FUNCTIONS, METHODS, checked, is_default, name_of, unsupported_tensor
from .spaces import Shape, Strides


def _in_place(function: Callable[..., Any]) -> Callable[..., Any]:
    def method(self: "Tensor", other: Any) -> Any:
        if not is_part(other) or self.recorder.dialect is not None:  # others change no operand
            return NotImplemented
        return self._assign_result(apply(function, self, other))

    return method


def is_part(value: Any) -> bool:
    """Say whether this is a tensor, an element, a number or an array of them."""
    return isinstance(value, (Whole, np.ndarray, list, tuple)) or is_operand(value)


class Tensor(Operators, Whole):
    """An element of more than one number, as a NumPy array of it would be."""

    __slots__ = ("_base", "_is_inside", "_moving", "_offset", "_strides", "shape")
    __array_priority__ = 1000

    def __init__(
        self,
        base: Base,
        shape: Shape,
        strides: Strides | None = None,
        offset: int = 0,
        moving: Value | None = None,
        is_inside: bool = True,
    ) -> None:
        dialect = base.recorder.dialect
        self._base = base
        self.shape = shape if dialect is None else dialect.shape(shape)
        self._strides = spaces.c_strides(shape) if strides is None else strides
        self._offset = offset
        self._moving = moving  # a part of the offset that elements have computed
        self._is_inside = is_inside  # every place of the shape is one of the base

    # --- what it is ---

    @property
    def recorder(self) -> Recorder:
        """The recorder of its function."""
        recorder = self._base.recorder
        if not recorder.is_open:
            self._base.require_here()
        return recorder

    @property
    def kind(self) -> Kind:
        """The type of its numbers."""
        return Kind(self._base.dtype)

    @property
    def element_type(self) -> Type:
        """The type of its numbers, as programs have it."""
        return self._base.dtype

    @property
    def dtype(self) -> np.dtype[Any]:
        """The NumPy type."""
        return TO_NUMPY[self._base.dtype]

    @property
    def ndim(self) -> int:
        """The number of dimensions."""
        return len(self.shape)

    @property
    def size(self) -> int:
        """How many numbers it has."""
        return math.prod(self.shape)

    @property
    def itemsize(self) -> int:
        """Bytes of a number."""
        return self.dtype.itemsize

    @property
    def nbytes(self) -> int:
        """Bytes of all numbers."""
        return self.size * self.itemsize

    def __len__(self) -> int:
        if not self.shape:
            raise UsageTypeError(at_line("len: a tensor without dimensions; got (), expected one."))
        return self.shape[0]

    @property
    def steps(self) -> Strides:
        """The strides, 0 where the value is the same along a dimension."""
        if self._base.is_constant:
            return (0,) * self.ndim
        return tuple(
            0 if size == 1 else stride
            for size, stride in zip(self.shape, self._strides, strict=True)
        )

    def at(self, positions: Sequence[Value], strides: Sequence[int] | None = None) -> Element:
        """Record a read at positions; `strides` are others, of joined dimensions."""
        if self._base.is_constant:
            return of_values(self.recorder, self._base.read(self._base.value), self.kind)
        index = spaces.index_of(
            self.recorder,
            self._offset,
            self._moving,
            positions,
            self.steps if strides is None else strides,
        )
        return of_values(self.recorder, self._base.read(index, self._is_inside), self.kind)

    def __repr__(self) -> str:
        return f"<tensor {self.shape} {self.dtype}>"

    # --- views ---

    def view(
        self,
        shape: Shape,
        strides: Strides,
        offset: int | None = None,
        moving: Value | None = None,
    ) -> "Tensor":
        """Return a tensor of the same numbers, or some of them."""
        self._base.has_views = True
        return Tensor(
            self._base,
            shape,
            strides,
            self._offset if offset is None else offset,
            self._moving if moving is None else moving,
            self._is_inside,
        )

    @property
    def strides_in_base(self) -> Strides:
        """The strides as they are in memory."""
        return self._strides

    def part(self, index: Any) -> indexing.View:
        """Return what an index selects."""
        return indexing.view(
            self.recorder, index, self._offset, self._moving, self.shape, self._strides
        )

    def __getitem__(self, index: Any) -> Any:
        part = self.part(index)
        if 0 in part.shape and not part.gathered:
            return nothing(self.recorder, part.shape, self._base.dtype)
        found = self.view(part.shape, part.strides, part.offset, part.moving)
        if part.gathered:
            return FUNCTIONS["gather"](found, part.gathered)
        return found if part.shape or _has_dots(index) else found.at([])

    def __setitem__(self, index: Any, value: Any) -> None:
        if isinstance(index, (Tensor, np.ndarray)) and index.dtype == np.bool_:
            FUNCTIONS["assign_where"](self, index, value)
            return
        part = self.part(index)
        if 0 in part.shape:
            return
        found = self.view(part.shape, part.strides, part.offset, part.moving)
        if part.gathered:
            FUNCTIONS["scatter"](found, part.gathered, value)
        else:
            found.write(value)

    def make_writable(self) -> None:
        """Let its numbers be changed from now on."""
        self._base.make_writable()

    def write_at(self, positions: Sequence[Value], number: Any) -> None:
        """Record an assignment to one number of a tensor that is writable."""
        recorder = self.recorder
        place = spaces.index_of(recorder, self._offset, self._moving, positions, self._strides)
        self._base.write(place, as_values(recorder, number, self._base.dtype))

    def write(self, value: Any) -> None:
        """Assign to all its numbers."""
        recorder = self.recorder
        self._base.make_writable()
        source = as_tensor(recorder, value)
        if not self.size:
            source.broadcast_to("assignment", self.shape)
            return
        if source._base is self._base:
            source = source.copy()
        source = source.broadcast_to("assignment", self.shape)
        sizes, (own, other) = spaces.joined(self.shape, [self._strides, source.steps])

        def assign(positions: list[Value]) -> None:
            number = source.at(positions, other)
            place = spaces.index_of(recorder, self._offset, self._moving, positions, own)
            self._base.write(place, as_values(recorder, number, self._base.dtype))

        spaces.loop_over(recorder, sizes, assign)

    def _assign_result(self, result: "Tensor") -> "Tensor":
        """Take the result of an operation in place."""
        if result.shape != self.shape:
            raise UsageError(
                at_line(
                    f"assignment: the result has another shape; got {result.shape}, expected "
                    f"{self.shape}, that of the tensor on the left."
                )
            )
        if not np.can_cast(result.dtype, self.dtype, "same_kind"):
            raise UsageTypeError(
                at_line(
                    f"assignment: the result has another type; got {result.dtype}, expected "
                    f"{self.dtype}, that of the tensor on the left. Write x = x + y."
                )
            )
        result = result.astype(self.dtype)
        if self._base.has_views or self._base.kind == ARRAY:
            self.write(result)
            return self
        if self._base.place.is_for_all():
            self._become(result)
            return self
        return result

    def _become(self, other: "Tensor") -> None:
        self._base, self._strides = other._base, other._strides
        self._offset, self._moving = other._offset, other._moving
        self._is_inside = other._is_inside

    def broadcast_to(self, call: str, shape: Shape) -> "Tensor":
        """Return a view of a larger shape."""
        if self.shape == shape:
            return self
        if spaces.broadcast_shapes(call, self.shape, shape) != shape:
            raise UsageError(
                at_line(
                    f"{call}: shapes do not fit; got {self.shape}, expected one that broadcasts to "
                    f"{shape}."
                )
            )
        missing = len(shape) - self.ndim
        strides = (0,) * missing + tuple(
            0 if old == 1 else stride for old, stride in zip(self.shape, self._strides, strict=True)
        )
        return self.view(shape, strides)

    def moved_by(self, position: Value) -> Any:
        """Return the part at a position of the first axis, which is there; a number as element."""
        part = self.at_position(position)
        return part if part.shape else part.at([])

    def at_position(self, position: Value) -> "Tensor":
        """Return the part at a position of the first axis, which is there."""
        recorder = self.recorder
        moving = self._moving
        if not self._base.is_constant and self.steps[0] != 0:
            at = spaces.index_of(recorder, 0, moving, [position], self._strides[:1])
            moving = at
        return self.view(self.shape[1:], self._strides[1:], None, moving)

    def is_since(self, first: int) -> bool:
        """Say whether it was made from the value of this number on."""
        is_late = self._moving is not None and self._moving.id >= first
        return is_late or self._base.value.id >= first

    @property
    def base_value(self) -> Value:
        """The array, row or table that it looks at; that of the first part."""
        return self._base.value

    @property
    def base_values(self) -> "Values":
        """The arrays of all parts."""
        return self._base.values

    def transposed(self, axes: Sequence[int]) -> "Tensor":
        """Return a view with the axes in another order."""
        return self.view(
            tuple(self.shape[axis] for axis in axes), tuple(self._strides[axis] for axis in axes)
        )

    @property
    def T(self) -> "Tensor":  # noqa: N802  # NumPy's name
        """The tensor with its axes the other way round."""
        return self.transposed(range(self.ndim)[::-1])

    @property
    def mT(self) -> "Tensor":  # noqa: N802
        """The tensor with its last two axes exchanged."""
        return self.swapaxes(-1, -2)  # type: ignore[no-any-return]

    @property
    def is_complex(self) -> bool:
        """Whether its numbers have two parts."""
        return isinstance(self._base.dtype, ComplexType)

    @property
    def real(self) -> "Tensor":
        """The real parts: itself, unless it is complex."""
        return self._of_part(0) if self.is_complex else self

    @real.setter
    def real(self, value: Any) -> None:
        self.make_writable()
        self.real.write(value)

    @property
    def imag(self) -> "Tensor":
        """The imaginary parts: zeros, unless it is complex."""
        if self.is_complex:
            return self._of_part(1)
        return nothing(self.recorder, self.shape, self._base.dtype)

    @imag.setter
    def imag(self, value: Any) -> None:
        self.make_writable()
        self._of_part(1).write(value)

    def _of_part(self, number: int) -> "Tensor":
        """Return a view of one of the parts of complex numbers."""
        base, distance = self._base.part(number)
        moving = self._moving
        if moving is not None and distance != 1:
            recorder = self.recorder
            moving = recorder.op("mul", [moving, recorder.constant(moving.dtype, distance)])
        strides = tuple(stride * distance for stride in self._strides)
        offset = self._offset * distance + (number if distance != 1 else 0)
        base.has_views = True
        return Tensor(base, self.shape, strides, offset, moving, self._is_inside)

    def conjugate(self) -> "Tensor":
        """Return them with the other sign of their imaginary parts; real ones are themselves."""
        return apply(lambda x: x.conjugate(), self) if self.is_complex else self

    conj = conjugate

    def reshape(self, *shape: Any, order: str = "C") -> "Tensor":
        """Return the same numbers in another shape; a view where one will do."""
        sizes = shape[0] if len(shape) == 1 and isinstance(shape[0], (tuple, list)) else shape
        new = spaces.reshaped(self.shape, tuple(int(size) for size in sizes))
        if order == "F":
            return self.T.reshape(new[::-1]).T
        if order != "C":
            raise unsupported_tensor(f"reshape with order={order!r}")
        if not self.size:
            return self.view(new, (0,) * len(new))
        strides = indexing.reshaped(self.shape, self._strides, new)
        return self.copy().reshape(new) if strides is None else self.view(new, strides)

    def ravel(self, order: str = "C") -> "Tensor":
        """Return it in one dimension."""
        return self.reshape(-1, order=order)

    def flatten(self, order: str = "C") -> "Tensor":
        """Return a copy in one dimension."""
        return self.reshape(-1, order=order).copy()

    # --- copies ---

    def copy(self, order: str = "C") -> "Tensor":
        """Return a tensor of its own with the same numbers, which stand together."""
        del order
        recorder = self.recorder
        if self._base.is_constant:
            return from_number(recorder, self._base.values, self.shape)
        sizes, [steps] = spaces.joined(self.shape, [self.steps])
        if not sizes:
            return from_number(recorder, self.at([], []).values, self.shape)
        kept = spaces.keep_all(recorder, sizes, lambda at: [*self.at(at, steps).values])
        return from_array(recorder, tuple(kept), self.shape)

    def astype(self, dtype: Any, copy: bool = True) -> "Tensor":
        """Convert to another type, as the numbers do."""
        ours = type_of("astype", dtype)
        if ours is self._base.dtype:
            return self
        return apply(lambda x: x.astype(dtype), self)  # type: ignore[no-any-return]

    def as_result(self, dtype: Type, taken: set[int]) -> list[Value]:
        """Return arrays, one of each part, that a function gives back; those in `taken` once."""
        recorder = self.recorder
        base = self._base
        base.require_here()
        if not self.size:
            raise UsageError(
                at_line(
                    f"return: a tensor without numbers; got the shape {self.shape}, expected at "
                    "least one in each dimension."
                )
            )
        is_whole = (
            base.kind in (KEPT, ARRAY)
            and base.dtype is dtype
            and base.size == self.size
            and self._offset == 0
            and self._moving is None
            and base.value.id not in taken
            and spaces.joined(self.shape, [self._strides])[1][0] in ([1], [])
        )
        values = list(base.values)
        if not is_whole:
            sizes, [steps] = spaces.joined(self.shape, [self.steps])
            sizes, steps = (sizes, steps) if sizes else ([1], [0])

            def read(at: list[Value]) -> list[Value]:
                return [*as_values(recorder, self.at(at, steps), dtype)]

            values = spaces.keep_all(recorder, sizes, read)
        taken.update(value.id for value in values)
        return values

    def woven(self, dtype: Type, taken: set[int]) -> Value:
        """Return an array in which the parts of complex numbers follow one another."""
        recorder = self.recorder
        parts = self.as_result(dtype, taken)

        def read(at: Value) -> Value:
            one = spaces.number(recorder, 1)
            place = recorder.op("shr", [at, one])
            first, second = (recorder.recording.read_at(part, place, True) for part in parts)
            is_second = recorder.op("eq", [recorder.op("and", [at, one]), one])
            return recorder.op("select", [is_second, second, first])

        [value] = recorder.each(self.size * 2, lambda at: [("keep", read(at))])
        return value

    def item(self, *index: Any) -> Any:
        """Return one number, as Python's."""
        if len(index) == 1 and self.ndim > 1 and not isinstance(index[0], tuple):
            return self.reshape(-1)[index[0]].item()
        if index:
            return self[index if len(index) > 1 else index[0]].item()
        if self.size != 1:
            raise UsageError(
                at_line(f"item: more than one number; got the shape {self.shape}, expected one.")
            )
        return self.at([spaces.number(self.recorder, 0)] * self.ndim).item()

    def tolist(self) -> Any:
        """Return a list of its numbers, nested as its shape says."""
        if not self.shape:
            return self.item()
        return [part.tolist() if isinstance(part, Tensor) else part.item() for part in self]

    def __iter__(self) -> Iterator[Any]:
        return (self[index] for index in range(len(self)))

    def fill(self, value: Any) -> None:
        """Write a number everywhere."""
        self.write(value)

    # --- operators ---

    def _operate(self, function: Callable[..., Any], *operands: Any) -> Any:
        return apply(function, *operands) if all(map(is_part, operands)) else NotImplemented

    __iadd__ = _in_place(functools.partial(record, "add"))
    __isub__ = _in_place(functools.partial(record, "subtract"))
    __imul__ = _in_place(functools.partial(record, "multiply"))
    __itruediv__ = _in_place(divide)
    __ifloordiv__ = _in_place(floor_divide)
    __imod__ = _in_place(functools.partial(record, "remainder"))
    __ipow__ = _in_place(power)
    __iand__ = _in_place(functools.partial(record, "bitwise_and"))
    __ior__ = _in_place(functools.partial(record, "bitwise_or"))
    __ixor__ = _in_place(functools.partial(record, "bitwise_xor"))

    def __matmul__(self, other: Any) -> Any:
        if not is_part(other):
            return NotImplemented
        return np.matmul(self, as_tensor(self.recorder, other))

    def __rmatmul__(self, other: Any) -> Any:
        return np.matmul(as_tensor(self.recorder, other), self)

    def __bool__(self) -> bool:
        if self.size == 1:
            return bool(self.item())
        raise UsageTypeError(
            at_line(
                f"bool: a tensor is neither true nor false; got the shape {self.shape}, expected "
                "one number. Use .any() or .all()."
            )
        )

    def __array__(self, *_: Any, **__: Any) -> NoReturn:
        error = UsageTypeError(
            at_line(
                "array: a tensor has no values while its function is recorded; got a conversion to "
                "a NumPy array, expected operations on it."
            )
        )
        another_trial(self.recorder, self._base.value, error)
        raise error

    def __getattr__(self, name: str) -> Any:
        method = _METHODS.get(name)
        if method is None:
            raise AttributeError(
                at_line(
                    f"tensor: {name} is not recorded; got an attribute that lanewise does not "
                    "know, expected those of arrays that it records. Write it with operators and "
                    "NumPy functions."
                )
            )
        return functools.partial(method, self)

    def __array_namespace__(self, *, api_version: str | None = None) -> Any:
        return np

    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, **options: Any) -> Any:
        if method == "__call__":
            return record_numpy(ufunc, inputs, options)
        function = METHODS.get((ufunc, method)) or METHODS.get((None, method))
        if function is None:
            raise unsupported_tensor(f"np.{ufunc.__name__}.{method}")
        if (None, method) in METHODS:
            return function(ufunc, *inputs, **options)
        return checked(f"np.{ufunc.__name__}.{method}", function, inputs, options)

    def __array_function__(self, function: Any, types: Any, inputs: Any, options: Any) -> Any:
        return record_numpy(function, inputs, options)


def _delegate(name: str) -> Callable[..., Any]:
    return lambda self, *args, **kwargs: getattr(np, name)(self, *args, **kwargs)


_METHODS = {name: _delegate(name) for name in ARRAY_METHODS}
_METHODS["compress"] = lambda self, condition, axis=None: np.compress(condition, self, axis)


def _transpose(self: Tensor, *axes: Any) -> Tensor:
    if not axes or axes[0] is None:
        return self.T
    given = axes[0] if len(axes) == 1 and isinstance(axes[0], (tuple, list)) else axes
    return self.transposed([spaces.normal_axis("transpose", axis, self.ndim) for axis in given])


def _sort(self: Tensor, axis: int = -1) -> None:
    self.write(np.sort(self, axis))


_METHODS["transpose"] = _transpose
_METHODS["sort"] = _sort


def _has_dots(index: Any) -> bool:
    parts = index if isinstance(index, tuple) else (index,)
    return any(part is Ellipsis for part in parts)


# --- making tensors ---


Values = tuple[Value, ...]  # one of each part


def from_array(recorder: Recorder, values: Values, shape: Shape, kind: str = KEPT) -> Tensor:
    """Return a tensor of the values of arrays, which stand together."""
    return Tensor(Base(recorder, kind, values, math.prod(shape)), shape)


def from_number(recorder: Recorder, values: Values, shape: Shape) -> Tensor:
    """Return a tensor of one number in all places, which can be written one by one."""
    return Tensor(Base(recorder, NUMBER, values, math.prod(shape)), shape)


def table(
    recorder: Recorder, value: Value, shape: Shape, dtype: Type, moving: Value | None = None
) -> Tensor:
    """Return the tensor of an array from outside, or of a row of it, which is checked when read."""
    base = Base(recorder, TABLE, (value,), math.prod(shape), dtype)
    return Tensor(base, shape, moving=moving, is_inside=moving is None)


def array(recorder: Recorder, values: Values, shape: Shape) -> Tensor:
    """Return the tensor of an array of the element's own."""
    return Tensor(Base(recorder, ARRAY, values, math.prod(shape), is_early=True), shape)


def row(recorder: Recorder, value: Value, shape: Shape, dtype: Type) -> Tensor:
    """Return the tensor of a mapped parameter."""
    return Tensor(Base(recorder, ROW, (value,), math.prod(shape), dtype), shape)


def nothing(recorder: Recorder, shape: Shape, dtype: Type) -> Tensor:
    """Return a tensor of zeros, or without numbers."""
    return from_number(recorder, as_values(recorder, 0, dtype), shape)


def as_tensor(recorder: Recorder, value: Any) -> Tensor:
    """Return anything that is made of numbers as a tensor."""
    if isinstance(value, Tensor):
        return value
    if isinstance(value, Whole):
        return value.whole()  # type: ignore[no-any-return]
    if isinstance(value, (list, tuple)):
        return FUNCTIONS["nested"](recorder, value)  # type: ignore[no-any-return]
    if isinstance(value, np.ndarray) and value.ndim:
        return constant(recorder, value)
    return from_number(recorder, as_values(recorder, value, settled(kind_of(value))), ())


def constant(recorder: Recorder, array: Any) -> Tensor:
    """Return a tensor of an array of plain numbers."""
    dtype = type_of("tensor", array.dtype)
    if array.size == 0:
        return nothing(recorder, array.shape, dtype)
    if isinstance(array, PlainArray):  # of the function's own, which may change it
        array = np.array(array)
        flat = array.ravel()
        if flat.tobytes() == flat[:1].tobytes() * flat.size:
            return from_number(recorder, as_values(recorder, flat[0], dtype), array.shape)
    plain, part = array.view(np.ndarray), parts_of(dtype)[0]
    if isinstance(dtype, ComplexType):
        plain = np.ascontiguousarray(plain).view(TO_NUMPY[part])
    return table(recorder, recorder.constant_table(plain, part), array.shape, dtype)


# --- functions ---


def recorder_of(operands: Sequence[Any]) -> Recorder:
    """Return the recorder of the first tensor or element."""
    for operand in operands:
        if isinstance(operand, (Whole, Element)):
            return operand.recorder
    recorder = current()
    assert recorder is not None
    return recorder


def apply(function: Callable[..., Any], *operands: Any, call: str | None = None) -> Any:
    """Record a function of numbers for all positions of tensors, which are broadcast."""
    for operand in operands:
        if isinstance(operand, Varying):
            return operand.apply(function, operands)
    recorder = recorder_of(operands)
    if recorder.dialect is not None:
        operands = recorder.dialect.operands(operands)
    tensors = [
        as_tensor(recorder, operand)
        if isinstance(operand, (Whole, np.ndarray, list, tuple))
        else operand
        for operand in operands
    ]
    shapes = [t.shape for t in tensors if isinstance(t, Tensor)]
    shape = spaces.broadcast_shapes(call or name_of(function), *shapes)
    parts = [t.broadcast_to("", shape) if isinstance(t, Tensor) else None for t in tensors]
    steps = [part.steps for part in parts if part is not None]
    gone_through = [any(step[d] != 0 for step in steps) for d in range(len(shape))]
    sizes = [size if goes else 1 for size, goes in zip(shape, gone_through, strict=True)]
    joined_sizes, joined_steps = spaces.joined(sizes, steps)
    if 0 in shape:  # the types are what is left to find out
        joined_sizes, joined_steps = [], [[] for _ in steps]
    is_tuple = False
    counts: list[int] = []  # of parts

    def body(positions: list[Value]) -> list[Value]:
        nonlocal is_tuple, counts
        following = iter(joined_steps)
        numbers = [
            operand if part is None else part.at(positions, next(following))
            for operand, part in zip(tensors, parts, strict=True)
        ]
        result = function(*numbers)
        is_tuple = isinstance(result, tuple)
        given = [
            as_values(recorder, one, settled(kind_of(one)))
            for one in (result if is_tuple else (result,))
        ]
        counts = [len(values) for values in given]
        return [value for values in given for value in values]

    left = iter(spaces.keep_all(recorder, joined_sizes, body))
    results = tuple(
        of_space(
            *(recorder, tuple(itertools.islice(left, count)), shape),
            tuple(sizes),
            bool(joined_sizes),
        )
        for count in counts
    )
    return results if is_tuple else results[0]


def of_space(recorder: Recorder, values: Values, shape: Shape, sizes: Shape, is_array: bool) -> Any:
    """Return a tensor of what was kept, which is the same along dimensions of size 1."""
    if not shape:
        return element_of(recorder, values)
    if not is_array:
        return from_number(recorder, values, shape)
    kept = from_array(recorder, values, sizes)
    if sizes == shape:
        return kept
    strides = tuple(
        0 if size == 1 else stride for size, stride in zip(sizes, kept.strides_in_base, strict=True)
    )
    return Tensor(kept._base, shape, strides)


def element_of(recorder: Recorder, values: Values) -> Element:
    """Return the element of a value, or of two parts."""
    part = values[0].dtype
    return of_values(recorder, values, Kind(part if len(values) == 1 else OF_PARTS[part]))


def record_whole(function: Any, inputs: Any, options: dict[str, Any], has_arrays: bool) -> Any:
    """Record a call of a NumPy function with elements among its arguments, but no tensor."""
    if has_arrays or function in FUNCTIONS:
        return record_numpy(function, inputs, options)
    raise unsupported(numpy_name(function))


def record_numpy(function: Any, inputs: Any, options: dict[str, Any]) -> Any:
    """Record a call of a NumPy function with a tensor among its arguments."""
    name = numpy_name(function)
    own = FUNCTIONS.get(function)
    if own is not None:
        return checked(name, own, inputs, options)
    recorded = NUMPY_FUNCTIONS.get(function)
    if recorded is None:
        raise unsupported_tensor(name)
    options = {key: value for key, value in options.items() if not is_default(value)}
    if options and (left := set(options) - options_of(recorded)):
        raise unsupported_tensor(f"{name} with {', '.join(sorted(left))}=")
    if options:
        recorded = functools.partial(recorded, **options)
    return apply(recorded, *inputs, call=name)
