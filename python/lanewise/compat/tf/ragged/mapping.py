"""Rows of TensorFlow and rows of lanewise: what maps over ragged tensors are made of."""

from typing import Any

import numpy as np

from .... import flow
from ....element import Varying
from ....ragged import Ragged
from ....trees import Structure, unflatten
from ..ops import is_numbers, wrapped
from ..tensor import Tensor, array_of
from .tensor import RaggedTensor


def engine_rows(rows: RaggedTensor) -> Ragged | None:
    """Return rows as lanewise has them; None where it has none such: texts, rows of vectors."""
    inner: Any = rows.values
    if isinstance(inner, RaggedTensor):
        inner = engine_rows(inner)
        return None if inner is None else Ragged(inner, rows.splits)
    array = np.asarray(array_of(inner))
    if array.ndim != 1 or not is_numbers(array) or array.dtype.kind == "c":
        return None
    return Ragged(array, rows.splits)


def of_engine(result: Any) -> Any:
    """Return a result of a program as a tensor, or a ragged one."""
    if not isinstance(result, Ragged):
        return wrapped(result)
    splits = result.offsets.astype(np.int64)
    first, last = int(splits[0]), int(splits[-1])
    return RaggedTensor(of_engine(result.values[first:last]), Tensor(splits - first))


def map_row(fn: Any, structure: Structure, rows: list[Any]) -> Any:
    """Map over the numbers of rows that are being recorded."""
    from ..dialect import settled

    def one(*numbers: Any) -> Any:
        return settled(flow.call(fn, unflatten(structure, iter(numbers))))

    first = next(row for row in rows if isinstance(row, Varying))
    return first.apply(one, tuple(rows))
