"""Ragged arguments: the parameters that they have in a program, rows, and rows of rows."""

from collections.abc import Callable
from typing import Any, NamedTuple, NoReturn

from .._core import DType, ParamKind, Value
from ..arguments import RaggedParameter
from ..element import Element, numpy_name
from ..errors import UsageTypeError
from ..operators import Operators
from ..recorder import Recorder
from ..source import at_line
from . import reductions  # noqa: F401  # rows know them now
from .counted import Counted, Space, is_index
from .reading import Source, Values
from .rows import Row, unsupported_row


class Rows(Operators, Counted):
    """A row of rows."""

    __slots__ = ("_inner", "_start")

    def __init__(self, space: Space, inner: "Inner") -> None:
        super().__init__(space.length.recorder, space.length)
        self._start = space.start
        self._inner = inner

    def at(self, position: Value) -> Any:
        """Return the row at a position that is there."""
        recorder = self.recorder
        place = recorder.op("add", [self._start.value, position])
        return self._inner.row(recorder, place)

    def __getitem__(self, index: Any) -> Any:
        if not is_index(index):
            raise UsageTypeError(
                at_line(
                    f"row: not an index of a row of rows; got {type(index).__name__}, expected a "
                    "whole number."
                )
            )
        return self.at(self.index(index).value)

    def apply(self, function: Callable[..., Any], operands: tuple[Any, ...]) -> NoReturn:
        """Refuse functions of whole rows of rows."""
        raise unsupported_row("a function of a row of rows")

    def _operate(self, function: Callable[..., Any], *operands: Any) -> NoReturn:
        raise unsupported_row("an operator on a row of rows")

    def __array_ufunc__(self, ufunc: Any, *_: Any, **__: Any) -> NoReturn:
        raise unsupported_row(f"np.{ufunc.__name__} of a row of rows")

    def __array_function__(self, function: Any, *_: Any, **__: Any) -> NoReturn:
        raise unsupported_row(f"{numpy_name(function)} of a row of rows")

    def __repr__(self) -> str:
        return "<row of rows>"


class Inner(NamedTuple):
    """The offsets of rows in rows, outermost first, and the numbers."""

    offsets: tuple[Value, ...]
    values: Values

    def row(self, recorder: Recorder, place: Value) -> Any:
        """Record the bounds of an inner row."""
        recording = recorder.recording
        offsets = self.offsets[0]
        one = recorder.constant(place.dtype, 1)
        behind = recorder.op("add", [place, one])
        start = recording.read_at(offsets, place, True)
        stop = recording.read_at(offsets, behind, True)
        space = Space.between(Element(recorder, start), Element(recorder, stop), None)
        return self.made(space, self.offsets[1:])

    def made(self, space: Space, offsets: tuple[Value, ...]) -> Any:
        """Return a row of numbers, or of rows."""
        if offsets:
            return Rows(space, Inner(offsets, self.values))
        return Row(space, Source(self.values, space.start, 1), self.values.kind)


def of_parameter(
    new_parameter: Callable[..., Value],
    leaf: RaggedParameter,
    bounds: dict[int, tuple[Value, Value]],
) -> "Argument":
    """Return a ragged argument; `bounds` has those of rows, which several may share."""
    if leaf.space not in bounds:
        start, stop = (new_parameter(leaf.indices[0], ParamKind.Mapped) for _ in range(2))
        bounds[leaf.space] = start, stop
    offsets = tuple(new_parameter(dtype, ParamKind.Table) for dtype in leaf.indices[1:])
    assert isinstance(leaf.kind.dtype, DType)
    table = new_parameter(leaf.kind.dtype, ParamKind.Table)
    return Argument(Inner(offsets, Values(leaf.number, table, leaf.kind)), leaf.space)


class Argument(NamedTuple):
    """A ragged argument whose parameters are there; its row is made when all are."""

    inner: Inner
    space: int

    def row(self, space: Space) -> Any:
        """Return the row."""
        return self.inner.made(space, self.inner.offsets)


def of_arguments(
    recorder: Recorder, leaves: list[Any], bounds: dict[int, tuple[Value, Value]]
) -> list[Any]:
    """Replace arguments by their rows; those with the same offsets have one length."""
    spaces = {
        number: Space.between(Element(recorder, start), Element(recorder, stop), number)
        for number, (start, stop) in bounds.items()
    }
    return [leaf.row(spaces[leaf.space]) if isinstance(leaf, Argument) else leaf for leaf in leaves]
