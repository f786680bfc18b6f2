"""Which variables the parts of a function assign and read, found in one pass over its tree."""

import ast
from collections.abc import Iterable, Iterator

_DEFINITIONS = (ast.FunctionDef, ast.AsyncFunctionDef)
_COMPREHENSIONS = (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)
_CONTROL = (ast.If, ast.While, ast.For, ast.Match)
_SUSPENSIONS = (ast.Yield, ast.YieldFrom, ast.Await, ast.AsyncFor, ast.AsyncWith)
_Place = tuple[int, int]


class Facts:
    """What a part of a function does with names; functions inside count where that is said."""

    def __init__(self) -> None:
        self.assigned: dict[str, _Place] = {}  # where first; not those of functions inside
        self.loaded: dict[str, _Place] = {}  # where first; those of functions inside too
        self.in_control: set[str] = set()  # assigned inside an if, while, for or later operand
        self.handled: set[str] = set()  # of exceptions, which Python deletes again
        self.outside: dict[type, set[str]] = {ast.Global: set(), ast.Nonlocal: set()}
        self.inner: set[str] = set()  # declared nonlocal by functions inside
        self.suspends = False  # is part of a generator or coroutine

    def add(self, other: "Facts") -> None:
        """Add those of a part."""
        for name, place in other.assigned.items():
            self.assigned.setdefault(name, place)
        for name, place in other.loaded.items():
            self.loaded.setdefault(name, place)
        self.in_control |= other.in_control
        self.handled |= other.handled
        for kind, names in other.outside.items():
            self.outside[kind] |= names
        self.inner |= other.inner
        self.suspends |= other.suspends

    def add_inner(self, other: "Facts") -> None:
        """Add those of a function inside."""
        for name, place in other.loaded.items():
            self.loaded.setdefault(name, place)
        self.inner |= other.inner | other.outside[ast.Nonlocal]


class Names:
    """The facts of all statements of a function."""

    def __init__(self) -> None:
        self._known: dict[ast.stmt, Facts] = {}

    def of(self, nodes: Iterable[ast.AST]) -> Facts:
        """Return the facts of some statements or expressions together."""
        facts = Facts()
        for node in nodes:
            facts.add(self._of(node))
        return facts

    def _of(self, node: ast.AST) -> Facts:
        if isinstance(node, ast.stmt):
            return self._statement(node)
        facts = Facts()
        self._collect(node, facts)
        return facts

    def _collect(self, node: ast.AST, facts: Facts) -> None:
        if isinstance(node, ast.Name):
            names = facts.loaded if isinstance(node.ctx, ast.Load) else facts.assigned
            names.setdefault(node.id, (node.lineno, node.col_offset))
        elif isinstance(node, ast.stmt):
            facts.add(self._statement(node))
        elif isinstance(node, ast.Lambda):
            self._defaults(node.args, facts)
            facts.add_inner(self._of(node.body))
        elif isinstance(node, _COMPREHENSIONS):
            self._comprehension(node, facts)
        else:
            self._other(node, facts)
            self._children(node, facts)

    def _children(self, node: ast.AST, facts: Facts) -> None:
        for child in ast.iter_child_nodes(node):
            self._collect(child, facts)

    def _other(self, node: ast.AST, facts: Facts) -> None:
        if isinstance(node, ast.ExceptHandler) and node.name:
            facts.handled.add(node.name)
            facts.assigned.setdefault(node.name, (node.lineno, node.col_offset))
        elif isinstance(node, (ast.MatchAs, ast.MatchStar)) and node.name:
            facts.assigned.setdefault(node.name, (node.lineno, node.col_offset))
        elif isinstance(node, _SUSPENSIONS):
            facts.suspends = True
        elif isinstance(node, (ast.BoolOp, ast.IfExp, ast.Compare)):
            facts.in_control.update(self.of(_later(node)).assigned)

    def _statement(self, node: ast.stmt) -> Facts:
        known = self._known.get(node)
        if known is not None:
            return known
        facts = self._known[node] = Facts()
        place = (node.lineno, node.col_offset)
        if isinstance(node, _DEFINITIONS):
            facts.assigned[node.name] = place
            for decorator in node.decorator_list:
                self._collect(decorator, facts)
            self._defaults(node.args, facts)
            facts.add_inner(self.of(node.body))
        elif isinstance(node, ast.ClassDef):
            facts.assigned[node.name] = place
            for child in ast.walk(node):
                if isinstance(child, ast.Name) and isinstance(child.ctx, ast.Load):
                    facts.loaded.setdefault(child.id, (child.lineno, child.col_offset))
        elif isinstance(node, (ast.Import, ast.ImportFrom)):
            for alias in node.names:
                facts.assigned[(alias.asname or alias.name).split(".")[0]] = place
        elif isinstance(node, (ast.Global, ast.Nonlocal)):
            facts.outside[type(node)].update(node.names)
        else:
            facts.suspends |= isinstance(node, _SUSPENSIONS)
            self._children(node, facts)
            if isinstance(node, _CONTROL):
                facts.in_control.update(facts.assigned)
        return facts

    def _defaults(self, arguments: ast.arguments, facts: Facts) -> None:
        for default in (*arguments.defaults, *arguments.kw_defaults):
            if default is not None:
                self._collect(default, facts)

    def _comprehension(self, node: ast.AST, facts: Facts) -> None:
        """Leave the targets away: they are the comprehension's own."""
        for child in ast.iter_child_nodes(node):
            if isinstance(child, ast.comprehension):
                for part in (child.iter, *child.ifs):
                    self._collect(part, facts)
            else:
                self._collect(child, facts)


def _later(node: ast.BoolOp | ast.IfExp | ast.Compare) -> list[ast.expr]:
    """Return the operands that are not always evaluated."""
    if isinstance(node, ast.BoolOp):
        return node.values[1:]
    if isinstance(node, ast.IfExp):
        return [node.body, node.orelse]
    return node.comparators[1:]


def parameters(arguments: ast.arguments) -> list[str]:
    """Return the names of all parameters."""
    every = [*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs]
    every += [a for a in (arguments.vararg, arguments.kwarg) if a]
    return [a.arg for a in every]


def targets(generators: Iterable[ast.comprehension]) -> Iterator[str]:
    """Return the names that a comprehension has for itself."""
    for generator in generators:
        for part in ast.walk(generator.target):
            if isinstance(part, ast.Name):
                yield part.id
