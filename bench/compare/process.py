"""A competitor's process: started on its cores, asked one thing at a time."""

import os
import select
import subprocess
import tempfile
import time
from pathlib import Path

from .memory import reset_peak, resident_bytes

# Seconds after which nobody waits for an answer: a call, or a first one and its compile.
_PATIENCE = 120


class MissingError(Exception):
    """The process cannot do what it was asked for, and says why."""


class Process:
    """Answers requests of the protocol in bench/serve/serve.h."""

    def __init__(self, command: list[str], cores: set[int]) -> None:
        self._before = 0
        # Not a pipe: nobody reads it while the process runs.
        self._stderr = tempfile.TemporaryFile("w+")  # noqa: SIM115
        # Libraries count the cores when they start, so it starts with the right ones.
        ours = os.sched_getaffinity(0)
        os.sched_setaffinity(0, cores)
        try:
            self._process = subprocess.Popen(
                command,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=self._stderr,
                text=True,
                # Threads that wait must not spin: it is somebody else's turn.
                env=os.environ | {"OMP_NUM_THREADS": str(len(cores)), "OMP_WAIT_POLICY": "passive"},
            )
        finally:
            os.sched_setaffinity(0, ours)

    def ask(self, *words: object) -> float:
        """Return the number of the answer, 0 if it has none.

        Raises
        ------
        MissingError
            If the answer is "missing", or "error": a library that fails is no reason to stop.
            If there is none for so long that nobody waits; the process is ended then.
        """
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        try:
            self._process.stdin.write("\t".join(str(word) for word in words) + "\n")
            self._process.stdin.flush()
            if not select.select([self._process.stdout], [], [], _PATIENCE)[0]:
                self._process.kill()
                raise MissingError(f"no answer in {_PATIENCE} s")
            answer = self._process.stdout.readline().rstrip("\n")
        except BrokenPipeError:
            answer = ""
        kind, _, rest = answer.partition("\t")
        match kind:
            case "ok":
                return 0.0
            case "value":
                return float(rest)
            case "missing":
                raise MissingError(rest)
            case "error":
                raise MissingError(f"failed: {rest}")
        raise MissingError(f"its process ended: {self._last_words()}")

    def has_ended(self) -> bool:
        return self._process.poll() is not None

    def reset_peak(self) -> None:
        """Let the peak of `peak_growth` start from here."""
        self._before = reset_peak(self._process.pid)

    def peak_growth(self) -> int:
        """Return by how many bytes the process was larger at its largest."""
        return max(resident_bytes("VmHWM", self._process.pid) - self._before, 0)

    def close(self) -> None:
        assert self._process.stdin is not None
        try:
            self._process.stdin.close()
            self._process.wait(timeout=10)
        except (BrokenPipeError, subprocess.TimeoutExpired):
            self._process.kill()
            self._process.wait()
        self._stderr.close()

    def _last_words(self) -> str:
        self._process.wait()
        self._stderr.seek(0)
        lines = self._stderr.read().strip().splitlines()
        return lines[-1] if lines else "it said nothing"


def idlest_core() -> int:
    """Return the core, of those we may use, on which least has run in the last half second."""

    def busy() -> dict[int, int]:
        found = {}
        for line in Path("/proc/stat").read_text().splitlines():
            word, *times = line.split()
            if word.startswith("cpu") and word != "cpu":
                ticks = [int(t) for t in times]
                found[int(word[3:])] = sum(ticks[:8]) - ticks[3] - ticks[4]
        return found

    before = busy()
    time.sleep(0.5)
    after = busy()
    return min(os.sched_getaffinity(0), key=lambda core: after[core] - before[core])
