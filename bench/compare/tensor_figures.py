"""The figures of workloads whose elements are rows, images and matrices; lanewise from Python."""

from collections.abc import Iterator
from dataclasses import dataclass

from .tensors import FAST, TENSORS
from .times import Figure, Times

_OURS = "lanewise from Python"


@dataclass(frozen=True)
class _Bar:
    """Against the best of the others. PyTorch has rows of its own, because it is often missing."""

    words: str
    others: tuple[str, ...]
    bar: float
    aim: float | None = None  # what would be good to have
    ours: str = _OURS


_XLA = ("jax", "tensorflow")
_ROWS = [
    _Bar("by hand, our rules", ("hand",), 0.85),
    _Bar("the faster of JAX and TensorFlow", _XLA, 1.3, 1.5),
    _Bar("PyTorch", ("torch",), 1.3),
]
_IMAGES = [_Bar("Numba", ("numba",), 1.0), _Bar("JAX", ("jax",), 1.0)]
_DISTANCES = [
    _Bar("the faster of NumPy and JAX", ("numpy", "jax"), 2, 4),
    _Bar("PyTorch", ("torch",), 2),
]
_RAGGED = [_Bar("a loop over rows in Numba", ("numba",), 5)]
# With AVX-512.
_BARS = {
    "softmax_rows": _ROWS,
    "layernorm": _ROWS,
    "nbody": [
        _Bar("Numba with fastmath", ("numba, fastmath",), 0.95),
        _Bar("by hand, free", ("free",), 0.85, ours=FAST[0]),
        _Bar("Numba", ("numba",), 1.5, ours=FAST[0]),
    ],
    "solve3x3": [
        _Bar("NumPy", ("numpy",), 20),
        _Bar("the faster of JAX and TensorFlow", (*_XLA, "tensorflow, vectorized_map"), 15),
        _Bar("Numba by Cramer's rule", ("numba, Cramer",), 0, 1.0),
    ],
    "images_sqrt": _IMAGES,
    "images_blur": _IMAGES,
    "repeat_sum": [_Bar("JAX", ("jax",), 0.95)],
    "mlp_forward": [_Bar("OpenBLAS, the rest in place", ("numpy",), 0.8, 1.0)],
    "product": [_Bar("OpenBLAS", ("numpy",), 0.8, 0.9)],
    "kmeans_assign": _DISTANCES,
    "pairwise_kernel": _DISTANCES,
    "ragged_crc": _RAGGED,
    "ragged_softmax": _RAGGED,
}
_BANDWIDTH = 0.9
_MEMORY = 64 + 16  # the budget, and what a process may need beside it
_LESS_MEMORY = {"repeat_sum": 16}


def tensor_figures(times: Times) -> Iterator[Figure]:
    for workload, program in TENSORS.items():
        case = (workload, program.dtype, program.size)
        if not times.has(*case):
            continue
        if times.wide:
            yield from _speeds(times, case)
        first = times.first(_OURS, *case)
        yield Figure(
            f"{workload}: memory beyond inputs and outputs",
            None if first is None else first / 2**20,
            _LESS_MEMORY.get(workload, _MEMORY),
            at_least=False,
            unit="MB",
        )


def _speeds(times: Times, case: tuple[str, str, int]) -> Iterator[Figure]:
    workload = case[0]
    for row in _BARS.get(workload, ()):
        failed = times.has_failed(row.ours, *case)
        value = 0.0 if failed else times.speed(row.others, *case, ours=row.ours)
        subject = workload + row.ours.removeprefix(_OURS)
        if row.bar:
            yield Figure(f"{subject}: against {row.words}", value, row.bar)
        if row.aim:
            yield Figure(f"{subject}: against {row.words}", value, row.aim, exempt="an aim")
    if workload.startswith("images_"):
        yield from _bandwidth(times, case)


def _bandwidth(times: Times, case: tuple[str, str, int]) -> Iterator[Figure]:
    """Against reading and writing alone, which counts where code by hand is as fast as that."""
    by_hand = times.speed(("bandwidth",), *case, ours="hand")
    exempt = f"by hand {by_hand:.2f}" if by_hand is not None and by_hand < _BANDWIDTH else ""
    what = f"{case[0]}: against reading and writing alone"
    value = times.speed(("bandwidth",), *case, ours=_OURS)
    yield Figure(what, value, _BANDWIDTH, exempt=exempt)
    what = f"{case[0]}: against by hand, our rules"
    yield Figure(what, times.speed(("hand",), *case, ours=_OURS), _BANDWIDTH)
