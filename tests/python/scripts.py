"""Scripts that run in a process of their own."""

import subprocess
import sys
import textwrap


def run(script: str, **values: object) -> str:
    """Run a script in a Python of its own, which must say nothing on stderr."""
    done = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(script).format(**values)],
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert (done.returncode, done.stderr) == (0, "")
    return done.stdout
