"""``lanewise fuzz``: random programs through every tier, compared with the evaluator.

The fuzzer is a program of the source tree, which packages do not have.
"""

import argparse
import os
import shutil
from pathlib import Path

from .errors import CommandError

_NAME = "lanewise_fuzz"
_TREE = Path(__file__).resolve().parents[3]


def run_fuzz(options: argparse.Namespace) -> int:
    """Become the fuzzer, with the same options."""
    fuzzer = _find()
    if fuzzer is None:
        raise CommandError(
            f"no {_NAME} to run; expected one in a build folder of the source tree or on the path. "
            f"Build it there: ./run setup, or ninja -C build/release {_NAME}."
        )
    os.execv(fuzzer, [_NAME, *options.others])


def _find() -> str | None:
    """Return the newest one of the tree's builds, or one on the path."""
    built = [path for path in _TREE.glob(f"build/*/bin/{_NAME}") if os.access(path, os.X_OK)]
    if built:
        return str(max(built, key=lambda path: path.stat().st_mtime))
    return shutil.which(_NAME)
