"""JAX as most people write a loop: vmap of a while_loop over all elements at once."""

from dataclasses import replace

from . import MissingError, Prepared, Task
from .jax_loops import LOOPS
from .jax_peer import prepare_loop


def prepare(task: Task) -> Prepared:
    if task.workload not in LOOPS:
        raise MissingError("has no loop")
    loop = LOOPS[task.workload]
    if loop.batch == 0:
        raise MissingError("is the same as JAX's")
    return prepare_loop(task, replace(loop, batch=0))
