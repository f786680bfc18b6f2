"""One element of the arguments, for the plain function."""

from collections.abc import Iterator
from typing import Any

import numpy as np

from .arguments import Arguments, Parameter
from .errors import UsageError
from .trees import unflatten


def arguments_of_element(
    call: str,
    index: int | tuple[int, ...],
    arguments: tuple[Any, ...],
    described: Arguments,
    excluded: frozenset[int],
) -> list[Any]:
    """Return the arguments as the plain function takes them for one element."""
    place = _place(call, index, described.shape)
    values = iter(described.values)
    leaves: Iterator[Any] = iter(
        [
            _at(next(values), place, described.shape) if isinstance(leaf, Parameter) else leaf.value
            for leaf in described.signature.leaves
        ]
    )
    nested = [unflatten(structure, leaves) for structure in described.signature.structures]
    return [
        arguments[position] if position in excluded else value
        for position, value in enumerate(nested)
    ]


def _place(call: str, index: int | tuple[int, ...], shape: tuple[int, ...]) -> tuple[int, ...]:
    try:
        if isinstance(index, tuple):
            np.ravel_multi_index(index, shape or (1,))
            return index
        return tuple(int(i) for i in np.unravel_index(index, shape or (1,)))
    except (ValueError, TypeError):
        raise UsageError(
            f"{call}: no such element; got {index!r}, expected a number below "
            f"{int(np.prod(shape))} or a place in the shape {shape}."
        ) from None


def _at(value: Any, place: tuple[int, ...], shape: tuple[int, ...]) -> Any:
    if not isinstance(value, np.ndarray) or value.ndim == 0:
        return value[()] if isinstance(value, np.ndarray) else value
    return np.broadcast_to(value, shape)[place]
