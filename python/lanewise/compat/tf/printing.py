"""``tf.print``: texts of tensors as TensorFlow writes them, on stderr if nothing else is said.

Inside of a function that is being recorded each element prints its line, as with Python's `print`.
"""

import sys
from pathlib import Path
from typing import Any

import numpy as np

from ...flow.prints import print_ as print_elements
from ...recorder import current
from . import graph, sampling
from .ops import plain
from .tensor import array_of, has_graph, is_tensor

_SHOWN = 3  # numbers at both ends of a dimension


def text_of(value: Any, summarize: int = _SHOWN) -> str:
    """Return the text of a tensor, or of nested ones.

    Examples
    --------
    >>> import lanewise.compat.tf as tf
    >>> text_of(tf.range(10))
    '[0 1 2 ... 7 8 9]'
    """
    if isinstance(value, dict):
        parts = [f"{key!r}: {text_of(part, summarize)}" for key, part in value.items()]
        return f"{{{', '.join(parts)}}}"
    if isinstance(value, (list, tuple)):
        parts = [text_of(part, summarize) for part in value]
        texts = ", ".join(parts) + ("," if isinstance(value, tuple) and len(parts) == 1 else "")
        return f"({texts})" if isinstance(value, tuple) else f"[{texts}]"
    if is_tensor(value) or isinstance(value, (np.ndarray, np.generic)):
        return _of_array(np.asarray(array_of(value)), summarize, 0)
    return str(value)


def _of_array(array: Any, summarize: int, depth: int) -> str:
    if array.ndim == 0:
        return _of_number(array.item(), array.dtype, depth > 0)
    most = summarize if summarize >= 0 else len(array)
    between = " " if array.ndim == 1 else "\n" * (array.ndim - 1) + " " * (depth + 1)
    parts: list[str] = []
    for at in range(len(array)):
        if most <= at < len(array) - most:
            if at == most:
                parts.append("...")
            continue
        parts.append(_of_array(array[at, ...], summarize, depth + 1))
    return f"[{between.join(parts)}]"


def _of_number(number: Any, dtype: Any, is_inside: bool) -> str:
    if isinstance(number, bytes):
        text = number.decode("utf-8", "replace")
        return f'"{text}"' if is_inside else text
    if isinstance(number, bool):
        return str(int(number))
    if isinstance(number, float):
        text = str(dtype.type(number))
        return text[:-2] if text.endswith(".0") else text
    return str(number)


def print(  # TensorFlow's name
    *inputs: Any,
    output_stream: Any = None,
    summarize: int = _SHOWN,
    sep: str = " ",
    end: str = "\n",
    name: Any = None,
) -> Any:
    """Print tensors and other values.

    Parameters
    ----------
    *inputs
        Texts, numbers, tensors, and nested ones.
    output_stream : file, or text that begins with "file://", optional
        Where to; stderr if it is not given.
    summarize : int, optional
        How many numbers are shown at both ends of a dimension; all below 0.
    sep, end : str, optional
        What stands between, and at the end.
    """
    options = {"output_stream": output_stream, "summarize": summarize, "sep": sep, "end": end}
    if current() is not None:
        print_elements(*map(plain, inputs), sep=sep, end=end, file=_file(output_stream))
        return None
    if graph.building() is not None or has_graph(inputs):
        return graph.record(print, inputs, options)
    if sampling.holds_back():
        return graph.DONE
    texts = [text_of(value, summarize) for value in inputs]
    if isinstance(output_stream, str):
        with Path(output_stream.removeprefix("file://")).open("a", encoding="utf-8") as file:
            file.write(sep.join(texts) + end)
    else:
        _file(output_stream).write(sep.join(texts) + end)
    return None


def _file(output_stream: Any) -> Any:
    if output_stream is None:
        return sys.stderr
    if hasattr(output_stream, "write"):
        return output_stream
    raise ValueError(
        f"print: nowhere to print; got {output_stream!r}, expected sys.stdout, sys.stderr or a "
        'text like "file://log.txt".'
    )


NAMES = {"print": print}
