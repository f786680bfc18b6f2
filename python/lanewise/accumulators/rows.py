"""What is added as a whole: elements that are vectors, matrices and images."""

from typing import Any

import numpy as np

from .._core import DType
from ..dtypes import FROM_NUMPY, TO_NUMPY, Kind
from ..element import is_tensor
from ..errors import UsageError
from ..folds import Part
from ..recorder import Recorder
from ..source import at_line

_MOST = 4096  # values of an array that an element has


def is_row(value: Any) -> bool:
    """Say whether a value has dimensions."""
    return is_tensor(value) or (isinstance(value, np.ndarray) and value.ndim > 0)


def shape_of(value: Any) -> tuple[int, ...]:
    """Return the shape of what is added; that of a number has no dimensions."""
    return tuple(value.shape) if is_row(value) else ()


def kind_of_row(value: Any) -> Kind:
    """Return the kind of its numbers."""
    return Kind(FROM_NUMPY[value.dtype])


def size_of(call: str, shape: tuple[int, ...]) -> int:
    """Return how many values are added at once."""
    size = int(np.prod(shape))
    if size > _MOST:
        raise UsageError(
            at_line(
                f"{call}: too many values at once; got {size}, expected at most {_MOST}. Add them "
                "in several accumulators, or add what is made of them."
            )
        )
    return size


def row_part(
    call: str, recorder: Recorder, kind: str, dtype: DType, shape: tuple[int, ...], start: float
) -> Part:
    """Make a part that is an array of the element, all of one value at first."""
    size = size_of(call, shape)
    part = Part(kind, dtype, size)
    part.array = recorder.recording.first_array(dtype, start, size)
    return part


def combine_row(recorder: Recorder, part: Part, op: str, value: Any) -> None:
    """Combine the array of a part with a tensor of its shape."""
    from ..tensors import array, as_tensor  # seldom needed, and long to import

    assert part.array is not None
    own = array(recorder, (part.array,), part.about)
    added = as_tensor(recorder, value).astype(TO_NUMPY[part.dtype])
    own.write(_OPERATIONS[op](own, added))


_OPERATIONS = {"add": np.add, "min": np.minimum, "max": np.maximum}
