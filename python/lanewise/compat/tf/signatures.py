"""``input_signature`` of a `tf.function`: what its arguments have to be."""

from typing import Any

import numpy as np

from ...trees import flatten, leaf_names, unflatten
from .arguments import Arguments, OfTensor, Parameters, split
from .specs import TensorSpec
from .tensor import Tensor, array_of, is_tensor


class InputSignature:
    """The specs of the arguments of a function, and whether others fit."""

    def __init__(self, name: str, parameters: Parameters, specs: Any) -> None:
        if not isinstance(specs, (list, tuple)):
            raise TypeError(
                f"{name}: input_signature is not a list; got {type(specs).__name__}, expected a "
                "list of TensorSpec, one for each argument."
            )
        self.specs = tuple(specs)
        self._name = name
        self._dims: dict[str, Any] = {}  # by the name of a leaf

    def checked(
        self, parameters: Parameters, args: tuple[Any, ...], kwargs: dict[str, Any]
    ) -> tuple[tuple[Any, ...], dict[str, Any]]:
        """Return the arguments of a call as tensors; they have to fit."""
        try:
            bound = parameters.signature.bind(*args, **kwargs)
        except TypeError as error:
            raise TypeError(
                f"{self._name}: the arguments do not fit the function; got {error}, expected "
                f"{self._name}{parameters.signature}."
            ) from None
        given = list(bound.arguments.items())
        if len(given) != len(self.specs):
            raise TypeError(
                f"{self._name}: another number of arguments than input_signature says; got "
                f"{len(given)}, expected {len(self.specs)}."
            )
        pairs = zip(given, self.specs, strict=True)
        tensors = [self._tensors(name, value, spec) for (name, value), spec in pairs]
        return tuple(tensors), {}

    def _tensors(self, name: str, value: Any, spec: Any) -> Any:
        """Return an argument as tensors, nested as its specs are."""
        if isinstance(spec, TensorSpec):
            return self._tensor(name, value, spec)
        wanted: list[Any] = []
        structure = flatten(spec, wanted, _split_spec)
        parts = _parts(value, structure)
        if parts is None:
            raise TypeError(
                f"{self._name}: an argument is nested otherwise than input_signature says; got "
                f"{value!r} ({name}), expected {spec!r}."
            )
        names = leaf_names(structure, name)
        leaves = [self._tensor(*pair) for pair in zip(names, parts, wanted, strict=True)]
        return unflatten(structure, iter(leaves))

    def _tensor(self, name: str, value: Any, spec: Any) -> Any:
        if not isinstance(spec, TensorSpec):
            return value
        is_plain = not is_tensor(value) and not isinstance(value, (np.ndarray, np.generic))
        try:
            array = array_of(value, spec.dtype if is_plain else None)
        except (TypeError, ValueError):
            array = None
        if array is None or not spec.is_compatible_with(Tensor(array)):
            got = repr(value) if array is None else f"{array.dtype} of shape {array.shape}"
            raise TypeError(
                f"{self._name}: an argument is not what input_signature says; got {got} ({name}), "
                f"expected {spec.dtype.name} of shape {spec.shape}."
            )
        self._dims[name] = spec.shape
        return Tensor(np.asarray(array))

    def dims(self, arguments: Arguments) -> dict[int, Any]:
        """Return which sizes are known of tensors."""
        known = {}
        for at, kind in enumerate(arguments.kinds):
            if isinstance(kind, OfTensor):
                shape = self._dims.get(arguments.names[at])
                if shape is None or shape.rank is None:
                    shape = (None,) * kind.rank
                known[at] = tuple(shape)
        return known


def _split_spec(value: Any) -> Any:
    return None if isinstance(value, TensorSpec) else split(value)


def _parts(value: Any, structure: Any) -> list[Any] | None:
    """Return the parts of a value that is nested as a structure says; None if it is not."""
    if structure is None:
        return [value]
    found = split(value)
    if found is None or found[0] is not structure.type or len(found[2]) != len(structure.parts):
        return None
    parts: list[Any] = []
    for part, inner in zip(found[2], structure.parts, strict=True):
        below = _parts(part, inner)
        if below is None:
            return None
        parts += below
    return parts


def placeholders(given: Any) -> Any:
    """Return arguments with tensors of zeros in place of specs."""
    leaves: list[Any] = []
    structure = flatten(given, leaves, _split_spec)
    return unflatten(structure, iter([_placeholder(leaf) for leaf in leaves]))


def _placeholder(leaf: Any) -> Any:
    if not isinstance(leaf, TensorSpec):
        return leaf
    sizes = [2 if size is None else size for size in leaf.shape] if leaf.shape.rank else []
    return Tensor(np.zeros(sizes, leaf.dtype.dtype))


def dims_of(given: Arguments, tensors: Arguments) -> dict[int, Any]:
    """Return which sizes are known of arguments, some of which were given as specs."""
    known = {}
    for at, kind in enumerate(tensors.kinds):
        if isinstance(kind, OfTensor):
            leaf = given.leaves[at]
            spec = leaf if isinstance(leaf, TensorSpec) else TensorSpec.from_tensor(leaf)
            known[at] = tuple(spec.shape) if spec.shape.rank is not None else (None,) * kind.rank
    return known
