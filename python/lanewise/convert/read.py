"""From a function to the syntax tree of its source, with the lines and columns of the file."""

import ast
import inspect
import linecache
from collections.abc import Callable, Iterator
from types import CodeType
from typing import Any

Definition = ast.FunctionDef | ast.Lambda


class NoSourceError(Exception):
    """The source of a function cannot be read; says why."""


def read(function: Callable[..., Any]) -> Definition:
    """Return the definition of a function."""
    code: CodeType = function.__code__
    lines = linecache.getlines(code.co_filename, function.__globals__)
    if not lines:
        raise NoSourceError(f"there is no file {code.co_filename}")
    found = _lambda(code, lines) if code.co_name == "<lambda>" else _function(code, lines)
    if found is None:
        raise NoSourceError(f"{code.co_filename} does not have it at line {code.co_firstlineno}")
    return found


def _function(code: CodeType, lines: list[str]) -> Definition | None:
    first = code.co_firstlineno
    try:
        block = inspect.getblock(lines[first - 1 :])
    except SyntaxError:
        return None
    tree = _parse(block, first)
    found = next(_definitions(tree), None) if tree else None
    if isinstance(found, ast.FunctionDef) and _fits(found, code):
        return found
    return None


def _fits(found: Definition, code: CodeType) -> bool:
    arguments = found.args
    names = [a.arg for a in (*arguments.posonlyargs, *arguments.args)]
    is_named = isinstance(found, ast.Lambda) or found.name == code.co_name
    return is_named and len(names) == code.co_argcount


def _lambda(code: CodeType, lines: list[str]) -> Definition | None:
    first = code.co_firstlineno
    places = [
        (line, column, end, end_column)
        for line, end, column, end_column in code.co_positions()
        if line and end and column is not None and end_column is not None and end_column > 0
    ]
    if not places:
        return None
    last = max(end for _, _, end, _ in places)
    # The statement is often on these lines alone; the whole file is slower.
    windows = [(first, last), (first, last + 1), (first - 1, last), (first - 1, last + 1)]
    for begin, end in [*windows, (1, len(lines))]:
        tree = _parse(lines[max(begin, 1) - 1 : end], max(begin, 1))
        found = [node for node in _definitions(tree) if _holds(node, places)] if tree else []
        found = [node for node in found if _fits(node, code)]
        if found:
            return found[-1]  # the innermost
    return None


def _holds(node: Definition, places: list[tuple[int, int, int, int]]) -> bool:
    if not isinstance(node, ast.Lambda):
        return False
    body = node.body
    assert body.end_lineno is not None
    assert body.end_col_offset is not None
    begin, end = (body.lineno, body.col_offset), (body.end_lineno, body.end_col_offset)
    return all(begin <= place[:2] and place[2:] <= end for place in places)


def _definitions(tree: ast.AST) -> Iterator[Definition]:
    for node in ast.walk(tree):
        if isinstance(node, (ast.FunctionDef, ast.Lambda)):
            yield node


def _parse(block: list[str], first: int) -> ast.AST | None:
    """Parse lines that begin at line `first`; they may be indented."""
    text = "".join(block)
    is_indented = text[:1].isspace()
    try:
        tree = ast.parse("if 1:\n" + text if is_indented else text)
    except SyntaxError:
        return None
    return ast.increment_lineno(tree, first - 1 - is_indented)
