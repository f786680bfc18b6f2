"""Programs written for TensorFlow's map family run by changing the import line.

>>> import lanewise.compat.tf as tf
>>> tf.map_fn(lambda x: x**2, tf.constant([1.0, 2.0, 3.0]))
<tf.Tensor: shape=(3,), dtype=float32, numpy=array([1., 4., 9.], dtype=float32)>

``docs/coming_from_tensorflow.md`` goes through such programs, and ``docs/reference/tensorflow.md``
lists the names that there are.
"""

from typing import Any

from . import (
    arranging,
    config,
    control,
    counting,
    data,
    debugging,
    dtypes,
    elementwise,
    errors,
    functions,
    generators,
    initializers,
    linalg,
    making,
    maps,
    matrices,
    names,
    nest,
    nn,
    norms,
    printing,
    python_functions,
    random,
    reductions,
    scans,
    scopes,
    selecting,
    session,
    sparse,
    special,
    specs,
    stateless,
    strings,
    tensor,
    tensor_arrays,
    v1,
    variables,
    windows,
)
from .ragged import making as ragged_making

KNOWN: dict[str, Any] = {}
for _family in (
    *(functions, session, initializers, scopes, v1, control, scans, tensor_arrays),
    *(tensor, specs, dtypes, making, elementwise, arranging, maps, variables),
    *(errors, selecting, reductions, counting, norms, debugging),
    *(special, random, stateless, generators),
    *(linalg, matrices, nn, windows),
    *(printing, nest, config, python_functions),
    *(ragged_making, sparse, strings),
    *(data,),
):
    KNOWN |= _family.NAMES

_fallback = names.fallback(KNOWN)
_top = names.spaces(KNOWN)
globals().update(_top)
names.register(__name__, _top)
maps.wake()


def __getattr__(name: str) -> Any:
    return _fallback(name)


def __dir__() -> list[str]:
    return sorted({path.partition(".")[0] for path in KNOWN})


__version__ = "2.21.0-lanewise"
