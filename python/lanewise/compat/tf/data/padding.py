"""``Dataset.padded_batch``: elements of different shapes stacked, padded to one."""

from typing import Any

import numpy as np

from ....trees import Structure, flatten
from ..shapes import TensorShape
from ..specs import TensorSpec
from ..tensor import array_of
from .batching import Batch
from .blocks import Block, Objects, split
from .specs import leading, map_specs
from .stages import Run, Stage, Stream


class PaddedBatch(Batch):
    """Elements of different shapes stacked, padded to one."""

    def __init__(self, source: Stage, size: int, drops: bool, shapes: Any, values: Any) -> None:
        super().__init__(source, size, drops)
        self._shapes = shapes
        self._values = values

    def spec(self) -> Any:
        """Return the specs of padded tensors."""
        specs = self.source.spec()
        size = self._size if self._drops else None
        if self._shapes is None:
            return map_specs(lambda spec: leading(spec, size), specs)
        wanted = iter(_up_to(_structure_of(specs), self._shapes, "padded_shapes"))
        return map_specs(
            lambda spec: leading(TensorSpec(_shape(next(wanted)), spec.dtype), size), specs
        )

    def open(self, run: Run) -> Stream:
        """Begin with the first batch."""
        return _Padded(self.source.open(run), self._size, self._drops, self._shapes, self._values)


def _structure_of(specs: Any) -> Structure:
    return flatten(specs, [], split)


def _shape(given: Any) -> TensorShape:
    if given is None or isinstance(given, TensorShape):
        return TensorShape(given)
    return TensorShape(np.asarray(given).tolist() if hasattr(given, "__array__") else given)


class _Padded(Stream):
    def __init__(self, source: Stream, size: int, drops: bool, shapes: Any, values: Any) -> None:
        self._source = source
        self._size = size
        self._drops = drops
        self._shapes = shapes
        self._values = values

    def pull(self, most: int) -> Block | None:
        parts: list[Block] = []
        held = 0
        while held < self._size:
            part = self._source.pull(self._size - held)
            if part is None:
                break
            parts.append(part)
            held += part.size
        if not held or (self._drops and held < self._size):
            return None
        structure = parts[0].structure
        count = len(parts[0].columns)
        shapes = (
            [None] * count
            if self._shapes is None
            else _up_to(structure, self._shapes, "padded_shapes")
        )
        values = _fills(structure, self._values, count)
        columns = [
            _padded([part.columns[at] for part in parts], held, shapes[at], values[at])[None]
            for at in range(count)
        ]
        return Block(structure, columns, 1)


def _up_to(structure: Structure, value: Any, name: str) -> list[Any]:
    """Return what is given for each tensor of an element."""
    if structure is None:
        return [value]
    if issubclass(structure.type, dict):
        parts = [value[key] for key in structure.names] if isinstance(value, dict) else []
    else:
        parts = list(value) if isinstance(value, (tuple, list)) else []
    if len(parts) != len(structure.parts):
        raise ValueError(
            f"Dataset.padded_batch: {name} is nested differently than elements; got {value!r}, "
            f"expected {structure.type.__name__} of {len(structure.parts)}."
        )
    pairs = zip(structure.parts, parts, strict=True)
    return [leaf for part, inner in pairs for leaf in _up_to(part, inner, name)]


def _fills(structure: Structure, values: Any, count: int) -> list[Any]:
    if values is None or not isinstance(values, (tuple, list, dict)):
        return [values] * count
    return _up_to(structure, values, "padding_values")


def _padded(parts: list[Any], size: int, shape: Any, value: Any) -> Any:
    """Return arrays one behind the other, each padded to a shape."""
    if any(isinstance(part, Objects) for part in parts):
        raise TypeError(
            "Dataset.padded_batch: elements cannot be padded; got "
            f"{type(parts[0][0]).__name__}, expected tensors."
        )
    ranks = {part.ndim for part in parts}
    known = _shape(shape)
    if len(ranks) > 1 or known.rank not in (None, parts[0].ndim - 1):
        raise ValueError(
            "Dataset.padded_batch: elements have other ranks; got "
            f"{', '.join(str(part.shape[1:]) for part in parts[:2])}, expected "
            f"{'one rank' if known.rank is None else f'the rank of {known}'}."
        )
    largest = [max(sizes) for sizes in zip(*(part.shape[1:] for part in parts), strict=True)]
    wanted = [None] * len(largest) if known.rank is None else list(known)
    pairs = list(zip(largest, wanted, strict=True))
    if any(most is not None and size_ > most for size_, most in pairs):
        raise ValueError(
            f"Dataset.padded_batch: an element is larger than padded_shapes; got {tuple(largest)}, "
            f"expected at most {known}."
        )
    target = [size_ if most is None else most for size_, most in pairs]
    dtype = parts[0].dtype
    fill = (b"" if dtype.kind == "O" else 0) if value is None else array_of(value)[()]
    padded = np.full((size, *target), fill, dtype)
    at = 0
    for part in parts:
        inside = (slice(at, at + len(part)), *(slice(0, n) for n in part.shape[1:]))
        padded[inside] = part
        at += len(part)
    return padded
