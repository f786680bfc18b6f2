"""One element of the arguments, for the plain function."""

from typing import Any

import numpy as np

from ._core import ParamKind
from .arguments import Arguments, RaggedParameter, Static
from .errors import UsageError
from .trees import unflatten


def arguments_of_element(
    call: str, index: int | tuple[int, ...], described: Arguments
) -> tuple[int, list[Any]]:
    """Return the number of an element, and its arguments as the plain function takes them."""
    place = _place(call, index, described.shape)
    values = iter(described.values)
    leaves = []
    for leaf in described.signature.leaves:
        if isinstance(leaf, Static):
            leaves.append(leaf.value)
            continue
        if isinstance(leaf, RaggedParameter):
            leaves.append(described.ragged[leaf.number][place[0]])
            for _ in range(len(leaf.indices) + 2 * (leaf.space == leaf.number)):
                next(values)
            continue
        value = next(values)
        if leaf.role is ParamKind.Mapped:
            value = np.broadcast_to(value, described.shape + leaf.row)[place]
        elif isinstance(value, np.ndarray) and value.ndim == 0:
            value = value[()]
        leaves.append(value)
    nested = iter(leaves)
    arguments = [unflatten(structure, nested) for structure in described.signature.structures]
    number = np.ravel_multi_index(place, described.shape) if described.shape else 0
    return int(number), arguments


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
