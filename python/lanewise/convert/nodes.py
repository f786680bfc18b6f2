"""Making nodes of syntax trees, at places of the user's source."""

import ast
from typing import Any, TypeVar

N = TypeVar("N", bound=ast.AST)


def at(node: N, place: Any) -> N:
    """Give a node, and what is new inside of it, the place of another."""
    if "lineno" in node._attributes:
        if getattr(node, "lineno", None) is not None:
            return node
        _locate(node, place.lineno, place.col_offset)
    for child in ast.iter_child_nodes(node):
        at(child, place)
    return node


def _locate(node: Any, line: int, column: int) -> None:
    """Give a node a place on one line: Python takes that of a call from the end of its name."""
    node.lineno = node.end_lineno = line
    node.col_offset = node.end_col_offset = column


def at_end(node: N, place: Any) -> N:
    """Give a node the place of the end of another."""
    for child in ast.walk(node):
        if "lineno" in child._attributes:
            _locate(child, place.end_lineno, place.end_col_offset)
    return node


def name(of: str) -> ast.expr:
    """Read a variable."""
    return ast.Name(of, ast.Load())


def constant(value: Any) -> ast.expr:
    """Give a literal."""
    return ast.Constant(value)


def attribute(of: str, attribute: str) -> ast.expr:
    """Read an attribute of a variable."""
    return ast.Attribute(name(of), attribute, ast.Load())


def flow(of: str) -> ast.expr:
    """Read a name of ``lanewise.flow``."""
    return attribute("_lw", of)


def call(function: ast.expr, *arguments: ast.expr) -> ast.expr:
    """Call a function."""
    return ast.Call(function, list(arguments), [])


def assign(to: str, value: ast.expr) -> ast.stmt:
    """Assign to a variable."""
    return ast.Assign([ast.Name(to, ast.Store())], value)


def call_with(region: str, method: str, changed: list[str]) -> ast.expr:
    """Call a method with variables."""
    return call(attribute(region, method), *map(name, changed))


def pass_on(region: str, method: str, changed: list[str]) -> ast.stmt:
    """Call a method with variables and assign them what it returns."""
    value = call_with(region, method, changed)
    if not changed:
        return ast.Expr(value)
    target = ast.Tuple([ast.Name(n, ast.Store()) for n in changed], ast.Store())
    return ast.Assign([target], value)
