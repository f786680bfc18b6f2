"""What functions add to accumulators, as further results of their programs.

An element's part of an accumulator is a variable that begins with a neutral value; at the end it is
a result that the map folds instead of storing it. ``accumulators.py`` says what becomes of it.
"""

import weakref
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from ._core import DType, Recording, Value
from .captures import Captures, Path, value_at
from .dtypes import TO_NUMPY, Type
from .errors import UsageError
from .recorder import Recorder

if TYPE_CHECKING:
    from .accumulators import Accumulator


class Part:
    """Something that is folded: variables of the program, or an array of it."""

    def __init__(self, kind: str, dtype: DType, size: int = 0) -> None:
        self.kind = kind
        self.dtype = dtype
        self.size = size  # of a table, or of the array
        self.slots: list[Value] = []
        self.array: Value | None = None
        self.arrays: set[int] = set()  # which of `slots` are arrays, by id
        self.about: Any = None  # what the accumulator knows of it

    def values(self, recording: Recording) -> list[Value]:
        """Return the results of the program."""
        if self.array is not None:
            return [self.array]
        return [slot if slot.id in self.arrays else recording.read(slot) for slot in self.slots]


class Parts(NamedTuple):
    """All parts of an accumulator in the function that is being recorded."""

    dtype: Type | None  # of its value, where that is not known anyway
    all: list[Part]


class Described(NamedTuple):
    """A part as the map takes it."""

    kind: str
    dtype: DType
    results: int
    size: int
    about: Any = None

    def new_total(self) -> Any:
        """Return memory for what the map makes of it."""
        if self.kind in ("argmin", "argmax"):
            return np.zeros(2, np.int64)
        return np.empty(max(self.size, 1), TO_NUMPY[self.dtype])


class Folded(NamedTuple):
    """An accumulator with the parts that a program has of it."""

    where: "weakref.ref[Accumulator] | Path"  # itself, or where the function has it
    dtype: Any  # as `Parts` has it
    parts: tuple[Described, ...]


class Folds:
    """All of a program."""

    def __init__(self, folds: list[Folded]) -> None:
        self._folds = folds

    @classmethod
    def of(cls, recorder: Recorder, captures: Captures) -> "tuple[Folds, list[Value]]":
        """Return what a function adds to accumulators, and the results that say so."""
        captured = captures.accumulators
        folds = [
            accumulator.folded(
                captured[accumulator][1] if accumulator in captured else weakref.ref(accumulator),
                parts,
            )
            for accumulator, parts in recorder.accumulated.items()
        ]
        captured.clear()
        values = [
            value
            for parts in recorder.accumulated.values()
            for part in parts.all
            for value in part.values(recorder.recording)
        ]
        return cls(folds), values

    def described(self) -> list[tuple[str, DType, int, int]]:
        """Return all parts in the order of the results."""
        return [part[:4] for fold in self._folds for part in fold.parts]

    def running(self, call: str, function: Any) -> "Running":
        """Return the accumulators of a call, which are in use while it runs."""
        return Running(call, function, self._folds)


class Running:
    """The accumulators of a call. They take their totals when it ends well."""

    def __init__(self, call: str, function: Any, folds: list[Folded]) -> None:
        self._call = call
        self._function = function
        self._folds = folds
        self._held: list[Accumulator] = []
        self._totals: list[list[Any]] = []

    def __enter__(self) -> tuple[Any, ...]:
        """Return what the map needs for the totals."""
        try:
            for fold in self._folds:
                accumulator = self._take_hold(fold)
                self._held.append(accumulator)
                self._totals.append([accumulator.total(part) for part in fold.parts])
        except BaseException:
            self._release()
            raise
        return tuple(total for of_one in self._totals for total in of_one)

    def __exit__(self, kind: Any, *_: object) -> None:
        try:
            if kind is None:
                for accumulator, totals, fold in zip(
                    self._held, self._totals, self._folds, strict=True
                ):
                    accumulator.take(totals, fold)
        finally:
            self._release()

    def _release(self) -> None:
        for accumulator in self._held:
            accumulator.lock.release()

    def _take_hold(self, fold: Folded) -> "Accumulator":
        accumulator: Accumulator | None
        if isinstance(fold.where, weakref.ref):
            accumulator = fold.where()
        else:
            accumulator = value_at(self._function, fold.where)
        if accumulator is None:
            raise UsageError(
                f"{self._call}: an accumulator is gone; got one that the function made for itself, "
                "expected one from outside. Make it before the call."
            )
        if not accumulator.lock.acquire(blocking=False):
            raise UsageError(
                f"{self._call}: {accumulator!r} is in use; got a call that adds to it while "
                "another does, expected one at a time. Use one accumulator for each thread."
            )
        return accumulator
