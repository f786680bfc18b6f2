"""Running what was recorded over arrays: whole, until the time is up, or over rows."""

import math
from collections.abc import Callable
from contextlib import nullcontext
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from ._core import empty
from .arguments import Arguments
from .cores import stand_together
from .dtypes import TO_NUMPY
from .errors import ElementError, UsageError
from .options import CallOptions
from .outputs import check_outputs
from .progress import shown
from .specialization import Found, Recorded
from .trees import Structure, unflatten


@dataclass(frozen=True)
class Run:
    """A map that is about to run."""

    name: str
    function: Callable[..., Any]
    described: Arguments
    find_lines: Callable[[], Found]  # the program of what elements print
    shape: tuple[int, ...]  # with that of a mask
    recorded: Recorded
    values: tuple[Any, ...]  # of arguments and captures
    options: CallOptions

    def whole(self, out: Any) -> Any:
        """Run to the end, and return the results."""
        outputs = self._outputs(out)
        self._run_into(outputs)
        return self._results(out, outputs)

    def partially(self, out: Any) -> Any:
        """Run until the time is up, and return what is finished."""
        from .partial import Partial, refuse  # seldom needed

        refuse(self.name, self.recorded, bool(self.described.ragged))
        outputs = self._outputs(out)

        def run_with(options: CallOptions) -> None:
            replace(self, options=options)._run_into(outputs)

        partial = Partial(self.shape, self.options, lambda: self._results(out, outputs))
        return partial.begin(run_with, outputs, out is None)

    def over_rows(self, out: Any, mask: Any = None) -> Any:
        """Run over rows of different lengths."""
        from .ragged.running import Run as RaggedRun  # seldom needed

        ragged = RaggedRun(
            self.name,
            self.described,
            self.recorded,
            self.values,
            self.options,
            self._run_into,
            mask,
        )
        return ragged.run(out)

    def _outputs(self, out: Any) -> tuple[Any, ...]:
        recorded = self.recorded
        if out is None:
            return tuple(
                empty(self.shape + row, TO_NUMPY[dtype])
                for dtype, row in zip(recorded.dtypes, recorded.shapes, strict=True)
            )
        return check_outputs(
            self.name, out, self.shape, recorded.dtypes, recorded.shapes, recorded.structure
        )

    def _results(self, out: Any, outputs: tuple[Any, ...]) -> Any:
        """Return results as users get them: of no dimensions they are scalars."""
        if out is not None:
            return out
        scalars = [output[()] if output.ndim == 0 else output for output in outputs]
        return nest(self.recorded.structure, scalars)

    def _run_into(self, outputs: tuple[Any, ...]) -> None:
        targets = tuple(
            output if stand_together(output, len(row)) else np.array(output, order="C")
            for output, row in zip(outputs, self.recorded.shapes, strict=True)
        )
        for number, (output, target) in enumerate(zip(outputs, targets, strict=True)):
            if target is not output:
                _refuse_overlap(number, output, self.values)
        self._run_together(targets)
        for output, target in zip(outputs, targets, strict=True):
            if target is not output:
                output[...] = target

    def _run_together(self, outputs: tuple[Any, ...]) -> None:
        """Run into arrays in which the values of an element stand together."""
        recorded, options = self.recorded, self.options
        outputs = recorded.woven(outputs)
        counts = None if recorded.prints is None else np.zeros(self.shape, np.int32)
        if counts is not None:
            outputs = (*outputs, counts)
        added = recorded.folds
        folds = nullcontext(()) if added is None else added.running(self.name, self.function)
        failed = None
        try:
            with (
                shown(options.progress, self.name, math.prod(self.shape)) as progress,
                folds as totals,
            ):
                recorded.program.call_into(
                    outputs, self.values, options.map, progress, totals, silence=options.silence
                )
        except ElementError as error:
            if counts is None:
                raise
            failed = error
        if counts is not None:
            self._print(counts, failed)
        if failed is not None:
            raise failed

    def _print(self, counts: Any, failed: ElementError | None) -> None:
        """Print what the elements of a call say, as far as they came."""
        from .failures import raising
        from .printing import Lines  # seldom needed

        options = raising(self.options)  # those that fail have no lines
        lines = Lines(
            self.recorded, self.values, self.described, self.find_lines(), self.shape, options
        )
        lines.show(self.name, counts, None if failed is None else failed.element)


def nest(structure: Structure, results: list[Any]) -> Any:
    """Return results in containers as the function returns them."""
    if not results:  # of a function that adds to accumulators
        return None
    return results[0] if structure is None else unflatten(structure, iter(results))


def _refuse_overlap(number: int, output: Any, values: tuple[Any, ...]) -> None:
    """Refuse an output that is an argument too; C++ sees only the copy that is computed."""
    for argument, value in enumerate(values):
        if isinstance(value, np.ndarray) and _shares_memory(output, value):
            raise UsageError(
                f"map: output {number} overlaps argument {argument}; got shared memory, expected "
                "separate arrays. Give another out, or none."
            )


def _shares_memory(a: Any, b: Any) -> bool:
    try:
        return np.shares_memory(a, b, max_work=10_000)  # type: ignore[arg-type]
    except np.exceptions.TooHardError:
        return True
