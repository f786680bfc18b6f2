"""``lanewise profile``: a script under the profiler."""

import argparse
import runpy
import sys
import traceback
from pathlib import Path

import lanewise as lw

from .errors import CommandError


def run_profile(options: argparse.Namespace) -> int:
    """Run a script as Python would, then show the table on stderr and write the trace."""
    script = Path(options.script)
    if not script.is_file():
        raise CommandError(f"no such file; got {options.script}, expected a Python script.")
    path = None if options.output == "-" else options.output
    sys.argv = [options.script, *options.arguments]
    sys.path.insert(0, str(script.resolve().parent))
    with lw.profile(path) as profile:
        code = _run(options.script)
    print(profile, end="", file=sys.stderr)
    if path is not None:
        print(f"trace: {path}", file=sys.stderr)
    return code


def _run(script: str) -> int:
    """Return the exit code that the script would end with."""
    try:
        runpy.run_path(script, run_name="__main__")
    except SystemExit as end:
        if isinstance(end.code, str):
            print(end.code, file=sys.stderr)
        return end.code if isinstance(end.code, int) else int(end.code is not None)
    except Exception:
        traceback.print_exc()
        return 1
    return 0
