"""Write what the fuzz targets begin with: make_seeds.py OPS_DEF OUTPUT_FOLDER.

Programs as text are kept in tests/programs and seeds/; here are the words of the language, and
files of the disk cache, whose checksums the target sets itself.
"""

import re
import struct
import sys
from pathlib import Path

WORDS = """function shared table step_limit seed target loop rare each of break_if up next return
fail_if near check clip wrap fill unchecked keep sum product min max and or argmin argmax
bool i8 i16 i32 i64 u8 u16 u32 u64 f16 bf16 f32 f64 true false nan inf -> %0 %1 %2 %3 (%0) {\\x0a
}\\x0a"""
PLANS = [
    "0 0 0 2 16 4 4 8 0\n0 0 0 1\nfew steps",
    "1 0 0 1 8 2 4 2 0\n256 8.5 31 0.95 1 2 3 4 100\nuneven",
    "0 1 0 2 16 4 1 1 70000\n2 1e300 4294967295 0.5\n",
    "0 0 6 0 4 1 4 1 0\n0 0 0 1\nrows\nand more",
]


def entry(plan: bytes, content: bytes, key: bytes = b"key") -> bytes:
    """Return a file of the disk cache without its checksum."""
    sizes = struct.pack("<QQQQQ", 1, 0, len(key), len(plan), len(content))
    return b"lanewise" + sizes + key + plan + content


def main() -> None:
    """Write the dictionary and the files."""
    ops, output = Path(sys.argv[1]), Path(sys.argv[2])
    names = re.findall(r"^LW_OP\(\w+, *(\w+)", ops.read_text(), re.MULTILINE)
    assert len(names) > 50, f"{len(names)} ops in {ops}"
    (output / "loader").mkdir(parents=True, exist_ok=True)
    words = "".join(f'"{word}"\n' for word in WORDS.split() + names)
    (output / "words.dict").write_text(words)
    for number, plan in enumerate(PLANS):
        (output / "loader" / f"plan{number}").write_text(plan)
        (output / "loader" / f"entry{number}").write_bytes(entry(plan.encode(), b"\x7fELF"))


main()
