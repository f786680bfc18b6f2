"""``lanewise map`` and ``lanewise explain``."""

import argparse
import math
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

import lanewise as lw

from ..arguments import Array
from ..blocks import Block, numbered, split
from . import outputs
from .errors import CommandError
from .inputs import SUFFIXES, Input, bind, read
from .progress import Progress
from .target import Target, find

_BLOCK = 1 << 20  # elements: enough for all cores, little enough to show progress


def run_map(options: argparse.Namespace) -> int:
    """Map a function over files."""
    *words, output = options.files
    target = find(options.function, _vectorize_options(options))
    inputs = _read(target, words)
    path = Path(output)
    outputs.check(path, [one.path for one in inputs if one.path is not None])
    arguments = bind(target, inputs)
    shape = _shape(arguments)
    names, dtypes, nest = _results(target, arguments)
    with (
        outputs.results_for(path, names, dtypes, shape) as arrays,
        Progress(math.prod(shape)) as progress,
    ):
        for block in split(shape, _BLOCK):
            out = nest([array[(*block.place, ...)] for array in arrays])
            _map_block(target.function, _cut(arguments, shape, block), block, out, options.seed)
            progress.show(block.first + block.size)
    print(f"{path}: {', '.join(f'{n} {d} {shape}' for n, d in zip(names, dtypes, strict=True))}")
    return 0


def run_explain(options: argparse.Namespace) -> int:
    """Map the first block, and print what was done."""
    target = find(options.function, _vectorize_options(options), compile="now")
    words = options.files
    if len(words) > 1 and _is_output(words[-1], target, len(words)):
        words = words[:-1]
    if words:
        arguments = bind(target, _read(target, words))
        shape = _shape(arguments)
        block = next(split(shape, _BLOCK), Block((slice(0, 0),), 0, 0))
        arguments = _cut(arguments, shape, block)
    else:
        arguments = tuple(np.zeros(1) for parameter in target.parameters if parameter.is_needed)
    target.function(*arguments)
    print(target.function.explain(*arguments))
    return 0


def _is_output(word: str, target: Target, count: int) -> bool:
    """Say whether the last word is the output, as in the command for the map."""
    is_too_many = not target.takes_more and count > len(target.parameters)
    is_new = Path(word).suffix in SUFFIXES and not Path(word).exists()
    return is_too_many or is_new


def _vectorize_options(options: argparse.Namespace) -> dict[str, Any]:
    names = ("threads", "max_steps", "math", "accuracy", "compile", "schedule")
    return {name: value for name in names if (value := getattr(options, name)) is not None}


def _read(target: Target, words: list[str]) -> list[Input]:
    names = [parameter.name for parameter in target.parameters]
    return [read(word, names) for word in words]


def _shape(arguments: tuple[Any, ...]) -> tuple[int, ...]:
    shapes = [np.shape(argument) for argument in arguments]
    try:
        return np.broadcast_shapes(*shapes)
    except ValueError:
        raise CommandError(
            f"the inputs do not fit together; got shapes {', '.join(map(str, shapes))}, expected "
            "shapes that broadcast: equal, or 1, in every dimension."
        ) from None


def _cut(arguments: tuple[Any, ...], shape: tuple[int, ...], block: Block) -> tuple[Any, ...]:
    """Return the part of the arguments that a block needs; numbers are for all elements."""
    return tuple(
        np.broadcast_to(a, shape)[block.place] if isinstance(a, np.ndarray) and a.ndim else a
        for a in arguments
    )


class Results(NamedTuple):
    """What the function returns: names and types, and how arrays for them are given to it."""

    names: list[str]
    dtypes: list[Any]
    nest: Callable[[list[Array]], Any]


def _results(target: Target, arguments: tuple[Any, ...]) -> Results:
    """Say what the function returns, from a call on no elements."""
    nothing = [np.zeros(0, a.dtype) if isinstance(a, np.ndarray) else a for a in arguments]
    is_one_element = all(np.ndim(argument) == 0 for argument in arguments)
    results = target.function(*(arguments if is_one_element else nothing))
    name = target.function.name
    if isinstance(results, dict):
        dtypes = [array.dtype for array in results.values()]
        return Results(
            list(results), dtypes, lambda arrays: dict(zip(results, arrays, strict=True))
        )
    if isinstance(results, (tuple, list)):
        names = [f"{name}_{i}" for i in range(len(results))]
        return Results(names, [array.dtype for array in results], tuple)
    return Results([name], [results.dtype], lambda arrays: arrays[0])


def _map_block(
    function: lw.Vectorized,
    arguments: tuple[Any, ...],
    block: Block,
    out: Any,
    seed: int | None,
) -> None:
    try:
        function(*arguments, out=out, **numbered(block.first, seed))
    except lw.ElementError as error:  # its number is that in the block
        number = f"element {error.element}"
        whole = f"element {error.element + block.first}"
        raise CommandError(" ".join(str(error).replace(number, whole, 1).split())) from None
