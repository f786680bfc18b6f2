"""``lanewise cache``: machine code that is kept on disk between processes."""

import argparse
import os
import stat
from pathlib import Path
from typing import NamedTuple

import lanewise as lw

from .errors import CommandError

_SUFFIX = ".code"
_NEW = ".new-"  # begins the names of files that are being written


class Stored(NamedTuple):
    """What is in the directory."""

    files: list[str]
    bytes: int


def stored(directory: str) -> Stored:
    """Return the files of ours in a directory, which need not exist."""
    if not Path(directory).is_dir():
        return Stored([], 0)
    found = [
        (entry.path, entry.stat(follow_symlinks=False))
        for entry in os.scandir(directory)
        if entry.name.endswith(_SUFFIX) or entry.name.startswith(_NEW)
    ]
    kept = [(path, status) for path, status in found if stat.S_ISREG(status.st_mode)]
    return Stored([path for path, _ in kept], sum(status.st_size for _, status in kept))


def run_cache(options: argparse.Namespace) -> int:
    """Show or empty the cache on disk."""
    directory = lw.cache_info().disk_directory
    if not directory:
        print("nothing is kept on disk (LANEWISE_DISK_CACHE=0, or no directory for it)")
        return 0
    files, size = stored(directory)
    amount = f"{len(files)} programs, {size / 1e6:.1f} MB"
    if options.action == "info":
        print(f"directory  {directory}\nholds      {amount}")
        return 0
    try:
        for file in files:
            Path(file).unlink(missing_ok=True)
    except OSError as error:
        raise CommandError(
            f"cannot be emptied; got {error}, expected a directory that is writable."
        ) from None
    print(f"removed {amount} from {directory}")
    return 0
