"""The messages of the package, read from its source, and the words that tests and pages expect."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).parents[2]
_ERRORS = {
    *("UsageError", "UsageTypeError", "UsageOverflowError", "CommandError", "Missing"),
    *("IndexError", "AttributeError", "NoSourceError", "ValueError"),
}
_HOLE = "\0"  # where a message has a value in it


class Message(NamedTuple):
    """A message of the package; values in it are holes."""

    file: str
    line: int
    text: str

    @property
    def problem(self) -> str:
        """The longest run of words without a hole in what comes before what it got."""
        head = re.split(r"; got |; expected ", self.text)[0]
        return max((part.strip(" :,()") for part in head.split(_HOLE)), key=len)


def text_of(node: ast.expr) -> str | None:
    """Return a string as it is written; None for anything else."""
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        return node.value
    if isinstance(node, ast.JoinedStr):
        return "".join(text_of(part) or _HOLE for part in node.values)
    if isinstance(node, ast.BinOp):
        parts = [text_of(node.left), text_of(node.right)]
        return None if parts == [None, None] else "".join(part or _HOLE for part in parts)
    if isinstance(node, ast.IfExp):
        return text_of(node.body)
    if isinstance(node, ast.Call) and getattr(node.func, "id", "") == "at_line":
        return text_of(node.args[0])
    return None


def messages() -> Iterator[Message]:
    """Find the messages of all errors that a user can cause."""
    package = ROOT / "python" / "lanewise"
    for file in sorted(package.rglob("*.py")):
        tree = ast.parse(file.read_text(encoding="utf-8"))
        for node in ast.walk(tree):
            if not isinstance(node, ast.Call) or getattr(node.func, "id", "") not in _ERRORS:
                continue
            text = text_of(node.args[-1]) if node.args else None
            if text is not None and text.strip(_HOLE):
                yield Message(str(file.relative_to(package)), node.lineno, text)


def expected_words() -> str:
    """Return everything that tests and pages say about errors."""
    said = [(ROOT / "docs" / "python" / "errors.md").read_text(encoding="utf-8")]
    for file in sorted(Path(__file__).parent.rglob("test_*.py")):
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
            if isinstance(node, ast.expr) and (text := text_of(node)) is not None:
                said.append(text.replace("\\", ""))
    return "\n".join(said)
