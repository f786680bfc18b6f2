"""``Dataset.from_generator``: elements that a generator of Python yields."""

from collections.abc import Callable, Iterable, Iterator
from typing import Any

import numpy as np

from ....trees import Structure, flatten, unflatten
from ..dtypes import as_dtype
from ..shapes import TensorShape
from ..specs import TensorSpec
from ..tensor import array_of
from .blocks import Block, Objects, block_of, split
from .specs import map_specs, specs_of
from .stages import Run, Singles, Stage, Stream


class Generated(Stage):
    """What a generator of Python yields."""

    def __init__(self, generator: Callable[..., Iterable[Any]], args: Any, signature: Any) -> None:
        self._generator = generator
        self._args = args
        self._signature = signature
        self._leaves: list[Any] = []
        self._structure = flatten(signature, self._leaves, split)

    def spec(self) -> Any:
        """Return what was said, or what the first element is like."""
        if self._signature is not None:
            return self._signature
        for element in self._generator(*self._args):
            return specs_of(block_of(element))
        raise ValueError(
            "from_generator: nothing is known of elements; got a generator that yields none, "
            "expected output_signature."
        )

    def gains(self) -> bool:
        """Say no: who iterates over it gets elements as they are yielded."""
        return False

    def open(self, run: Run) -> Stream:
        """Call the generator when the first element is asked for."""
        return Singles(self._blocks())

    def _blocks(self) -> Iterator[Block]:
        for element in self._generator(*self._args):
            yield self._block(element)

    def _block(self, element: Any) -> Block:
        if self._signature is None:
            block = block_of(element)
            columns = [_copy(column) for column in block.columns]
            return Block(block.structure, columns, 1)
        leaves: list[Any] = []
        _match(self._structure, element, leaves)
        pairs = zip(self._leaves, leaves, strict=True)
        return Block(self._structure, [_column(spec, leaf) for spec, leaf in pairs], 1)


def _match(structure: Structure, value: Any, leaves: list[Any]) -> None:
    """Append the parts of a value that is nested as a structure says; lists may be tuples."""
    if structure is None:
        leaves.append(value)
        return
    parts: Any = None
    if issubclass(structure.type, dict):
        if isinstance(value, dict) and set(value) == set(structure.names):
            parts = [value[name] for name in structure.names]
    elif isinstance(value, (tuple, list)):
        parts = value
    elif structure.names and all(hasattr(value, name) for name in structure.names):
        parts = [getattr(value, name) for name in structure.names]
    if parts is None or len(parts) != len(structure.parts):
        raise TypeError(
            f"from_generator: an element is nested differently; got {value!r}, expected "
            f"{structure.type.__name__} of {len(structure.parts)}, as output_signature says."
        )
    for part, inner in zip(structure.parts, parts, strict=True):
        _match(part, inner, leaves)


def _column(spec: Any, leaf: Any) -> Any:
    if not isinstance(spec, TensorSpec):
        return Objects([leaf])
    try:
        array = np.asarray(array_of(leaf, spec.dtype))
    except (TypeError, ValueError) as error:
        raise TypeError(
            f"from_generator: an element has another type; got {leaf!r}, expected "
            f"{spec.dtype.name}, as output_signature says."
        ) from error
    if not spec.shape.is_compatible_with(array.shape):
        raise TypeError(
            f"from_generator: an element has another shape; got {array.shape}, expected "
            f"{spec.shape}, as output_signature says."
        )
    return _copy(array[None])


def _copy(column: Any) -> Any:
    """Return an array that stays as it is, also if the generator goes on with its own."""
    return column if isinstance(column, Objects) else np.array(column)


def signature_of(types: Any, shapes: Any) -> Any:
    """Return specs of types, and of shapes that are nested as these are."""
    leaves: list[Any] = []
    structure = flatten(types, leaves, split)
    sizes: list[Any] = []
    if shapes is None:
        sizes = [None] * len(leaves)
    else:
        _match(structure, shapes, sizes)
    pairs = zip(leaves, sizes, strict=True)
    specs = [TensorSpec(TensorShape(shape), as_dtype(kind)) for kind, shape in pairs]
    return unflatten(structure, iter(specs))


def checked_signature(signature: Any) -> Any:
    """Return nested specs, or refuse what is something else."""

    def check(spec: Any) -> Any:
        if hasattr(spec, "shape"):
            return spec
        raise TypeError(
            f"from_generator: output_signature has something else than specs; got {spec!r}, "
            "expected tf.TensorSpec. Types alone go to output_types."
        )

    return map_specs(check, signature)
