"""Running commands of the command line in a process of their own."""

import subprocess
import sys
from pathlib import Path
from typing import NamedTuple


class Done(NamedTuple):
    code: int
    out: str
    err: str


def command(*arguments: object, cwd: Path | None = None, **options: object) -> Done:
    """Run a command."""
    words = [sys.executable, "-m", "lanewise", *map(str, arguments)]
    done = subprocess.run(
        words, capture_output=True, text=True, timeout=120, cwd=cwd, check=False, **options
    )
    return Done(done.returncode, done.stdout, done.stderr)
