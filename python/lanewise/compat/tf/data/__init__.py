"""``tf.data``: elements that are computed when somebody iterates.

A `Dataset` is a chain of stages (``stages.py``), each of which is a source of elements or changes
those of another one. Elements go from stage to stage in blocks (``blocks.py``), on which functions
run as programs (``functions.py``); ``iterators.py`` hands them out one by one.
"""

from typing import Any

from . import options
from .checks import AUTOTUNE
from .dataset import Dataset, cardinality, get_single_element
from .iterators import Iterator
from .specs import DatasetSpec
from .stages import INFINITE, UNKNOWN

NAMES: dict[str, Any] = {
    "data.Dataset": Dataset,
    "data.DatasetSpec": DatasetSpec,
    "data.Iterator": Iterator,
    "data.Options": options.Options,
    "data.ThreadingOptions": options.ThreadingOptions,
    "data.AUTOTUNE": AUTOTUNE,
    "data.INFINITE_CARDINALITY": INFINITE,
    "data.UNKNOWN_CARDINALITY": UNKNOWN,
    "data.experimental.AUTOTUNE": AUTOTUNE,
    "data.experimental.AutotuneOptions": options.AutotuneOptions,
    "data.experimental.DistributeOptions": options.DistributeOptions,
    "data.experimental.INFINITE_CARDINALITY": INFINITE,
    "data.experimental.OptimizationOptions": options.OptimizationOptions,
    "data.experimental.UNKNOWN_CARDINALITY": UNKNOWN,
    "data.experimental.cardinality": cardinality,
    "data.experimental.get_single_element": get_single_element,
}
