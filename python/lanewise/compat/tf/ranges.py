"""``tf.range`` with bounds that are recorded: a loop where it is looped over, else its numbers."""

import operator
from typing import Any

import numpy as np

from ...element import Element
from ...flow.containers import local_array
from ...flow.ranges import Range
from ...ragged.rows import ascending
from .dtypes import as_dtype
from .tensor import array_of


class Numbers(Range):
    """Whole numbers from one to below another, of which one may differ between elements.

    Where their count is one for all they are a tensor, else a row.
    """

    def __init__(self, dtype: Any, *bounds: Any) -> None:
        super().__init__(*bounds)
        kinds = [_type_of(bound) for bound in bounds]
        self.dtype = np.result_type(*kinds) if dtype is None else as_dtype(dtype).dtype

    def read_inside(self) -> Any:
        """Return the numbers."""
        if self.can_be_known():
            known = self.known()
            return local_array(np.arange, known.start, known.stop, known.step, dtype=self.dtype)
        return ascending(self.start, self.stop, self.step, self.dtype)

    def __getitem__(self, index: Any) -> Any:
        return self.read_inside()[index]

    @property
    def shape(self) -> Any:
        """The number of numbers."""
        return self.read_inside().shape


def _type_of(bound: Any) -> Any:
    if isinstance(bound, Element):
        return np.dtype(np.int32) if bound.kind.weak else bound.dtype
    return array_of(bound).dtype


def _operators() -> None:
    """Let it have the operators of tensors."""
    binary = (
        *("add", "sub", "mul", "truediv", "floordiv", "mod", "pow", "and", "or", "xor"),
        *("lshift", "rshift", "matmul", "lt", "le", "gt", "ge", "eq", "ne"),
    )

    def of(function: Any) -> Any:
        from .ops import plain

        return lambda self, other: function(self.read_inside(), plain(other))

    def reflected(function: Any) -> Any:
        from .ops import plain

        return lambda self, other: function(plain(other), self.read_inside())

    for name in binary:
        function = getattr(operator, f"__{name}__")
        setattr(Numbers, f"__{name}__", of(function))
        if name not in ("lt", "le", "gt", "ge", "eq", "ne"):
            setattr(Numbers, f"__r{name}__", reflected(function))
    for name in ("neg", "abs", "invert"):
        unary = getattr(operator, f"__{name}__")
        setattr(
            Numbers, f"__{name}__", (lambda of_one: lambda self: of_one(self.read_inside()))(unary)
        )


_operators()
