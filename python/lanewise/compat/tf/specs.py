"""What is said of tensors beforehand, and whether it holds: ``tf.TensorSpec`` and the like."""

from typing import Any

import numpy as np

from ...element import Varying
from ...trees import Structure, flatten, parts_of, unflatten
from .dtypes import DType, as_dtype
from .ragged import RaggedTensor
from .shapes import TensorShape
from .sparse import SparseTensor
from .tensor import Tensor, array_of, is_tensor


class TensorSpec:
    """The shape and type of a tensor."""

    def __init__(self, shape: Any = None, dtype: Any = "float32", name: str | None = None) -> None:
        self.shape = TensorShape(shape)
        self.dtype = as_dtype(dtype)
        self.name = name

    @classmethod
    def from_tensor(cls, tensor: Any, name: str | None = None) -> "TensorSpec":
        """Return the spec of a tensor."""
        array = array_of(tensor)
        return cls(np.shape(array), array.dtype, name)

    @classmethod
    def from_spec(cls, spec: Any, name: str | None = None) -> "TensorSpec":
        """Return a spec like another, with another name."""
        return cls(spec.shape, spec.dtype, name or getattr(spec, "name", None))

    @property
    def value_type(self) -> type:
        """The class of what it describes."""
        return Tensor

    def is_compatible_with(self, other: Any) -> bool:
        """Say whether a tensor, or what another spec describes, can be such a one."""
        spec = other if isinstance(other, TensorSpec) else TensorSpec.from_tensor(other)
        return self.dtype == spec.dtype and self.shape.is_compatible_with(spec.shape)

    def __eq__(self, other: object) -> bool:
        return (
            type(other) is type(self)
            and isinstance(other, TensorSpec)
            and self.shape == other.shape
            and self.dtype == other.dtype
        )

    def __hash__(self) -> int:
        return hash((self.shape, self.dtype))

    def __repr__(self) -> str:
        return f"TensorSpec(shape={self.shape}, dtype={self.dtype!r}, name={self.name!r})"


class RaggedTensorSpec:
    """The shape, type and number of ragged dimensions of rows of different lengths."""

    def __init__(
        self,
        shape: Any = None,
        dtype: Any = "float32",
        ragged_rank: int | None = None,
        row_splits_dtype: Any = "int64",
        flat_values_spec: Any = None,
    ) -> None:
        self.shape = TensorShape(shape)
        self.dtype = as_dtype(dtype)
        rank = self.shape.rank
        self.ragged_rank = (rank or 1) - 1 if ragged_rank is None else ragged_rank
        self.row_splits_dtype = as_dtype(row_splits_dtype)

    @property
    def value_type(self) -> type:
        """The class of what it describes."""
        return RaggedTensor

    def __eq__(self, other: object) -> bool:
        return isinstance(other, RaggedTensorSpec) and repr(self) == repr(other)

    def __hash__(self) -> int:
        return hash(repr(self))

    def __repr__(self) -> str:
        return (
            f"RaggedTensorSpec({self.shape!r}, {self.dtype!r}, {self.ragged_rank}, "
            f"{self.row_splits_dtype!r})"
        )


class SparseTensorSpec:
    """The shape and type of a sparse tensor."""

    def __init__(self, shape: Any = None, dtype: Any = "float32") -> None:
        self.shape = TensorShape(shape)
        self.dtype = as_dtype(dtype)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, SparseTensorSpec) and repr(self) == repr(other)

    def __hash__(self) -> int:
        return hash(repr(self))

    def __repr__(self) -> str:
        return f"SparseTensorSpec({self.shape!r}, {self.dtype!r})"


_SPECS = (TensorSpec, RaggedTensorSpec, SparseTensorSpec, DType)


def split_tensors(value: Any) -> tuple[type, tuple[Any, ...], list[Any]] | None:
    """Take nested tensors, or specs of them, apart."""
    if is_tensor(value) or isinstance(value, _SPECS):
        return None
    if hasattr(type(value), "is_composite"):
        return None
    found = parts_of(value)
    return None if found is None else (type(value), *found)


def check_result(call: str, signature: Any, result: Any) -> Any:
    """Compare what a function returned with what was said of it; return it.

    A nested result has to have the containers of the signature.
    """
    wanted: list[Any] = []
    wanted_structure = flatten(signature, wanted, split_tensors)
    leaves: list[Any] = []
    structure = flatten(result, leaves, split_tensors)
    if structure != wanted_structure:
        raise TypeError(
            f"{call}: the function returns another nested structure than fn_output_signature says; "
            f"got {described(structure)}, expected {described(wanted_structure)}. Leave the "
            "signature out: it is not needed."
        )
    pairs = zip(wanted, leaves, strict=True)
    return unflatten(structure, iter([_checked(call, spec, leaf) for spec, leaf in pairs]))


def described(structure: Structure) -> str:
    """Say how something is nested."""
    if structure is None:
        return "a tensor"
    parts = ", ".join(map(described, structure.parts))
    return f"{structure.type.__name__}({parts})"


def _checked(call: str, spec: Any, leaf: Any) -> Any:
    """Return a result that is as its spec says."""
    if isinstance(spec, RaggedTensorSpec):
        leaf = _as_rows(spec, leaf)
    elif isinstance(leaf, RaggedTensor):
        leaf = _as_tensor(leaf)
    if not _is_such(spec, leaf):
        raise ValueError(
            f"{call}: expected the function to return what fn_output_signature says, but it "
            f"returned another kind; got {_kind(leaf)} of all elements, expected {_wanted(spec)}. "
            "Leave the signature out: it is not needed."
        )
    _check_numbers(call, spec, leaf)
    return leaf


def _as_rows(spec: RaggedTensorSpec, leaf: Any) -> Any:
    """Return rows that happen to have one length as a ragged tensor."""
    if type(leaf) is Tensor and spec.ragged_rank == 0 and len(leaf.shape) > 1:
        return RaggedTensor.from_tensor(leaf, row_splits_dtype=spec.row_splits_dtype)
    return leaf


def _as_tensor(leaf: RaggedTensor) -> Any:
    """Return rows of one length as a tensor."""
    is_even = leaf.ragged_rank == 1 and len(np.unique(np.diff(leaf.splits))) == 1
    return leaf.to_tensor() if is_even else leaf


def _is_such(spec: Any, leaf: Any) -> bool:
    if isinstance(spec, RaggedTensorSpec):
        if isinstance(leaf, Varying):  # a row that is being recorded
            return spec.ragged_rank == 0
        return isinstance(leaf, RaggedTensor) and leaf.ragged_rank == spec.ragged_rank + 1
    if isinstance(spec, SparseTensorSpec):
        return isinstance(leaf, SparseTensor)
    return not hasattr(type(leaf), "is_composite")


def _kind(leaf: Any) -> str:
    if isinstance(leaf, RaggedTensor):
        return f"a RaggedTensor of shape {leaf.shape} with ragged_rank {leaf.ragged_rank}"
    if isinstance(leaf, SparseTensor):
        return "a SparseTensor"
    return f"a tensor of shape {_shape_of(leaf)}"


def _shape_of(leaf: Any) -> tuple[Any, ...]:
    return tuple(leaf.shape if hasattr(leaf, "shape") else np.shape(array_of(leaf)))


def _wanted(spec: Any) -> str:
    if isinstance(spec, RaggedTensorSpec):
        return f"a RaggedTensor with ragged_rank {spec.ragged_rank + 1}, one more than {spec!r}"
    return f"{spec!r}"


def _check_numbers(call: str, spec: Any, leaf: Any) -> None:
    dtype = as_dtype(spec.dtype if isinstance(spec, _SPECS[:3]) else spec)
    found = as_dtype(leaf.dtype if hasattr(leaf, "dtype") else array_of(leaf).dtype)
    if found != dtype:
        raise TypeError(
            f"{call}: the function returns another type than fn_output_signature says; got "
            f"{found.name}, expected {dtype.name}. Leave the signature out, or convert with "
            "tf.cast."
        )
    if isinstance(spec, TensorSpec):
        shape = TensorShape(_shape_of(leaf)[1:])
        if not spec.shape.is_compatible_with(shape):
            raise ValueError(
                f"{call}: the function returns another shape than fn_output_signature says; got "
                f"{shape}, expected {spec.shape}."
            )


NAMES = {
    "TensorSpec": TensorSpec,
    "RaggedTensorSpec": RaggedTensorSpec,
    "SparseTensorSpec": SparseTensorSpec,
    "TensorShape": TensorShape,
}
