"""The symbolic value that stands for a number while a function is recorded.

An ``Element`` looks like a number: operators and NumPy functions on it are written down instead of
computed. What an operation means for which types is said in ``rules.py``.
"""

import functools
import inspect
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, NoReturn

import numpy as np

from ._core import DType, Value
from .convert import reason
from .dtypes import (
    BOUNDS,
    FLOATS,
    FROM_NUMPY,
    INTEGERS,
    PARTS,
    SUPPORTED,
    TO_NUMPY,
    WEAK_COMPLEX,
    WEAK_FLOAT,
    WEAK_INT,
    WEAK_NARROW,
    ComplexType,
    Kind,
    Type,
    name_of,
    promote,
    settled,
)
from .errors import UsageError, UsageOverflowError, UsageTypeError
from .intervals import INT32, Interval, of_operation
from .recorder import Recorder, Retrace, current
from .rules import RULES, Resolved
from .source import at_line, say, user_code
from .texts import put_off


class Whole:
    """What has many elements: a tensor (``tensors/tensor.py``), or a table."""

    if TYPE_CHECKING:

        def __getattr__(self, name: str) -> Any: ...


class Varying(Whole):
    """What has many elements, but not the same number for all: a row (``ragged/counted.py``)."""


def is_tensor(value: Any) -> bool:
    """Say whether a value is a tensor of elements."""
    return isinstance(value, Whole)


_KINDS = {dtype: (Kind(dtype), Kind(dtype, weak=True)) for dtype in DType}
# NumPy functions that are recorded when they meet an element; numpy_functions.py fills it.
NUMPY_FUNCTIONS: dict[Any, Callable[..., Any]] = {}
# Functions of `rules.RULES`, and others, where a complex number is among the operands;
# complex_functions.py fills it.
COMPLEX_FUNCTIONS: dict[str, Callable[..., Any]] = {}
# Methods of arrays that are functions of NumPy.
ARRAY_METHODS = (
    *("sum", "prod", "min", "max", "mean", "var", "std", "argmin", "argmax", "any", "all"),
    *("cumsum", "cumprod", "dot", "repeat", "take", "clip", "round", "squeeze", "diagonal"),
    *("trace", "swapaxes", "argsort", "searchsorted", "compress", "choose", "ptp"),
)


def another_trial(recorder: Recorder, value: Value, error: Exception) -> None:
    """Record the function again, if that may help where the value of an element is needed.

    A loop whose steps are recorded one by one has plain counters; a function that is rewritten
    needs no plain conditions.
    """
    recorder.make_plain(value, error)
    if not recorder.converts:
        recorder.session.converts = True
        raise Retrace


def _binary(name: str) -> tuple[Callable[..., Any], Callable[..., Any]]:
    """Return the methods of an operator: with the element on its left, and on its right."""

    def forward(self: "Element", other: Any) -> Any:
        return record(name, self, other) if is_operand(other) else NotImplemented

    def reflected(self: "Element", other: Any) -> Any:
        return record(name, other, self) if is_operand(other) else NotImplemented

    return forward, reflected


def _comparison(name: str) -> Callable[..., Any]:
    return _binary(name)[0]


def _unary(name: str) -> Callable[..., Any]:
    return lambda self: record(name, self)


class Element:
    """One element of a mapped array, or a number shared by all, while its function is recorded.

    Operators, comparisons and NumPy functions work. Its value is not known yet: statements that
    depend on it (``if``, ``while``, ``for``, ``and``, ``return``) are recorded too, for which the
    source of the function is rewritten. Where that cannot be, write `lanewise.while_loop` or
    `lanewise.select`.

    Examples
    --------
    >>> import lanewise as lw, numpy as np
    >>> seen = []
    >>> f = lw.vectorize(lambda x: seen.append(x) or x + 1)
    >>> f(np.zeros(3))
    array([1., 1., 1.])
    >>> seen
    [<element float64>]
    """

    __slots__ = ("_recorder", "_value", "_weak")

    def __init__(self, recorder: Recorder, value: Value, weak: bool = False) -> None:
        self._recorder = recorder
        self._value = value
        self._weak = weak

    @property
    def dtype(self) -> np.dtype[Any]:
        """The NumPy type."""
        return TO_NUMPY[settled(self.kind)]

    shape: tuple[int, ...] = ()
    ndim = 0
    size = 1
    device = "cpu"

    @property
    def real(self) -> "Element":
        """Its real part: itself, unless it is complex."""
        return self

    @property
    def imag(self) -> Any:
        """Its imaginary part: 0, unless it is complex."""
        return self.dtype.type(0)

    def conjugate(self) -> "Element":
        """Return its conjugate: itself, unless it is complex."""
        return self

    conj = conjugate

    def to_device(self, device: Any, /, *, stream: Any = None) -> "Element":
        """Return itself: elements are on no device of their own."""
        return self

    def item(self, *index: Any) -> "Element":
        """Return it as a Python number, which gives way to other types."""
        if index:
            return self.whole().reshape(-1)[index[0]].item()  # type: ignore[no-any-return]
        if self._value.dtype in FLOATS:
            return Element(self.recorder, self.recorder.convert(self._value, DType.F64), weak=True)
        return self if self._value.dtype is DType.Bool else whole(self)

    def copy(self) -> "Element":
        """Return itself: it never changes."""
        return self

    T = property(copy)

    def whole(self) -> Any:
        """Return it as a tensor without dimensions."""
        from .tensors import as_tensor  # seldom needed, and long to import

        return as_tensor(self.recorder, self)

    def round(self, decimals: int = 0) -> Any:
        """Return it rounded to some decimals."""
        return np.round(self, decimals)

    @property
    def kind(self) -> Kind:
        """The type, and whether it gives way to others as a Python number does."""
        return _KINDS[self._value.dtype][self._weak]

    def astype(self, dtype: Any) -> "Element":
        """Convert to another type.

        Float to integer saturates and NaN gives 0; to bool tests for not zero.

        Parameters
        ----------
        dtype : dtype_like
            ``bool``, an integer, a float or, of numbers that fit it, a complex type.

        Examples
        --------
        >>> import lanewise as lw, numpy as np
        >>> lw.vectorize(lambda x: (x * 10).astype(np.int32))(np.array([0.25, 7.5]))
        array([ 2, 75], dtype=int32)
        """
        ours = FROM_NUMPY.get(np.dtype(dtype))
        if ours is None:
            raise UsageTypeError(
                at_line(f"astype: unsupported type; got {np.dtype(dtype)}, expected {SUPPORTED}.")
            )
        return self._as_type(ours)

    def _as_type(self, dtype: Type) -> "Element":
        if isinstance(dtype, ComplexType):
            return COMPLEX_FUNCTIONS["astype"](self, dtype)  # type: ignore[no-any-return]
        return Element(self.recorder, self.recorder.convert(self.value, dtype))

    @property
    def recorder(self) -> Recorder:
        """The recorder of its function, if the element is good at the present point."""
        recorder = self._recorder
        if recorder.is_open:
            if not recorder.is_gone(self._value):
                return recorder
            raise UsageError(
                at_line(
                    "element: used outside of the loop or branch it was made in; got a value that "
                    "not every element has, expected one of the present scope. Assign it to a "
                    "variable, or return it."
                )
            )
        raise UsageError(
            at_line(
                "element: used after its function was recorded; got a symbolic value without a "
                "program, expected a number. Return it from the vectorized function instead of "
                "keeping it."
            )
        )

    def _is(self, recorder: Recorder, dtype: Type) -> bool:
        """Say whether it can be used by a recorder as it is."""
        return self._value.dtype is dtype and self.recorder is recorder

    @property
    def value(self) -> Value:
        """The value in the program under construction; a complex number has none."""
        return self._value

    @property
    def values(self) -> tuple[Value, ...]:
        """The values in the program: those of both parts, if it is complex."""
        return (self._value,)

    def __repr__(self) -> str:
        return f"<element {self.dtype}>"

    def __str__(self) -> str:
        return put_off(self._recorder, str, self) if self._recorder.is_open else repr(self)

    def __format__(self, form: str) -> str:
        if not self._recorder.is_open:
            return format(repr(self), form)
        return put_off(self._recorder, format, self, form)

    __add__, __radd__ = _binary("add")
    __sub__, __rsub__ = _binary("subtract")
    __mul__, __rmul__ = _binary("multiply")
    __mod__, __rmod__ = _binary("remainder")
    __and__, __rand__ = _binary("bitwise_and")
    __or__, __ror__ = _binary("bitwise_or")
    __xor__, __rxor__ = _binary("bitwise_xor")
    __lshift__, __rlshift__ = _binary("left_shift")
    __rshift__, __rrshift__ = _binary("right_shift")
    __lt__ = _comparison("less")
    __le__ = _comparison("less_equal")
    __gt__ = _comparison("greater")
    __ge__ = _comparison("greater_equal")
    __eq__ = _comparison("equal")
    __ne__ = _comparison("not_equal")
    __hash__ = None  # type: ignore[assignment]  # equality is symbolic
    __neg__ = _unary("negative")
    __abs__ = _unary("absolute")
    __invert__ = _unary("invert")

    def __truediv__(self, other: Any) -> Any:
        return divide(self, other) if is_operand(other) else NotImplemented

    def __rtruediv__(self, other: Any) -> Any:
        return divide(other, self) if is_operand(other) else NotImplemented

    def __floordiv__(self, other: Any) -> Any:
        return floor_divide(self, other) if is_operand(other) else NotImplemented

    def __rfloordiv__(self, other: Any) -> Any:
        return floor_divide(other, self) if is_operand(other) else NotImplemented

    def __divmod__(self, other: Any) -> Any:
        return self // other, self % other

    def __rdivmod__(self, other: Any) -> Any:
        return other // self, other % self

    def __pos__(self) -> "Element":
        return self

    def __pow__(self, exponent: Any) -> "Element":
        return power(self, exponent)

    def __rpow__(self, base: Any) -> "Element":
        return power(base, self)

    def __trunc__(self) -> "Element":
        return whole(self)

    def __floor__(self) -> "Element":
        return whole(record("floor", self))

    def __ceil__(self) -> "Element":
        return whole(record("ceil", self))

    def __round__(self, digits: int | None = None) -> "Element":
        if digits is None:
            return whole(record("round", self))
        return rounded(self, digits)

    def __bool__(self) -> bool:
        raise self._no_value("bool", "a condition on it (if, while, and, or, not)", _BRANCHES)

    def __index__(self) -> int:
        raise self._no_value("int", "a use as a Python integer (range, an index)", _BRANCHES)

    def __int__(self) -> int:
        raise self._no_value("int", "a conversion", "x.astype(np.int64)")

    def __float__(self) -> float:
        raise self._no_value("float", "a conversion", "x.astype(np.float64)")

    def __complex__(self) -> complex:
        raise self._no_value("complex", "a conversion", "x.astype(np.complex128)")

    def __array__(self, *_: Any, **__: Any) -> NoReturn:
        raise self._no_value(
            "array", "a conversion to a NumPy array", "operations on single elements"
        )

    def _no_value(self, call: str, got: str, expected: str) -> BaseException:
        """Return the error for a use that needs a value; or let the function be recorded again."""
        recorder = self.recorder
        why = reason(user_code())
        hint = f" This function could not be rewritten: {why}. Put it into a file." if why else ""
        error = UsageTypeError(
            at_line(
                f"{call}: an element has no value while its function is recorded; got {got}, "
                f"expected {expected}.{hint}"
            )
        )
        another_trial(recorder, self._value, error)
        return error

    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, **options: Any) -> Any:
        if len(inputs) > 1 and any(isinstance(x, (Whole, np.ndarray)) and x.ndim for x in inputs):
            if any(map(is_tensor, inputs)):
                return NotImplemented
            return _whole(ufunc, inputs, options, True)
        if method != "__call__":
            return self.whole().__array_ufunc__(ufunc, method, *inputs, **options)
        return self._record_numpy(ufunc, inputs, options)

    def __array_function__(self, function: Any, types: Any, inputs: Any, options: Any) -> Any:
        if any(issubclass(kind, Whole) for kind in types):
            return NotImplemented
        has_arrays = any(issubclass(kind, np.ndarray) for kind in types)
        if has_arrays or function not in NUMPY_FUNCTIONS:
            return _whole(function, inputs, options, has_arrays)
        return self._record_numpy(function, inputs, options)

    def __array_namespace__(self, *, api_version: str | None = None) -> Any:
        from . import array_api  # seldom needed

        return array_api.namespace(api_version)

    @staticmethod
    def _record_numpy(function: Any, inputs: Any, options: dict[str, Any]) -> Any:
        recorded = NUMPY_FUNCTIONS.get(function)
        if recorded is None:
            raise unsupported(numpy_name(function))
        if options and (left := set(options) - options_of(recorded)):
            raise unsupported(f"{numpy_name(function)} with {', '.join(sorted(left))}=")
        return recorded(*inputs, **options)


def _of_arrays(name: str) -> Callable[..., Any]:
    return lambda self, *args, **kwargs: getattr(self.whole(), name)(*args, **kwargs)


for _name in (*ARRAY_METHODS, "transpose", "reshape", "ravel", "flatten", "tolist"):
    if not hasattr(Element, _name):
        setattr(Element, _name, _of_arrays(_name))


def _whole(function: Any, inputs: Any, options: dict[str, Any], has_arrays: bool) -> Any:
    """Record a NumPy function of arrays, or one that gives them."""
    from .tensors import record_whole  # seldom needed, and long to import

    return record_whole(function, inputs, options, has_arrays)


_BRANCHES = "lw.while_loop(cond, body, state) or lw.select(condition, a, b)"


def numpy_name(function: Any) -> str:
    """Return the name of a NumPy function as users write it."""
    module = getattr(function, "__module__", None) or "numpy"
    return f"{module.replace('numpy', 'np', 1)}.{function.__name__}"


@functools.cache
def options_of(function: Callable[..., Any]) -> frozenset[str]:
    """Return the names of the arguments that a recorded function takes by name."""
    if isinstance(function, functools.partial):
        return frozenset()
    parameters = inspect.signature(function).parameters.values()
    return frozenset(p.name for p in parameters if p.kind is not p.VAR_POSITIONAL)


def unsupported(name: str) -> UsageTypeError:
    """Return the error for a NumPy function that is not recorded."""
    return UsageTypeError(
        at_line(
            f"{name}: not supported on elements; got a call inside a vectorized function, expected "
            "a function that lanewise records. Write it with operators and lw.* functions."
        )
    )


def is_operand(operand: Any) -> bool:
    """Say whether this is a number of some sort; what cannot be used of those is refused later."""
    if isinstance(operand, np.ndarray):
        return operand.ndim == 0
    return isinstance(operand, (Element, int, float, complex, np.generic))


def kind_of(operand: Any) -> Kind:
    """Return the kind of an element or number."""
    if isinstance(operand, Element):
        return operand.kind
    if isinstance(operand, (np.generic, np.ndarray)):
        dtype = FROM_NUMPY.get(operand.dtype)
        if dtype is not None and operand.ndim == 0:
            return Kind(dtype)
        got = operand.dtype if operand.ndim == 0 else f"an array of shape {operand.shape}"
    elif isinstance(operand, (bool, int, float)):
        if isinstance(operand, bool):
            return Kind(DType.Bool)
        return WEAK_INT if isinstance(operand, int) else WEAK_FLOAT
    elif isinstance(operand, complex):
        return WEAK_COMPLEX
    else:
        got = type(operand).__name__
    raise UsageTypeError(
        at_line(
            f"element: met a value that cannot be recorded; got {got}, expected an element, a "
            f"Python number, or a NumPy scalar of {SUPPORTED}. Pass arrays as arguments."
        )
    )


def as_value(recorder: Recorder, operand: Any, dtype: Type) -> Value:
    """Record an operand as a value of this type, which is not complex."""
    if TYPE_CHECKING:
        assert not isinstance(dtype, ComplexType)
    if isinstance(operand, Element):
        if operand.recorder is not recorder:
            raise UsageError(
                at_line(
                    "element: belongs to another function that is being recorded; got elements of "
                    "two, expected one. Pass it as an argument."
                )
            )
        if recorder.integers and operand.value.id in recorder.integers:
            if dtype in _NARROWER:
                _check_fits(recorder, operand.value, dtype)
            elif dtype is DType.I32 and hasattr(operand, "number"):
                _fitting(operand.number, dtype)
        return recorder.convert(operand.value, dtype)
    number = operand.item() if isinstance(operand, (np.generic, np.ndarray)) else operand
    if isinstance(number, complex):
        raise no_real(name_of(dtype))
    if dtype in FLOATS:
        return recorder.constant(dtype, float(number))
    if dtype is DType.Bool:
        return recorder.constant(dtype, bool(number))
    return recorder.constant(dtype, _fitting(number, dtype))


def _fitting(number: Any, dtype: DType) -> int:
    """Return an integer, if it fits a type."""
    bounds = BOUNDS[dtype]
    if bounds.min <= number <= bounds.max:
        return int(number)
    raise UsageOverflowError(
        at_line(
            f"element: a literal does not fit its type; got {number}, expected {bounds.min} to "
            f"{bounds.max} ({bounds.dtype}). Convert the element it meets with .astype."
        )
    )


# Types that many a Python integer does not fit. An int32 is looked at before the call.
_NARROWER = INTEGERS - {DType.I32, DType.I64}


def _check_fits(recorder: Recorder, number: Value, dtype: DType) -> None:
    """Let elements fail where a Python integer from outside does not fit the type it meets."""
    if (number.id, dtype) in recorder.fitting:
        return
    bounds = BOUNDS[dtype]
    low = recorder.constant(DType.I64, int(bounds.min))
    is_wrong = recorder.op("lt", [number, low])
    if dtype is not DType.U64:
        high = recorder.constant(DType.I64, int(bounds.max))
        is_wrong = recorder.op("or", [is_wrong, recorder.op("gt", [number, high])])
    say(
        f"a Python integer does not fit {bounds.dtype}, the type it meets; expected "
        f"{bounds.min} to {bounds.max}. Convert the element with .astype, or pass np.int64(value)"
    )
    recorder.recording.fail_if(is_wrong)
    if recorder.is_everybody_here():
        recorder.fitting.add((number.id, dtype))


def no_real(expected: str) -> UsageTypeError:
    """Return the error for a complex number where none can be."""
    return UsageTypeError(
        at_line(
            f"element: a complex number cannot become a real one; got complex, expected {expected}."
            " Take its parts, z.real and z.imag, or abs(z)."
        )
    )


def constant(recorder: Recorder, number: Any) -> Element:
    """Record a plain number."""
    kind = kind_of(number)
    if isinstance(kind.dtype, ComplexType):
        return COMPLEX_FUNCTIONS["constant"](recorder, number)  # type: ignore[no-any-return]
    return Element(recorder, as_value(recorder, number, kind.dtype), kind.weak)


_COMPARISONS = frozenset({"less", "less_equal", "greater", "greater_equal", "equal", "not_equal"})


def _compared(recorder: Recorder, operands: tuple[Any, ...], kinds: list[Kind]) -> list[Kind]:
    """Return the kinds in which operands are compared: any Python integer with any type."""
    is_integer = [isinstance(x, Element) and x.value.id in recorder.integers for x in operands]
    if any(is_integer) and any(kind.dtype in _NARROWER - {DType.U64} for kind in kinds):
        return [Kind(DType.I64) if kind.dtype in INTEGERS else kind for kind in kinds]
    return kinds


def _interval(name: str, operands: tuple[Any, ...]) -> Interval | None:
    """Return what is known of the result of a function of Python integers."""
    known = [interval_of(operand) for operand in operands]
    if len(known) != 2 or known[0] is None or known[1] is None or not any(map(is_narrow, operands)):
        return None
    return of_operation(name, known[0], known[1])


def _masked(operands: tuple[Any, ...]) -> Interval | None:
    """Return what is known of ``x & literal``."""
    for operand in operands:
        is_literal = isinstance(operand, (int, np.integer)) and not isinstance(operand, bool)
        if is_literal and operand >= 0:
            return Interval(0, int(operand))
    return None


def _computed(
    name: str, operands: tuple[Any, ...], kinds: list[Kind], interval: Interval | None
) -> list[Kind]:
    """Return the kinds in which operands are computed with, of which some may be narrow."""
    is_narrow_result = interval is not None and interval.fits(32) and all(map(is_narrow, operands))
    is_narrow_choice = name == "select" and all(map(is_narrow, operands[1:]))
    if not (name in _COMPARISONS or is_narrow_result or is_narrow_choice):
        return [WEAK_INT if kind == WEAK_NARROW else kind for kind in kinds]
    return [
        WEAK_NARROW if is_narrow(operand) else kind
        for operand, kind in zip(operands, kinds, strict=True)
    ]


def interval_of(operand: Any) -> Interval | None:
    """Return what is known of a whole number."""
    if isinstance(operand, Element):
        known = operand._recorder.intervals.get(operand.value.id)
        return known or (INT32 if operand.kind == WEAK_NARROW else None)
    if isinstance(operand, int) and not isinstance(operand, bool):
        return Interval(operand, operand)
    return None


def is_narrow(operand: Any) -> bool:
    """Say whether an operand is a Python integer that is known to fit int32."""
    if isinstance(operand, Element):
        return operand.kind == WEAK_NARROW
    is_int = isinstance(operand, int) and not isinstance(operand, bool)
    return is_int and -(2**31) <= operand < 2**31


@functools.cache
def _resolved(name: str, kinds: tuple[Kind, ...]) -> Resolved:
    return RULES[name](name, list(kinds))


def record(name: str, *operands: Any) -> Element:
    """Record a function of ``rules.RULES`` on operands of which at least one is an element."""
    recorder = getattr(operands[0], "_recorder", None)
    if recorder is None or name in _SPECIAL:
        return _record_any(name, operands)
    if recorder.integers or recorder.gone or not recorder.is_open:
        return _record_any(name, operands)  # it may matter which number it is
    kinds = []
    for operand in operands:
        if type(operand) is float:
            kinds.append(WEAK_FLOAT)
        elif type(operand) is Element and operand._recorder is recorder:
            kinds.append(_KINDS[operand._value.dtype][operand._weak])
        else:
            return _record_any(name, operands)
    if WEAK_NARROW in kinds:
        return _record_any(name, operands)
    op, dtypes, weak = _resolved(name, tuple(kinds))
    values = []
    for operand, dtype in zip(operands, dtypes, strict=True):
        is_ready = type(operand) is Element and operand._value.dtype is dtype
        values.append(operand._value if is_ready else as_value(recorder, operand, dtype))
    return Element(recorder, values[0] if op is None else recorder.op(op, values), weak)


_SPECIAL = frozenset({"select", "bitwise_and"})  # of which something is known beside the type


def _record_any(name: str, operands: tuple[Any, ...]) -> Element:
    """Record it on any operands; the way of `record` is that of most, in less time."""
    for operand in operands:
        if isinstance(operand, Element):
            recorder = operand.recorder
            break
    kinds = [kind_of(operand) for operand in operands]
    for kind in kinds:
        if type(kind.dtype) is ComplexType:
            return _record_complex(name, operands, kinds)  # type: ignore[no-any-return]
    interval = None
    if WEAK_NARROW in kinds or name == "select":
        interval = _interval(name, operands)
        kinds = _computed(name, operands, kinds, interval)
    if recorder.integers and name in _COMPARISONS:
        kinds = _compared(recorder, operands, kinds)
    resolved = _resolved(name, tuple(kinds))
    is_plain = not recorder.integers  # else it may matter which number it is
    values = [
        operand._value
        if is_plain and type(operand) is Element and operand._is(recorder, dtype)
        else as_value(recorder, operand, dtype)
        for operand, dtype in zip(operands, resolved.operands, strict=True)
    ]
    result = values[0] if resolved.op is None else recorder.op(resolved.op, values)
    if name == "bitwise_and" and interval is None:
        interval = _masked(operands)
    if interval is not None and interval.fits(64):
        recorder.intervals[result.id] = interval
    return Element(recorder, result, resolved.weak)


_ORDERS = ("less", "less_equal", "greater", "greater_equal", "minimum", "maximum")


def _record_complex(name: str, operands: tuple[Any, ...], kinds: list[Kind]) -> Any:
    function = COMPLEX_FUNCTIONS.get(name)
    if function is not None:
        return function(*operands)
    got = ", ".join(name_of(kind.dtype) for kind in kinds)
    hint = (
        "They have no order: compare abs(z), z.real or z.imag."
        if name in _ORDERS
        else "Take z.real, z.imag or abs(z)."
    )
    raise UsageTypeError(
        at_line(f"{name}: not defined for complex numbers; got ({got}), expected real ones. {hint}")
    )


def _dialect() -> Any:
    """Return what else holds inside of the function that is recorded, if something does."""
    recorder = current()
    return None if recorder is None else recorder.dialect


def divide(a: Any, b: Any) -> Any:
    """Record ``a / b``."""
    dialect = _dialect()
    return record("divide", a, b) if dialect is None else dialect.divide(a, b)


def floor_divide(a: Any, b: Any) -> Any:
    """Record ``a // b``; of floats as Python and NumPy compute it, from the exact remainder."""
    common = promote(kind_of(a), kind_of(b))
    if common.dtype not in FLOATS:
        return record("floor_divide", a, b)
    dialect = _dialect()
    if dialect is not None:
        return dialect.floor_divide(a, b)
    rest = record("fmod", a, b)
    exact = (a - rest) / b
    is_below = (rest != 0) & ((b < 0) ^ (rest < 0))
    exact = record("select", is_below, exact - 1.0, exact)
    floor = record("floor", exact)
    nearest = record("select", exact - floor > 0.5, floor + 1.0, floor)
    quotient = a / b
    # A quotient of 0 has the sign of a / b; one by 0 is that.
    signed = record("select", nearest == 0, record("copysign", 0.0, quotient), nearest)
    if not isinstance(b, Element):
        return quotient if b == 0 else signed
    return record("select", record("equal", b, 0), quotient, signed)


def whole(x: Element) -> Element:
    """Record the whole part of a number as Python's ``int`` is: a weak int64."""
    return Element(x.recorder, x.recorder.convert(x.value, DType.I64), weak=True)


def rounded(x: Element, digits: int) -> Element:
    """Record a number rounded to some decimal digits, as NumPy does it."""
    is_float = x.value.dtype in FLOATS
    if not is_float and digits >= 0:
        return x
    scale = 10.0 ** abs(digits)
    if digits >= 0:
        return record("round", x * scale) / scale  # type: ignore[no-any-return]
    result = record("round", x / scale) * scale
    return result if is_float else result.astype(x.dtype)  # type: ignore[no-any-return]


def power(base: Any, exponent: Any) -> Element:
    """Record ``base ** exponent``.

    The literal exponents 2, 3 and 4 are multiplications, and so are all that are whole and not
    negative, of integers.
    """
    is_square = type(exponent) is int and exponent == 2  # the power that most have
    if is_square and type(base) is Element and base._value.dtype in FLOATS:
        return record("multiply", base, base)
    if hasattr(exponent, "known") and exponent.kind.dtype in INTEGERS:
        exponent = exponent.known()  # a captured number
    common = promote(kind_of(base), kind_of(exponent))
    if common.dtype in PARTS:
        return COMPLEX_FUNCTIONS["power"](base, exponent)  # type: ignore[no-any-return]
    is_literal = not isinstance(exponent, Element) and exponent in (2, 3, 4)
    is_whole = common.dtype in INTEGERS and not isinstance(exponent, float)
    if is_whole and not isinstance(exponent, Element) and exponent >= 0:
        is_literal = True
    if not is_literal:
        if is_whole:
            raise UsageTypeError(
                at_line(
                    "power: not supported for integers with this exponent; expected a plain number "
                    "that is not negative. Convert the base to a float first."
                )
            )
        return record("power", base, exponent)
    recorder = base.recorder
    base = Element(recorder, as_value(recorder, base, common.dtype), common.weak)
    return _whole_power(base, int(exponent))


def _whole_power(base: Element, exponent: int) -> Element:
    """Record a power by squares, from the highest bit of the exponent on."""
    if exponent == 0:
        return record("add", record("multiply", base, 0), 1)
    result = base
    for bit in bin(exponent)[3:]:
        result = record("multiply", result, result)
        if bit == "1":
            result = record("multiply", result, base)
    return result
