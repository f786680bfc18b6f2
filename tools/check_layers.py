"""Check that includes go down the layers only.

Reads every #include line of the C++ sources and two tables: lanewise/LAYERS, which says what each
layer may include, and FOREIGN below, which says where the headers of a dependency may appear.
What lanewise/lanewise.h reaches is public: users need no headers for it but standard ones.
Prints `file:line: rule` for each offence and exits 1 if there is one. Run by the test command;
`--self-test` plants offences in a temporary tree and expects each to be found.
"""

import argparse
import os
import re
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

SOURCE_FOLDERS = ("lanewise", "python", "tests", "bench", "examples")
SUFFIXES = {".h", ".cpp", ".def", ".inc"}
INCLUDE = re.compile(r"\s*#\s*include\s*(?:([<\"])([^>\"]+)[>\"])?")

# What is included, where that is allowed (a folder of the project), what to call it.
FOREIGN = (
    (re.compile(r"(llvm|llvm-c|clang|lld)/"), "lanewise/backend/cpu", "LLVM headers"),
    (re.compile(r"CL/"), "lanewise/backend/opencl", "OpenCL headers"),
    (re.compile(r"(cuda|nvrtc)"), "lanewise/backend/cuda", "CUDA headers"),
    (re.compile(r"(nanobind|numpy)/|Python\.h$"), "python/bindings", "nanobind and NumPy headers"),
)


def read_layers(path: Path) -> dict[str, set[str]]:
    """Return for each layer all that it may include, itself among them."""
    reach: dict[str, set[str]] = {}
    for number, line in enumerate(path.read_text().splitlines(), 1):
        text = line.partition("#")[0].strip()
        if not text:
            continue
        name, colon, below = text.partition(":")
        unknown = [layer for layer in below.split() if layer not in reach]
        if not colon or name in reach or unknown:
            sys.exit(f"{path}:{number}: expected `layer: layers of earlier lines`, got `{text}`")
        reach[name] = {name}.union(*(reach[layer] for layer in below.split()))
    return reach


def layer_of(path: str, layers: dict[str, set[str]]) -> str | None:
    """Return the layer of `lanewise/<layer>/...`; None when the folder is not a listed layer."""
    folder = path.removeprefix("lanewise/").rpartition("/")[0]
    while folder and folder not in layers:
        folder = folder.rpartition("/")[0]
    return folder or None


def layer_offence(source: str, target: str, layers: dict[str, set[str]]) -> str | None:
    """Return the rule that an include of one project file by another breaks, if any."""
    if source.count("/") == 1:  # lanewise/lanewise.h and its like stand above all layers
        return None
    if target.count("/") == 1:
        return f"{target} stands above all layers; include the header of the layer itself"
    upper, lower = layer_of(source, layers), layer_of(target, layers)
    if upper is None or lower is None:
        return f"the folder of {source if upper is None else target} is not in lanewise/LAYERS"
    if lower not in layers[upper]:
        allowed = ", ".join(name for name in layers if name in layers[upper] - {upper})
        return f"{upper} may not include {lower} ({target}); allowed: {allowed or 'nothing'}"
    return None


def resolve(root: Path, path: Path, quote: str, name: str) -> str:
    """Return what an include names: a file of the project by its path from the root."""
    if quote == '"' and (path.parent / name).exists():
        return Path(os.path.normpath(path.parent / name)).relative_to(root).as_posix()
    return name


def public_headers(root: Path) -> set[str]:
    """Return all files of the project that lanewise/lanewise.h reaches."""
    reached: set[str] = set()
    ahead = ["lanewise/lanewise.h"]
    while ahead:
        source = ahead.pop()
        path = root / source
        if source in reached or not path.exists():
            continue
        reached.add(source)
        for match in map(INCLUDE.match, path.read_text().splitlines()):
            if match and match[2]:
                ahead.append(resolve(root, path, *match.groups()))
    return reached


def offences(root: Path) -> Iterator[tuple[str, int, str]]:
    """Yield (file, line, broken rule) for each offence under the project's root."""
    layers = read_layers(root / "lanewise/LAYERS")
    public = public_headers(root)
    for path in sorted(p for folder in SOURCE_FOLDERS for p in (root / folder).rglob("*")):
        if path.suffix not in SUFFIXES:
            continue
        source = path.relative_to(root).as_posix()
        for number, line in enumerate(path.read_text().splitlines(), 1):
            match = INCLUDE.match(line)
            if not match:
                continue
            quote, name = match.groups()
            if not name:
                yield source, number, "an include names its file, so that it can be checked"
                continue
            for pattern, place, title in FOREIGN:
                if pattern.match(name) and not source.startswith(f"{place}/"):
                    yield source, number, f"{title} ({name}) belong in {place} only"
            name = resolve(root, path, quote, name)
            if source in public and not name.startswith("lanewise/") and re.search(r"[./]", name):
                yield source, number, f"a public header may not include {name}: not standard C++"
            if source.startswith("lanewise/") and name.startswith("lanewise/"):
                rule = layer_offence(source, name, layers)
                if rule:
                    yield source, number, rule


def self_test() -> None:
    """Plant offences in a temporary tree; each must be found, and nothing else."""
    clean = {
        "lanewise/LAYERS": "base:\nir: base\nkernel: ir\ntrace: ir\nbackend/cpu: kernel  # note\n",
        "lanewise/lanewise.h": "#include <lanewise/trace/value.h>\n#include <lanewise/ir/user.h>\n",
        "lanewise/base/error.h": "#include <string>\n",
        "lanewise/kernel/lane.h": '#include "lanewise/base/error.h"\n#include "local.h"\n',
        "lanewise/kernel/local.h": "// #include <llvm/IR/Module.h>\n",
        "lanewise/base/check.h": "#include <fmt/core.h>\n",
        "lanewise/backend/cpu/emit.cpp": '#include <llvm/IR/Module.h>\n#include "../../ir/op.h"\n',
        "lanewise/ir/op.h": '#include "lanewise/ir/op.def"\n',
        "lanewise/ir/op.def": "",
        "python/bindings/core.cpp": "#include <nanobind/nanobind.h>\n",
    }
    offending = {  # in every line
        "lanewise/base/up.h": '#include "lanewise/ir/op.h"\n#  include "../ir/op.h"\n',
        "lanewise/trace/value.h": "#include <lanewise/kernel/lane.h>\n",
        "lanewise/ir/top.h": '#include "lanewise/lanewise.h"\n#include "lanewise/new/a.h"\n',
        "lanewise/ir/user.h": "#include <fmt/core.h>\n#include <unistd.h>\n",
        "lanewise/new/a.h": '#include "lanewise/base/error.h"\n#include HEADER\n',
        "lanewise/kernel/foreign.h": "#include <llvm/IR/Module.h>\n#include <nanobind/ndarray.h>\n",
        "tests/foreign.cpp": "#include <numpy/arrayobject.h>\n#include <Python.h>\n",
    }
    expected = {
        (file, number)
        for file, text in offending.items()
        for number in range(1, text.count("\n") + 1)
    }
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder).resolve()
        for name, text in (clean | offending).items():
            (root / name).parent.mkdir(parents=True, exist_ok=True)
            (root / name).write_text(text)
        found = {(file, number) for file, number, _ in offences(root)}
    if found != expected:
        sys.exit(f"self-test: missed {expected - found}, wrongly reported {found - expected}")
    print(f"layers: self-test found all {len(expected)} planted offences")


def main() -> None:
    """Run the check or its self-test."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--self-test", action="store_true", help="check the checker")
    parser.add_argument(
        "--root", type=Path, default=Path(__file__).parent.parent, help="the project's root"
    )
    arguments = parser.parse_args()
    if arguments.self_test:
        self_test()
        return
    found = list(offences(arguments.root.resolve()))
    for file, number, rule in found:
        print(f"{file}:{number}: {rule}")
    if found:
        sys.exit(1)
    print("layers: every include goes down")


if __name__ == "__main__":
    main()
