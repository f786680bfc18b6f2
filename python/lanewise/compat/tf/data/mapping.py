"""What functions make of elements: map, filter, take_while and scan."""

from time import perf_counter
from typing import Any

import numpy as np

from .. import sampling
from .blocks import Block, block_of, cut, tensors
from .functions import ElementFunction, Function, Place
from .passes import Passes
from .specs import SAMPLES, in_common, map_specs, sample, specs_of
from .stages import PATIENCE, UNKNOWN, Changed, Chopped, Empty, Run, Singles, Stage, Stream

_FIRST = 64  # elements that are computed before it is known how large results are


class Map(Changed):
    """What a function makes of each element."""

    def __init__(self, source: Stage, function: ElementFunction) -> None:
        super().__init__(source)
        self.function = function
        self._passes = Passes()
        self._spec: Any = None

    def then(self, function: Function) -> "Map":
        """Return a stage that maps another function over what this one gives."""
        return Map(self.source, self.function.then(function))

    def spec(self) -> Any:
        """Return what comes of a sample."""
        if self._spec is None:
            self._spec = result_spec(self.function, self.source.spec())
        return self._spec

    def gains(self) -> bool:
        """Say that a program runs over several elements at once."""
        return not self.function.is_single

    def open(self, run: Run) -> Stream:
        """Begin with the first element; what is drawn depends on how often that was done."""
        return _Mapped(self.source.open(run), self.function, run, self._passes.next())


def result_spec(function: ElementFunction, spec: Any) -> Any:
    """Return specs of what a function gives for elements of a spec."""
    found = []
    with sampling.on():
        for at in SAMPLES:
            done = function.run([sample(spec, at)], Place(0))
            if done.error is not None:
                raise done.error
            found.append(specs_of(done.blocks[0]))
    return map_specs(in_common, *found)


class Computed(Chopped):
    """What becomes of elements by the results of a function."""

    def __init__(self, source: Stream, function: ElementFunction, run: Run, seed: int) -> None:
        super().__init__()
        self._source = source
        self._function = function
        self._run = run
        self._place = Place(0, seed, run.threads)
        self._element_bytes = 1  # of the source
        self._ready: list[Block] = []
        self._error: Exception | None = None  # what comes after the elements at hand

    def chosen(self, blocks: list[Block], results: list[Block]) -> list[Block]:
        """Return what comes of elements, and of results for all of them, or the first ones."""
        raise NotImplementedError

    def end(self) -> None:
        """Let nothing come after the elements at hand."""
        self._source, self._error = Empty(), None

    def fresh(self, most: int) -> Block | None:
        """Compute until something comes of it."""
        while not self._ready:
            if self._error is not None:
                error = self._error
                self.end()
                raise error
            blocks = self._gathered(self._count(most))
            if not blocks:
                return None
            self._element_bytes = blocks[0].element_bytes
            done = self._function.run(blocks, self._place)
            self._advance(sum(block.size for block in blocks))
            self._error = done.error or self._error
            self._ready = self.chosen(blocks, done.blocks)
        return self._ready.pop(0)

    def _gathered(self, count: int) -> list[Block]:
        """Return the next elements: several blocks where they differ in length."""
        until = perf_counter() + PATIENCE
        block = self._source.pull(count)
        blocks = [] if block is None else [block]
        while block is not None and self._function.gathers:
            count -= block.size
            if not count or perf_counter() > until:
                break
            try:
                block = self._source.pull(count)
            except Exception as error:
                self._error = error
                break
            blocks += [] if block is None else [block]
        return blocks

    def _count(self, most: int) -> int:
        """Return how many elements are computed at once."""
        function = self._function
        if function.is_single:
            return 1
        if not function.result_bytes:
            return min(most, _FIRST)
        size = max(function.result_bytes, self._element_bytes)
        return min(most, max(self._run.memory // size, 1))

    def _advance(self, count: int) -> None:
        self._place = self._place._replace(first=self._place.first + count)


class _Mapped(Computed):
    def chosen(self, blocks: list[Block], results: list[Block]) -> list[Block]:
        return results

    def skip(self, count: int) -> int:
        """Leave out elements, for which nothing is computed."""
        if self._rest is not None or self._ready or self._error is not None:
            return super().skip(count)
        skipped = self._source.skip(count)
        self._advance(skipped)
        return skipped


class Filter(Changed):
    """The elements for which a condition holds."""

    def __init__(self, source: Stage, function: ElementFunction) -> None:
        super().__init__(source)
        self._function = function
        self._passes = Passes()

    def cardinality(self) -> int:
        """Return that nobody knows."""
        return UNKNOWN

    def gains(self) -> bool:
        """Say that a program runs over several elements at once."""
        return not self._function.is_single

    def open(self, run: Run) -> Stream:
        """Begin with the first element."""
        return _Filtered(self.source.open(run), self._function, run, self._passes.next())


class _Filtered(Computed):
    def chosen(self, blocks: list[Block], results: list[Block]) -> list[Block]:
        mask = truths(self._function.call, results)
        found = []
        for block in blocks:
            own, mask = mask[: block.size], mask[block.size :]
            places = np.flatnonzero(own)
            if len(places):
                found.append(block if len(places) == block.size else block.at(places))
        return found


def truths(call: str, results: list[Block]) -> Any:
    """Return what a condition gave for elements: one bool for each."""
    found: list[Any] = [np.zeros(0, bool)]
    for block in results:
        column = block.columns[0] if block.structure is None else None
        is_bool = isinstance(column, np.ndarray) and column.dtype == bool and column.ndim == 1
        if not is_bool:
            raise TypeError(
                f"{call}: the condition is no truth value; got {specs_of(block)!r}, expected a "
                "scalar of type bool."
            )
        found.append(column)
    return np.concatenate(found)


class TakeWhile(Filter):
    """The elements before the first for which a condition does not hold."""

    def open(self, run: Run) -> Stream:
        """Begin with the first element."""
        return _TakenWhile(self.source.open(run), self._function, run, self._passes.next())


class _TakenWhile(Computed):
    def chosen(self, blocks: list[Block], results: list[Block]) -> list[Block]:
        mask = truths(self._function.call, results)
        count = len(mask)
        if not mask.all():
            count = int(np.argmin(mask))
            self.end()
        return cut(blocks, 0, count)


class Scan(Changed):
    """What a function gives for a state, which it changes, and one element after the other."""

    def __init__(self, source: Stage, initial: Any, function: Function) -> None:
        super().__init__(source)
        self._initial = initial
        self._function = function

    def spec(self) -> Any:
        """Return what comes of a sample."""
        with sampling.on():
            return map_specs(
                in_common,
                *(
                    specs_of(block_of(self._step(self._initial, element)[1]))
                    for at in SAMPLES
                    for element in sample(self.source.spec(), at).rows(tensors)
                ),
            )

    def open(self, run: Run) -> Stream:
        """Begin with the first state."""
        return Singles(self._results(self.source.open(run)))

    def _results(self, source: Stream) -> Any:
        state = self._initial
        while (block := source.pull(1)) is not None:
            for element in block.rows(tensors):
                state, output = self._step(state, element)
                yield block_of(output)

    def _step(self, state: Any, element: Any) -> tuple[Any, Any]:
        result = self._function(state, element)
        if not isinstance(result, (tuple, list)) or len(result) != 2:
            raise TypeError(
                f"Dataset.scan: the function does not return two things; got {result!r}, expected "
                "the new state and an output."
            )
        return result[0], result[1]
