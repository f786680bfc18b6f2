"""Accumulators with a function of the user's."""

from collections.abc import Callable
from typing import Any

import numpy as np

from .. import flow
from .._core import DType, Value
from ..complex_element import as_values, of_values
from ..cores import ROWS
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
from .rows import is_row, shape_of, size_of


class Shape:
    """How what is added is nested, its rows' shapes, and the types in which it is combined."""

    def __init__(
        self, structure: Structure, kinds: list[Kind], rows: list[tuple[int, ...]]
    ) -> None:
        self.structure = structure
        self.kinds = kinds
        self.rows = rows  # of numbers: ()
        self.dtypes: tuple[Type, ...] = tuple(settled(kind) for kind in kinds)
        self.size = sum(
            size_of("Fold.add", row) if row else len(parts_of(dtype))
            for dtype, row in zip(self.dtypes, rows, strict=True)
        )

    def places(self, recorder: Recorder) -> tuple[list[Value], set[int]]:
        """Make variables for numbers and arrays for rows; say which are arrays."""
        recording = recorder.recording
        places: list[Value] = []
        arrays: set[int] = set()
        for dtype, row in zip(self.dtypes, self.rows, strict=True):
            for part in parts_of(dtype):
                if row:
                    places.append(recording.first_array(part, 0, size_of("Fold.add", row)))
                    arrays.add(places[-1].id)
                else:
                    places.append(recording.first_slot(part, 0))
        return places, arrays

    def elements(self, recorder: Recorder, values: list[Value]) -> Any:
        """Nest values of the program."""
        left = iter(values)
        leaves = [
            _tensor(recorder, next(left), row)
            if row
            else of_values(recorder, tuple(next(left) for _ in parts_of(dtype)), Kind(dtype))
            for dtype, row in zip(self.dtypes, self.rows, strict=True)
        ]
        return unflatten(self.structure, iter(leaves))

    def values(self, recorder: Recorder, leaves: list[Any], taken: set[int]) -> list[Value]:
        """Return numbers and rows as values of the program, other ones than those `taken`."""
        found: list[Value] = []
        for leaf, dtype, row in zip(leaves, self.dtypes, self.rows, strict=True):
            if row:
                from ..tensors import as_tensor  # seldom needed, and long to import

                tensor = as_tensor(recorder, leaf).astype(TO_NUMPY[dtype])
                found += tensor.as_result(dtype, taken)
            else:
                found += as_values(recorder, leaf, dtype)
        return found

    def write(self, recorder: Recorder, places: list[Value], values: list[Value]) -> None:
        """Assign values to places."""
        rows = [
            row for dtype, row in zip(self.dtypes, self.rows, strict=True) for _ in parts_of(dtype)
        ]
        for place, value, row in zip(places, values, rows, strict=True):
            if row:
                _tensor(recorder, place, row).write(_tensor(recorder, value, row))
            else:
                recorder.recording.write(place, value)

    def zeros(self) -> Any:
        """Return an array of one element for each number or row, nested."""
        zeros = (
            np.zeros((1, *row), TO_NUMPY[d]) for d, row in zip(self.dtypes, self.rows, strict=True)
        )
        return unflatten(self.structure, zeros)

    def read(self, cells: Any) -> Any:
        """Nest what a map has combined, in cells of 8 bytes."""
        leaves = []
        for dtype, row in zip(self.dtypes, self.rows, strict=True):
            size = int(np.prod(row)) if row else len(parts_of(dtype))
            part = TO_NUMPY[parts_of(dtype)[0]]
            bits = cells[:size].view(np.uint8).reshape(size, 8)[:, : part.itemsize]
            values = np.ascontiguousarray(bits).view(part).ravel()
            cells = cells[size:]
            if dtype in PARTS:
                leaves.append(TO_NUMPY[dtype].type(complex(*values)))
            else:
                leaves.append(values.reshape(row) if row else values[0])
        return unflatten(self.structure, iter(leaves))


def _tensor(recorder: Recorder, value: Value, shape: tuple[int, ...]) -> Any:
    from ..tensors import array  # seldom needed, and long to import

    return array(recorder, (value,), shape)


class Fold(Accumulator):
    """What a function of two makes of all that elements add, in the order of all accumulators.

    Parameters
    ----------
    combine : callable
        Takes what has been combined of earlier elements and of later ones, and returns it of both.
        It need not be associative, as the order is fixed. Numbers, rows and images, or several of
        them nested in tuples, lists, dicts, named tuples and dataclasses.
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
        self._vectorized = Vectorized(combine, "combine", core=ROWS)
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
        self._vectorized = Vectorized(self._function, "combine", core=ROWS)

    def add(self, value: Any) -> None:
        """Combine a number or row, or several nested ones, with what there is."""
        leaves: list[Any] = []
        structure = flatten(value, leaves, split_result)
        for leaf in leaves:
            if not is_operand(leaf) and not is_row(leaf):
                self._refuse(leaf, "a number, or numbers in tuples, lists and dicts")
        recorder = self._recorder()
        if recorder is None:
            return
        kinds = [self._kind_of_row(leaf) if is_row(leaf) else kind_of(leaf) for leaf in leaves]
        shape = self._shape(recorder, structure, kinds, [shape_of(leaf) for leaf in leaves])
        is_first = self not in recorder.accumulated
        parts = self._parts(recorder, None, lambda: [self._part(recorder, shape)])
        values = shape.values(recorder, leaves, set())
        self._update(recorder, parts[0], shape, values, is_first and not recorder.regions)

    def _shape(
        self,
        recorder: Recorder,
        structure: Structure,
        kinds: list[Kind],
        rows: list[tuple[int, ...]],
    ) -> Shape:
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
            if before.rows != rows:
                raise UsageTypeError(
                    at_line(
                        f"Fold.add: another shape than elsewhere; got {_shapes(rows)}, expected "
                        f"{_shapes(before.rows)}."
                    )
                )
            wider = [promote(a, b) for a, b in zip(before.kinds, kinds, strict=True)]
            if wider == before.kinds:
                return before
            kinds = wider
        shape = Shape(structure, kinds, rows)
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
        if found.recorded.shapes != shape.rows:
            raise UsageTypeError(
                f"{line_of(self._function)}Fold: combine gives another shape than it takes; got "
                f"{_shapes(found.recorded.shapes)}, expected {_shapes(shape.rows)}."
            )
        return found

    def _part(self, recorder: Recorder, shape: Shape) -> Part:
        part = Part("combine", DType.Bool, shape.size)
        places, part.arrays = shape.places(recorder)
        part.slots = [recorder.recording.first_slot(DType.Bool, False), *places]
        part.about = shape
        return part

    def _update(
        self, recorder: Recorder, part: Part, shape: Shape, values: list[Value], is_first: bool
    ) -> None:
        recording = recorder.recording
        has, *places = part.slots
        if not is_first:  # the element may have added before
            present = recording.read(has)
            branch = Branch(recorder, present)
            earlier = shape.elements(recorder, part.values(recording)[1:])
            later = shape.elements(recorder, values)
            leaves: list[Any] = []
            flatten(flow.call(self._function, earlier, later), leaves, split_result)
            combined = shape.values(recorder, leaves, set(part.arrays))
            shape.write(recorder, places, combined)
            branch.end()
            branch = Branch(recorder, recorder.op("not", [present]))
        shape.write(recorder, places, values)
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
        return np.zeros(1 + part.size, np.int64), found.recorded.program, tuple(found.values)

    def take(self, totals: list[Any], fold: Folded) -> None:
        """Combine with the totals of a call."""
        shape: Shape = fold.parts[0].about
        cells = totals[0][0]
        if not cells[0]:
            return
        total = shape.read(cells[1:])
        self._state = total if self._state is None else self._both(self._state, total)

    def _both(self, *groups: Any) -> Any:
        """Combine two, which are a map of one element."""

        def mapped(group: Any) -> Any:
            leaves: list[Any] = []
            structure = flatten(group, leaves, split_result)
            # Python's numbers take the type of what they meet.
            arrays = (
                leaf if type(leaf) in (bool, int, float, complex) else np.asarray(leaf)[None]
                for leaf in leaves
            )
            return unflatten(structure, arrays)

        results: list[Any] = []
        structure = flatten(self._vectorized(*map(mapped, groups)), results, split_result)
        return unflatten(structure, iter([result[0] for result in results]))


def _shapes(shapes: list[tuple[int, ...]]) -> str:
    return ", ".join(map(str, shapes))


def _text(structure: Structure) -> str:
    if structure is None:
        return "a number"
    return f"{structure.type.__name__} of {len(structure.parts)}"
