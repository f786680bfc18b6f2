"""A row of a ragged array, while its function is recorded.

A ``Row`` looks like a NumPy array of one dimension whose length differs between elements. Nothing
of it is stored: operators and NumPy functions make expressions (``reading.py``), which are computed
where they are read, by an index, a loop or a reduction.
"""

import functools
from collections.abc import Callable
from typing import Any

import numpy as np

from .._core import DType, Value
from ..dtypes import INTEGERS, TO_NUMPY, Kind, settled
from ..element import (
    NUMPY_FUNCTIONS,
    Element,
    as_value,
    is_operand,
    kind_of,
    numpy_name,
    options_of,
    record,
)
from ..errors import UsageTypeError
from ..operators import Operators
from ..source import at_line
from .counted import Counted, Space, is_index, limit, require_same_length
from .reading import Applied, Expression, Positions, Reading, kinds_of

# NumPy functions of rows, beside those that are done number by number; reductions.py fills it.
FUNCTIONS: dict[Any, Callable[..., Any]] = {}


class Row(Operators, Counted):
    """A row of numbers."""

    __slots__ = ("expression", "kind", "space")

    def __init__(self, space: Space, expression: Expression, kind: Kind) -> None:
        super().__init__(space.length.recorder, space.length)
        self.space = space
        self.expression = expression
        self.kind = kind

    @property
    def dtype(self) -> np.dtype[Any]:
        """The NumPy type."""
        return TO_NUMPY[settled(self.kind)]

    def at(self, position: Value) -> Any:
        """Return the number at a position that is there."""
        recorder = self.recorder
        recorder.locate()
        return Reading(recorder, position).of(self.expression)

    def __repr__(self) -> str:
        return f"<row {self.dtype}>"

    def __getitem__(self, index: Any) -> Any:
        if isinstance(index, tuple) and len(index) == 1:
            [index] = index
        if isinstance(index, slice):
            return self._part(index)
        if not is_index(index):
            raise UsageTypeError(
                at_line(
                    f"row: not an index; got {type(index).__name__}, expected a whole number or a "
                    "slice."
                )
            )
        return self.at(self.index(index).value)

    def _part(self, index: slice) -> "Row":
        """Return some of its numbers, as a row of their own."""
        step = 1 if index.step is None else index.step
        if not isinstance(step, int) or step == 0:
            raise UsageTypeError(
                at_line(
                    "row: the step of a slice is not a plain number; got "
                    f"{step if isinstance(step, int) else type(step).__name__}, expected a whole "
                    "number that is not 0."
                )
            )
        if index.start is None and index.stop is None and step == 1:
            return self
        low, high = (0, 0) if step > 0 else (-1, -1)  # what bounds are clipped to
        first = self.number(0) if step > 0 else self.length - 1
        last = self.length if step > 0 else self.number(-1)
        begin = first if index.start is None else self._bound(index.start, low, high)
        end = last if index.stop is None else self._bound(index.stop, low, high)
        count = (end - begin + step - (1 if step > 0 else -1)) // step
        length = record("maximum", count, 0)
        space = Space(self.space.start + begin, length, None)
        return Row(space, self.expression.moved(begin, step), self.kind)

    def _bound(self, bound: Any, low: int, high: int) -> Element:
        """Record a bound of a slice, counted from the end if it is below 0, and clipped."""
        if not isinstance(bound, Element):
            at = self.number(int(bound))
        elif bound.kind.dtype in INTEGERS:
            most = limit(self.index_type)
            at = record("minimum", record("maximum", bound, -most), most)
            at = at.astype(TO_NUMPY[self.index_type])
        else:
            raise UsageTypeError(
                at_line(
                    f"row: a bound of a slice is not a whole number; got {bound.dtype}, expected "
                    "an integer. Convert it with int(...)."
                )
            )
        at = record("select", at < 0, at + self.length, at)
        return record("minimum", record("maximum", at, low), self.length + high)

    def apply(self, function: Callable[..., Any], operands: tuple[Any, ...]) -> Any:
        """Return the row of a function of the numbers of rows, and of numbers beside them."""
        return apply(function, *operands)

    def of_table(self, read: Callable[[Any], Any], kind: Kind) -> "Row":
        """Return the row of what a table has at its numbers."""
        return Row(self.space, Applied(read, (self.expression,), None, True), kind)

    def composite(self, name: str, **options: Any) -> Any:
        """Record ``lw.softmax`` and the like."""
        function = FUNCTIONS.get(name)
        if function is None:
            raise unsupported_row(f"lw.{name}")
        return function(self, **options)

    def folded(self, how: str, *start: Any) -> Any:
        """Record what Python's `sum`, `min` or `max` is."""
        return FUNCTIONS["folded"](self, how, *start)

    def astype(self, dtype: Any, copy: bool = True) -> Any:
        """Convert to another type, as the numbers do."""
        return apply(lambda x: x.astype(dtype), self)

    def copy(self) -> "Row":
        """Return itself: nobody changes it."""
        return self

    # --- operators ---

    def _operate(self, function: Callable[..., Any], *operands: Any) -> Any:
        return apply(function, *operands)

    def __matmul__(self, other: Any) -> Any:
        return FUNCTIONS[np.dot](self, other)

    __rmatmul__ = __matmul__

    def __getattr__(self, name: str) -> Any:
        if name not in _METHODS:
            raise AttributeError(
                at_line(
                    f"row: {name} is not recorded; got an attribute that rows do not have, "
                    f"expected one of {', '.join(_METHODS)}, size, dtype, astype."
                )
            )
        return functools.partial(getattr(np, name), self)

    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, **options: Any) -> Any:
        if method == "reduce":
            reduction = FUNCTIONS.get((ufunc, method))
            if reduction is not None:
                return _checked(f"np.{ufunc.__name__}.{method}", reduction, inputs, options)
        if method != "__call__":
            raise unsupported_row(f"np.{ufunc.__name__}.{method}")
        return _record_numpy(ufunc, inputs, options)

    def __array_function__(self, function: Any, types: Any, inputs: Any, options: Any) -> Any:
        return _record_numpy(function, inputs, options)


# Methods that are functions of NumPy.
_METHODS = (
    *("sum", "prod", "min", "max", "mean", "var", "std", "argmin", "argmax", "any", "all", "dot"),
    *("clip", "round"),
)


def apply(function: Callable[..., Any], *operands: Any) -> Any:
    """Return the row of a function of the numbers of rows, and of numbers beside them."""
    rows = [operand for operand in operands if isinstance(operand, Row)]
    for operand in operands:
        if not isinstance(operand, Row) and not is_operand(operand):
            raise UsageTypeError(
                at_line(
                    f"row: something else than a number beside a row; got {_sort(operand)}, "
                    "expected rows of the same length, elements and numbers."
                )
            )
    for row in rows[1:]:
        require_same_length("row", rows[0], row)
    of_argument = (row.space for row in rows if row.space.argument is not None)
    space = next(of_argument, rows[0].space)
    operand_kinds = [x.kind if isinstance(x, Row) else x for x in operands]
    kinds = kinds_of(rows[0].recorder, function, operand_kinds)
    parts = tuple(x.expression if isinstance(x, Row) else x for x in operands)
    if isinstance(kinds, Kind):
        return Row(space, Applied(function, parts), _real(kinds))
    return tuple(
        Row(space, Applied(function, parts, place), _real(kind)) for place, kind in enumerate(kinds)
    )


def ascending(start: Any, stop: Any, step: int, dtype: Any) -> Row:
    """Return the row of numbers from one on, before another, of which one is an element's."""
    bounds = [one for one in (start, stop) if isinstance(one, Element)]
    recorder = bounds[0].recorder
    is_wide = any(one.value.dtype in (DType.I64, DType.U64, DType.U32) for one in bounds)
    index_type = DType.I64 if is_wide else DType.I32
    kind = kind_of(np.dtype(dtype).type(0))
    first, last = (Element(recorder, as_value(recorder, one, index_type)) for one in (start, stop))
    zero = Element(recorder, recorder.constant(index_type, 0))
    count = (last - first + (step - (1 if step > 0 else -1))) // step
    space = Space(zero, record("maximum", count, 0), None)

    def number(position: Any, begin: Any) -> Any:
        return (position * step + begin).astype(dtype)

    return Row(space, Applied(number, (Positions(zero, 1), first)), kind)


def _real(kind: Kind) -> Kind:
    if not isinstance(kind.dtype, DType):
        raise UsageTypeError(
            at_line(
                "row: complex numbers in a row; got complex, expected real ones. Compute with real "
                "and imaginary parts."
            )
        )
    return kind


def _sort(operand: Any) -> str:
    shape = getattr(operand, "shape", None)
    return type(operand).__name__ if shape is None else f"a tensor of shape {shape}"


def unsupported_row(name: str) -> UsageTypeError:
    """Return the error for a function that is not recorded."""
    return UsageTypeError(
        at_line(
            f"{name}: not supported on rows of different lengths; got a call inside a vectorized "
            "function, expected a function that lanewise records. Write it with operators, slices, "
            "reductions and loops."
        )
    )


def _given(options: dict[str, Any]) -> dict[str, Any]:
    """Return the options that ask for something."""
    return {
        name: value
        for name, value in options.items()
        if value is not None
        and value is not np._NoValue
        and not (name == "keepdims" and value is False)
    }


def _checked(name: str, function: Callable[..., Any], inputs: Any, options: dict[str, Any]) -> Any:
    options = _given(options)
    if options and (left := set(options) - options_of(function)):
        raise unsupported_row(f"{name} with {', '.join(sorted(left))}=")
    return function(*inputs, **options)


def _record_numpy(function: Any, inputs: Any, options: dict[str, Any]) -> Any:
    name = numpy_name(function)
    own = FUNCTIONS.get(function)
    if own is not None:
        return _checked(name, own, inputs, options)
    recorded = NUMPY_FUNCTIONS.get(function)
    if recorded is None:
        raise unsupported_row(name)

    def number_by_number(*operands: Any, **given: Any) -> Any:
        return apply(functools.partial(recorded, **given) if given else recorded, *operands)

    options = _given(options)
    if options and (left := set(options) - options_of(recorded)):
        raise unsupported_row(f"{name} with {', '.join(sorted(left))}=")
    return number_by_number(*inputs, **options)
