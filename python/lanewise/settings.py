"""Settings and state of the process."""

from typing import NamedTuple

from . import _core
from .errors import UsageError


class CacheInfo(NamedTuple):
    """What is in the cache of programs, in memory and on disk, and how often it helped.

    ``most_bytes`` is the bound in memory (``LANEWISE_CACHE_BYTES``). ``disk_directory`` is empty
    when nothing is kept on disk (``LANEWISE_DISK_CACHE=0``).
    """

    entries: int
    bytes: int
    most_bytes: int
    hits: int
    misses: int
    evictions: int
    disk_directory: str
    disk_hits: int
    disk_misses: int
    disk_writes: int


class MemoryUse(NamedTuple):
    """Bytes now, and the most there ever were."""

    live: int
    peak: int


class MemoryInfo(NamedTuple):
    """What lanewise uses of the memory, by what it is for.

    ``outputs`` are results of 256 KB and more that are held; ``pool`` is what dropped ones left for
    the next, at most ``LANEWISE_POOL_BYTES`` (a sixteenth of what the process may use); ``scratch``
    is of workers, ``code`` of programs, and ``compiler`` what it had after its phases.
    """

    outputs: MemoryUse
    pool: MemoryUse
    scratch: MemoryUse
    code: MemoryUse
    compiler: MemoryUse


def set_num_threads(threads: int) -> None:
    """Set how many threads a map may use when it is not told otherwise.

    Parameters
    ----------
    threads : int
        0 goes back to the default: ``LANEWISE_NUM_THREADS``, or what the process may run on.

    Examples
    --------
    >>> import lanewise as lw
    >>> lw.set_num_threads(1)
    >>> lw.set_num_threads(0)
    """
    if not isinstance(threads, int) or isinstance(threads, bool) or not 0 <= threads < 2**31:
        raise UsageError(
            f"set_num_threads: not a number of threads; got {threads!r}, expected 0 (the default) "
            "or more."
        )
    _core.set_num_threads(threads)


def cache_info() -> CacheInfo:
    """Return the state of the cache that holds programs and their machine code.

    Examples
    --------
    >>> import lanewise as lw
    >>> info = lw.cache_info()
    >>> info.bytes <= info.most_bytes
    True
    """
    return CacheInfo(*_core.cache_info())


def memory_info() -> MemoryInfo:
    """Return what lanewise uses of the memory.

    Examples
    --------
    >>> import numpy as np
    >>> import lanewise as lw
    >>> y = lw.vectorize(lambda x: x + 1)(np.zeros(1_000_000))
    >>> lw.memory_info().outputs.live >= 8_000_000
    True
    """
    return MemoryInfo(*(MemoryUse(*use) for use in _core.memory_info()))


def clear_cache() -> None:
    """Drop all programs in memory that are not running; what is on disk stays.

    Functions that exist get their code back at their next call.

    Examples
    --------
    >>> import numpy as np
    >>> import lanewise as lw
    >>> f = lw.vectorize(lambda x: x + 1)
    >>> f(np.zeros(2))
    array([1., 1.])
    >>> lw.clear_cache()
    >>> f(np.ones(2))
    array([2., 2.])
    """
    _core.clear_cache()
