"""Run one library as a process that answers the driver; the protocol is in bench/serve/serve.h."""

import gc
import importlib
import sys
from pathlib import Path
from time import perf_counter

import numpy as np

from ..arrays import DTYPES, read_data
from ..memory import reset_peak, resident_bytes
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
        self._prepared: dict[str, Prepared] = {}

    def answer(self, words: list[str]) -> str:
        match words:
            case ["prepare", *task]:
                return self._prepare(*task)
            case ["run", name]:
                prepared = self._prepared[name]
                seconds = _least_seconds(prepared)
                prepared.settle()
                return f"value\t{seconds!r}"
            case ["release"]:
                self._prepared.clear()
                gc.collect()
                return "ok"
        return f"error\tno command {words}"

    def _prepare(
        self,
        name: str,
        workload: str,
        dtype: str,
        output: str,
        size: str,
        threads: str,
        arrays: str,
        inputs: str,
        path: str,
    ) -> str:
        data = read_data(Path(inputs), arrays, int(size))
        task = Task(
            name, workload, dtype, output, data.size, int(threads), data.inputs, data.tables
        )
        try:
            peer = importlib.import_module(f"{__package__}.{self._library}_peer")
            prepared: Prepared = peer.prepare(task)
            before = reset_peak()
            result = prepared.call()
            growth = max(resident_bytes("VmHWM") - before - prepared.apart(), 0)
            result = prepared.to_numpy(result)
            prepared.settle()
        except ModuleNotFoundError as error:
            return f"missing\tnot installed: {error}"
        except MissingError as error:
            return f"missing\t{error}"
        self._prepared[name] = prepared
        np.ascontiguousarray(result, DTYPES[output.partition(":")[0]]).tofile(path)
        return f"value\t{growth}"


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
