"""Vectorized functions in pickles: what can be imported by name, else what was recorded.

A pickle carries the name under which the function can be imported, the programs as text, and the
present values of what they capture. Where the import does not work, as for lambdas and closures,
the programs run without the function.
"""

import importlib
import sys
from collections.abc import Callable
from typing import Any, NamedTuple

from . import _core
from .dtypes import Type
from .fixed import Fixed, Missing
from .specialization import Found, Prints, Recorded, Request, are_pairs
from .trees import Structure


class Carried(NamedTuple):
    """A program on its way."""

    request: Request
    text: str
    shapes: list[tuple[int, ...]]  # of the parameters' elements
    result_shapes: list[tuple[int, ...]]
    structure: Structure
    dtypes: tuple[Type, ...]
    captured: list[Any]
    prints: Prints | None
    sizes: tuple[int, ...] | None


def carry(request: Request, found: Found) -> Carried:
    """Return a program as something that can be pickled."""
    recorded = found.recorded
    program = recorded.program
    return Carried(
        request,
        program.text(),
        program.shapes,
        program.result_shapes,
        recorded.structure,
        recorded.dtypes,
        found.values,
        recorded.prints,
        recorded.sizes,
    )


def arrive(carried: Carried) -> Recorded:
    """Return a program that was pickled as if it had been recorded here."""
    is_complex = are_pairs(carried.dtypes, carried.result_shapes)
    if carried.prints is not None and not carried.request.finds_lines:
        is_complex.append(False)  # the number of lines
    program = _core.parse(
        carried.text, carried.request.refill, is_complex, carried.shapes, carried.result_shapes
    )
    captured = Fixed(carried.captured)
    return Recorded(
        program, captured, carried.structure, carried.dtypes, carried.prints, carried.sizes
    )


def reference_of(vectorized: Any) -> tuple[str, str] | None:
    """Return module and name under which a function can be imported; None if it cannot."""
    function = vectorized.__wrapped__
    module, name = getattr(function, "__module__", None), getattr(function, "__qualname__", "")
    if module not in sys.modules or "<" in name:
        return None
    found = _look_up(sys.modules[module], name)
    return (module, name) if found is vectorized or found is function else None


def import_by(reference: tuple[str, str] | None, name: str) -> Callable[..., Any]:
    """Return the function that a reference names, or one that says it is missing."""
    if reference is not None:
        found: Callable[..., Any] | None
        try:
            found = _look_up(importlib.import_module(reference[0]), reference[1])
        except ImportError:
            found = None
        if found is not None and callable(found):
            return found
    return Missing(name)


def _look_up(module: Any, name: str) -> Any:
    found = module
    for part in name.split("."):
        found = getattr(found, part, None)
    return found
