"""What a function finds in place of captured values while it is recorded."""

import functools
import operator
import types
from collections.abc import Callable
from typing import Any

from ._core import ParamKind, Value
from .captures import (
    MISSING,
    Captures,
    Path,
    Place,
    Step,
    held,
    is_inlined,
    parameter_of,
    plain_function,
)
from .complex_element import Complex, NewParameter, new_parameters
from .dtypes import WEAK_INT, Kind
from .element import Element
from .flow.formats import print_
from .names import Chain, Names, names_of
from .recorder import Recorder
from .source import is_users
from .tables import Table


def captured(
    function: Any, recorder: Recorder, new_parameter: NewParameter
) -> tuple[Any, Captures]:
    """Return the function to record, with stand-ins for what it captures, and the captures.

    `new_parameter` adds a parameter to the program.
    """
    captures = Captures()
    return Copies(recorder, new_parameter, captures).copy(function, ()), captures


class _Source:
    """What is behind a captured number; asking for its value makes that a guard."""

    def __init__(self, number: Any, ask: Callable[[], None]) -> None:
        self._ask = ask
        self.number = number
        self.is_known = False

    def known(self) -> Any:
        """Return the number, which is a guard from now on."""
        self._ask()
        self.is_known = True
        return self.number


class _Captured(Element):
    """A captured number: operations on it are recorded, and Python may ask for its value."""

    __slots__ = ()
    _source: _Source

    @property
    def number(self) -> Any:
        """The number as it is at present."""
        return self._source.number

    def known(self) -> Any:
        """Return the number, which is a guard from now on."""
        return self._source.known()

    def __bool__(self) -> bool:
        return bool(self.known())

    def __index__(self) -> int:
        return operator.index(self.known())

    def __int__(self) -> int:
        return int(self.known())

    def __float__(self) -> float:
        return float(self.known())

    def __complex__(self) -> complex:
        return complex(self.known())

    def __str__(self) -> str:
        return str(self.known())

    def __format__(self, form: str) -> str:
        return format(self.known(), form)

    def __eq__(self, other: object) -> Any:
        if self._source.is_known and not isinstance(other, Element):  # a key of a dict
            return self._source.number == other
        return super().__eq__(other)

    def __hash__(self) -> int:  # type: ignore[override]
        return hash(self.known())


def _whole(name: str) -> tuple[Callable[..., Any], Callable[..., Any]]:
    """Return the methods of an operator; of integers, Python may ask for the result too."""
    compute = getattr(operator, name)

    def with_source(result: Any, left: Any, right: Any) -> Any:
        captured = [operand for operand in (left, right) if isinstance(operand, Number)]
        numbers = [getattr(operand, "number", operand) for operand in (left, right)]
        if type(result) is not Element or any(type(number) is not int for number in numbers):
            return result

        def ask() -> None:
            for operand in captured:
                operand.known()

        source = _Source(compute(*numbers), ask)
        return Number(result.recorder, result.value, result.kind.weak, source)

    def forward(self: "Number", other: Any) -> Any:
        return with_source(getattr(Element, f"__{name}__")(self, other), self, other)

    def reflected(self: "Number", other: Any) -> Any:
        return with_source(getattr(Element, f"__r{name}__")(self, other), other, self)

    return forward, reflected


class Number(_Captured):
    """A captured real number, or a sum, difference or product of such integers."""

    __slots__ = ("_source",)

    def __init__(self, recorder: Recorder, value: Value, weak: bool, source: _Source) -> None:
        super().__init__(recorder, value, weak)
        self._source = source

    __add__, __radd__ = _whole("add")
    __sub__, __rsub__ = _whole("sub")
    __mul__, __rmul__ = _whole("mul")


class ComplexNumber(_Captured, Complex):
    """A captured complex number."""

    __slots__ = ("_source",)

    def __init__(
        self, recorder: Recorder, values: tuple[Value, ...], weak: bool, source: _Source
    ) -> None:
        Complex.__init__(self, recorder, values, weak)
        self._source = source


class Globals(dict[str, Any]):
    """The globals of a function, with stand-ins for some."""

    def __init__(self, real: dict[str, Any]) -> None:
        super().__init__()
        self._real = real
        self["__builtins__"] = real.get("__builtins__", __builtins__)

    def __missing__(self, name: str) -> Any:
        return self._real[name]

    def copy(self) -> "Globals":
        """Return the same, to be changed."""
        copy = Globals(self._real)
        copy.update(self)
        return copy


class _Inlined:
    """A function inside another that wraps one: calls are recorded as a part of that."""

    def __init__(self, wrapper: Any, function: Any) -> None:
        self._wrapper = wrapper
        self._function = function

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return self._wrapper.call_inside(self._function, args, kwargs)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._wrapper, name)


class Copies:
    """Copies of the function and of those it calls, which find stand-ins.

    Who needs others than those of a recorder overrides `_stand_in`.
    """

    def __init__(self, recorder: Recorder, new_parameter: NewParameter, captures: Captures) -> None:
        self._recorder = recorder
        self._new_parameter = new_parameter
        self._captures = captures
        self._done: dict[int, types.FunctionType] = {}
        self._guarded: set[tuple[Path, types.CodeType]] = set()

    def copy(self, function: Any, path: Path) -> Any:
        """Return a copy of a function of Python that takes something from outside; else itself."""
        if isinstance(function, types.MethodType):
            self._guard_self(function, path)
            return types.MethodType(self.copy(function.__func__, path), function.__self__)
        if isinstance(function, functools.partial):
            inside = self.copy(function.func, path)
            return functools.partial(inside, *function.args, **function.keywords)
        if is_inlined(function):
            return _Inlined(function, self.copy(function.__wrapped__, path))
        if not isinstance(function, types.FunctionType) or is_closed(function.__code__):
            return function
        if id(function) not in self._done:
            self._copy(function, path)
        return self._done[id(function)]

    def _copy(self, function: types.FunctionType, path: Path) -> None:
        code = function.__code__
        cells = tuple(types.CellType() for _ in code.co_freevars)
        copy = types.FunctionType(
            code,
            Globals(function.__globals__),
            function.__name__,
            function.__defaults__,
            cells,
        )
        copy.__kwdefaults__ = function.__kwdefaults__
        copy.__qualname__ = function.__qualname__
        copy.__module__ = function.__module__
        self._done[id(function)] = copy  # it may refer to itself
        names = names_of(code)
        for name, cell, new in zip(
            code.co_freevars, function.__closure__ or (), cells, strict=True
        ):
            value = self._stand_in(Place(cell, None).read(), (*path, Step("cell", name)), names)
            if value is not MISSING:
                new.cell_contents = value
        for name in names.globals:
            value = function.__globals__.get(name, MISSING)
            if value is not MISSING:
                found = self._stand_in(value, (*path, Step("global", name)), names)
                if found is not value:
                    copy.__globals__[name] = found
            elif name == "print":  # also where the source cannot be read
                copy.__globals__[name] = print_

    def _stand_in(self, value: Any, path: Path, names: Names) -> Any:
        if value is MISSING:
            return value
        kind = parameter_of(value)
        if kind is not None:
            return self._symbolic(value, *kind, path)
        function = plain_function(value)
        if isinstance(function, types.FunctionType) and is_users(function.__module__):
            is_plain = function is value or is_inlined(value)
            if is_plain and not function.__defaults__ and not function.__kwdefaults__:
                self._captures.add(path, "code", function.__code__)
            else:
                self._captures.add(path, "same", value)  # with what is bound to it
            return self.copy(value, path)
        if getattr(type(value), "accumulates", False) and value.sort is not None:
            self._captures.add_accumulator(path, value)
            return value
        self._captures.guard(path, value)
        if not isinstance(value, types.ModuleType) or is_users(value.__name__):
            self._guard_attributes(value, path, names.attributes.get(path[-1].name, set()))
            called = type(value).__call__ if callable(value) else None
            if isinstance(called, types.FunctionType) and is_users(called.__module__):
                self._guard_method(value, called, path)
        return value

    def _symbolic(self, value: Any, kind: Kind, role: ParamKind, path: Path) -> Any:
        self._captures.add(path, "value", (kind, role))
        value = held(value)
        parameters = new_parameters(self._new_parameter, kind, role)
        if role is ParamKind.Table:
            row = value.shape[1:]
            self._captures.add(path, "shape", (-1, *row))

            def ask_size() -> int:
                self._captures.add(path, "shape", value.shape)
                return int(value.shape[0])

            return Table(self._recorder, parameters[0], kind, row, ask_size)
        if kind == WEAK_INT:
            self._recorder.integers.add(parameters[0].id)
        number = value if isinstance(value, (int, float, complex)) else value[()]

        def ask() -> None:
            self._captures.add(path, "equal", value)

        source = _Source(number, ask)
        if len(parameters) == 2:
            return ComplexNumber(self._recorder, parameters, kind.weak, source)
        return Number(self._recorder, parameters[0], kind.weak, source)

    def _guard_self(self, method: types.MethodType, path: Path) -> None:
        """Guard the attributes that a method reads of its object."""
        self._guard_method(method.__self__, method.__func__, (*path, Step("self", "")))

    def _guard_method(self, owner: Any, function: Any, path: Path) -> None:
        code = getattr(function, "__code__", None)
        if code is None or not code.co_varnames or (path, code) in self._guarded:
            return
        self._guarded.add((path, code))
        chains = names_of(code).attributes.get(code.co_varnames[0], set())
        self._guard_attributes(owner, path, chains)

    def _guard_attributes(self, owner: Any, path: Path, chains: set[Chain]) -> None:
        """Guard attributes that are read of an object, also by its methods."""
        for chain in sorted(chains):
            if not chain:  # all of it
                if path[-1].kind == "self":
                    self._captures.add(path, "same", owner)
                continue
            *leading, name = chain
            holder, at = owner, path
            for step in leading:
                holder, at = _attribute(holder, step), (*at, Step("attribute", step))
            value = _attribute(holder, name)
            if value is not MISSING:
                self._captures.guard((*at, Step("attribute", name)), value)
            elif holder is not MISSING:
                of_type = getattr(type(holder), name, None)
                of_type = of_type.fget if isinstance(of_type, property) else plain_function(of_type)
                if isinstance(of_type, types.FunctionType) and is_users(of_type.__module__):
                    self._guard_method(holder, of_type, at)


def is_closed(code: types.CodeType) -> bool:
    """Say whether a function, without others inside of it, takes nothing from outside."""
    has_inner = types.CodeType in map(type, code.co_consts)
    return not (code.co_names or code.co_freevars or has_inner)


def _attribute(owner: Any, name: str) -> Any:
    """Return an attribute of the object itself; `MISSING` where it has none."""
    try:
        return vars(owner).get(name, MISSING)
    except TypeError:
        return MISSING
