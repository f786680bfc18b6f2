"""Values that come from several paths: trees of numbers, and what is no number.

A value is taken apart into its numbers and a *shape*, which holds everything else. Two paths can
meet when the shapes are the same; the numbers then are those of the path an element took.
"""

import dataclasses
from collections.abc import Iterator
from typing import Any, NamedTuple, NoReturn

import numpy as np

from ..dtypes import FROM_NUMPY
from ..element import Element, Varying, Whole, record
from ..errors import UsageError
from ..source import at_line, say


class Missing:
    """Stands for a variable that has no value that could be used."""

    __slots__ = ("_name", "_why")

    def __init__(self, name: str, why: str) -> None:
        self._name = name
        self._why = why

    def named(self, name: str) -> "Missing":
        """Return the same for a variable of this name."""
        return Missing(name, self._why)

    def refuse(self) -> NoReturn:
        """Raise the error for a use of the variable."""
        raise UsageError(at_line(f"{self._name}: {self._why}"))

    def __repr__(self) -> str:
        return f"<no value: {self._why}>"


UNSET = Missing(
    "variable", "used before it has a value; got none yet, expected an assignment before."
)


class Maybe(NamedTuple):
    """The value of a variable that only some elements have: those that evaluated its ``:=``."""

    value: Any
    is_set: Any

    def checked(self, name: str) -> Any:
        """Return the value; elements that have none fail."""
        say(
            f"{name}: used before it has a value; got := in a part of an expression that the "
            "element did not evaluate, expected an assignment before"
        )
        recorder = self.is_set.recorder
        recorder.locate()
        recorder.recording.fail_if(record("invert", self.is_set).value)
        return self.value


class _Object:
    """Something in a shape that is no number: the same on all paths, or an error."""

    __slots__ = ("value",)

    def __init__(self, value: Any) -> None:
        self.value = value

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, _Object):
            return False
        a, b = self.value, other.value
        return a is b or (type(a) is type(b) and isinstance(a, (str, bytes)) and a == b)

    __hash__ = None  # type: ignore[assignment]


class Tree(NamedTuple):
    """A value in parts."""

    shape: Any
    numbers: list[Any]


_NUMBER = "number"
_TENSOR = "tensor"


def is_number(value: Any) -> bool:
    """Say whether a value is an element or a number that could be one."""
    if isinstance(value, np.generic):
        return value.dtype in FROM_NUMPY
    return isinstance(value, (Element, bool, int, float, complex))


def is_maybe(tree: Tree) -> bool:
    """Say whether a value in parts is one that only some elements have."""
    return isinstance(tree.shape, tuple) and tree.shape[0] is Maybe


def surely(tree: Tree) -> Tree:
    """Return a value that all elements have as if only some had it."""
    return Tree((Maybe, (tree.shape, _NUMBER)), [*tree.numbers, True])


def has_element(value: Any) -> bool:
    """Say whether an element is in a value."""
    if isinstance(value, (Element, Whole)):
        return True
    if isinstance(value, Missing) or is_number(value):
        return False
    return any(isinstance(number, Element) for number in take_apart(value).numbers)


def take_apart(value: Any) -> Tree:
    """Return the shape of a value and its numbers."""
    numbers: list[Any] = []
    return Tree(_shape(value, numbers), numbers)


def _shape(value: Any, numbers: list[Any]) -> Any:
    if is_number(value):
        numbers.append(value)
        return _NUMBER
    if isinstance(value, Varying):
        return _Object(value)
    is_array = isinstance(value, np.ndarray) and value.ndim > 0 and value.dtype in FROM_NUMPY
    if is_array or isinstance(value, Whole):
        numbers.append(value)
        return (_TENSOR, tuple(value.shape))
    kind = type(value)
    if isinstance(value, tuple):
        return (kind, tuple(_shape(item, numbers) for item in value))
    if kind is list or (isinstance(value, list) and getattr(value, "is_plain", False)):
        return (list, tuple(_shape(item, numbers) for item in value))
    if kind is dict or (isinstance(value, dict) and getattr(value, "is_plain", False)):
        kind = dict
        return (kind, tuple(value), tuple(_shape(item, numbers) for item in value.values()))
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        names = tuple(field.name for field in dataclasses.fields(value))
        return (kind, names, tuple(_shape(getattr(value, name), numbers) for name in names))
    return _Object(value)


def put_together(shape: Any, numbers: Iterator[Any]) -> Any:
    """Return the value of this shape with these numbers."""
    if isinstance(shape, str):  # _NUMBER, perhaps from a pickle
        return next(numbers)
    if isinstance(shape, _Object):
        return shape.value
    if shape[0] is _TENSOR:
        return next(numbers)
    kind = shape[0]
    items = [put_together(part, numbers) for part in shape[-1]]
    if issubclass(kind, tuple):
        return kind(*items) if hasattr(kind, "_fields") else kind(items)
    if issubclass(kind, list):
        return items
    if issubclass(kind, dict):
        return dict(zip(shape[1], items, strict=True))
    made = object.__new__(kind)
    for name, item in zip(shape[1], items, strict=True):
        object.__setattr__(made, name, item)
    return made


def describe(value: Any) -> str:
    """Name a value in an error."""
    if isinstance(value, Missing):
        return "nothing"
    if isinstance(value, Maybe):
        return "a value that not all elements have"
    if value is None:
        return "None"
    if is_number(value):
        return "a number"
    if isinstance(value, Varying):
        return "a row"
    if isinstance(value, Whole):
        return f"a tensor of shape {value.shape}"
    if isinstance(value, str):
        return repr(value)
    if isinstance(value, (tuple, list)):
        return f"a {type(value).__name__} of {len(value)}"
    return type(value).__name__


def is_same_number(a: Any, b: Any) -> bool:
    """Say whether two numbers are one: the same element, or equal and of one type."""
    if a is b:
        return True
    if isinstance(a, (Element, Whole, np.ndarray)) or isinstance(b, (Element, Whole, np.ndarray)):
        return False
    if type(a) is not type(b):
        return False
    return bool(a == b) and str(a) == str(b)  # 0.0 and -0.0 are two


def load(value: Any, name: str) -> Any:
    """Return the value of a variable, if it has one."""
    if type(value) is Missing:
        value.named(name).refuse()
    return value.checked(name) if type(value) is Maybe else value
