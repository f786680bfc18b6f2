"""JAX on the CPU: jit, and a wait for the result; loops in batches of the best size."""

import importlib
from functools import partial
from types import SimpleNamespace
from typing import Any

import numpy as np

from ..formulas import Formula, is_formula, make_formula, make_scaled_wave
from . import MissingError, Prepared, Task
from .jax_loops import LOOPS, Loop, make_batched
from .jax_tensors import TENSORS

jax: Any = importlib.import_module("jax")
jnp: Any = importlib.import_module("jax.numpy")
jax.config.update("jax_platforms", "cpu")
jax.config.update("jax_enable_x64", True)

_FUNCTIONS = SimpleNamespace(
    sin=jnp.sin,
    cos=jnp.cos,
    exp=jnp.exp,
    log=jnp.log,
    sqrt=jnp.sqrt,
    tanh=jnp.tanh,
    pow=jnp.power,
    erf=jax.scipy.special.erf,
)


def _call(function: Formula, inputs: list[Any]) -> Any:
    return function(*inputs).block_until_ready()


def prepare_loop(task: Task, loop: Loop) -> Prepared:
    """Make a competitor of a workload with loops."""
    if jax.config.jax_num_cpu_devices < task.threads:  # before its first use
        jax.config.update("jax_num_cpu_devices", task.threads)
    # Batches come one after the other, so that several threads need a device each.
    devices = jax.devices()[: task.threads]
    run = make_batched(loop)
    values, shared = loop.arrange(task)
    parts = zip(*(np.array_split(x, len(devices)) for x in values), strict=True)
    arguments = [
        jax.device_put((part, shared), device) for part, device in zip(parts, devices, strict=True)
    ]

    def call() -> Any:
        return jax.block_until_ready([run(*part) for part in arguments])

    return Prepared(call, np.concatenate)


def prepare(task: Task) -> Prepared:
    if task.workload in TENSORS:
        return prepare_loop(task, TENSORS[task.workload])
    if task.workload in LOOPS:
        return prepare_loop(task, LOOPS[task.workload])
    if task.workload != "first_call" and not is_formula(task.workload):
        raise MissingError("not written")
    inputs = [jax.device_put(x) for x in task.inputs]
    if task.workload == "first_call":
        factors = iter(range(1_000_000))

        def first_call() -> Any:
            wave = make_scaled_wave(_FUNCTIONS, 1 + next(factors) / 1024)
            return _call(jax.jit(wave), inputs)

        return Prepared(first_call, np.asarray, once=True)
    return Prepared(
        partial(_call, jax.jit(make_formula(task.workload, _FUNCTIONS)), inputs), np.asarray
    )
