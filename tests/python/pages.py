"""Running the Python blocks of a page of the documentation.

All blocks of a page run one after the other in one namespace, as a script that has the page's line
numbers. A ``text`` block right after a block is what that prints; blocks with ``>>>`` are doctests.
A comment ``<!-- needs: jax -->`` in front of a block skips it where this module is not there. As a
script it runs one page.
"""

import contextlib
import doctest
import importlib.util
import io
import re
import sys
from pathlib import Path
from typing import NamedTuple

_FENCE = re.compile(r"```(\w*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
_NEEDS = re.compile(r"<!-- needs: (.+?) -->\n\Z")
_FLAGS = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE


class Block(NamedTuple):
    line: int
    source: str
    needs: list[str]
    output: str | None


def blocks_of(page: Path) -> list[Block]:
    """Return the Python blocks of a page."""
    text = page.read_text(encoding="utf-8")
    found: list[Block] = []
    end = 0
    for fence in _FENCE.finditer(text):
        language, source = fence.groups()
        if language == "python":
            needs = _NEEDS.search(text[: fence.start()])
            line = text.count("\n", 0, fence.start(2)) + 1
            found.append(Block(line, source, needs[1].split(", ") if needs else [], None))
        elif language == "text" and found and not text[end : fence.start()].strip():
            found[-1] = found[-1]._replace(output=source)
        end = fence.end()
    return found


def run(page: Path, directory: Path) -> tuple[int, int]:
    """Run the blocks of a page; return how many ran, and how many were skipped."""
    blocks = blocks_of(page)
    script = directory.resolve() / f"{page.stem.replace('-', '_')}.py"
    lines = [""] * page.read_text(encoding="utf-8").count("\n")
    for block in blocks:
        source = block.source.splitlines()
        lines[block.line - 1 : block.line - 1 + len(source)] = source
    script.write_text("\n".join(lines))  # where tracebacks and the recorder find the source
    namespace: dict[str, object] = {"__name__": "page"}
    ran = 0
    for block in blocks:
        if all(importlib.util.find_spec(need) is not None for need in block.needs):
            _run(page, script, block, namespace)
            ran += 1
    return ran, len(blocks) - ran


def _run(page: Path, script: Path, block: Block, namespace: dict[str, object]) -> None:
    where = f"{page.name}:{block.line}"
    printed = io.StringIO()
    if ">>>" in block.source:
        test = doctest.DocTestParser().get_doctest(
            block.source, namespace, where, str(page), block.line - 1
        )
        runner = doctest.DocTestRunner(optionflags=_FLAGS)
        runner.run(test, out=printed.write, clear_globs=False)
        namespace.update(test.globs)
        assert runner.failures == 0, printed.getvalue()
        return
    code = compile("\n" * (block.line - 1) + block.source, str(script), "exec")
    with contextlib.redirect_stdout(printed):
        exec(code, namespace)
    if block.output is not None:
        got = printed.getvalue()
        is_same = doctest.OutputChecker().check_output(block.output, got, _FLAGS)
        assert is_same, f"{where} prints\n{got}\ninstead of\n{block.output}"


if __name__ == "__main__":
    print(*run(Path(sys.argv[1]), Path()))
