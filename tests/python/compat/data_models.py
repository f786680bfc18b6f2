"""Datasets and what they are in plain Python, to be compared."""

from typing import Any

import numpy as np

import lanewise.compat.tf as tf


def plain(value: Any) -> Any:
    """Return nested tensors as numbers and lists of Python."""
    if isinstance(value, dict):
        return {key: plain(part) for key, part in value.items()}
    if isinstance(value, tuple) and hasattr(value, "_fields"):
        return type(value)(*map(plain, value))
    if isinstance(value, tuple):
        return tuple(map(plain, value))
    if isinstance(value, tf.data.Dataset):
        return listed(value)
    return np.asarray(value).tolist()


def listed(dataset: Any) -> list[Any]:
    """Return the elements of a dataset in plain Python."""
    return [plain(element) for element in dataset]


def extend(found: list[Any], dataset: Any) -> None:
    """Append the elements of a dataset, as far as there is no error."""
    for element in dataset:
        found.append(plain(element))
