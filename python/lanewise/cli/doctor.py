"""``lanewise doctor``: whether all works here, and what may be in the way."""

import argparse
import importlib.metadata
import importlib.util
import os
import platform
import stat
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from time import perf_counter
from typing import Any, NamedTuple

import numpy as np

import lanewise as lw

from .._core import num_threads
from .cache import stored
from .workloads import mandelbrot, plain_mandelbrot, plain_wave, wave


class Finding(NamedTuple):
    """One line of the answer."""

    state: str  # "ok", "note" (works, but look) or "bad"
    topic: str
    text: str


def run_doctor(options: argparse.Namespace) -> int:
    """Print all findings; the exit code is 1 if one is bad."""
    findings = []
    for look in (_versions, _threads, _cache, _self_checks, _hints):
        for finding in look():
            findings.append(finding)
            print(f"{finding.state:<5}{finding.topic:<9}{finding.text}")
    return int(any(finding.state == "bad" for finding in findings))


def _versions() -> Iterator[Finding]:
    yield Finding("ok", "lanewise", f"{lw.__version__}, {Path(lw.__file__).parent}")
    yield Finding("ok", "python", f"{platform.python_version()}, {sys.executable}")
    yield Finding("ok", "numpy", np.__version__)
    libc = " ".join(platform.libc_ver())
    yield Finding("ok", "system", f"{platform.system()} {platform.machine()}, {libc}")


def _threads() -> Iterator[Finding]:
    allowed = len(os.sched_getaffinity(0))
    wish = os.environ.get("LANEWISE_NUM_THREADS")
    said = f" (LANEWISE_NUM_THREADS={wish})" if wish else ""
    text = f"{num_threads()} used{said}, the process may run on {allowed} of {os.cpu_count()}"
    is_more = num_threads() > allowed
    yield Finding("note" if is_more else "ok", "threads", text)


def _self_checks() -> Iterator[Finding]:
    x = np.linspace(-3, 3, 1001)
    points = (np.linspace(-2, 0.6, 1001), np.linspace(-1.2, 1.2, 1001))
    yield _self_check("formula", wave, plain_wave, (x, np.full(x.size, 0.25)), 1e-14)
    yield _self_check("loop", mandelbrot, plain_mandelbrot, points, 0)


def _self_check(
    topic: str,
    function: Callable[..., Any],
    plain: Callable[..., Any],
    arguments: tuple[Any, ...],
    tolerance: float,
) -> Finding:
    """Run a function by interpreter and by machine code, and compare with plain Python."""
    try:
        interpreted = lw.vectorize(function, compile="never")(*arguments)
        start = perf_counter()
        compiled = lw.vectorize(function, compile="now")
        result = compiled(*arguments)
        seconds = perf_counter() - start
    except Exception as error:
        return Finding("bad", topic, f"{type(error).__name__}: {' '.join(str(error).split())}")
    explained = compiled.explain(*arguments)
    rows = zip(*(a.tolist() for a in arguments), strict=True)
    expected = np.array([plain(*row) for row in rows])
    if not explained.compiled:
        return Finding("bad", topic, f"no machine code: {explained.error or 'not compiled'}")
    if not np.array_equal(result, interpreted):
        return Finding("bad", topic, "interpreter and machine code disagree; please report this")
    if np.abs(result - expected).max() > tolerance:
        return Finding("bad", topic, "differs from plain Python; please report this")
    code = explained.schedule
    return Finding("ok", topic, f"right; {code}; first result after {seconds * 1e3:.0f} ms")


def _cache() -> Iterator[Finding]:
    directory = lw.cache_info().disk_directory
    if not directory:
        wish = os.environ.get("LANEWISE_DISK_CACHE")
        why = "LANEWISE_DISK_CACHE=0" if wish == "0" else "the directory cannot be used"
        yield Finding("note", "cache", f"nothing is kept on disk: {why}")
        return
    path = Path(directory)
    if not path.exists():
        yield Finding("ok", "cache", f"{directory}, not made yet")
        return
    status = path.lstat()
    text = f"{directory}, {stat.filemode(status.st_mode)}, {stored(directory)}"
    if status.st_uid != os.geteuid() or status.st_mode & (stat.S_IWGRP | stat.S_IWOTH):
        yield Finding("note", "cache", f"{text}; not used: others own it or may write to it")
    elif not os.access(path, os.W_OK):
        yield Finding("note", "cache", f"{text}; nothing new is kept: it may not be written")
    else:
        yield Finding("ok", "cache", text)


def _hints() -> Iterator[Finding]:
    for name in ("lanewise", "numpy"):
        for there in (Path(f"{name}.py"), Path(name) / "__init__.py"):
            if there.exists() and there.resolve() != Path(lw.__file__):
                yield Finding("note", "path", f"{there.resolve()} hides the package {name}")
    if os.environ.get("LANEWISE_DUMP"):
        yield Finding("note", "dump", "LANEWISE_DUMP is set: programs are printed as they are made")
    known = ("numba", "jax", "torch", "tensorflow", "drjit")
    others = [name for name in known if importlib.util.find_spec(name) is not None]
    if others:
        found = ", ".join(f"{name} {_version(name)}" for name in others)
        yield Finding("ok", "beside", f"{found}: fine in one process, in any order")
    if {"drjit", "tensorflow"} <= set(others):
        yield Finding("note", "clash", "tensorflow and drjit: import drjit first (without us too)")


def _version(name: str) -> str:
    try:
        return importlib.metadata.version(name)
    except importlib.metadata.PackageNotFoundError:
        return ""
