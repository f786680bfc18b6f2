"""Running a function over rows of different lengths.

Where lengths differ much, rows of like ones run together (``api/by_length.h``), but not those of a
function for which numbers of elements make a difference. Results that need a second program are
computed in blocks of rows.
"""

import math
from collections.abc import Callable
from contextlib import nullcontext
from typing import Any

import numpy as np

from .._core import (
    DType,
    Explanation,
    MapOptions,
    ParamKind,
    Program,
    by_length_bytes,
    empty,
    spread,
)
from ..cores import stand_together
from ..dtypes import TO_NUMPY
from ..errors import ElementError, UsageError, UsageTypeError
from ..failures import row_fills
from ..outputs import check_outputs
from ..progress import shown
from ..trees import flatten, leaf_names, split_result, unflatten
from .array import Array, Ragged
from .parts import ChosenPart, Part
from .results import ValueProgram, WrittenRows

BLOCK = 1 << 14  # rows: their values and what they share stay in the caches
VALUES = 1 << 17  # values of rows that are computed at a time


class Run:
    """A call on ragged arguments."""

    def __init__(
        self,
        call: str,
        described: Any,
        recorded: Any,
        values: tuple[Any, ...],
        options: Any,
        run_whole: Callable[[tuple[Any, ...]], None] | None = None,
        mask: Array | None = None,
    ) -> None:
        self._call = call
        self._ragged: tuple[Ragged, ...] = described.ragged
        self._recorded = recorded
        self._values = list(values)
        self._mapped = [one.role is ParamKind.Mapped for one in described.signature.values]
        self._mask = mask  # which rows are computed; it follows the arguments
        if mask is not None:
            self._mapped.append(True)
        self._arguments = len(self._mapped)  # values from outside follow them
        self._mapped += [False] * (len(values) - len(self._mapped))
        self._options = options._replace(map=MapOptions(options.map))
        self._options.map.begin_now()  # for all parts
        self._run_whole = run_whole  # all rows as one map, which prints and adds up
        self._size: int = described.shape[0]
        self._is_whole = recorded.prints is not None or recorded.folds is not None
        self._is_ordered = recorded.is_numbered or self._is_whole
        # Which rows fail, where the others go on and rows are results.
        goes_on = options.goes_on and recorded.ragged is not None
        self._failed = np.zeros(self._size, np.bool_) if goes_on else None

    def run(self, out: Any) -> Any:
        """Return the results, nested as the function returns them."""
        given = self._given_results(out)
        tells = nullcontext() if self._is_whole else self._shown()
        with tells as progress:
            results = self._run(given, progress)
        if out is not None:
            return out
        if not results:  # of a function that adds to accumulators
            return None
        structure = self._recorded.structure
        return results[0] if structure is None else unflatten(structure, iter(results))

    def _shown(self) -> Any:
        return shown(self._options.progress, self._call, self._size)

    def _run(self, given: list[Any], progress: Any) -> list[Any]:
        recorded, rows = self._recorded, self._recorded.ragged
        places = range(len(recorded.dtypes)) if rows is None else rows.leaves
        arrays: dict[int, Any] = {}  # results of the program that are the user's
        for place, array in zip(places, given, strict=True):
            if isinstance(place, int):
                shape = (self._size, *recorded.shapes[place])
                is_new = array is None
                arrays[place] = empty(shape, TO_NUMPY[recorded.dtypes[place]]) if is_new else array
        made: dict[int, Ragged] = {}
        if rows is not None:
            written = self._written()
            made = {index: self._memory(index, one, given[index]) for index, one in written}
            self._add_targets(
                [(one, made[index].offsets, made[index].values) for index, one in written]
            )
        if rows is None or len(made) + len(arrays) == len(places):
            for block in self._blocks():
                self._first(block, arrays, progress)
            self._fill_failed(made)
        elif self._mask is not None:
            self._fill_chosen(self._mask, arrays, given, progress)
            made = dict(enumerate(given))
        else:
            made |= self._rows(arrays, given, progress)
        return [
            arrays[place] if isinstance(place, int) else made[index]
            for index, place in enumerate(places)
        ]

    # --- rows that the function returns ---

    def _rows(self, arrays: dict[int, Any], given: list[Any], progress: Any) -> dict[int, Ragged]:
        """Compute the results that are rows, by their number, and fill the other arrays."""
        programs = self._programs()
        blocks = self._blocks()
        offsets = {
            index: self._same_offsets(one.argument)
            for index, one in programs.items()
            if one.argument is not None
        }
        lengths = {index: one for index, one in programs.items() if index not in offsets}
        numbers: list[Any] | None = None
        if lengths:
            numbers = self._first_pass(lengths, offsets, arrays, progress)
        made = {
            index: self._made(index, one.dtype, offsets[index], given[index])
            for index, one in programs.items()
        }
        for block in blocks:
            if numbers is None or len(blocks) > 1:
                numbers = self._first(block, arrays, progress)
            for index, one in programs.items():
                if one.length is not None:
                    self._check_lengths(offsets[index], block, numbers[one.length])
                self._values_of(one, Part(made[index], offsets[index], block, numbers))
        return made

    def _written(self) -> list[tuple[int, WrittenRows]]:
        """Return those of the results that the program of the rows writes, with their number."""
        leaves = enumerate(self._recorded.ragged.leaves)
        return [(index, one) for index, one in leaves if isinstance(one, WrittenRows)]

    def _memory(self, index: int, one: WrittenRows, out: Any) -> Ragged:
        """Return rows as long as those of the argument, for a result."""
        if self._mask is None:
            return self._made(index, one.dtype, self._same_offsets(one.argument), out)
        lengths = self._ragged[one.argument].lengths[self._mask]
        self._check_out(index, out.lengths[self._mask], lengths)
        return out  # type: ignore[no-any-return]

    def _fill_failed(self, made: dict[int, Ragged]) -> None:
        """Write what the caller wants of rows that failed, where the others went on."""
        if self._failed is None or not self._failed.any():
            return
        fills = row_fills(self._call, self._options.fill_value, self._recorded)
        for index, rows in made.items():
            values = rows.values[rows.offsets[0] : rows.offsets[-1]]
            values[np.repeat(self._failed, rows.lengths)] = fills[index]

    def _add_targets(self, results: list[tuple[WrittenRows, Array, Array]]) -> None:
        """Add to the values what rows are written to: their starts, and memory for numbers."""
        for one, offsets, numbers in reversed(results):
            at = self._arguments + one.place
            starts = offsets[:-1].astype(TO_NUMPY[one.index_type], copy=False)
            some = numbers if numbers.size else np.zeros(1, TO_NUMPY[one.dtype])
            self._values[at:at] = [starts, some]
            self._mapped[at:at] = [True, False]

    def _programs(self) -> dict[int, ValueProgram]:
        """Return those of the results that have a program of their own, by their number."""
        leaves = enumerate(self._recorded.ragged.leaves)
        return {index: one for index, one in leaves if isinstance(one, ValueProgram)}

    def _fill_chosen(
        self, mask: Array, arrays: dict[int, Any], given: list[Any], progress: Any
    ) -> None:
        """Compute the rows for which the mask holds; others stay as they are."""
        for block in self._blocks():
            numbers = self._first(block, arrays, progress)
            rows = np.flatnonzero(mask[block])
            for index, one in self._programs().items():
                if one.length is not None:
                    lengths = numbers[one.length][rows]
                else:
                    assert one.argument is not None
                    lengths = self._ragged[one.argument].lengths[block][rows]
                self._check_out(index, given[index].lengths[block][rows], lengths)
                part = ChosenPart(given[index], rows, lengths, block.start, numbers)
                self._values_of(one, part)

    def _first_pass(
        self,
        programs: dict[int, ValueProgram],
        offsets: dict[int, Array],
        arrays: dict[int, Any],
        progress: Any,
    ) -> list[Any]:
        """Find how long the rows of results are; return what the last block gave."""
        blocks = self._blocks()
        found = {index: np.zeros(self._size + 1, np.int64) for index in programs}
        numbers: list[Any] = []
        for block in blocks:
            numbers = self._first(block, arrays, progress if len(blocks) == 1 else None)
            for index, one in programs.items():
                assert one.length is not None
                found[index][block.start + 1 : block.stop + 1] = numbers[one.length]
        for index, lengths in found.items():
            ends = np.cumsum(lengths)
            offsets[index] = ends.astype(np.int32) if ends[-1] < 2**30 else ends
        return numbers

    def _same_offsets(self, argument: int) -> Array:
        offsets = self._ragged[argument].offsets
        return offsets if offsets[0] == 0 else offsets - offsets[0]

    def _made(self, index: int, dtype: DType, offsets: Array, out: Any) -> Ragged:
        if out is None:
            return Ragged(empty((int(offsets[-1]),), TO_NUMPY[dtype]), offsets)
        self._check_out(index, out.lengths, np.diff(offsets))
        return out  # type: ignore[no-any-return]

    def _check_out(self, index: int, got: Array, expected: Array) -> None:
        if not np.array_equal(got, expected):
            raise UsageError(
                f"{self._call}: rows of out have other lengths than the results; got "
                f"{_lengths(got)} (result {index}), expected {_lengths(expected)}. "
                "Leave out away, and the rows get theirs."
            )

    def _check_lengths(self, offsets: Array, block: slice, lengths: Array) -> None:
        if not np.array_equal(np.diff(offsets[block.start : block.stop + 1]), lengths):
            raise UsageError(
                f"{self._call}: rows have other lengths in the second pass than in the first; got "
                "arguments that change while the call runs, expected the same. Copy them before."
            )

    def _values_of(self, one: ValueProgram, part: Part) -> None:
        """Compute the values of some rows."""
        own = part.bounds
        first, last = int(own[0]), int(own[-1])
        scratch = [np.empty(min(VALUES, last - first), dtype) for dtype in self._spread(one)]
        options = self._map_options(0)
        options.first_element = 0
        options.mask = -1  # only rows that are computed have values here
        for low in range(first, last, VALUES):
            high = min(low + VALUES, last)
            begin = int(np.searchsorted(own, own.dtype.type(low), "right")) - 1
            end = int(np.searchsorted(own, own.dtype.type(high), "left"))
            bounds = own[begin : end + 1]
            spread_to = iter(scratch)
            values: list[Any] = []
            for use in one.uses:
                if use.what == "view":
                    values.append(part.values(self._ragged[use.number], low, high))
                    continue
                if use.what == "table":
                    values.append(self._table(use.number))
                    continue
                values.append(next(spread_to)[: high - low])
                if use.what == "begin":
                    numbers_of_rows = (bounds[:-1] - low).astype(TO_NUMPY[one.index_type])
                else:
                    numbers_of_rows = part.numbers(use.number, slice(begin, end))
                spread(numbers_of_rows, bounds, low, values[-1])
            target = part.target(low, high)
            try:
                one.program.call_into(
                    (target,), tuple(values), options, None, silence=self._options.silence
                )
            except ElementError as error:
                raise _renumbered(error, part.row(low + error.element)) from None
            part.store(low, target)

    def _spread(self, one: ValueProgram) -> list[Any]:
        """Return the types of what is spread over the values of rows."""
        dtypes = self._recorded.dtypes
        return [
            TO_NUMPY[one.index_type if use.what == "begin" else dtypes[use.number]]
            for use in one.uses
            if use.what in ("begin", "number")
        ]

    def _table(self, number: int) -> Array:
        inner = self._ragged[number].values
        while isinstance(inner, Ragged):
            inner = inner.values
        return inner if inner.size else np.zeros(1, inner.dtype)

    # --- the program of the rows ---

    def _blocks(self) -> list[slice]:
        """Return the rows that are done at a time: all, where one program does all."""
        if self._is_whole or self._recorded.ragged is None or not self._programs():
            return [slice(0, self._size)]
        begins = range(0, max(self._size, 1), BLOCK)
        return [slice(begin, min(begin + BLOCK, self._size)) for begin in begins]

    def _longest(self, block: slice) -> Array | None:
        """Return offsets by whose lengths rows may be ordered; None where they stay in order."""
        if self._is_ordered or not self._ragged:
            return None
        longest = max(self._ragged, key=lambda one: len(one.values))
        return longest.offsets[block.start : block.stop + 1]

    def _first(self, block: slice, arrays: dict[int, Any], progress: Any) -> list[Any]:
        """Run the program for the rows of a block; return all its results there."""
        recorded = self._recorded
        results: list[Any] = []
        for place, (dtype, shape) in enumerate(zip(recorded.dtypes, recorded.shapes, strict=True)):
            if place not in arrays:  # rows that are not computed have no values
                results.append(np.zeros((block.stop - block.start, *shape), TO_NUMPY[dtype]))
            elif stand_together(arrays[place], len(shape)):
                results.append(arrays[place][block])
            else:
                results.append(np.array(arrays[place][block], order="C"))
        if self._is_whole:
            assert self._run_whole is not None
            self._run_whole(tuple(results))
        else:
            self._run_block(block, results, progress)
            unasked = sum(r.nbytes for place, r in enumerate(results) if place not in arrays)
            if unasked:
                recorded.program.add_peak(self._options.map, unasked)
        for place, array in arrays.items():
            if not stand_together(array, len(recorded.shapes[place])):
                array[block] = results[place]
        return results

    def _run_block(self, block: slice, results: list[Any], progress: Any) -> None:
        """Run the program for the rows of a block, by length where they differ much."""
        tell = None if progress is None else lambda done, rate: progress(block.start + done, rate)
        call = self._recorded.program.call_into
        options = self._map_options(block.start)
        offsets = self._longest(block)
        try:
            values, silence = self._in_block(block), self._options.silence
            call(tuple(results), values, options, tell, (), offsets, silence)
        except ElementError as error:
            raise _renumbered(error, block.start + error.element) from None

    def _in_block(self, block: slice) -> tuple[Any, ...]:
        return tuple(
            value[block] if is_mapped and len(value) == self._size else value
            for value, is_mapped in zip(self._values, self._mapped, strict=True)
        )

    def _map_options(self, first: int) -> MapOptions:
        """Return the options for a part of the call, which has what is left of its time."""
        options = MapOptions(self._options.map)
        options.count = None
        options.first_element += first
        if self._failed is not None:
            options.flag_into(self._failed)
        return options

    # --- looking at it ---

    def explained(self, copied: list[str]) -> Explanation:
        """Say what happens; the projected memory is that of the first block: none is larger."""
        if self._recorded.ragged is not None:
            none = np.empty(0)
            self._add_targets(
                [(one, self._ragged[one.argument].offsets, none) for _, one in self._written()]
            )
        block = self._blocks()[0]
        values, options = self._in_block(block), self._map_options(0)
        program: Program = self._recorded.program
        room = program.explain(values, options, copied).projected_bytes
        rows = block.stop - block.start
        sizes = self._result_bytes()
        sorting = 0
        if self._longest(block) is not None and not program.is_inner(options):  # copies in order
            taken = zip(values, self._mapped, strict=True)
            arguments = sum(value.nbytes for value, is_mapped in taken if is_mapped)
            sorting = by_length_bytes(rows, arguments // max(rows, 1) + sum(sizes))
        beside = sorting
        if self._recorded.ragged is not None:
            programs = self._programs().values()
            users = sum(sizes[one] for one in self._recorded.ragged.leaves if isinstance(one, int))
            lengths = [one for one in programs if one.length is not None]
            # Lengths are added up, and compared with those of the second pass.
            found = 8 * (self._size + 1) * (len(lengths) + 1) + 8 * rows if lengths else 0
            most = max((self._value_bytes(one, rows) for one in programs), default=0)
            beside = rows * (sum(sizes) - users) + found + max(sorting, most - room)
        return program.explain(values, options, copied, beside)

    def _result_bytes(self) -> list[int]:
        """Return the bytes of each result of the program of the rows."""
        pairs = zip(self._recorded.dtypes, self._recorded.shapes, strict=True)
        return [math.prod(shape) * TO_NUMPY[dtype].itemsize for dtype, shape in pairs]

    def _value_bytes(self, one: ValueProgram, rows: int) -> int:
        """Return what the values of a part take beside the results."""
        spread_to: int = sum(dtype.itemsize for dtype in self._spread(one))
        begins = 16 * rows if any(use.what == "begin" for use in one.uses) else 0
        count = VALUES
        if one.argument is not None:
            count = min(VALUES, int(np.sum(self._ragged[one.argument].lengths[:rows])))
        values = tuple(
            np.empty(count if kind is ParamKind.Mapped else 1, TO_NUMPY[dtype])
            for dtype, kind in one.program.parameters
        )
        explanation = one.program.explain(values, self._map_options(0), [])
        return count * spread_to + begins + explanation.projected_bytes

    # --- arrays for results that are given ---

    def _given_results(self, out: Any) -> list[Any]:
        """Return what is given for each result, or None for each."""
        recorded = self._recorded
        rows = recorded.ragged
        count = len(recorded.dtypes) if rows is None else len(rows.leaves)
        if out is None:
            return [None] * count
        if rows is None:
            shape, shapes = (self._size,), recorded.shapes
            structure = recorded.structure
            arrays = check_outputs(self._call, out, shape, recorded.dtypes, shapes, structure)
            names = leaf_names(structure, "out")
            for name, array in zip(names, arrays, strict=True):
                self._refuse_overlap(name, array)
            return list(arrays)
        leaves: list[Any] = []
        structure = flatten(out, leaves, split_result)
        if structure != recorded.structure:
            raise UsageTypeError(
                f"{self._call}: out is not nested as the rows of results are; got {len(leaves)} "
                f"parts, expected {count}."
            )
        names = leaf_names(structure, "out")
        return [
            self._given(name, leaf, place)
            for name, leaf, place in zip(names, leaves, rows.leaves, strict=True)
        ]

    def _given(self, name: str, leaf: Any, place: Any) -> Any:
        recorded = self._recorded
        if isinstance(place, int):
            dtype, shape = recorded.dtypes[place], recorded.shapes[place]
            [array] = check_outputs(self._call, leaf, (self._size,), (dtype,), [shape], None)
            self._refuse_overlap(name, array)
            return array
        rows_type = TO_NUMPY[place.dtype]
        if not isinstance(leaf, Ragged) or leaf.depth != 1 or leaf.dtype != rows_type:
            raise UsageTypeError(
                f"{self._call}: {name} does not fit rows of results; got "
                f"{leaf if isinstance(leaf, Ragged) else type(leaf).__name__}, expected a Ragged "
                f"of {rows_type}."
            )
        if not leaf.values.flags.writeable:
            raise UsageError(
                f"{self._call}: rows of {name} cannot be written; got values that are read-only, "
                "expected others."
            )
        self._refuse_overlap(name, leaf.values)
        leaf.check(self._call)
        return leaf

    def _refuse_overlap(self, name: str, array: Array) -> None:
        for value in self._values:
            if isinstance(value, np.ndarray) and np.may_share_memory(value, array):
                raise UsageError(
                    f"{self._call}: {name} overlaps an argument; got memory that is read while "
                    "results are written, expected an array of its own."
                )


def _renumbered(error: ElementError, element: int) -> ElementError:
    """Return the error of an element for the row it is in."""
    text = str(error).replace(f"element {error.element}", f"element {element}", 1)
    return ElementError(text, element)


def _lengths(lengths: Array) -> str:
    first = ", ".join(map(str, lengths[:4].tolist()))
    return f"{first}, ..." if len(lengths) > 4 else first or "no rows"
