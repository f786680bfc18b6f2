"""``lanewise cache``: machine code that is kept on disk between processes."""

import argparse
import os
import stat
from pathlib import Path
from typing import NamedTuple

import lanewise as lw

from .. import _core
from .errors import CommandError

_SUFFIX = ".code"
_NEW = ".new-"  # begins the names of files that are being written


class Stored(NamedTuple):
    """What is in the directory."""

    programs: int
    bytes: int

    def __str__(self) -> str:
        return f"{self.programs} programs, {self.bytes / 1e6:.1f} MB"


def stored(directory: str) -> Stored:
    """Count the files of ours in a directory, which need not exist."""
    if not Path(directory).is_dir():
        return Stored(0, 0)
    found = [
        entry.stat(follow_symlinks=False)
        for entry in os.scandir(directory)
        if entry.name.endswith(_SUFFIX) or entry.name.startswith(_NEW)
    ]
    sizes = [status.st_size for status in found if stat.S_ISREG(status.st_mode)]
    return Stored(len(sizes), sum(sizes))


def run_cache(options: argparse.Namespace) -> int:
    """Show or empty the cache on disk."""
    directory = lw.cache_info().disk_directory
    if not directory:
        print("nothing is kept on disk (LANEWISE_DISK_CACHE=0, or no directory for it)")
        return 0
    before = stored(directory)
    if options.action == "info":
        print(f"directory  {directory}\nholds      {before}")
        return 0
    _core.clear_disk_cache()
    left = stored(directory)
    if left.programs:
        raise CommandError(
            f"cannot be emptied; got {left} left in {directory}, expected a directory of the "
            "present user that nobody else can write to."
        )
    print(f"removed {before} from {directory}")
    return 0
