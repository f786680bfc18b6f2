"""The figures that are to be met, computed from the results of one run."""

from collections.abc import Callable, Iterator

from .cases import LONG, SINGLE_FUNCTIONS
from .programs import PROGRAMS
from .tensor_figures import tensor_figures
from .times import Figure, Times

_MEGA = 1_000_000


def all_figures(times: Times, figure: Callable[[str, object], float | None]) -> list[Figure]:
    """Return the figures of all cases that were run; `figure` asks lanewise for one of its own."""
    return [
        *_speeds(times),
        *_from_python(times),
        *_threads(times, "wave f32, n = 1e7", ("wave", "f32", 10 * _MEGA), 1.9),
        *(_programs(times) if times.wide else ()),
        *tensor_figures(times),
        *_lanewise_alone(times, figure),
    ]


# Workload, type, size, threads, opponents of whom the best counts, bar, and what of us runs.
_Row = tuple[str, str, int, int, tuple[str, ...], float, str]

_ROWS: list[_Row] = [
    ("wave", "f32", 10 * _MEGA, 1, ("drjit",), 1.1, "lanewise"),
    ("wave", "f32", 10 * _MEGA, 1, ("libmvec",), 1.2, "lanewise"),
    ("wave", "f32", 10 * _MEGA, 1, ("hand",), 0.95, "lanewise"),
    *(
        ("black_scholes", "f32", size, 1, (other,), bar, "lanewise")
        for size in (_MEGA, 10 * _MEGA)
        for other, bar in (("libmvec", 1.0), ("jax", 1.0), ("drjit", 1.4))
    ),
    ("sine_chain", "f32", _MEGA, 1, ("libmvec",), 1.6, "lanewise"),
    ("sine_chain", "f32", _MEGA, 1, ("drjit",), 5.0, "lanewise"),
    ("sine_chain", "f32", _MEGA, 1, ("hand",), 0.75, "lanewise"),
    *(
        (workload, "f64", size, 1, (other,), 1.0, "lanewise")
        for workload, size in (("wave", 10 * _MEGA), ("sine_chain", _MEGA))
        for other in ("libmvec", "drjit")
    ),
    *(
        (workload, "f32", LONG, threads, ("scalar", "libmvec", "hand", "free"), 0.95, "lanewise")
        for workload in ("saxpy", "square")
        for threads in (1, 2)
    ),
    ("wave", "f32", _MEGA, 1, ("scalar",), 5.0, "lanewise, tier 0"),
    ("wave", "f32", _MEGA, 1, ("numpy",), 0.7, "lanewise, tier 0"),
]

_WORDS = {
    ("drjit",): "Dr.Jit",
    ("libmvec",): "libmvec",
    ("hand",): "by hand, our rules",
    ("jax",): "JAX",
    ("jax, vmap",): "JAX's vmap",
    ("scalar",): "scalar C++",
    ("numpy",): "NumPy",
    ("numpy", "libmvec"): "the faster of NumPy and libmvec",
    ("scalar", "libmvec", "hand", "free"): "the best C++ loop",
    ("numba",): "Numba",
    ("free",): "by hand, free",
    ("packets",): "packets by hand",
    ("lanewise, packets",): "our own packets",
    ("scalar", "jax"): "the faster of scalar C++ and JAX",
}

# With AVX-512. By workload: opponents of whom the best counts, and the bar.
_PROGRAM_ROWS: dict[str, list[tuple[tuple[str, ...], float]]] = {
    "mandelbrot_image": [
        (("hand",), 0.95),
        (("drjit",), 3.3),
        (("numba",), 22),
        (("jax, vmap",), 100),
    ],
    "mandelbrot_shuffled": [
        (("free",), 0.85),
        (("packets",), 2.8),
        (("drjit",), 12),
        (("jax, vmap",), 90),
    ],
    "mandelbrot_escaping": [
        (("free",), 0.8),
        (("packets",), 5),
        (("drjit",), 8),
        (("jax, vmap",), 1500),
    ],
    "kepler": [(("hand",), 0.9), (("drjit",), 1.4), (("numba",), 12), (("jax, vmap",), 35)],
    "ode_lorenz": [(("drjit",), 0.9), (("numba",), 5), (("jax, vmap",), 12)],
    "ode_van_der_pol": [(("lanewise, packets",), 1.5), (("drjit",), 2)],
    "tree_ensemble": [(("hand",), 0.75), (("drjit",), 2.2), (("numba",), 8)],
    "binomial_options": [(("scalar",), 4)],
    "ray_bvh": [(("scalar",), 4)],
    "first_passage": [(("scalar",), 4)],
    "implied_vol": [(("scalar",), 4)],
    "accumulate": [(("scalar", "jax"), 0.95)],
}
# The same freedom on both sides: contracted products and sums.
_FAST_ROWS = {"mandelbrot_shuffled": 0.85, "mandelbrot_escaping": 0.8}
# What would be good to have; a bar missed here is not counted.
_AIMS = {("ode_van_der_pol", ("drjit",))}


def _speeds(times: Times) -> Iterator[Figure]:
    rows = list(_ROWS)
    for name in SINGLE_FUNCTIONS:
        bar = 0.8 if name == "tanh" and times.wide else 1.0
        rows.append((name, "f32", _MEGA, 1, ("numpy", "libmvec"), bar, "lanewise"))
    for workload, dtype, size, threads, others, bar, ours in rows:
        if not times.has(workload, dtype, size, threads):
            continue
        subject = f"{workload} {dtype}, n = {size:.3g}".replace("e+0", "e")
        if threads > 1:
            subject += f", {threads} threads"
        if ours != "lanewise":
            subject += ours.removeprefix("lanewise")
        value = times.speed(others, workload, dtype, size, threads, ours)
        yield Figure(f"{subject}: against {_WORDS[others]}", value, bar)


def _programs(times: Times) -> Iterator[Figure]:
    for workload, rows in _PROGRAM_ROWS.items():
        case = (workload, PROGRAMS[workload].dtype, PROGRAMS[workload].size)
        if not times.has(*case):
            continue
        subject = f"{workload} {case[1]}"
        for others, bar in rows:
            exempt = "an aim" if (workload, others) in _AIMS else ""
            what = f"{subject}: against {_WORDS[others]}"
            yield Figure(what, times.speed(others, *case), bar, exempt=exempt)
        if workload in _FAST_ROWS:
            value = times.speed(("free",), *case, ours="lanewise, fast")
            yield Figure(f"{subject}, fast: against by hand, free", value, _FAST_ROWS[workload])
        yield from _threads(times, subject, case, 1.85)


_SHORT = 20e-6  # seconds; what a shorter call costs is for bench/calls


def _from_python(times: Times) -> Iterator[Figure]:
    for result in times.results():
        case = result.case
        ours, theirs = (result.seconds.get(name) for name in ("lanewise from Python", "lanewise"))
        if case.threads == 1 and theirs is not None and theirs >= _SHORT:
            value = None if ours is None else ours / theirs
            subject = f"{case.workload} {case.dtype}, n = {case.size:.3g}".replace("e+0", "e")
            yield Figure(f"{subject}: from Python against C++", value, 1.02, at_least=False)


def _threads(
    times: Times, subject: str, case: tuple[str, str, int], bar: float
) -> Iterator[Figure]:
    """Two threads against one, where the plain C++ loop gains as much."""
    if not (times.has(*case, 1) and times.has(*case, 2)):
        return

    def gain(name: str) -> float | None:
        one, two = times.get(name, *case, 1), times.get(name, *case, 2)
        return None if one is None or two is None else one / two

    plain = gain("scalar")
    exempt = "" if plain is None or plain >= bar else f"plain C++ gains {plain:.2f} here"
    yield Figure(f"{subject}: 2 threads against 1", gain("lanewise"), bar, exempt=exempt)


def _lanewise_alone(
    times: Times, figure: Callable[[str, object], float | None]
) -> Iterator[Figure]:
    def scaled(what: str, of: object, factor: float) -> float | None:
        value = figure(what, of)
        return None if value is None else value * factor

    for workload, bar in (("wave", 15.0), ("black_scholes", 30.0)):
        if times.has(workload, "f32", _MEGA):
            value = scaled("compile", workload, 1e3)
            name = f"{workload} f32: compile in the background"
            yield Figure(name, value, bar, at_least=False, unit="ms")
    if times.has("wave", "f32", _MEGA):
        for what, bar in (("disk_hit", 1.0), ("disk_hit_first", 3.0)):
            name = "from disk" if what == "disk_hit" else "from disk, first of a process"
            value = scaled(what, "wave", 1e3)
            yield Figure(f"wave f32: {name}", value, bar, at_least=False, unit="ms")
        for size in (1000, 100 * _MEGA):
            value = scaled("memory", size, 2**-20)
            text = f"wave f32, n = {size:.0e}: peak memory beside arrays".replace("e+0", "e")
            yield Figure(text, value, 16.0, at_least=False, unit="MB")
        apart = [
            ("compiler_memory", "memory of the compiler", 16.0),
            ("pool_memory", "memory kept of a dropped result", 45.0),
        ]
        for what, name, bar in apart:
            value = scaled(what, 10 * _MEGA, 2**-20)
            text = f"wave f32, n = 1e7: {name}"
            yield Figure(text, value, bar, at_least=False, unit="MB", exempt="shown apart")
