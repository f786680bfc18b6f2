"""``lanewise bench``: a few functions against NumPy and plain Python."""

import argparse

from .errors import CommandError
from .workloads import measure, workloads


def run_bench(options: argparse.Namespace) -> int:
    """Time the workloads and print a table."""
    if options.elements < 1:
        raise CommandError(f"not a number of elements; got {options.elements}, expected 1 or more.")
    print("function       elements   lanewise    first call        NumPy   plain Python   NumPy is")
    for workload in workloads(options.elements):
        times = measure(workload)
        print(
            f"{workload.function.__name__:<12}{times.result.size:>11}"
            f"{times.best * 1e3:>8.2f} ms{times.first * 1e3:>11.2f} ms"
            f"{times.numpy * 1e3:>10.2f} ms{times.plain * 1e3:>12.0f} ms"
            f"{times.numpy / times.best:>9.1f}x"
        )
    print("the best call of each; plain Python is scaled up from some of the elements")
    return 0
