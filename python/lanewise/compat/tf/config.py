"""``tf.config``, ``tf.device`` and ``tf.profiler``: what runs where, and where its time goes.

There is one device, the processor. A scope with another one's name runs on it too, as TensorFlow's
soft placement does. The number of threads within operations is that of `lanewise.set_num_threads`.
"""

import logging
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from ...profiling import Profile as Taken
from ...settings import memory_info, set_num_threads
from . import graph
from .errors import AlreadyExistsError, UnavailableError
from .names import listed
from .tensor import Tensor, is_symbol, is_tensor


class PhysicalDevice(NamedTuple):
    """A device that is there."""

    name: str
    device_type: str


class LogicalDevice(NamedTuple):
    """A device that programs run on."""

    name: str
    device_type: str


VERSION = "2.21.0-lanewise"  # of TensorFlow, whose names these are
_PHYSICAL = PhysicalDevice("/physical_device:CPU:0", "CPU")
_LOGICAL = LogicalDevice("/device:CPU:0", "CPU")
_set: dict[str, Any] = {"inter": 0, "intra": 0, "soft": True, "options": {}, "jit": ""}


def list_physical_devices(device_type: str | None = None) -> list[PhysicalDevice]:
    """Return the devices of a type; the processor is the only one."""
    return [_PHYSICAL] if device_type in (None, "CPU") else []


def list_logical_devices(device_type: str | None = None) -> list[LogicalDevice]:
    """Return the devices of a type that programs run on."""
    return [_LOGICAL] if device_type in (None, "CPU") else []


def get_visible_devices(device_type: str | None = None) -> list[PhysicalDevice]:
    """Return the devices of a type that programs may use."""
    return list_physical_devices(device_type)


def set_visible_devices(devices: Any, device_type: str | None = None) -> None:
    """Say which devices programs may use; the processor stays one of them."""
    wanted = [devices] if isinstance(devices, PhysicalDevice) else list(devices or ())
    for one in wanted:
        if one != _PHYSICAL:
            raise ValueError(
                f"set_visible_devices: no such device; got {one!r}, expected some of "
                f"{list_physical_devices()!r}."
            )


def set_memory_growth(device: Any, enable: bool) -> None:
    """Accept how memory of a GPU is taken: there is none."""


def get_memory_growth(device: Any) -> bool:
    """Say that memory is taken as it is needed."""
    return True


def get_memory_info(device: str) -> dict[str, int]:
    """Return the bytes that lanewise uses, now and at most."""
    uses = list(memory_info())
    return {
        "current": sum(use.live for use in uses),
        "peak": sum(use.peak for use in uses),
    }


def enable_op_determinism() -> None:
    """Accept: results never depend on threads or timing."""


def set_intra_op_parallelism_threads(num_threads: int) -> None:
    """Set how many threads an operation may use; 0 for as many as there are."""
    set_num_threads(num_threads)
    _set["intra"] = num_threads


def get_intra_op_parallelism_threads() -> int:
    """Return what was set; 0 for as many as there are."""
    return int(_set["intra"])


def set_inter_op_parallelism_threads(num_threads: int) -> None:
    """Accept how many operations run beside one another: each uses all threads that there are."""
    _set["inter"] = num_threads


def get_inter_op_parallelism_threads() -> int:
    """Return what was set."""
    return int(_set["inter"])


def set_soft_device_placement(enabled: bool) -> None:
    """Accept whether other devices may stand for one that is not there: the processor always does.

    There is no other.
    """
    _set["soft"] = enabled


def get_soft_device_placement() -> bool:
    """Return what was set."""
    return bool(_set["soft"])


def set_jit(enabled: Any) -> None:
    """Accept whether programs are compiled: they always are."""
    _set["jit"] = enabled


def get_jit() -> Any:
    """Return what was set."""
    return _set["jit"]


def set_experimental_options(options: dict[str, Any]) -> None:
    """Accept options of TensorFlow's optimizer."""
    _set["options"] = dict(options)


def get_experimental_options() -> dict[str, Any]:
    """Return what was set."""
    return dict(_set["options"])


@contextmanager
def device(device_name: Any) -> Iterator[None]:
    """Let what is called here run on a device: the processor, whatever the name is."""
    if device_name is not None and not isinstance(device_name, (str, LogicalDevice)):
        raise ValueError(
            f'device: no name; got {device_name!r}, expected a text like "/CPU:0", or None.'
        )
    yield


# --- profiles ---


class ProfilerOptions(NamedTuple):
    """What is profiled in TensorFlow; here it is always the same."""

    host_tracer_level: int = 2
    python_tracer_level: int = 0
    device_tracer_level: int = 1
    delay_ms: int | None = None


_running: list[Taken] = []


def start(logdir: str, options: Any = None) -> None:
    """Begin a profile of all calls; `stop` writes it into a folder.

    The file is for https://ui.perfetto.dev or chrome://tracing.
    """
    if _running:
        raise AlreadyExistsError("profiler.start: a profile is being taken; expected none.")
    folder = Path(logdir) / "plugins" / "profile" / time.strftime("%Y_%m_%d_%H_%M_%S")
    folder.mkdir(parents=True, exist_ok=True)
    _running.append(Taken(folder / "lanewise.trace.json").__enter__())


def stop(save: bool = True) -> None:
    """End the profile."""
    if not _running:
        raise UnavailableError("profiler.stop: no profile is being taken; expected start before.")
    _running.pop().__exit__(None, None, None)


class Profile:
    """A profile of all calls in a with statement."""

    def __init__(self, logdir: str, options: Any = None) -> None:
        self._logdir = logdir

    def __enter__(self) -> "Profile":
        """Begin."""
        start(self._logdir)
        return self

    def __exit__(self, *_: object) -> None:
        """End, and write the file."""
        stop()


class Trace:
    """A name for what is called in a with statement: accepted, and not in the profile."""

    def __init__(self, name: str, **kwargs: Any) -> None:
        self.name = name

    def __enter__(self) -> "Trace":
        """Begin."""
        return self

    def __exit__(self, *_: object) -> None:
        """End."""

    def set_metadata(self, **kwargs: Any) -> None:
        """Accept more that is said."""


# --- others ---


def get_logger() -> logging.Logger:
    """Return TensorFlow's logger."""
    return logging.getLogger("tensorflow")


def timestamp(name: Any = None) -> Any:
    """Return the seconds since 1970."""
    if graph.building() is not None:
        return graph.record(timestamp, (), {})
    return Tensor(np.float64(time.time()))


def get_static_value(tensor: Any, partial: bool = False) -> Any:
    """Return the value of a tensor that is known; None of others."""
    if not is_tensor(tensor):
        return tensor
    is_known = isinstance(tensor, Tensor) and not is_symbol(tensor) and not tensor.is_graph
    return tensor.numpy() if is_known else None


def is_symbolic_tensor(tensor: Any) -> bool:
    """Say whether something is a tensor without a value yet."""
    return is_symbol(tensor) or getattr(tensor, "is_graph", False) is True


def is_gpu_available(*_: Any, **__: Any) -> bool:
    """Say that there is no GPU."""
    return False


def is_built_with_cuda() -> bool:
    """Say that no GPU is used."""
    return False


def gpu_device_name() -> str:
    """Return the name of a GPU: there is none."""
    return ""


_EXPERIMENTAL = [
    *(set_memory_growth, get_memory_growth, get_memory_info, enable_op_determinism),
    *(list_physical_devices, list_logical_devices, get_visible_devices, set_visible_devices),
]
_THREADING = [
    *(set_intra_op_parallelism_threads, get_intra_op_parallelism_threads),
    *(set_inter_op_parallelism_threads, get_inter_op_parallelism_threads),
]
_CONFIG = [
    *(list_physical_devices, list_logical_devices, get_visible_devices, set_visible_devices),
    *(set_soft_device_placement, get_soft_device_placement, PhysicalDevice, LogicalDevice),
]

NAMES: dict[str, Any] = {
    "version.VERSION": VERSION,
    **listed("config", _CONFIG, top=False),
    **listed("config.experimental", _EXPERIMENTAL, top=False),
    **listed("config.threading", _THREADING, top=False),
    **listed(
        "config.optimizer",
        [set_jit, get_jit, set_experimental_options, get_experimental_options],
        top=False,
    ),
    **listed("profiler.experimental", [start, stop, Profile, Trace, ProfilerOptions], top=False),
    **listed("test", [is_gpu_available, is_built_with_cuda, gpu_device_name], top=False),
    **listed("", [device, get_logger, timestamp, get_static_value, is_symbolic_tensor]),
}
