"""Run one library as a process that answers the driver; the protocol is in bench/serve/serve.h."""

import gc
import importlib
import sys
from pathlib import Path
from time import perf_counter

import numpy as np

from ..arrays import DTYPES, read_data
from . import MissingError, Prepared, Task

_TURN = 10e-3  # a competitor runs for so long in its turn
_BATCH = 100e-6  # shorter calls are timed several at a time


def _least_seconds(prepared: Prepared) -> float:
    call = prepared.call

    def time(calls: int) -> float:
        start = perf_counter()
        for _ in range(calls):
            call()
        return (perf_counter() - start) / calls

    turn = perf_counter()
    least = time(1)
    if prepared.once:
        return least
    calls = int(min(max(_BATCH / least, 1), 10000))
    while perf_counter() - turn < _TURN:
        least = min(least, time(calls))
    return least


class _Server:
    def __init__(self, library: str) -> None:
        self._library = library
        self._prepared: Prepared | None = None

    def answer(self, words: list[str]) -> str:
        match words:
            case ["prepare", _, *task]:
                return self._prepare(*task)
            case ["run", _]:
                assert self._prepared is not None
                seconds = _least_seconds(self._prepared)
                self._prepared.settle()
                return f"value\t{seconds!r}"
            case ["release"]:
                self._prepared = None
                gc.collect()
                return "ok"
        return f"error\tno command {words}"

    def _prepare(
        self,
        workload: str,
        dtype: str,
        output_dtype: str,
        size: str,
        threads: str,
        arrays: str,
        inputs: str,
        output: str,
    ) -> str:
        data = read_data(Path(inputs), arrays, int(size))
        task = Task(
            workload, dtype, output_dtype, data.size, int(threads), data.inputs, data.tables
        )
        try:
            peer = importlib.import_module(f"{__package__}.{self._library}_peer")
            self._prepared = peer.prepare(task)
            assert self._prepared is not None
            result = self._prepared.to_numpy(self._prepared.call())
            self._prepared.settle()
        except ModuleNotFoundError as error:
            return f"missing\tnot installed: {error}"
        except MissingError as error:
            return f"missing\t{error}"
        np.ascontiguousarray(result, DTYPES[output_dtype]).tofile(output)
        return "ok"


def main() -> None:
    # What a library prints must not reach the driver as an answer.
    answers = sys.stdout
    sys.stdout = sys.stderr
    server = _Server(sys.argv[1])
    gc.disable()
    for line in sys.stdin:
        try:
            text = server.answer(line.rstrip("\n").split("\t"))
        except Exception as error:
            text = f"error\t{type(error).__name__}: {error}"
        print(text.replace("\n", " "), file=answers, flush=True)


if __name__ == "__main__":
    main()
