"""A function of an element, called on blocks of them.

It is recorded once for each kind of elements, and runs as a program over a block; functions that
follow one another are one program. What cannot be recorded is called for one element after the
other. Which elements share a block makes no difference: an element draws by its own number.
"""

import re
import sys
import types
import warnings
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from .... import flow
from ....cores import ROWS
from ....element import Element
from ....errors import ElementError
from ....ragged import Ragged
from ....specialization import Programs
from ....trees import flatten, unflatten
from ....vectorize import Vectorized
from .. import sampling
from ..dialect import TENSORFLOW, settled
from ..making import convert_to_tensor
from ..maps import FALLS_BACK, PerElementWarning
from ..ops import is_numbers
from .blocks import Block, Objects, as_rows, block_of, runs, split, tensors

Function = Callable[..., Any]


class Place(NamedTuple):
    """Where in its dataset a block is, and how it is to be computed."""

    first: int  # the number of its first element
    seed: int = 0  # of what is drawn
    threads: int | None = None


class Done(NamedTuple):
    """What a function made of a block: all of it, or what comes before an error."""

    blocks: list[Block]
    error: Exception | None = None


class ElementFunction:
    """Functions that follow one another, each a function of an element."""

    def __init__(self, call: str, functions: tuple[Function, ...]) -> None:
        self.call = call
        self.functions = functions
        self.result_bytes = 0  # that an element's results took, as far as is known
        self.is_single = False  # it is called for one element after the other
        self._parts: list[ElementFunction] = []  # where not all together can be recorded
        self._programs: dict[bool, Vectorized] = {}
        self._varying: set[int] = set()  # columns of rows that have different lengths
        self._takes_rows = True  # a program takes such rows
        self._draws: dict[Any, bool] = {}  # whether it does, by the kinds of elements

    def then(self, function: Function) -> "ElementFunction":
        """Return this one, and another after it."""
        return ElementFunction(self.call, (*self.functions, function))

    @property
    def gathers(self) -> bool:
        """Whether elements differ in length, and several blocks of them can run at once."""
        if self._parts:
            return any(part.gathers for part in self._parts)
        return self._takes_rows and not self.is_single and bool(self._varying)

    def run(self, blocks: list[Block], place: Place) -> Done:
        """Compute what becomes of the elements of blocks that follow one another."""
        if self._parts:
            return self._run_apart(blocks, place)
        rows = as_rows(blocks, self._varying) if self.gathers else None
        if rows is not None:
            try:
                return self._run_block(rows, place)
            except FALLS_BACK:
                self._takes_rows = False
        results: list[Block] = []
        for block in blocks:
            done = self._run_any(block, place)
            results += done.blocks
            if done.error is not None:
                return Done(results, done.error)
            place = place._replace(first=place.first + block.size)
        return Done(results)

    def _run_any(self, block: Block, place: Place) -> Done:
        if self.is_single or not _can_record(block) or self._is_rare(block):
            return self._run_single(block, place)
        try:
            return self._run_block(block, place)
        except FALLS_BACK as error:
            return self._fall_back(block, place, error)

    def _run_block(self, block: Block, place: Place) -> Done:
        """Run the program on a block; after an error, on the elements before."""
        try:
            done = Done(self._run_program(block, place))
        except ElementError as error:
            before = block.part(0, error.element)
            blocks = self._run_program(before, place) if before.size else []
            done = Done(blocks, _renumbered(self.call, error, place.first))
        if done.blocks:
            self.result_bytes = max(done.blocks[0].element_bytes, 1)
        return done

    # --- as a program ---

    def _run_program(self, block: Block, place: Place) -> list[Block]:
        has_rows = any(isinstance(one, Ragged) or one.ndim > 1 for one in block.columns)
        program = self._programs.get(has_rows)
        if program is None:
            program = self._programs[has_rows] = _program(self.functions, has_rows)
        arguments = unpacked(block.nested())
        options: dict[str, Any] = {}
        if self._is_drawing(program, block, arguments):
            options = {"seed": place.seed, "first_element": place.first}
        if place.threads is not None:
            options["threads"] = place.threads
        if sampling.is_on():
            options |= {"on_error": "fill", "max_steps": 1000}
        return _blocks(program(*arguments, **options), block.size)

    def _is_drawing(self, program: Vectorized, block: Block, arguments: Any) -> bool:
        """Say whether it makes a difference which number an element has."""
        kind = _kind(block)
        known = self._draws.get(kind)
        if known is None:
            known = program.find_for(*arguments).recorded.is_numbered
            for before in self._draws:
                self._varying |= _lengths_that_differ(before, kind)
            self._draws[kind] = known
        return known

    def _is_rare(self, block: Block) -> bool:
        """Say whether elements have so many shapes that a program for each is not worth it."""
        if len(self._draws) < _MOST_KINDS or _kind(block) in self._draws:
            return False
        return block.size < _FEW and not any(self._draws.values())

    # --- otherwise ---

    def _fall_back(self, block: Block, place: Place, reason: Exception) -> Done:
        """Compute a block as far as it goes without a program of all functions."""
        if len(self.functions) > 1:
            self._parts = [ElementFunction(self.call, (one,)) for one in self.functions]
            return self._run_apart([block], place)
        done = self._run_single(block, place)
        if done.error is not None and not done.blocks:
            raise reason
        self.is_single = True
        if not sampling.is_on():
            warnings.warn(
                f"{self.call}: runs one element after the other, since the function cannot be "
                f"recorded: {reason}",
                PerElementWarning,
                stacklevel=_depth_of_user(),
            )
        return done

    def _run_apart(self, blocks: list[Block], place: Place) -> Done:
        """Run one function after the other."""
        error = None
        for part in self._parts:
            blocks, raised = part.run(blocks, place)
            error = raised or error
        self.is_single = any(part.is_single for part in self._parts)
        return Done(blocks, error)

    def _run_single(self, block: Block, place: Place) -> Done:
        """Call the functions for one element after the other."""
        results: list[Block] = []
        error = None
        for at, element in enumerate(block.rows(tensors)):
            try:
                for function in self.functions:
                    element = function(*unpacked(element))
                results.append(block_of(element))
            except Exception as raised:
                raised.add_note(f"{self.call}: element {place.first + at}")
                error = raised
                break
        return Done(runs(results), error)


_MOST_KINDS = 32  # of which programs are made for few elements
_FEW = 16


def _kind(block: Block) -> Any:
    return tuple(
        (column.dtype, None if isinstance(column, Ragged) else column.shape[1:])
        for column in block.columns
    )


def _lengths_that_differ(kind: Any, other: Any) -> set[int]:
    """Return the columns whose elements are rows, of different lengths."""
    return {
        at
        for at, ((_, one), (_, two)) in enumerate(zip(kind, other, strict=False))
        if one is not None and two is not None and len(one) == len(two) == 1 and one != two
    }


def _can_record(block: Block) -> bool:
    return not any(
        isinstance(column, Objects) or not is_numbers(column) or 0 in column.shape[1:]
        for column in block.columns
    )


def unpacked(element: Any) -> tuple[Any, ...]:
    """Return an element as arguments: those of a tuple are several."""
    return element if type(element) is tuple else (element,)


def _program(functions: tuple[Function, ...], has_rows: bool) -> Vectorized:
    one = _as_one(functions[0])
    for function in functions[1:]:
        one = _after(one, function)
    core = ROWS if has_rows else None
    program = Vectorized(one, name="map", core=core, dialect=TENSORFLOW)
    program._shared_programs = Programs()  # all datasets have functions of this code
    return program


def _as_one(function: Function) -> Function:
    def element(*parts: Any) -> Any:
        return _applied(function, parts)

    return element


def _after(before: Function, function: Function) -> Function:
    def element(*parts: Any) -> Any:
        return _applied(function, unpacked(before(*parts)))

    before.__module__ = "__main__"  # counts as the user's, so what it captures is looked at
    return element


def _applied(function: Function, parts: tuple[Any, ...]) -> Any:
    """Call a function that is being recorded; lists that it returns are tensors."""
    result = flow.call(function, *parts)
    if type(result) is Element:
        return settled(result)
    leaves: list[Any] = []
    structure = flatten(result, leaves, split)
    parts = tuple(convert_to_tensor(leaf) if isinstance(leaf, list) else leaf for leaf in leaves)
    return settled(unflatten(structure, iter(parts)))


def _blocks(result: Any, size: int) -> list[Block]:
    """Return results of a program as blocks: rows of different lengths are several."""
    leaves: list[Any] = []
    structure = flatten(result, leaves, split)
    if not any(isinstance(leaf, Ragged) for leaf in leaves):
        return [Block(structure, leaves, size)]
    singles = []
    for at in range(size):
        columns = [np.asarray(leaf[at])[None] for leaf in leaves]
        singles.append(Block(structure, columns, 1))
    return runs(singles)


def _renumbered(call: str, error: ElementError, first: int) -> ElementError:
    """Return an error with the number that an element has in its dataset."""
    number = first + error.element
    text = re.sub(r"^map: element \d+ ", f"{call}: element {number} ", str(error))
    return ElementError(text, number)


def _depth_of_user() -> int:
    """Return how far up the caller is who is not a part of this package."""
    depth = 1
    frame: types.FrameType | None = sys._getframe(1)
    package = __name__.partition(".")[0]
    while frame is not None and frame.f_globals.get("__name__", "").startswith(package):
        frame = frame.f_back
        depth += 1
    return depth
