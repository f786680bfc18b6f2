"""What elements are like: specs of what is there, and samples of what specs describe."""

from typing import Any

import numpy as np

from ....trees import Structure, flatten, unflatten
from .. import graph
from ..ragged import RaggedTensor
from ..shapes import TensorShape
from ..specs import RaggedTensorSpec, TensorSpec
from .blocks import Block, Objects, split


class DatasetSpec:
    """What the elements of a dataset are like which is itself an element."""

    def __init__(self, element_spec: Any, dataset_shape: Any = ()) -> None:
        self.element_spec = element_spec
        self.shape = TensorShape(dataset_shape)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, DatasetSpec) and self.element_spec == other.element_spec

    def __hash__(self) -> int:
        return hash(repr(self))

    def __repr__(self) -> str:
        return f"DatasetSpec({self.element_spec!r}, {self.shape!r})"


class NoneTensorSpec:
    """What None is like."""

    def __eq__(self, other: object) -> bool:
        return isinstance(other, NoneTensorSpec)

    def __hash__(self) -> int:
        return hash(NoneTensorSpec)

    def __repr__(self) -> str:
        return "NoneTensorSpec()"


def spec_of(leaf: Any) -> Any:
    """Return the spec of a part of an element."""
    if leaf is None:
        return NoneTensorSpec()
    if hasattr(type(leaf), "is_dataset"):
        return DatasetSpec(leaf.element_spec)
    if isinstance(leaf, RaggedTensor):
        return RaggedTensorSpec(leaf.shape, leaf.dtype, leaf.ragged_rank, leaf.row_splits.dtype)
    return TensorSpec.from_tensor(leaf)


def specs_of(block: Block) -> Any:
    """Return the specs of the elements of a block, nested as they are."""
    specs = [
        spec_of(column[0])
        if isinstance(column, Objects)
        else TensorSpec(column.shape[1:], column.dtype)
        for column in block.columns
    ]
    return unflatten(block.structure, iter(specs))


def row_spec(rows: Any) -> Any:
    """Return the spec of the rows of a tensor that is ragged or sparse."""
    shape = rows.shape[1:]
    if isinstance(rows, RaggedTensor) and rows.ragged_rank > 1:
        return RaggedTensorSpec(shape, rows.dtype, rows.ragged_rank - 1, rows.row_splits.dtype)
    return TensorSpec(shape, rows.dtype)


def map_specs(change: Any, *specs: Any) -> Any:
    """Return nested specs of which each was changed; of several, those that stand together."""
    columns: list[list[Any]] = []
    structures = []
    for one in specs:
        columns.append([])
        structures.append(flatten(one, columns[-1], split))
    if any(structure != structures[0] for structure in structures):
        raise TypeError(
            f"Dataset: elements are nested differently; got {specs[0]!r} and {specs[1]!r}, "
            "expected one structure."
        )
    changed = [change(*together) for together in zip(*columns, strict=True)]
    return unflatten(structures[0], iter(changed))


def leading(spec: Any, size: int | None) -> Any:
    """Return the spec of several tensors along a new first axis."""
    if isinstance(spec, TensorSpec):
        return TensorSpec(TensorShape([size]).concatenate(spec.shape), spec.dtype)
    if isinstance(spec, RaggedTensorSpec):
        shape = TensorShape([size]).concatenate(spec.shape)
        return RaggedTensorSpec(shape, spec.dtype, spec.ragged_rank + 1, spec.row_splits_dtype)
    raise TypeError(f"Dataset.batch: elements cannot be stacked; got {spec!r}, expected tensors.")


def in_common(one: Any, other: Any) -> Any:
    """Return the spec that tensors of two specs have."""
    if one == other:
        return one
    if not (isinstance(one, TensorSpec) and isinstance(other, TensorSpec)):
        raise TypeError(f"Dataset: elements differ; got {one!r} and {other!r}, expected one kind.")
    if one.dtype != other.dtype:
        raise TypeError(
            f"Dataset: elements have different types; got {one.dtype.name} and {other.dtype.name}, "
            "expected one. Use tf.cast."
        )
    return TensorSpec(_joined(one.shape, other.shape), one.dtype)


def _joined(one: TensorShape, other: TensorShape) -> TensorShape:
    if one.rank != other.rank:
        return TensorShape(None)
    return TensorShape([a if a == b else None for a, b in zip(one, other, strict=True)])


# --- samples ---

SAMPLES = (0, 1)  # of which sizes differ that are not known


def sample(specs: Any, at: int) -> Block:
    """Return an element that specs describe, made of zeros."""
    leaves: list[Any] = []
    structure: Structure = flatten(specs, leaves, split)
    return Block(structure, [_sample(leaf, at) for leaf in leaves], 1)


def _sample(spec: Any, at: int) -> Any:
    if isinstance(spec, DatasetSpec):
        from .dataset import Dataset
        from .sources import Slices

        return Objects([Dataset(Slices(sample(spec.element_spec, at)))])
    if isinstance(spec, RaggedTensorSpec):
        rank = spec.ragged_rank
        return Objects([RaggedTensor.empty(rank, list(spec.shape)[1 + rank :], spec.dtype)])
    if isinstance(spec, NoneTensorSpec):
        return Objects([None])
    array = np.asarray(graph.fed(spec.dtype, spec.shape).sample(at)._value)
    return array[None]
