"""A function from an expression of the command line.

The text is parsed, every node is looked up in a short list, and only then is it a function. Names
that are called are functions of NumPy and ``math``; constants have their usual names; all other
names are parameters.
"""

import ast
import functools
import linecache
import math
from collections.abc import Callable
from typing import Any

import numpy as np

import lanewise as lw

from .._core import called_ops
from ..element import NUMPY_FUNCTIONS, Element
from ..rules import OTHER_NAMES
from .errors import CommandError

FILE = "<expression>"  # what errors name; the expression is its line 1
CONSTANTS = {"pi": math.pi, "e": math.e, "tau": math.tau, "inf": math.inf, "nan": math.nan}
_NODES = (
    ast.Expression,
    ast.Constant,
    ast.Name,
    ast.Load,
    ast.Call,
    ast.BinOp,
    ast.UnaryOp,
    ast.BoolOp,
    ast.Compare,
    ast.IfExp,
    ast.Tuple,
    ast.operator,
    ast.unaryop,
    ast.boolop,
    ast.cmpop,
)
_REFUSED = (ast.MatMult, ast.In, ast.NotIn, ast.Is, ast.IsNot)


def parse(text: str) -> Callable[..., Any]:
    """Return the expression as a function of its free names.

    Parameters come in the order of their appearance; x, y and z, if there are no others, in this.

    Examples
    --------
    >>> from lanewise.cli.expression import parse
    >>> parse("sqrt(a * a + b * b)")(3.0, 4.0)
    5.0
    """
    try:
        tree = ast.parse(text.strip(), FILE, mode="eval")
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        raise CommandError(
            f"not an expression ({getattr(error, 'msg', error)}); got {text!r}, expected one like "
            "'sin(x) + y', or FILE.py:FUNCTION."
        ) from None
    for node in ast.walk(tree):
        _check(node, text)
    names = _free_names(tree)
    if not names:
        raise CommandError(
            f"the expression has no parameters; got {text!r}, expected names that inputs are for, "
            "like x."
        )
    return _function(tree, names)


def _function(tree: ast.Expression, names: list[str]) -> Callable[..., Any]:
    """Make a function of what was checked, whose source can be read."""
    source = f"def expression({', '.join(names)}): return {ast.unparse(tree)}\n"
    linecache.cache[FILE] = (len(source), None, [source], FILE)
    namespace: dict[str, Any] = {"__builtins__": {}, **functions(), **CONSTANTS}
    exec(compile(source, FILE, "exec"), namespace)
    made: Callable[..., Any] = namespace["expression"]
    return made


def _check(node: ast.AST, text: str) -> None:
    """Refuse whatever is not plain arithmetic and calls of known functions."""
    if isinstance(node, ast.Call):
        if not isinstance(node.func, ast.Name) or node.func.id not in functions():
            raise CommandError(
                f"unknown function; got {ast.unparse(node.func)}, expected one of NumPy or math "
                "by its plain name, like sin. Put others into a file: FILE.py:FUNCTION."
            )
        if node.keywords or any(isinstance(argument, ast.Starred) for argument in node.args):
            raise CommandError(
                f"arguments by keyword; got {ast.unparse(node)}, expected them by position."
            )
    elif isinstance(node, ast.Constant):
        if not isinstance(node.value, (bool, int, float, complex)):
            raise CommandError(f"not a number; got {ast.unparse(node)}, expected numbers.")
    elif not isinstance(node, _NODES) or isinstance(node, _REFUSED):
        what = ast.unparse(node) if isinstance(node, ast.expr) else type(node).__name__
        raise CommandError(
            f"not allowed in an expression; got {what} in {text!r}, expected arithmetic, "
            "comparisons and calls. Put the rest into a file: FILE.py:FUNCTION."
        )


def _free_names(tree: ast.Expression) -> list[str]:
    called = {id(node.func) for node in ast.walk(tree) if isinstance(node, ast.Call)}
    found = [node for node in ast.walk(tree) if isinstance(node, ast.Name)]
    found.sort(key=lambda node: (node.lineno, node.col_offset))
    names = dict.fromkeys(
        node.id for node in found if id(node) not in called and node.id not in CONSTANTS
    )
    for name in names:
        if name in functions():
            raise CommandError(
                f"a function that is not called; got {name}, expected {name}(...) or another name."
            )
    return sorted(names) if set(names) <= {"x", "y", "z"} else list(names)


@functools.cache
def functions() -> dict[str, Callable[..., Any]]:
    """Return all functions that an expression may call, by name."""
    rows = {row[0]: getattr(lw, OTHER_NAMES.get(row[0], row[0])) for row in called_ops()}
    found = rows | {function.__name__: function for function in NUMPY_FUNCTIONS}
    found |= {"abs": abs, "pow": np.power, "select": lw.select}
    found |= {"min": functools.partial(_fold, lw.minimum)}
    found |= {"max": functools.partial(_fold, lw.maximum)}
    types = ("bool", "int", "float", "int32", "int64", "float32", "float64")
    return found | {name: functools.partial(_convert, np.dtype(name)) for name in types}


def _fold(function: Callable[[Any, Any], Any], *operands: Any) -> Any:
    return functools.reduce(function, operands)


def _convert(dtype: np.dtype[Any], value: Any) -> Any:
    return value.astype(dtype) if isinstance(value, Element) else dtype.type(value)
