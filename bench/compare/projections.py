"""Memory of each workload as projected before a call, beside what the call had at most.

``python -m bench.compare.projections [WORKLOAD...]`` fails where a call had more than projected, or
where much more was projected than it had: of a call whose code is there, as the first one has to
leave room for what the planner may choose.
"""

import os
import sys

from .cases import Case, all_cases
from .peers import Task
from .peers.lanewise_peer import prepare

_MOST = 1.3  # projected against measured


def _calls(case: Case) -> list[tuple[int, int]]:
    """Return what was projected and measured, of the first call and of the next."""
    data = case.data()
    words = (case.workload, case.dtype, case.output, case.size, case.threads)
    prepared = prepare(Task("lanewise from Python", *words, data.inputs, data.tables))
    assert prepared.explain is not None
    calls = []
    for _ in range(2):
        projected: int = prepared.explain().projected_bytes
        prepared.call()
        calls.append((projected, int(prepared.explain().last_run["peak_bytes"])))
    return calls


def main(workloads: list[str]) -> int:
    wrong = 0
    print(f"{'bytes projected, measured':50}{'of the first call':>24}{'of the next':>24}")
    for case in all_cases(len(os.sched_getaffinity(0))):
        if case.workload == "first_call" or (workloads and case.workload not in workloads):
            continue
        calls = _calls(case)
        (_, _), (projected, measured) = calls
        is_wrong = any(least > most for most, least in calls) or projected > _MOST * measured
        wrong += is_wrong
        columns = "".join(f"{most:12}{least:12}" for most, least in calls)
        print(f"{case!s:50}{columns}{'  wrong' if is_wrong else ''}", flush=True)
    print(f"{wrong} wrong")
    return wrong > 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
