"""Tables that elements share: an ensemble of decision trees, and triangles with their boxes."""

import numpy as np

from .arrays import Array, Data

FEATURES = 28
TREES = 500
LEVELS = 8
INNER = 2**LEVELS - 1  # nodes of a tree that ask
LEAVES = 2**LEVELS

_TRIANGLES = 2000
_EDGE = 0.15
_LEAF = 4  # triangles in a box without smaller boxes, at most


def make_ensemble(random: np.random.Generator, rows: int) -> Data:
    tables = {
        "rows": random.normal(size=rows * FEATURES).astype(np.float32),
        "feature": random.integers(FEATURES, size=TREES * INNER, dtype=np.int32),
        "threshold": random.normal(size=TREES * INNER).astype(np.float32),
        "leaf": (random.uniform(-1, 1, TREES * LEAVES) / TREES).astype(np.float32),
    }
    return Data(rows, [], tables)


def make_rays(random: np.random.Generator, size: int) -> Data:
    """Return a square image's rays through a pinhole, and what they may meet."""
    side = round(size**0.5)
    across = (np.arange(side) + 0.5) / side * 2 - 1  # never zero: a direction is divided by
    x, y = (0.6 * v.ravel() for v in np.meshgrid(across, across))
    length = np.sqrt(x * x + y * y + 1)
    origin = (np.zeros(size), np.zeros(size), np.full(size, -2.5))
    rays = (*origin, x / length, y / length, 1 / length)
    return Data(size, [v.astype(np.float32) for v in rays], _scene(random))


def _scene(random: np.random.Generator) -> dict[str, Array]:
    middle = random.uniform(-1, 1, (_TRIANGLES, 1, 3))
    around = random.normal(size=(_TRIANGLES, 3, 3))
    around *= _EDGE / 3**0.5 / np.linalg.norm(around, axis=2, keepdims=True)
    triangles = (middle + around).astype(np.float32)
    order, boxes, left, count = _build_boxes(triangles)
    return {
        "node_box": np.array(boxes, np.float32).ravel(),  # least x, y, z, largest x, y, z
        "node_left": np.array(left, np.int32),  # the first of two children, or of the triangles
        "node_count": np.array(count, np.int32),  # of triangles, zero if there are children
        "triangle": triangles[order].ravel(),  # three corners
    }


def _build_boxes(triangles: Array) -> tuple[list[int], list[Array], list[int], list[int]]:
    """Split at the median of the longest axis of the centres until few triangles are left."""
    centres = triangles.mean(axis=1)
    order: list[int] = []
    boxes: list[Array] = [np.zeros(6)]
    left, count = [0], [0]
    waiting = [(0, np.arange(len(triangles)))]
    while waiting:
        node, members = waiting.pop()
        corners = triangles[members].reshape(-1, 3)
        boxes[node] = np.concatenate([corners.min(axis=0), corners.max(axis=0)])
        if len(members) <= _LEAF:
            left[node], count[node] = len(order), len(members)
            order += members.tolist()
            continue
        axis = np.ptp(centres[members], axis=0).argmax()
        members = members[np.argsort(centres[members, axis], kind="stable")]
        left[node] = len(boxes)
        waiting += [(len(boxes), members[: len(members) // 2])]
        waiting += [(len(boxes) + 1, members[len(members) // 2 :])]
        boxes += [np.zeros(6)] * 2
        left += [0, 0]
        count += [0, 0]
    return order, boxes, left, count
