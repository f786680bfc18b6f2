"""Complex numbers while a function is recorded: two values of the program, which has none itself.

What is kept for later, in variables and arrays of the program, is kept as values: one of a real
number, two of a complex one (`as_values`, `of_values`). What operations mean is in
``complex_functions.py``.
"""

from collections.abc import Callable
from typing import Any, NoReturn

import numpy as np

from ._core import DType, ParamKind, Value
from .dtypes import OF_PARTS, PARTS, ComplexType, Kind, Type, promote
from .element import Element, as_value, kind_of, no_real, record
from .errors import UsageTypeError
from .recorder import Recorder
from .source import at_line

NewParameter = Callable[..., Value]  # of a type and a kind, and for rows a shape


class Complex(Element):
    """A complex element: two values of one float type."""

    __slots__ = ("_imag",)

    def __init__(self, recorder: Recorder, values: tuple[Value, ...], weak: bool = False) -> None:
        super().__init__(recorder, values[0], weak)
        self._imag = values[1]

    @property
    def dtype(self) -> np.dtype[Any]:
        """The NumPy type."""
        return np.dtype(np.complex64 if self._value.dtype is DType.F32 else np.complex128)

    @property
    def kind(self) -> Kind:
        """The type, and whether it gives way to others as a Python number does."""
        return Kind(OF_PARTS[self._value.dtype], self._weak)

    @property
    def real(self) -> Element:
        """Its real part."""
        return Element(self._recorder, self._value, self._weak)

    @property
    def imag(self) -> Element:
        """Its imaginary part."""
        return Element(self._recorder, self._imag, self._weak)

    def conjugate(self) -> Element:
        """Return it with the other sign of its imaginary part."""
        return made(self.real, -self.imag)

    conj = conjugate

    def item(self, *index: Any) -> Element:
        """Return it as a Python number, which gives way to other types."""
        return of_values(
            self.recorder,
            as_values(self.recorder, self, ComplexType.C128),
            Kind(ComplexType.C128, weak=True),
        )

    def _as_type(self, dtype: Type) -> Element:
        if dtype is DType.Bool:
            return record("not_equal", self, 0)
        return super()._as_type(dtype)

    @property
    def recorder(self) -> Recorder:
        """The recorder of its function, if both parts are good at the present point."""
        return self.real.recorder if self.imag.recorder else self._recorder

    @property
    def value(self) -> NoReturn:
        """Raise the error for a use as a real number."""
        raise no_real("a real number")

    @property
    def values(self) -> tuple[Value, ...]:
        """The values of both parts."""
        return self._value, self._imag

    def __round__(self, digits: int | None = None) -> NoReturn:
        raise UsageTypeError(
            at_line(
                "round: not defined for complex numbers; got complex, expected a real one. Use "
                "np.round, or round its parts."
            )
        )


def made(real: Any, imag: Any) -> Complex:
    """Make a complex number of two real ones, of which one is an element."""
    recorder = (real if isinstance(real, Element) else imag).recorder
    common = promote(kind_of(real), kind_of(imag))
    return as_complex(recorder, (real, imag), _complex_of(common))


def _complex_of(kind: Kind) -> Kind:
    """Return the kind of a complex number with parts that hold such numbers."""
    return promote(kind, Kind(ComplexType.C128, weak=True))


def as_complex(recorder: Recorder, parts: tuple[Any, Any], kind: Kind) -> Complex:
    """Make a complex number of this kind of its parts."""
    dtype = PARTS[kind.dtype]
    return Complex(recorder, tuple(as_value(recorder, p, dtype) for p in parts), kind.weak)


def split(operand: Any) -> tuple[Any, Any]:
    """Return the two parts of an element or number; those of a real one with 0."""
    if isinstance(operand, Complex):
        return operand.real, operand.imag
    if isinstance(operand, Element):
        return operand, 0.0
    number = operand.item() if isinstance(operand, (np.generic, np.ndarray)) else operand
    return (number.real, number.imag) if isinstance(number, complex) else (number, 0.0)


def as_values(recorder: Recorder, operand: Any, dtype: Type) -> tuple[Value, ...]:
    """Record an operand as the values of this type."""
    if isinstance(dtype, ComplexType):
        real, imag = split(operand)
        part = PARTS[dtype]
        return as_value(recorder, real, part), as_value(recorder, imag, part)
    return (as_value(recorder, operand, dtype),)


def of_values(recorder: Recorder, values: tuple[Value, ...], kind: Kind) -> Element:
    """Return the element that these values make up."""
    if isinstance(kind.dtype, ComplexType):
        return Complex(recorder, values, kind.weak)
    return Element(recorder, values[0], kind.weak)


def new_parameters(new: NewParameter, kind: Kind, role: ParamKind) -> tuple[Value, ...]:
    """Add what an argument of this kind needs: a table of complex numbers is one of their parts."""
    if isinstance(kind.dtype, ComplexType):
        part = PARTS[kind.dtype]
        return tuple(new(part, role) for _ in range(1 if role is ParamKind.Table else 2))
    return (new(kind.dtype, role),)
