"""Several elements as one, and one as several: batch and unbatch."""

import math
from typing import Any

import numpy as np

from ..ragged import RaggedTensor
from ..specs import TensorSpec
from .blocks import Block, Objects, joined
from .specs import leading, map_specs
from .stages import MOST, UNKNOWN, Changed, Chopped, Run, Stage, Stream


class Batch(Changed):
    """So many elements stacked; the last ones may be fewer, unless they are dropped."""

    def __init__(self, source: Stage, size: int, drops: bool) -> None:
        super().__init__(source)
        self._size = size
        self._drops = drops

    def spec(self) -> Any:
        """Return the specs of stacked tensors."""
        size = self._size if self._drops else None
        return map_specs(lambda spec: leading(spec, size), self.source.spec())

    def cardinality(self) -> int:
        """Return how many are full, and whether another one is not."""
        size = self.source.cardinality()
        if size < 0:
            return size
        return size // self._size if self._drops else math.ceil(size / self._size)

    def open(self, run: Run) -> Stream:
        """Begin with the first batch."""
        return _Batched(self.source.open(run), self._size, self._drops)


class _Batched(Stream):
    def __init__(self, source: Stream, size: int, drops: bool) -> None:
        self._source = source
        self._size = size
        self._drops = drops
        self._rest: Block | None = None  # fewer than a batch

    def pull(self, most: int) -> Block | None:
        size = self._size
        parts = [] if self._rest is None else [self._rest]
        self._rest = None
        held = sum(part.size for part in parts)
        while held < size:
            part = self._source.pull(size * most - held)
            if part is None:
                return None if self._drops or not held else stacked(_together(parts), held)
            parts.append(part)
            held += part.size
        block = _together(parts)
        whole = held - held % size
        if whole < held:
            self._rest = block.part(whole, held)
            block = block.part(0, whole)
        return stacked(block, size)


def _together(parts: list[Block]) -> Block:
    for part in parts[1:]:
        if not parts[0].is_like(part):
            raise ValueError(
                "Dataset.batch: elements are not alike; got "
                f"{_described(parts[0])} and {_described(part)}, expected one shape and type. Use "
                "padded_batch, or map them to one shape."
            )
    return joined(parts)


def _described(block: Block) -> str:
    return ", ".join(
        f"{len(column)} objects"
        if isinstance(column, Objects)
        else f"{column.dtype}{list(column.shape[1:])}"
        for column in block.columns
    )


def stacked(block: Block, size: int) -> Block:
    """Return a block whose elements are so many of this one's; none is copied."""
    count = block.size // size
    columns = [_stacked(column, count, size) for column in block.columns]
    return Block(block.structure, columns, count)


def _stacked(column: Any, count: int, size: int) -> Any:
    if not isinstance(column, Objects):
        return column.reshape(count, size, *column.shape[1:])
    if all(isinstance(one, RaggedTensor) for one in column):
        groups = (column[at * size : (at + 1) * size] for at in range(count))
        return Objects([RaggedTensor.stacked(list(group)) for group in groups])
    raise TypeError(
        f"Dataset.batch: elements cannot be stacked; got {type(column[0]).__name__}, expected "
        "tensors."
    )


class Unbatch(Changed):
    """What elements have along their first axis."""

    def spec(self) -> Any:
        """Return the specs of slices."""
        return map_specs(_unstacked_spec, self.source.spec())

    def cardinality(self) -> int:
        """Return the product, if sizes are known."""
        size = self.source.cardinality()
        sizes: list[int | None] = []
        map_specs(lambda spec: sizes.append(spec.shape[0]), self.source.spec())
        each = sizes[0] if sizes else None
        return size if size == 0 else UNKNOWN if each is None or size < 0 else size * each

    def open(self, run: Run) -> Stream:
        """Begin with the first slice."""
        return _Unbatched(self.source.open(run))


def _unstacked_spec(spec: Any) -> Any:
    if not isinstance(spec, TensorSpec) or spec.shape.rank == 0:
        raise ValueError(
            f"Dataset.unbatch: elements have no first axis; got {spec!r}, expected tensors of at "
            "least one dimension."
        )
    return TensorSpec(None if spec.shape.rank is None else spec.shape[1:], spec.dtype)


class _Unbatched(Chopped):
    def __init__(self, source: Stream) -> None:
        super().__init__()
        self._source = source
        self._size = MOST  # how many slices an element has, as far as is known

    def fresh(self, most: int) -> Block | None:
        while (block := self._source.pull(max(most // self._size, 1))) is not None:
            shapes = [np.shape(column)[1:2] for column in block.columns]
            if () in shapes or len(set(shapes)) != 1 or block.has_objects:
                raise ValueError(
                    "Dataset.unbatch: elements have no common first axis; got "
                    f"{_described(block)}, expected tensors of one first size."
                )
            self._size = max(shapes[0][0], 1)
            count = block.size * shapes[0][0]
            if count:
                columns = [column.reshape(count, *column.shape[2:]) for column in block.columns]
                return Block(block.structure, columns, count)
        return None
