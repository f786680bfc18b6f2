"""What moves over images: convolutions and pools. Channels are last, unless `data_format` says so.

A convolution is a product of a view, in which a window is beside each place, and the filters.
"""

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from ...errors import UsageError
from .arranging import transpose
from .names import listed
from .ops import composite, held, moving, static_of, whole

Sizes = tuple[int, ...]


def _per_axis(call: str, name: str, value: Any, axes: int) -> Sizes:
    """Return a size for each axis of an image: all alike, or those between batch and channels."""
    sizes = static_of(value)
    sizes = (sizes,) if isinstance(sizes, int) else tuple(sizes)
    if len(sizes) == 1:
        return sizes * axes
    if len(sizes) == axes:
        return sizes
    if len(sizes) == axes + 2 and sizes[0] == sizes[-1] == 1:
        return sizes[1:-1]
    raise UsageError(f"{call}: {name} does not fit; got {list(sizes)}, expected {axes} numbers.")


def _widths(
    call: str, shape: Sizes, windows: Sizes, strides: Sizes, padding: Any
) -> list[tuple[int, int]]:
    """Return how many numbers are put around an image."""
    if not isinstance(padding, str):
        return [tuple(pair) for pair in static_of(padding)[1:-1]]
    if padding.upper() == "VALID":
        return [(0, 0)] * len(windows)
    if padding.upper() != "SAME":
        raise UsageError(f"{call}: no such padding; got {padding!r}, expected 'SAME' or 'VALID'.")
    widths = []
    for size, window, stride in zip(shape, windows, strides, strict=True):
        total = max((math.ceil(size / stride) - 1) * stride + window - size, 0)
        widths.append((total // 2, total - total // 2))
    return widths


def _windows(
    call: str, x: Any, sizes: Sizes, strides: Sizes, dilations: Sizes, padding: Any, around: Any
) -> Any:
    """Return a view of images with a window at each place: its axes come last."""
    axes = len(sizes)
    spans = tuple((n - 1) * by + 1 for n, by in zip(sizes, dilations, strict=True))
    shape = np.shape(x)[-axes - 1 : -1]
    widths = _widths(call, shape, spans, strides, padding)
    if any(n for pair in widths for n in pair):
        front = [(0, 0)] * (np.ndim(x) - axes - 1)
        x = np.pad(x, [*front, *widths, (0, 0)], constant_values=around)
        shape = np.shape(x)[-axes - 1 : -1]
    if any(n < span for n, span in zip(shape, spans, strict=True)):
        raise UsageError(
            f"{call}: the window is larger than the image; got {spans} and {shape}, expected one "
            "that fits."
        )
    slide: Any = np.lib.stride_tricks.sliding_window_view
    view = slide(x, spans, axis=tuple(range(-axes - 1, -1)))
    places = (np.s_[::by] for by in strides)
    return view[(..., *places, np.s_[:], *(np.s_[::by] for by in dilations))]


def _convolved(
    x: Any, filters: Any, strides: Sizes, padding: Any, dilations: Sizes, each: bool = False
) -> Any:
    axes = len(strides)
    sizes = np.shape(filters)[:axes]
    channels, inputs = np.shape(x)[-1], np.shape(filters)[axes]
    if each:
        inputs = channels
    if channels % inputs:
        raise UsageError(
            f"convolution: channels do not fit; got {channels} of the image and {inputs} of the "
            "filters, expected as many."
        )
    windows = _windows("convolution", x, sizes, strides, dilations, padding, 0)
    front, inner = "xyz"[: np.ndim(x) - 1], "ijk"[:axes]
    if each:
        found = np.einsum(f"{front}c{inner},{inner}cm->{front}cm", windows, filters)
        return np.reshape(found, (*np.shape(found)[:-2], -1))
    equation = f"{front}c{inner},{inner}co->{front}o"
    groups = channels // inputs
    if groups == 1:
        return np.einsum(equation, windows, filters)
    outputs = np.shape(filters)[-1] // groups
    parts = []
    for at in range(groups):
        some = windows[(..., np.s_[at * inputs : (at + 1) * inputs], *[np.s_[:]] * axes)]
        parts.append(np.einsum(equation, some, filters[..., at * outputs : (at + 1) * outputs]))
    return np.concatenate(parts, -1)


def _by_image(axes: int) -> dict[str, Any]:
    """Map over a batch of images, which share the filters."""

    def leads(values: list[Any], **static: Any) -> dict[str, Any] | None:
        return static if values[0].ndim == axes + 2 else None

    return {"leads": leads, "shared": lambda values: (1,)}


def _channels_last(data_format: Any) -> bool:
    return data_format is None or not str(data_format).startswith("NC")


def _turned(call: Callable[[Any], Any], x: Any, axes: int, data_format: Any) -> Any:
    """Call a function of images that have their channels last."""
    if _channels_last(data_format):
        return call(x)
    order = list(range(axes + 2))
    moved = transpose(x, [0, *order[2:], 1])
    return transpose(call(moved), [0, axes + 1, *order[1:-1]])


@whole(tensors=2, **_by_image(1))
def _conv1d(x: Any, filters: Any, strides: Any, padding: Any, dilations: Any) -> Any:
    return _convolved(x, filters, strides, padding, dilations)


@whole(tensors=2, **_by_image(2))
def _conv2d(x: Any, filters: Any, strides: Any, padding: Any, dilations: Any) -> Any:
    return _convolved(x, filters, strides, padding, dilations)


@whole(tensors=2, **_by_image(2))
def _depthwise(x: Any, filters: Any, strides: Any, padding: Any, dilations: Any) -> Any:
    return _convolved(x, filters, strides, padding, dilations, each=True)


@composite
def conv1d(
    input: Any,
    filters: Any,
    stride: Any,
    padding: Any,
    data_format: str = "NWC",
    dilations: Any = None,
) -> Any:
    """Return the products of filters with all windows of rows, summed over channels."""
    steps = _per_axis("conv1d", "stride", stride, 1)
    gaps = _per_axis("conv1d", "dilations", 1 if dilations is None else dilations, 1)
    return _turned(lambda x: _conv1d(x, filters, steps, padding, gaps), input, 1, data_format)


@composite
def conv2d(
    input: Any,
    filters: Any,
    strides: Any,
    padding: Any,
    data_format: str = "NHWC",
    dilations: Any = None,
) -> Any:
    """Return the products of filters with all windows of images, summed over channels."""
    steps = _per_axis("conv2d", "strides", strides, 2)
    gaps = _per_axis("conv2d", "dilations", 1 if dilations is None else dilations, 2)
    return _turned(lambda x: _conv2d(x, filters, steps, padding, gaps), input, 2, data_format)


@composite
def depthwise_conv2d(
    input: Any,
    filter: Any,
    strides: Any,
    padding: Any,
    data_format: str = "NHWC",
    dilations: Any = None,
) -> Any:
    """Return the products of filters with all windows of images, for each channel by itself."""
    steps = _per_axis("depthwise_conv2d", "strides", strides, 2)
    gaps = _per_axis("depthwise_conv2d", "dilations", 1 if dilations is None else dilations, 2)
    return _turned(lambda x: _depthwise(x, filter, steps, padding, gaps), input, 2, data_format)


@composite
def separable_conv2d(
    input: Any,
    depthwise_filter: Any,
    pointwise_filter: Any,
    strides: Any,
    padding: Any,
    data_format: str = "NHWC",
    dilations: Any = None,
) -> Any:
    """Return `depthwise_conv2d`, and then `conv2d` of single places."""
    middle = depthwise_conv2d(input, depthwise_filter, strides, padding, data_format, dilations)
    return conv2d(middle, pointwise_filter, 1, "VALID", data_format)


# --- pools ---


def _largest(x: Any, sizes: Sizes, strides: Sizes, padding: Any) -> Any:
    lowest = -np.inf if x.dtype.kind == "f" else np.iinfo(x.dtype).min
    windows = _windows("max_pool", x, sizes, strides, (1,) * len(sizes), padding, lowest)
    return np.max(windows, axis=tuple(range(-len(sizes), 0)))


def _mean(x: Any, sizes: Sizes, strides: Sizes, padding: Any) -> Any:
    last = tuple(range(-len(sizes), 0))
    ones = (1,) * len(sizes)
    windows = _windows("avg_pool", x, sizes, strides, ones, padding, 0)
    inside = np.ones((*np.shape(x)[-len(sizes) - 1 : -1], 1), x.dtype)
    count = _windows("avg_pool", inside, sizes, strides, ones, padding, 0).sum(axis=last)
    return np.sum(windows, axis=last, dtype=x.dtype) / count.astype(x.dtype)


def _pool(function: Callable[..., Any], axes: int) -> Callable[..., Any]:
    def pool(x: Any, sizes: Any, strides: Any, padding: Any) -> Any:
        return function(x, sizes, strides, padding)

    pool.__name__ = pool.__qualname__ = f"{function.__name__.strip('_')}_pool{axes}d"
    return whole(leads=_by_image(axes)["leads"])(pool)


def _pooling(name: str, about: str, function: Callable[..., Any], axes: int) -> Any:
    run = _pool(function, axes)
    usual = {1: "NWC", 2: "NHWC"}[axes]

    def pool(input: Any, ksize: Any, strides: Any, padding: Any, data_format: Any = usual) -> Any:
        sizes = _per_axis(name, "ksize", ksize, axes)
        steps = _per_axis(name, "strides", strides, axes)
        return _turned(lambda x: run(x, sizes, steps, padding), input, axes, data_format)

    pool.__name__ = pool.__qualname__ = name
    pool.__doc__ = f"Return the {about} of all windows of images."
    return composite(pool)


max_pool1d = _pooling("max_pool1d", "largest", _largest, 1)
max_pool2d = _pooling("max_pool2d", "largest", _largest, 2)
avg_pool1d = _pooling("avg_pool1d", "mean", _mean, 1)
avg_pool2d = _pooling("avg_pool2d", "mean", _mean, 2)


def _pooling_by_rank(name: str, of_rows: Any, of_images: Any) -> Any:
    def pool(input: Any, ksize: Any, strides: Any, padding: Any, data_format: Any = None) -> Any:
        of = of_rows if len(input.shape) == 3 else of_images
        more = () if data_format is None else (data_format,)
        return of(input, ksize, strides, padding, *more)

    pool.__name__ = pool.__qualname__ = name
    pool.__doc__ = f"Return what `{name}1d` gives for rows, or `{name}2d` for images."
    return composite(pool)


max_pool = _pooling_by_rank("max_pool", max_pool1d, max_pool2d)
avg_pool = _pooling_by_rank("avg_pool", avg_pool1d, avg_pool2d)


# --- blocks of places ---


@moving
def space_to_depth(input: Any, block_size: Any, data_format: str = "NHWC") -> Any:
    """Return blocks of places of images as channels."""
    x, by = held(input), static_of(block_size)
    *front, height, width, channels = np.shape(x)
    split = np.reshape(x, (*front, height // by, by, width // by, by, channels))
    moved = np.moveaxis(split, -4, -3)
    return np.reshape(moved, (*front, height // by, width // by, by * by * channels))


@moving
def depth_to_space(input: Any, block_size: Any, data_format: str = "NHWC") -> Any:
    """Return channels of images as blocks of places."""
    x, by = held(input), static_of(block_size)
    *front, height, width, channels = np.shape(x)
    split = np.reshape(x, (*front, height, width, by, by, channels // (by * by)))
    moved = np.moveaxis(split, -3, -4)
    return np.reshape(moved, (*front, height * by, width * by, channels // (by * by)))


NAMES = {
    **listed("nn", [conv1d, conv2d, depthwise_conv2d, separable_conv2d], top=False),
    **listed("nn", [max_pool1d, max_pool2d, avg_pool1d, avg_pool2d], top=False),
    **listed("nn", [space_to_depth, depth_to_space], top=False),
    **listed("nn", [max_pool, avg_pool], top=False),
}
