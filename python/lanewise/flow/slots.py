"""Variables of the program: a slot for a number, an array for a tensor."""

from typing import Any, NamedTuple

import numpy as np

from .._core import DType, Value
from ..complex_element import as_values, of_values
from ..dtypes import FLOATS, FROM_NUMPY, Kind, parts_of
from ..element import Element, Whole, kind_of, record
from ..recorder import Recorder, current


class Slot(NamedTuple):
    """A variable of the program; a complex number has two values, a tensor an array."""

    values: tuple[Value, ...]
    kind: Kind
    shape: tuple[int, ...] | None = None  # of a tensor


def kind_of_part(number: Any) -> Kind:
    """Return the kind of a number, or of those of a tensor."""
    return Kind(FROM_NUMPY[number.dtype]) if is_whole(number) else kind_of(number)


def is_whole(value: Any) -> bool:
    """Say whether this is a tensor, or an array that can be one."""
    return isinstance(value, Whole) or (isinstance(value, np.ndarray) and value.ndim > 0)


def as_tensor(value: Any) -> Any:
    """Return a tensor, table or array as a tensor."""
    from ..tensors import as_tensor  # seldom needed, and long to import

    recorder = current()
    assert recorder is not None
    return as_tensor(recorder, value)


def is_since(number: Any, first: int) -> bool:
    """Say whether a number or tensor was made from the value of this number on."""
    if isinstance(number, Element):
        return any(value.id >= first for value in number.values)
    return isinstance(number, Whole) and bool(as_tensor(number).is_since(first))


def new_slot(recorder: Recorder, number: Any, kind: Kind) -> Slot:
    """Make a slot with this value here."""
    if is_whole(number):
        from ..tensors.making import new_array

        tensor = as_tensor(number)
        array = new_array(recorder, tensor.shape, kind.dtype)
        array.write(tensor)
        return Slot(array.base_values, kind, tensor.shape)
    initial = as_values(recorder, number, kind.dtype)
    return Slot(tuple(recorder.recording.slot(value) for value in initial), kind)


def slot_before(
    recorder: Recorder,
    scope: int,
    number: Any,
    kind: Kind,
    starts: tuple[Any, ...] = (None, None),
) -> Slot:
    """Make a slot for such a value before an open scope, with 0 or, of numbers, a first value."""
    if is_whole(number):
        tensor = as_tensor(number)
        arrays = (
            recorder.recording.array_before(scope, part, tensor.size)
            for part in parts_of(kind.dtype)
        )
        return Slot(tuple(arrays), kind, tensor.shape)
    made = (
        recorder.recording.slot_before(scope, part, _before(start, part))
        for part, start in zip(parts_of(kind.dtype), starts, strict=False)
    )
    return Slot(tuple(made), kind)


def _before(number: Any, dtype: DType) -> Any:
    """Return a number from before, if there is one, as `slot_before` takes it."""
    if number is None:
        return None
    if isinstance(number, Element):
        return number.value
    plain = number.item() if hasattr(number, "item") else number
    if dtype is DType.Bool:
        return bool(plain)
    return float(plain) if dtype in FLOATS else int(plain)


def write(recorder: Recorder, slot: Slot, number: Any) -> None:
    """Assign to a slot."""
    if slot.shape is not None:
        _tensor(recorder, slot).write(number)
    else:
        values = as_values(recorder, number, slot.kind.dtype)
        for place, value in zip(slot.values, values, strict=True):
            recorder.recording.write(place, value)


def read(recorder: Recorder, slot: Slot) -> Any:
    """Read a slot; of a tensor that is a copy."""
    if slot.shape is not None:
        return _tensor(recorder, slot).copy()
    values = tuple(recorder.recording.read(value) for value in slot.values)
    return of_values(recorder, values, slot.kind)


def _tensor(recorder: Recorder, slot: Slot) -> Any:
    from ..tensors import array

    assert slot.shape is not None
    return array(recorder, slot.values, slot.shape)


def select(test: Element, a: Any, b: Any) -> Any:
    """Return one of two numbers, or of two tensors of one shape."""
    if is_whole(a) or is_whole(b):
        from ..tensors import apply

        return apply(lambda x, y: record("select", test, x, y), a, b)
    return record("select", test, a, b)
