"""Run a program and check what it prints.

`check_output.py PROGRAM EXPECTED`: the program must succeed and print the lines of the file
EXPECTED in their order; other lines, such as those with times, may stand between them. A line that
ends in ... is the beginning of one.
"""

import subprocess
import sys
from pathlib import Path


def check(program: str, expected: Path) -> None:
    """Exit with a message unless the program prints what it should."""
    run = subprocess.run([program], stdout=subprocess.PIPE, text=True, check=False)
    print(run.stdout)
    if run.returncode != 0:
        sys.exit(f"{program} ended with {run.returncode}")
    lines = iter(run.stdout.splitlines())
    for wanted in expected.read_text().splitlines():
        if not any(is_match(line, wanted) for line in lines):
            sys.exit(f"{expected}: missing, or out of order: {wanted}")


def is_match(line: str, wanted: str) -> bool:
    return line.startswith(wanted[:-3]) if wanted.endswith("...") else line == wanted


if __name__ == "__main__":
    check(sys.argv[1], Path(sys.argv[2]))
