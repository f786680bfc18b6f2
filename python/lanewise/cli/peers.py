"""The workloads of the benchmark in other libraries, for those that are installed.

Each takes NumPy arrays and gives an array that NumPy can read, when the result is there.
"""

import ctypes.util
import importlib
import os
from collections.abc import Callable
from importlib.util import find_spec
from typing import Any

import numpy as np

from .workloads import STEPS, Workload, wave

Peer = Callable[..., Any]


def peers_of(workload: Workload) -> dict[str, Peer]:
    """Return the versions of a workload by library, those that can be made here."""
    found: dict[str, Peer] = {"NumPy": workload.numpy}
    for module, (name, make) in _PEERS.items():
        if find_spec(module) is not None and (peer := make(workload)) is not None:
            found[name] = peer
    return found


def _numba(workload: Workload) -> Peer | None:
    numba: Any = importlib.import_module("numba")
    element = numba.njit(workload.plain)
    prange = numba.prange

    @numba.njit(parallel=True)  # type: ignore[untyped-decorator]
    def one_array(out: Any, x: Any, y: Any) -> None:
        for i in prange(out.size):
            out[i] = element(x[i], y)

    @numba.njit(parallel=True)  # type: ignore[untyped-decorator]
    def two_arrays(out: Any, x: Any, y: Any) -> None:
        for i in prange(out.size):
            out[i] = element(x[i], y[i])

    def call(x: Any, y: Any) -> Any:
        out = np.empty(x.shape, np.float64 if workload.function is wave else np.int32)
        if isinstance(y, float):
            one_array(out.reshape(-1), x.reshape(-1), y)
        else:
            two_arrays(out.reshape(-1), x.reshape(-1), y.reshape(-1))
        return out

    return call


def _jax(workload: Workload) -> Peer | None:
    jax: Any = importlib.import_module("jax")
    jax.config.update("jax_enable_x64", True)
    jnp = jax.numpy

    def one_wave(x: Any, damping: Any) -> Any:
        return jnp.sin(x) * jnp.where(x > 0, 1 - damping * x, 1) + jnp.cos(3 * x)

    def one_point(a: Any, b: Any) -> Any:
        def goes_on(state: Any) -> Any:
            x, y, n = state
            return (x * x + y * y < 4) & (n < STEPS)

        def step(state: Any) -> Any:
            x, y, n = state
            return x * x - y * y + a, 2 * x * y + b, n + 1

        return jax.lax.while_loop(goes_on, step, (0.0, 0.0, jnp.int32(0)))[2]

    is_wave = workload.function is wave
    function = jax.jit(one_wave if is_wave else jax.vmap(jax.vmap(one_point)))
    return lambda *arguments: jax.block_until_ready(function(*arguments))


def _drjit(workload: Workload) -> Peer | None:
    if "DRJIT_LIBLLVM_PATH" not in os.environ:
        names = ("LLVM-20", "LLVM-19", "LLVM-18", "LLVM-17", "LLVM")
        library = next(filter(None, map(ctypes.util.find_library, names)), None)
        if library is None:
            return None
        os.environ["DRJIT_LIBLLVM_PATH"] = library
    dr: Any = importlib.import_module("drjit")
    if not dr.has_backend(dr.JitBackend.LLVM):
        return None
    llvm: Any = importlib.import_module("drjit.llvm")

    @dr.freeze  # type: ignore[untyped-decorator]
    def all_waves(x: Any, damping: Any) -> Any:
        return dr.sin(x) * dr.select(x > 0, 1 - damping * x, 1) + dr.cos(3 * x)

    @dr.freeze  # type: ignore[untyped-decorator]
    def all_points(a: Any, b: Any) -> Any:
        def goes_on(x: Any, y: Any, n: Any) -> Any:
            return (x * x + y * y < 4) & (n < STEPS)

        def step(x: Any, y: Any, n: Any) -> Any:
            return x * x - y * y + a, 2 * x * y + b, n + 1

        state = (llvm.Float64(0), llvm.Float64(0), llvm.Int(0))
        return dr.while_loop(state, goes_on, step)[2]

    is_wave = workload.function is wave
    arrays = [
        llvm.Float64(a.ravel()) if isinstance(a, np.ndarray) else llvm.Float64(a)
        for a in workload.arguments
    ]
    dr.make_opaque(arrays)

    def call(*_: Any) -> Any:  # the arrays are its own already
        result = (all_waves if is_wave else all_points)(*arrays)
        dr.eval(result)
        dr.sync_thread()
        return result

    return call


_PEERS: dict[str, tuple[str, Callable[[Workload], Peer | None]]] = {
    "numba": ("Numba", _numba),
    "jax": ("JAX", _jax),
    "drjit": ("Dr.Jit", _drjit),
}
