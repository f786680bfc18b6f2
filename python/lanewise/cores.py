"""Which dimensions of an argument belong to an element, and which are mapped over.

The last dimensions of an array are those of an element: none for plain numbers, all but the first
for `lanewise.map`, those that a signature names for ``vectorize(signature="(n),(n)->()")``.
"""

import re
from typing import Any, NamedTuple

from .errors import UsageError

Shape = tuple[int, ...]


class Rows:
    """Elements are what an array has along its first axis."""

    def begin(self) -> "Rows":
        """Begin to look at the arguments of a call."""
        return self

    def rank(self, call: str, name: str, position: int, shape: Shape) -> int:
        """Return how many of the last dimensions of an argument belong to an element."""
        del call, name, position
        return max(len(shape) - 1, 0)

    def check_results(self, call: str, shapes: list[Shape]) -> None:
        """Accept any results."""


ROWS = Rows()


class Core(NamedTuple):
    """The dimensions of elements as a signature like ``(n,k),(k)->(n)`` has them."""

    text: str
    inputs: tuple[tuple[str, ...], ...]
    outputs: tuple[tuple[str, ...], ...]

    def begin(self) -> "_Sizes":
        """Begin to look at the arguments of a call."""
        return _Sizes(self)


class _Sizes:
    """The sizes that the names of a signature have in a call."""

    def __init__(self, core: Core) -> None:
        self._core = core
        self._known: dict[str, tuple[int, str]] = {}

    def rank(self, call: str, name: str, position: int, shape: Shape) -> int:
        """Return how many of the last dimensions of an argument belong to an element."""
        core = self._core
        if position >= len(core.inputs):
            raise UsageError(
                f"{call}: more arguments than the signature has; got {name}, expected "
                f"{len(core.inputs)} as in {core.text!r}."
            )
        names = core.inputs[position]
        if len(shape) < len(names):
            raise UsageError(
                f"{call}: {name} has too few dimensions; got the shape {shape}, expected at least "
                f"{len(names)} as in {core.text!r}."
            )
        for dimension, size in zip(names, shape[len(shape) - len(names) :], strict=True):
            self._note(call, name, dimension, size)
        return len(names)

    def _note(self, call: str, name: str, dimension: str, size: int) -> None:
        known, by = self._known.setdefault(dimension, (size, name))
        wanted = int(dimension) if dimension.isdigit() else known
        if size != wanted:
            raise UsageError(
                f"{call}: arguments disagree on the dimension {dimension}; got {size} ({name}), "
                f"expected {wanted}{'' if dimension.isdigit() else f' ({by})'}, as in "
                f"{self._core.text!r}."
            )

    def check_results(self, call: str, shapes: list[Shape]) -> None:
        """Refuse results that are not what the signature says."""
        core = self._core
        if len(shapes) != len(core.outputs):
            raise UsageError(
                f"{call}: other results than the signature has; got {len(shapes)}, expected "
                f"{len(core.outputs)} as in {core.text!r}."
            )
        for index, (names, shape) in enumerate(zip(core.outputs, shapes, strict=True)):
            if len(names) != len(shape):
                raise UsageError(
                    f"{call}: result {index} has other dimensions than the signature says; got the "
                    f"shape {shape}, expected {len(names)} dimensions as in {core.text!r}."
                )
            for dimension, size in zip(names, shape, strict=True):
                self._note(call, f"result {index}", dimension, size)


_NAME = r"\s*\w+\s*"
_PART = rf"\((?:{_NAME}(?:,{_NAME})*|\s*)\)"
_LIST = rf"\s*{_PART}\s*(?:,\s*{_PART}\s*)*"


def core_of(signature: str) -> Core | None:
    """Read a signature as `numpy.vectorize` has it; None where all elements are numbers."""
    if not isinstance(signature, str) or not re.fullmatch(f"{_LIST}->{_LIST}", signature):
        raise UsageError(
            f"vectorize: not a signature; got {signature!r}, expected dimensions of arguments and "
            'results, like "(n),(n)->()".'
        )
    sides = [
        tuple(
            tuple(name.strip() for name in part[1:-1].split(",") if name.strip())
            for part in re.findall(_PART, side)
        )
        for side in signature.split("->")
    ]
    core = Core(signature, *sides)
    return core if any(core.inputs) or any(core.outputs) else None


Cores = Rows | Core | None


def stand_together(array: Any, rank: int) -> bool:
    """Say whether the values in the last dimensions of an array stand together."""
    if array.size == 0:
        return True
    stride = array.itemsize
    for size, step in zip(array.shape[::-1][:rank], array.strides[::-1][:rank], strict=True):
        if size != 1 and step != stride:
            return False
        stride *= size
    return True
