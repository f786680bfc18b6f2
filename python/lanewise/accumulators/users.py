"""Accumulators with a function of the user's."""

from collections.abc import Callable
from typing import Any

import numpy as np

from .. import flow
from .._core import DType, Value
from ..complex_element import as_values, of_values
from ..dtypes import PARTS, TO_NUMPY, Kind, Type, name_of, parts_of, promote, settled
from ..element import is_operand, kind_of
from ..errors import UsageError, UsageTypeError
from ..flow.branches import Branch
from ..folds import Folded, Part
from ..recorder import Recorder, Retrace
from ..source import at_line, line_of
from ..specialization import Found
from ..trees import Structure, flatten, split_result, unflatten
from .base import Accumulator


class Shape:
    """How what is added is nested, and the types in which it is combined."""

    def __init__(self, structure: Structure, kinds: list[Kind]) -> None:
        self.structure = structure
        self.kinds = kinds
        self.dtypes: tuple[Type, ...] = tuple(settled(kind) for kind in kinds)

    def parts(self) -> list[DType]:
        """Return the types of the values in the program."""
        return [part for dtype in self.dtypes for part in parts_of(dtype)]

    def elements(self, recorder: Recorder, values: list[Value]) -> Any:
        """Nest values of the program."""
        left = iter(values)
        leaves = [
            of_values(recorder, tuple(next(left) for _ in parts_of(dtype)), Kind(dtype))
            for dtype in self.dtypes
        ]
        return unflatten(self.structure, iter(leaves))

    def zeros(self) -> Any:
        """Return an array for each number, nested."""
        return unflatten(self.structure, iter([np.zeros(1, TO_NUMPY[d]) for d in self.dtypes]))


class Fold(Accumulator):
    """What a function of two makes of all that elements add, in the order of all accumulators.

    Parameters
    ----------
    combine : callable
        Takes what has been combined of earlier elements and of later ones, and returns it of both.
        It need not be associative, as the order is fixed. Numbers, or numbers nested in tuples,
        lists, dicts, named tuples and dataclasses.
    start : number, or nested as what is added, optional
        What calls are combined with at first. Without it there is no value before the first call.

    Examples
    --------
    >>> import lanewise as lw, numpy as np
    >>> product = lw.Fold(lambda a, b: a * b, 1.0)
    >>> lw.map(lambda x: product.add(x), np.array([2.0, 3.0, 7.0]))
    >>> product.value
    np.float64(42.0)

    Mean and variance in one pass:

    >>> def join(a, b):
    ...     n, shift = a[0] + b[0], b[1] - a[1]
    ...     return n, a[1] + shift * b[0] / n, a[2] + b[2] + shift * shift * a[0] * b[0] / n
    >>> moments = lw.Fold(join)
    >>> lw.map(lambda x: moments.add((1.0, x, 0.0)), np.arange(5.0))
    >>> n, mean, squares = moments.value
    >>> float(mean), float(squares / n)
    (2.0, 2.0)
    """

    def __init__(self, combine: Callable[[Any, Any], Any], start: Any = None) -> None:
        from ..vectorize import Vectorized  # which knows this module's users

        if not callable(combine):
            raise UsageTypeError(
                f"Fold: not a function; got {type(combine).__name__}, expected a callable of two."
            )
        self._function = combine
        self._vectorized = Vectorized(combine, "combine")
        self._start = start
        super().__init__()

    sort = None  # only itself has its function

    def reset(self) -> None:
        """Begin anew."""
        self._state = self._start

    @property
    def value(self) -> Any:
        """What has been combined so far; None if there is nothing yet."""
        return self._state

    def __getstate__(self) -> dict[str, Any]:
        return {k: v for k, v in super().__getstate__().items() if k != "_vectorized"}

    def __setstate__(self, state: dict[str, Any]) -> None:
        from ..vectorize import Vectorized

        super().__setstate__(state)
        self._vectorized = Vectorized(self._function, "combine")

    def add(self, value: Any) -> None:
        """Combine a number, or nested numbers, with what there is."""
        leaves: list[Any] = []
        structure = flatten(value, leaves, split_result)
        for leaf in leaves:
            if not is_operand(leaf):
                self._refuse(leaf, "a number, or numbers in tuples, lists and dicts")
        recorder = self._recorder()
        if recorder is None:
            return
        shape = self._shape(recorder, structure, [kind_of(leaf) for leaf in leaves])
        is_first = self not in recorder.accumulated
        parts = self._parts(recorder, None, lambda: [self._part(recorder, shape)])
        values = [
            value
            for leaf, dtype in zip(leaves, shape.dtypes, strict=True)
            for value in as_values(recorder, leaf, dtype)
        ]
        self._update(recorder, parts[0], shape, values, is_first and not recorder.regions)

    def _shape(self, recorder: Recorder, structure: Structure, kinds: list[Kind]) -> Shape:
        """Return the types in which such values are combined, with all that are added elsewhere."""
        known = recorder.session.accumulated
        before: Shape | None = known.get(self)
        if before is not None:
            if before.structure != structure:
                raise UsageTypeError(
                    at_line(
                        "Fold.add: nested in another way than elsewhere; got "
                        f"{_text(structure)}, expected {_text(before.structure)}."
                    )
                )
            wider = [promote(a, b) for a, b in zip(before.kinds, kinds, strict=True)]
            if wider == before.kinds:
                return before
            kinds = wider
        shape = Shape(structure, kinds)
        known[self] = shape
        # While nothing is being recorded, the function is, and may need wider types.
        recorder.session.between.append(lambda: self._settle(shape))
        raise Retrace

    def _settle(self, shape: Shape) -> None:
        """Widen the types until the function gives the ones that it gets."""
        for _ in range(8):
            found = self._found(shape)
            kinds = [
                promote(Kind(a), Kind(b))
                for a, b in zip(shape.dtypes, found.recorded.dtypes, strict=True)
            ]
            dtypes = tuple(kind.dtype for kind in kinds)
            if dtypes == shape.dtypes:
                return
            shape.dtypes = dtypes

    def _found(self, shape: Shape) -> Found:
        """Return the function as it was recorded for such values."""
        zeros = shape.zeros()
        found = self._vectorized.find_for(zeros, zeros)
        if found.recorded.structure != shape.structure:
            raise UsageTypeError(
                f"{line_of(self._function)}Fold: combine returns something else than it takes; got "
                f"{_text(found.recorded.structure)}, expected {_text(shape.structure)}."
            )
        return found

    def _part(self, recorder: Recorder, shape: Shape) -> Part:
        part = Part("combine", DType.Bool)
        recording = recorder.recording
        part.slots = [recording.first_slot(DType.Bool, False)]
        part.slots += [recording.first_slot(dtype, 0) for dtype in shape.parts()]
        part.about = shape
        return part

    def _update(
        self, recorder: Recorder, part: Part, shape: Shape, values: list[Value], is_first: bool
    ) -> None:
        recording = recorder.recording
        has, *slots = part.slots
        if not is_first:  # the element may have added before
            present = recording.read(has)
            branch = Branch(recorder, present)
            earlier = shape.elements(recorder, [recording.read(slot) for slot in slots])
            later = shape.elements(recorder, values)
            leaves: list[Any] = []
            flatten(flow.call(self._function, earlier, later), leaves, split_result)
            combined = [
                value
                for leaf, dtype in zip(leaves, shape.dtypes, strict=True)
                for value in as_values(recorder, leaf, dtype)
            ]
            for slot, value in zip(slots, combined, strict=True):
                recording.write(slot, value)
            branch.end()
            branch = Branch(recorder, recorder.op("not", [present]))
        for slot, value in zip(slots, values, strict=True):
            recording.write(slot, value)
        if not is_first:
            branch.end()
        recording.write(has, recorder.constant(DType.Bool, True))

    def total(self, part: Any) -> Any:
        """Return what the map needs: memory, the program, and what that captures."""
        found = self._found(part.about)
        if found.recorded.dtypes != part.about.dtypes:
            raise UsageError(
                f"{line_of(self._function)}Fold: combine gives other types than before; got "
                f"{', '.join(map(name_of, found.recorded.dtypes))}, expected "
                f"{', '.join(map(name_of, part.about.dtypes))}. Make a new accumulator."
            )
        return np.zeros(part.results, np.int64), found.recorded.program, tuple(found.values)

    def take(self, totals: list[Any], fold: Folded) -> None:
        """Combine with the totals of a call."""
        shape: Shape = fold.parts[0].about
        is_there, *cells = totals[0][0]
        if not is_there:
            return
        left = iter(np.asarray(cells, np.int64))
        leaves = [_scalar(dtype, [next(left) for _ in parts_of(dtype)]) for dtype in shape.dtypes]
        total = unflatten(shape.structure, iter(leaves))
        self._state = total if self._state is None else self._vectorized(self._state, total)


def _scalar(dtype: Type, cells: list[Any]) -> Any:
    parts = [
        np.frombuffer(cell.tobytes(), TO_NUMPY[part], 1)[0]
        for cell, part in zip(cells, parts_of(dtype), strict=True)
    ]
    return TO_NUMPY[dtype].type(complex(*parts)) if dtype in PARTS else parts[0]


def _text(structure: Structure) -> str:
    if structure is None:
        return "a number"
    return f"{structure.type.__name__} of {len(structure.parts)}"
