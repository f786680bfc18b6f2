"""Which variables a part of a function assigns and reads."""

import ast
from collections.abc import Iterable, Iterator

_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)
_COMPREHENSIONS = (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)


def _inside(node: ast.AST) -> Iterator[ast.AST]:
    """Walk what belongs to the function itself: not what is inside of others that it defines."""
    yield node
    if isinstance(node, (*_FUNCTIONS, ast.ClassDef)):
        outer: list[ast.AST] = list(getattr(node, "decorator_list", []))
        if not isinstance(node, ast.ClassDef):
            outer += [*node.args.defaults, *(d for d in node.args.kw_defaults if d)]
        for part in outer:
            yield from _inside(part)
        return
    for child in ast.iter_child_nodes(node):
        yield from _inside(child)


def walk(nodes: Iterable[ast.AST]) -> Iterator[ast.AST]:
    """Walk statements of a function, without those of functions inside."""
    for node in nodes:
        yield from _inside(node)


def assigned(nodes: Iterable[ast.AST]) -> list[str]:
    """Return the names that statements assign, in order."""
    names: dict[str, None] = {}
    for node in walk(nodes):
        if isinstance(node, _COMPREHENSIONS):
            continue
        names.update(dict.fromkeys(_bound(node)))
    for name in _of_comprehensions(nodes):
        names.pop(name, None)
    return list(names)


def _of_comprehensions(nodes: Iterable[ast.AST]) -> set[str]:
    """Return the targets of comprehensions that are assigned nowhere else."""
    inside: set[int] = set()
    targets: set[str] = set()
    for node in walk(nodes):
        if isinstance(node, ast.comprehension):
            for part in ast.walk(node.target):
                if isinstance(part, ast.Name):
                    inside.add(id(part))
                    targets.add(part.id)
    for node in walk(nodes):
        if id(node) not in inside:
            targets.difference_update(_bound(node))
    return targets


def _bound(node: ast.AST) -> Iterator[str]:
    if isinstance(node, ast.Name) and isinstance(node.ctx, (ast.Store, ast.Del)):
        yield node.id
    elif isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
        yield node.name
    elif isinstance(node, (ast.Import, ast.ImportFrom)):
        for alias in node.names:
            yield (alias.asname or alias.name).split(".")[0]
    elif isinstance(node, (ast.MatchAs, ast.MatchStar)) and node.name:
        yield node.name


def loaded(nodes: Iterable[ast.AST]) -> list[str]:
    """Return the names that statements read, those in functions inside included."""
    names = {
        node.id: None
        for top in nodes
        for node in ast.walk(top)
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load)
    }
    return list(names)


def parameters(arguments: ast.arguments) -> list[str]:
    """Return the names of all parameters."""
    every = [*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs]
    every += [a for a in (arguments.vararg, arguments.kwarg) if a]
    return [a.arg for a in every]


def declared(nodes: Iterable[ast.AST], kind: type[ast.Global] | type[ast.Nonlocal]) -> set[str]:
    """Return the names that are declared global, or nonlocal."""
    return {name for node in walk(nodes) if isinstance(node, kind) for name in node.names}


def changed_by_inner(nodes: Iterable[ast.AST]) -> set[str]:
    """Return the names that functions inside declare nonlocal."""
    return {
        name
        for top in nodes
        for node in ast.walk(top)
        if isinstance(node, ast.Nonlocal)
        for name in node.names
    }


_CONTROL = (ast.If, ast.While, ast.For)


def assigned_in_control(body: list[ast.stmt]) -> set[str]:
    """Return the names that are assigned inside an if, while or for."""
    names: set[str] = set()
    for node in walk(body):
        if isinstance(node, _CONTROL):
            names.update(assigned([node]))
    return names


def read_early(body: list[ast.stmt]) -> set[str]:
    """Return the names that are read, in the order of the text, before they are assigned."""
    first: dict[str, tuple[int, int]] = {}
    for node in walk(body):
        for name in _bound(node):
            place = (node.lineno, node.col_offset)  # type: ignore[attr-defined]
            first[name] = min(first.get(name, place), place)
    return {
        node.id
        for top in body
        for node in ast.walk(top)
        if isinstance(node, ast.Name)
        and isinstance(node.ctx, ast.Load)
        and node.id in first
        and (node.lineno, node.col_offset) < first[node.id]
    }


def is_generator(body: Iterable[ast.AST]) -> bool:
    """Say whether statements make their function a generator or coroutine."""
    kinds = (ast.Yield, ast.YieldFrom, ast.Await, ast.AsyncFor, ast.AsyncWith)
    return any(isinstance(node, kinds) for node in walk(body))
