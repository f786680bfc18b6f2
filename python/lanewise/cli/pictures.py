"""Pictures for a page, without other packages: images as PNG, bars and lines as SVG."""

import base64
import html
import math
import struct
import zlib
from typing import NamedTuple

import numpy as np

from ..arguments import Array

_COLOURS = ("#9aa5b1", "#4c7fb0", "#e0782f")


class Bar(NamedTuple):
    """A bar: what it is, how long, and what is written beside it."""

    label: str
    value: float
    text: str


def png(image: Array) -> bytes:
    """Return an image, rows of red, green and blue as uint8, as a PNG file."""
    height, width, _ = image.shape
    rows = np.concatenate([np.zeros((height, 1), np.uint8), image.reshape(height, -1)], axis=1)

    def chunk(kind: bytes, data: bytes) -> bytes:
        check = zlib.crc32(kind + data)
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", check)

    header = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    data = zlib.compress(np.ascontiguousarray(rows, np.uint8).tobytes(), 6)
    parts = (chunk(b"IHDR", header), chunk(b"IDAT", data), chunk(b"IEND", b""))
    return b"\x89PNG\r\n\x1a\n" + b"".join(parts)


def image_tag(image: Array, text: str) -> str:
    """Return an image as a part of a page."""
    data = base64.b64encode(png(image)).decode()
    return f'<img alt="{html.escape(text)}" src="data:image/png;base64,{data}">'


def coloured(values: Array) -> Array:
    """Return numbers from 0 to 1 as colours from dark blue over orange to white."""
    stops = np.array([[9, 16, 45], [28, 78, 128], [224, 120, 47], [255, 232, 170], [255, 255, 255]])
    places = np.linspace(0, 1, len(stops))
    channels = [np.interp(values, places, stops[:, channel]) for channel in range(3)]
    return np.stack(channels, axis=-1).astype(np.uint8)


def bars(given: list[Bar]) -> str:
    """Return bars on a logarithmic scale, in which a tenth is always the same way shorter."""
    least = min(bar.value for bar in given) / 3
    span = math.log(max(bar.value for bar in given) / least)
    rows = []
    for i, bar in enumerate(given):
        width = 380 * math.log(bar.value / least) / span
        y = 30 * i
        rows.append(
            f'<text x="118" y="{y + 20}" text-anchor="end">{html.escape(bar.label)}</text>'
            f'<rect x="126" y="{y + 5}" width="{width:.1f}" height="20" rx="2" '
            f'fill="{_COLOURS[i % len(_COLOURS)]}"/>'
            f'<text x="{132 + width:.1f}" y="{y + 20}">{html.escape(bar.text)}</text>'
        )
    return _svg(700, 30 * len(given) + 6, rows)


def lanes(counts: Array, width: int, refill: bool) -> str:
    """Draw which steps each lane works in, for elements that take so many steps.

    In packets all lanes wait for the slowest; with refill a lane takes the next element at once.
    """
    ends = [0] * width
    boxes = []
    for number, count in enumerate(counts.tolist()):
        if not refill and number % width == 0:
            ends = [max(ends)] * width
        lane = ends.index(min(ends)) if refill else number % width
        boxes.append((lane, ends[lane], count, number))
        ends[lane] += count
    scale = 660 / max(ends)
    rows = [
        f'<rect x="{20 + begin * scale:.1f}" y="{6 + 16 * lane}" width="{count * scale:.1f}" '
        f'height="13" fill="{_COLOURS[1 + number % 2]}"/>'
        for lane, begin, count, number in boxes
    ]
    used = counts.sum() / (max(ends) * width)
    rows.append(
        f'<text x="20" y="{16 * width + 22}">{max(ends)} steps, lanes at work {used:.0%} of them'
        "</text>"
    )
    return _svg(700, 16 * width + 30, rows)


def _svg(width: int, height: int, rows: list[str]) -> str:
    return (
        f'<svg viewBox="0 0 {width} {height}" width="{width}" height="{height}" '
        f'xmlns="http://www.w3.org/2000/svg">{"".join(rows)}</svg>'
    )
