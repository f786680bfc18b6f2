"""Taichi on the CPU: kernels over its own arrays; output reused."""

import importlib
import os
from typing import Any

from . import MissingError, Prepared, Task

os.environ["ENABLE_TAICHI_HEADER_PRINT"] = "0"
ti: Any = importlib.import_module("taichi")

_DTYPES = {"float32": ti.f32, "float64": ti.f64, "int32": ti.i32, "int64": ti.i64}


def _to_taichi(x: Any) -> Any:
    array = ti.ndarray(_DTYPES[x.dtype.name], x.shape)
    array.from_numpy(x)
    return array


def prepare(task: Task) -> Prepared:
    loops = importlib.import_module(f"{__package__}.taichi_loops").LOOPS
    if task.workload not in loops:
        raise MissingError("compared on the workloads with loops only")
    ti.init(
        arch=ti.cpu,
        cpu_max_num_threads=task.threads,
        default_fp=ti.f64 if task.dtype == "f64" else ti.f32,
        offline_cache=False,
        log_level=ti.WARN,
    )
    kernel = loops[task.workload]
    out = _to_taichi(task.new_output())
    arguments = [out, *map(_to_taichi, [*task.inputs, *task.tables.values()])]

    def call() -> Any:
        kernel(*arguments)
        ti.sync()
        return out

    return Prepared(call, lambda result: result.to_numpy())
