"""What all accumulators have in common, and the variables they have in a program."""

import threading
from collections.abc import Callable
from typing import Any, NoReturn

import numpy as np

from .._core import DType, Value
from ..complex_element import as_values
from ..dtypes import (
    BOUNDS,
    FLOATS,
    FROM_NUMPY,
    INTEGERS,
    PARTS,
    TO_NUMPY,
    Kind,
    Type,
    name_of,
    parts_of,
    promote,
    settled,
)
from ..element import Element, is_operand, is_tensor, kind_of
from ..errors import UsageError, UsageTypeError
from ..folds import Described, Folded, Part, Parts
from ..numbering import is_running
from ..recorder import Recorder, Retrace, current
from ..source import at_line
from .rows import combine_row, is_row, kind_of_row, row_part, shape_of


class Accumulator:
    """What all kinds have in common: `value` so far, and `reset`."""

    def __init__(self, dtype: Any = None) -> None:
        self.lock = threading.Lock()  # held by the call that adds to it
        self._dtype = None if dtype is None else self._checked(dtype)
        self.reset()

    accumulates = True

    @property
    def sort(self) -> Any:
        """What functions are recorded for: another accumulator of the same sort does as well."""
        return type(self).__qualname__, self._dtype, self._keys

    _keys = 0

    def reset(self) -> None:
        """Begin anew."""
        self._state: Any = None

    @property
    def value(self) -> Any:
        """What has been added so far."""
        raise NotImplementedError

    def __repr__(self) -> str:
        return f"<{type(self).__name__} {self.value}>"

    def __getstate__(self) -> dict[str, Any]:
        return {key: value for key, value in vars(self).items() if key != "lock"}

    def __setstate__(self, state: dict[str, Any]) -> None:
        vars(self).update(state, lock=threading.Lock())

    # --- while a function is recorded ---

    def folded(self, where: Any, parts: Parts) -> Folded:
        """Return what the map has to do for it."""
        described = (
            Described(p.kind, p.dtype, 1 if p.array is not None else len(p.slots), p.size, p.about)
            for p in parts.all
        )
        return Folded(where, parts.dtype, tuple(described))

    def _parts(
        self, recorder: Recorder, dtype: Type | None, make: Callable[[], list[Part]]
    ) -> list[Part]:
        """Return the parts of the function that is being recorded; the first time they are made."""
        found = recorder.accumulated.get(self)
        if found is None:
            found = recorder.accumulated[self] = Parts(dtype, make())
        return found.all

    def _recorder(self) -> Recorder | None:
        """Return the recorder; None where the plain function runs on one element."""
        recorder = current()
        if recorder is None:
            if is_running():
                return None
            raise UsageError(
                at_line(
                    f"{self._call}: outside of a vectorized function; got a call on plain values, "
                    "expected one inside of the function. Add to the value instead."
                )
            )
        if recorder.eaches:
            raise UsageTypeError(
                at_line(
                    f"{self._call}: inside of a nested map; got a call for every position of an "
                    "element, expected one for the element. Add the sum of what the map gives."
                )
            )
        recorder.locate()
        return recorder

    @property
    def _call(self) -> str:
        return f"{type(self).__name__}.add"

    def _refuse(self, value: Any, expected: str, hint: str = "") -> NoReturn:
        if isinstance(value, Element):
            got = name_of(settled(value.kind))
        elif is_tensor(value) or isinstance(value, np.ndarray):
            got = f"values of the shape {value.shape}"
        else:
            got = type(value).__name__
        raise UsageTypeError(
            at_line(
                f"{self._call}: wrong kind of value; got {got}, expected {expected}."
                f"{' ' if hint else ''}{hint}"
            )
        )

    def _checked(self, dtype: Any) -> Type:
        ours = FROM_NUMPY.get(np.dtype(dtype))
        if ours is None or not self._takes(ours):
            raise UsageTypeError(
                f"{type(self).__name__}: unsupported dtype; got {np.dtype(dtype)}, expected "
                f"{self._takes_text}."
            )
        return ours

    _takes_text = "an integer, float32, float64 or complex type"

    def _takes(self, dtype: Type) -> bool:
        return dtype in INTEGERS or dtype in (DType.F32, DType.F64) or dtype in PARTS

    _takes_rows = False

    def _operand(self, value: Any) -> Kind:
        """Return the kind of what is added, which must be a number, or a tensor of them."""
        if is_row(value):
            if not self._takes_rows:
                self._refuse(value, "a number", "Add its sum, or one of its values.")
            return self._kind_of_row(value)
        if not is_operand(value):
            self._refuse(value, "a number")
        return kind_of(value)

    def _kind_of_row(self, value: Any) -> Kind:
        kind = kind_of_row(value)
        if kind.dtype in PARTS:
            self._refuse(value, "real numbers", "Add z.real and z.imag.")
        return kind

    def _value_parts(self, recorder: Recorder, kind: str, dtype: Type, value: Any) -> list[Part]:
        """Make parts for such values: two for complex numbers."""
        shape = shape_of(value)
        parts = []
        for one in parts_of(dtype):
            if shape:
                start = neutral(kind, one)
                parts.append(row_part(self._call, recorder, kind, one, shape, start))
            else:
                parts.append(number_part(recorder, kind, one))
            parts[-1].about = shape
        return parts

    def _combine(
        self, recorder: Recorder, parts: list[Part], op: str, dtype: Type, value: Any
    ) -> None:
        """Combine parts of this type with a value."""
        shape = shape_of(value)
        if parts[0].about != shape:
            raise UsageTypeError(
                at_line(
                    f"{self._call}: another shape than elsewhere; got {shape}, expected "
                    f"{parts[0].about}, as the function adds before."
                )
            )
        if shape:
            combine_row(recorder, parts[0], op, value)
            return
        for part, number in zip(parts, as_values(recorder, value, dtype), strict=True):
            step(recorder, part, op, recorder.convert(number, part.dtype))

    def _type(self, recorder: Recorder, kind: Kind) -> Type:
        """Return the type in which such values are combined, with all that are added elsewhere."""
        if self._dtype is not None:
            return self._dtype
        known = recorder.session.accumulated
        before = known.get(self)
        known[self] = kind if before is None else promote(before, kind)
        if before is not None and self._combined(known[self]) != self._combined(before):
            raise Retrace
        return self._combined(known[self])

    def _combined(self, kind: Kind) -> Type:
        """Return the type in which values of a kind are combined."""
        return settled(kind)

    # --- in a call ---

    def total(self, part: Described) -> Any:
        """Return memory for the total of a part."""
        is_value = isinstance(part.about, tuple)
        if is_value and self._state is not None and np.shape(self._state) != part.about:
            raise UsageError(
                f"{self._call}: another shape than in earlier calls; got {part.about}, expected "
                f"{np.shape(self._state)}. Use another accumulator, or reset this one."
            )
        return part.new_total()

    def take(self, totals: list[Any], fold: Folded) -> None:
        """Add the totals of a call."""
        raise NotImplementedError


def step(recorder: Recorder, part: Part, op: str, value: Value) -> None:
    """Combine the variable of a part with a value."""
    slot = part.slots[0]
    recorder.recording.write(slot, recorder.op(op, [recorder.recording.read(slot), value]))


def number_part(recorder: Recorder, kind: str, dtype: DType) -> Part:
    """Make a part that begins with the neutral value of its kind."""
    part = Part(kind, dtype)
    part.slots.append(recorder.recording.first_slot(dtype, neutral(kind, dtype)))
    return part


def neutral(kind: str, dtype: DType) -> int | float:
    """Return the value that changes no other it is combined with."""
    is_float = dtype in FLOATS
    if kind in ("min", "argmin"):
        return float("inf") if is_float else int(BOUNDS[dtype].max)
    if kind in ("max", "argmax"):
        return -float("inf") if is_float else int(BOUNDS[dtype].min)
    return -0.0 if is_float else 0


def summed(dtype: Type) -> Type:
    """Return the type in which numbers of a type are added."""
    if dtype is DType.Bool or dtype in INTEGERS:
        return DType.U64 if TO_NUMPY[dtype].kind == "u" else DType.I64
    return DType.F32 if dtype is DType.F16 else dtype
