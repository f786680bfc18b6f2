"""Check that lanewise_fuzz finds the same however its seeds are shared out and cut in parts.

Compares digests of one process, of several, and of a long run that was ended and went on.
"""

import subprocess
import sys
import tempfile
from pathlib import Path


def digest(fuzzer: str, folder: str, *words: str) -> str:
    """Return what a run prints; it compares passes alone, which is short."""
    command = [fuzzer, "--digest", "--pass", "", *words]
    ran = subprocess.run(command, cwd=folder, check=True, stdout=subprocess.PIPE, text=True)
    return ran.stdout.strip()


def main() -> None:
    """Run the fuzzer in three ways."""
    fuzzer = sys.argv[1]
    with tempfile.TemporaryDirectory() as folder:
        state = str(Path(folder) / "state.txt")
        one = digest(fuzzer, folder, "--programs", "40")
        several = digest(fuzzer, folder, "--programs", "40", "--jobs", "3")
        part = digest(fuzzer, folder, "--programs", "25", "--long", state)
        whole = digest(fuzzer, folder, "--programs", "40", "--long", state)
    if len(one) != 16 or {several, whole} != {one} or part == one:
        sys.exit(f"expected one digest; got {one}, {several} of 3 jobs, {whole} after {part}")


if __name__ == "__main__":
    main()
