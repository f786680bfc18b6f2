"""What elements of a map return, put together: stacked, in rows of different lengths, or none."""

from typing import Any

import numpy as np

from ...dtypes import TO_NUMPY
from ...trees import Structure, flatten, unflatten
from . import sampling
from .dtypes import as_dtype
from .ragged import RaggedTensor
from .sparse import SparseTensor
from .specs import (
    RaggedTensorSpec,
    SparseTensorSpec,
    TensorSpec,
    described,
    split_tensors,
)
from .tensor import Tensor, array_of, blank


def element_of(array: Any, at: int) -> Any:
    """Return an element of an array or ragged tensor."""
    return Tensor(array[at, ...]) if isinstance(array, np.ndarray) else array.row_at(at)


def one_by_one(
    call: str, fn: Any, structure: Structure, arrays: list[Any], size: int, signature: Any = None
) -> Any:
    """Call a function for one element after the other, and stack what it returns."""
    if not size:
        return empty_result(fn, structure, arrays, signature)
    rows = [
        fn(unflatten(structure, iter([element_of(array, at) for array in arrays])))
        for at in range(size)
    ]
    varying = _varying(fn, structure, arrays) if signature is None else []
    return _stack_results(call, rows, varying)


def _stack_results(call: str, rows: list[Any], varying: list[int]) -> Any:
    """Return the results of elements along a new first axis."""
    leaves: list[list[Any]] = []
    structures = []
    for row in rows:
        leaves.append([])
        structures.append(flatten(row, leaves[-1], split_tensors))
    if any(structure != structures[0] for structure in structures):
        raise TypeError(
            f"{call}: results of elements are nested differently; got "
            f"{described(structures[0])} and others, expected one structure."
        )
    ranks = varying if len(varying) == len(leaves[0]) else [0] * len(leaves[0])
    columns = [
        _stacked(call, list(column), rank)
        for column, rank in zip(zip(*leaves, strict=True), ranks, strict=True)
    ]
    return unflatten(structures[0], iter(columns))


def _stacked(call: str, parts: list[Any], rank: int) -> Any:
    composite = next((part for part in parts if hasattr(type(part), "is_composite")), None)
    if composite is not None:
        return type(composite).stacked(parts)
    arrays = [np.asarray(array_of(part)) for part in parts]
    if rank or any(array.shape != arrays[0].shape for array in arrays):
        if all(array.ndim == arrays[0].ndim for array in arrays):
            return RaggedTensor.stacked([Tensor(array) for array in arrays], rank)
        raise ValueError(
            f"{call}: results of elements have different ranks; got {arrays[0].shape} and others, "
            "expected one rank."
        )
    return Tensor(np.stack(arrays))


def _varying(fn: Any, structure: Structure, arrays: list[Any]) -> list[int]:
    """Return the number of ragged dimensions that results have: those longer for longer rows."""
    if all(isinstance(array, np.ndarray) for array in arrays):
        return []
    shapes = []
    for length in (1, 2):
        try:
            with sampling.on():
                row = fn(unflatten(structure, iter([_sample(array, length) for array in arrays])))
        except Exception:  # what it says of such a row is no concern of those that are there
            return []
        leaves: list[Any] = []
        flatten(row, leaves, split_tensors)
        shapes.append(
            [
                None if hasattr(type(leaf), "is_composite") else np.shape(array_of(leaf))
                for leaf in leaves
            ]
        )
    return [_varying_dimensions(one, two) for one, two in zip(*shapes, strict=True)]


def _varying_dimensions(one: Any, two: Any) -> int:
    """Return how many dimensions are ragged, from the first on, of what has such shapes."""
    if one is None or two is None or len(one) != len(two):
        return 0
    return max(
        (at + 1 for at, sizes in enumerate(zip(one, two, strict=True)) if len(set(sizes)) > 1),
        default=0,
    )


def _sample(array: Any, length: int = 0) -> Any:
    """Return an element such as an array has; rows have some length."""
    if isinstance(array, np.ndarray):
        return Tensor(blank(array.shape[1:], array.dtype))
    return array.sample_row(length)


# --- without elements ---


def empty_result(fn: Any, structure: Structure, arrays: list[Any], signature: Any) -> Any:
    """Return results without elements, as the signature has them, or as a sample shows them."""
    if signature is not None:
        specs: list[Any] = []
        of = flatten(signature, specs, split_tensors)
        return unflatten(of, iter([_empty(spec) for spec in specs]))
    with sampling.on():
        row = fn(unflatten(structure, iter([_sample(array) for array in arrays])))
    leaves: list[Any] = []
    nested = flatten(row, leaves, split_tensors)
    return unflatten(nested, iter([_empty_like(leaf) for leaf in leaves]))


def _empty_like(leaf: Any) -> Any:
    if isinstance(leaf, RaggedTensor):
        return RaggedTensor.empty(leaf.ragged_rank + 1, leaf.flat_values.shape[1:], leaf.dtype)
    if isinstance(leaf, SparseTensor):
        return SparseTensor.stacked([leaf]).without_rows()
    array = array_of(leaf)
    return Tensor(blank((0, *np.shape(array)), array.dtype))


def _empty(spec: Any) -> Any:
    if isinstance(spec, (TensorSpec, SparseTensorSpec)):
        sizes = [] if spec.shape.rank is None else [size or 0 for size in spec.shape]
        dense = Tensor(blank((0, *sizes), spec.dtype.dtype))
        return dense if isinstance(spec, TensorSpec) else SparseTensor.from_dense(dense)
    if isinstance(spec, RaggedTensorSpec):
        inner = [] if spec.shape.rank is None else spec.shape.as_list()[spec.ragged_rank + 1 :]
        return RaggedTensor.empty(spec.ragged_rank + 1, inner, spec.dtype)
    return Tensor(blank((0,), as_dtype(spec).dtype))


# --- samples ---


def sampled(program: Any, argument: Any, size: int) -> Any:
    """Return what a program would give, without running it."""
    recorded = program.find_for(argument).recorded
    if recorded.folds is not None or recorded.prints is not None:
        sampling.holds_back()  # it does something
    arrays = [
        Tensor(blank((size, *shape), TO_NUMPY[dtype]))
        for dtype, shape in zip(recorded.dtypes, recorded.shapes, strict=True)
    ]
    rows = recorded.ragged
    leaves: list[Any] = list(arrays)
    if rows is not None:
        leaves = [
            arrays[leaf]
            if isinstance(leaf, int)
            else RaggedTensor.sample(size, (), TO_NUMPY[leaf.dtype])
            for leaf in rows.leaves
        ]
    if recorded.structure is None:
        return leaves[0] if leaves else None
    return unflatten(recorded.structure, iter(leaves))
