"""Command line of the comparison."""

import argparse
import os
import subprocess
import tempfile
from pathlib import Path

from .cases import all_cases, group_of
from .driver import Driver, all_competitors
from .figures import all_figures
from .process import MissingError
from .report import format_figures, format_result
from .times import Figure, Times


def _loops(binary: Path, repeats: int) -> list[Figure]:
    """Run the workloads that have no Python competitors, and return their figures."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "figures"
        command = [str(binary), "--repeats", str(repeats), "--figures", str(path)]
        subprocess.run(command, check=True)
        figures = []
        for line in path.read_text().splitlines():
            what, value, bar, sign, unit = line.split("\t")
            figures.append(Figure(what, float(value), float(bar), sign == ">=", unit))
        return figures


def main() -> None:
    cases = all_cases(len(os.sched_getaffinity(0)))
    groups = list(dict.fromkeys(group_of(case) for case in cases))
    parser = argparse.ArgumentParser(prog="bench", description=__doc__)
    parser.add_argument("workload", nargs="*", help=f"{', '.join(groups)}, loops; all if none")
    parser.add_argument(
        "--only", action="append", choices=all_competitors(), metavar="COMPETITOR", help="run these"
    )
    parser.add_argument("--repeats", type=int, default=15, help="turns of each competitor")
    parser.add_argument("--isa", choices=("v3", "v4"), default="", help="of the C++ code")
    parser.add_argument("--most", type=float, default=1e9, help="leave out longer arrays")
    parser.add_argument("--binary", type=Path, default=Path("build/release/bin/lanewise_bench"))
    options = parser.parse_args()
    for word in options.workload:
        if word not in [*groups, "loops"]:
            parser.error(f"no workload {word}; there are {', '.join(groups)} and loops")

    wanted = options.workload or [*groups, "loops"]
    driver = Driver(options.binary, options.isa, options.repeats, options.only)
    results = []
    for case in cases:
        if group_of(case) in wanted and case.size <= options.most:
            results.append(driver.run(case))
            print(format_result(results[-1]), end="\n\n", flush=True)

    def figure(what: str, of: object) -> float | None:
        try:
            return driver.figure(what, of)
        except MissingError:
            return None

    wide = options.isa != "v3" and "avx512dq" in Path("/proc/cpuinfo").read_text()
    figures = all_figures(Times(results, wide), figure)
    driver.close()
    if "loops" in wanted:
        figures += _loops(options.binary, options.repeats)
    print(format_figures(figures))


if __name__ == "__main__":
    main()
