"""Plant bugs one at a time and see that lanewise_fuzz finds each of them.

Each bug is one text of one source file replaced by another: a guard forgotten, one too many, the
wrong order. The sources are copied to a folder of their own, where one bug at a time is planted and
lanewise_fuzz is built; nothing here changes. Prints how many programs it took to find each, and
exits 1 if one was not found within the programs allowed.
"""

import argparse
import os
import re
import shutil
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent


@dataclass(frozen=True)
class Bug:
    """One text of one file that is to be another."""

    name: str
    file: str
    right: str
    wrong: str


BUGS = (
    Bug(
        "remove_dead drops reads that would have failed",
        "lanewise/transform/remove_dead.cpp",
        "return static_cast<ir::IndexMode>(in.index) == ir::IndexMode::Check;",
        "return false;",
    ),
    Bug(
        "flatten_branches leaves a loop where the branch is not taken",
        "lanewise/transform/flatten_branches.cpp",
        "if (!guards_.empty()) condition = both(guards_.back(), condition);",
        "",
    ),
    Bug(
        "close_loops forgets a factor",
        "lanewise/transform/close_loops.cpp",
        "total = (total + coefficient * factor) & mask;",
        "total = (total + coefficient + (factor & 0)) & mask;",
    ),
    Bug(
        "serialize takes the last of equal extremes",
        "lanewise/transform/serialize.cpp",
        "build_.op(how == Collect::ArgMin ? Op::Lt : Op::Gt, {value, best[0]})",
        "build_.op(how == Collect::ArgMin ? Op::Le : Op::Ge, {value, best[0]})",
    ),
    Bug(
        "uniformity overlooks an exit out of two loops",
        "lanewise/kernel/uniformity.cpp",
        "for (std::size_t i = target + 1; i < loops_.size(); ++i) {",
        "for (std::size_t i = target + 2; i < loops_.size(); ++i) {",
    ),
    Bug(
        "the emitter takes the other operand of min and max for a NaN",
        "lanewise/backend/cpu/lane_ops.cpp",
        "return is_float ? b_.CreateSelect(is_nan(a), a, chosen) : chosen;",
        "return chosen;",
    ),
    Bug(
        "the emitter fills the arrays of lanes that are under way",
        "lanewise/backend/cpu/memory.cpp",
        "if (phase_ == Phase::Prologue && !is_first_take_) {",
        "if (phase_ == Phase::Prologue && is_first_take_) {",
    ),
    Bug(
        "refill retires a lane without an element",
        "lanewise/backend/cpu/refill.cpp",
        "retire(u, ops_.to_mask(b_.CreateICmpSLT(ids, limit)), false);",
        "retire(u, ops_.to_mask(b_.CreateICmpSLE(ids, limit)), false);",
    ),
    Bug(
        "refill keeps the old element of a lane that found none",
        "lanewise/backend/cpu/refill.cpp",
        "b_.CreateStore(b_.CreateSelect(ops_.from_mask(dead), ids, old), held);",
        "b_.CreateStore(b_.CreateSelect(ops_.from_mask(b_.CreateAnd(dead, is_there)), ids, old), "
        "held);",
    ),
    Bug(
        "the tile machine packs twice and loses what some lanes wrote",
        "lanewise/backend/tile/machine.cpp",
        "scatter(at(p.home), at(p.offset), p.size, order, n);\n      }\n      pack(",
        "scatter(at(p.home), at(p.offset), p.size, order, live);\n      }\n      pack(",
    ),
    Bug(
        "the tile machine gives packed lanes the arrays of others",
        "lanewise/backend/tile/machine.cpp",
        "return rows[place * m_.lanes_ + (ids()[lane] - static_cast<std::int32_t>(offset_))];",
        "return rows[place * m_.lanes_ + lane];",
    ),
    Bug(
        "accumulators combine blocks that are not neighbours",
        "lanewise/runtime/fold_tree.cpp",
        "if ((left.second & 1) != 0 || right != FoldNode(left.first, left.second + 1)) return;",
        "if (right != FoldNode(left.first, left.second + 1)) return;",
    ),
    Bug(
        "an element between two chunks is left out",
        "lanewise/runtime/execute.cpp",
        "while (!claim(next, first + count));",
        "while (!claim(next, first + count + 1));",
    ),
)


def copy_sources(folder: Path) -> None:
    """Bring the copy up to date; files that are the same keep their times, and so their objects."""
    command = ["git", "ls-files", "--cached", "--others", "--exclude-standard"]
    listed = subprocess.run(command, cwd=ROOT, check=True, capture_output=True, text=True)
    for name in listed.stdout.splitlines():
        source, target = ROOT / name, folder / name
        if not source.is_file():
            continue
        if target.is_file() and target.read_bytes() == source.read_bytes():
            continue
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(source, target)


def build(source: Path) -> Path:
    """Build lanewise_fuzz of these sources, and nothing it does not need."""
    folder = source / "build" / "release"
    if not (folder / "build.ninja").is_file():
        configure = ["cmake", "--preset", "release", "-DLANEWISE_PYTHON=OFF"]
        subprocess.run(configure, cwd=source, check=True, stdout=subprocess.DEVNULL)
    made = subprocess.run(
        ["ninja", "-C", folder, "lanewise_fuzz"], capture_output=True, text=True, check=False
    )
    if made.returncode != 0:
        sys.exit(made.stdout[-3000:])
    return folder / "bin" / "lanewise_fuzz"


def hunt(fuzz: Path, folder: Path, programs: int, jobs: int) -> tuple[int | None, str]:
    """Return after how many programs something was found, if it was, and what."""
    command = [fuzz, "--programs", str(programs), "--jobs", str(jobs)]
    command += ["--failures", "1", "--reduce", "0"]
    ran = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    counted = re.search(r"of (\d+) programs disagree", ran.stdout)
    found = re.search(r"^(\d+: .*?)(?:; reducing)?$", ran.stderr, re.MULTILINE)
    return (int(counted[1]) if counted else None), (found[1] if found else "")


def plant(bug: Bug, source: Path) -> None:
    """Put the bug into the copy."""
    text = (ROOT / bug.file).read_text()
    if text.count(bug.right) != 1:
        sys.exit(f"{bug.file}: expected once, found {text.count(bug.right)} times: {bug.right}")
    (source / bug.file).write_text(text.replace(bug.right, bug.wrong))


def main() -> None:
    """Plant, build and hunt, bug after bug."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--programs", type=int, default=1000, help="most for a bug (1000)")
    parser.add_argument("--jobs", type=int, default=os.cpu_count(), help="processes")
    parser.add_argument("--only", default="", help="bugs with this text in their names")
    parser.add_argument("--folder", type=Path, default=ROOT / "build" / "planted")
    arguments = parser.parse_args()
    source = arguments.folder / "source"
    missed = 0
    chosen = [bug for bug in BUGS if arguments.only in bug.name]
    for bug in chosen:
        start = time.monotonic()
        copy_sources(source)
        plant(bug, source)
        fuzz = build(source)
        built = time.monotonic()
        count, what = hunt(fuzz, arguments.folder, arguments.programs, arguments.jobs)
        missed += count is None
        after = "NOT FOUND" if count is None else f"found after {count:4} programs"
        seconds = f"built in {built - start:.0f} s, ran {time.monotonic() - built:.0f} s"
        print(f"{after}  {bug.name} ({seconds})\n    {what}", flush=True)
    copy_sources(source)
    print(f"{len(chosen) - missed} of {len(chosen)} bugs found")
    sys.exit(1 if missed else 0)


if __name__ == "__main__":
    main()
