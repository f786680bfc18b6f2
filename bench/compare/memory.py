"""How large a process is, and was, from Linux's own account."""

import contextlib
from pathlib import Path


def resident_bytes(field: str = "VmRSS", process: int | str = "self") -> int:
    """Return what a process holds in memory, or the peak of it ("VmHWM"); 0 if it has ended."""
    with contextlib.suppress(OSError):
        for line in Path(f"/proc/{process}/status").read_text().splitlines():
            if line.startswith(f"{field}:"):
                return int(line.split()[1]) * 1024
    return 0


def reset_peak(process: int | str = "self") -> int:
    """Let the peak start from here, and return what the process holds now."""
    with contextlib.suppress(OSError):
        Path(f"/proc/{process}/clear_refs").write_text("5")
    return resident_bytes("VmRSS", process)
