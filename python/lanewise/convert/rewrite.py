"""Rewriting the tree of a function: control flow becomes calls of ``lanewise.flow``.

Statements stay statements of the same function, so variables stay what they are. An ``if`` becomes

    _lw_1 = _lw_f.if_(test, ("x",), x)
    if _lw_1.then():
        with _lw_1:
            ...
        x, = _lw_1.after(x)
    if _lw_1.otherwise():
        ...
    x, = _lw_1.join(x)

where ``x`` is what it assigns. On a plain test this is a plain ``if``. On an element both parts
run, each is recorded as a branch, and ``join`` gives the variables as the elements bring them.
Loops are told likewise; ``flow/loops.py`` has the order.
"""

import ast
import copy
import itertools
from typing import Any, TypeVar

from . import nodes as make
from .names import Facts, Names, parameters, targets
from .nodes import at, at_end

_sites = itertools.count(1)
_PRIVATE = {"super", "locals", "globals", "vars", "dir", "eval", "exec", "breakpoint"}
_OPERATORS = {
    ast.Eq: "eq",
    ast.NotEq: "ne",
    ast.Lt: "lt",
    ast.LtE: "le",
    ast.Gt: "gt",
    ast.GtE: "ge",
    ast.Is: "is_",
    ast.IsNot: "is_not",
    ast.In: "contains",
    ast.NotIn: "contains_not",
}
N = TypeVar("N", bound=ast.AST)


class _Scope:
    """What is known of a function while it is rewritten."""

    def __init__(self, parameters: list[str], facts: Facts, around: "_Scope | None") -> None:
        declared = facts.outside[ast.Nonlocal]
        self.parameters = set(parameters)
        local = {*parameters, *facts.assigned} - facts.outside[ast.Global] - declared
        # What functions beside this one change, it changes too when it calls them.
        beside: set[str] = around.inner | around.shared if around else set()
        shared = (declared | beside) - local
        self.shared: set[str] = shared
        self.state = (local | shared) - facts.handled
        self.inner: set[str] = (facts.inner - shared) & local
        early = {
            name
            for name, place in facts.assigned.items()
            if name in facts.loaded and facts.loaded[name] < place
        }
        uncertain = facts.in_control | early
        self.unset = (local & (uncertain | self.inner)) - self.parameters - facts.handled
        own = (uncertain & self.state) | self.inner
        self.checked: set[str] = ((around.checked if around else set()) - local) | own
        plain = self.state - shared - self.parameters
        self._assigned = {name: facts.assigned[name] for name in plain}
        self.loops: list[tuple[str, list[str]]] = []
        self.tries = 0

    def changed(self, facts: Facts) -> list[str]:
        """Return the variables that statements may change."""
        own = [name for name in facts.assigned if name in self.state]
        return [*own, *sorted(self.inner.difference(own))]

    def used(self, facts: Facts, loop: ast.stmt) -> list[str]:
        """Return the variables that a loop reads and that surely can be read before it."""
        place = (loop.lineno, loop.col_offset)
        return [
            name
            for name in facts.loaded
            if name in self.parameters
            or name in self.unset
            or (name in self._assigned and self._assigned[name] < place)
        ]


class Rewriter(ast.NodeTransformer):
    """Rewrites one function and those inside of it."""

    def __init__(self, private: str | None) -> None:
        self._private = private  # the class whose names with two underscores these are
        self._scopes: list[_Scope] = []
        self._numbers = itertools.count(1)
        self._names = Names()

    # --- functions ---

    def definition(self, node: ast.FunctionDef | ast.Lambda, name: str) -> ast.FunctionDef:
        """Return the definition, rewritten, as one of this name and without defaults."""
        own = "lambda" if isinstance(node, ast.Lambda) else node.name
        if isinstance(node, ast.Lambda):
            function = ast.parse(f"def {name}(): pass").body[0]
            assert isinstance(function, ast.FunctionDef)
            function.args, function.body = node.args, [at(ast.Return(node.body), node.body)]
            node = ast.copy_location(function, node)
        arguments = node.args
        for argument in ast.walk(arguments):
            if isinstance(argument, ast.arg):
                argument.annotation = None
        arguments.defaults = [at(ast.Constant(None), node) for _ in arguments.defaults]
        arguments.kw_defaults = [d and at(ast.Constant(None), node) for d in arguments.kw_defaults]
        node.name, node.decorator_list, node.returns = name, [], None
        node.body = self._function_body(node, arguments, node.body, own)
        return node

    def _function_body(
        self, node: ast.AST, arguments: ast.arguments, body: list[ast.stmt], name: str
    ) -> list[ast.stmt]:
        around = self._scopes[-1] if self._scopes else None
        scope = _Scope(parameters(arguments), self._names.of(body), around)
        declarations: list[ast.stmt] = [s for s in body if isinstance(s, ast.Global)]
        shared = sorted(scope.shared)
        if shared and around:
            declarations.append(at(ast.Nonlocal(shared), node))
        elif shared:
            declarations += [s for s in body if isinstance(s, ast.Nonlocal)]
        self._scopes.append(scope)
        skipped = (ast.Global, ast.Nonlocal)
        inner = self._statements([s for s in body if not isinstance(s, skipped)])
        fall = self._return("return_", make.constant(None))
        finish = self._return("finish")
        self._scopes.pop()
        last = body[-1]
        unset = [at(make.assign(n, make.flow("UNSET")), node) for n in sorted(scope.unset)]
        arguments_of = (
            make.constant(next(_sites)),
            make.constant(name),
            make.constant(tuple(shared)),
        )
        frame = at(make.assign("_lw_f", make.call(make.flow("Frame"), *arguments_of)), node)
        end = [at_end(statement, last) for statement in fall]
        whole = at(ast.With([ast.withitem(make.name("_lw_f"), None)], [*inner, *end]), node)
        finish = [at_end(statement, last) for statement in finish]
        return [*declarations, *unset, frame, whole, *finish]

    def _return(self, method: str, *value: ast.expr) -> list[ast.stmt]:
        """Return a value, with the variables of other functions that this one changes."""
        shared = sorted(self._scopes[-1].shared)
        result = make.call(make.attribute("_lw_f", method), *value, *map(make.name, shared))
        if not shared:
            return [ast.Return(result)]
        names: list[ast.expr] = [ast.Name(n, ast.Store()) for n in ("_lw_r", *shared)]
        assign = ast.Assign([ast.Tuple(names, ast.Store())], result)
        return [assign, ast.Return(make.name("_lw_r"))]

    def visit_FunctionDef(self, node: ast.FunctionDef) -> Any:  # noqa: D102
        node.decorator_list = [self.visit(d) for d in node.decorator_list]
        node.args.defaults = [self.visit(d) for d in node.args.defaults]
        node.args.kw_defaults = [d and self.visit(d) for d in node.args.kw_defaults]
        if not self._names.of(node.body).suspends:
            node.body = self._function_body(node, node.args, node.body, node.name)
        return node

    def visit_Lambda(self, node: ast.Lambda) -> Any:  # noqa: D102
        node.args.defaults = [self.visit(d) for d in node.args.defaults]
        node.args.kw_defaults = [d and self.visit(d) for d in node.args.kw_defaults]
        scope = _Scope(parameters(node.args), Facts(), self._scopes[-1])
        unset = sorted(self._names.of([node.body]).in_control - scope.parameters)
        for variable in unset:  # it has no statement before that could say so
            node.args.kwonlyargs.append(at(ast.arg(variable), node))
            node.args.kw_defaults.append(at(make.flow("UNSET"), node))
        scope.checked = (scope.checked - scope.parameters) | set(unset)
        self._scopes.append(scope)
        node.body = self.visit(node.body)
        self._scopes.pop()
        return node

    def visit_ClassDef(self, node: ast.ClassDef) -> Any:  # noqa: D102
        return node

    def visit_AsyncFunctionDef(self, node: ast.AsyncFunctionDef) -> Any:  # noqa: D102
        return node

    # --- statements ---

    def _statements(self, body: list[ast.stmt]) -> list[ast.stmt]:
        result: list[ast.stmt] = []
        for statement in body:
            made = self.visit(statement)
            result.extend(made if isinstance(made, list) else [made])
        return result or [at(ast.Pass(), body[0])] if body else result

    def _new(self) -> str:
        return f"_lw_{next(self._numbers)}"

    def visit_If(self, node: ast.If) -> Any:  # noqa: D102
        scope = self._scopes[-1]
        region = self._new()
        changed = scope.changed(self._names.of([*node.body, *node.orelse]))
        begin = make.call(
            make.attribute("_lw_f", "if_"),
            self.visit(node.test),
            make.constant(tuple(changed)),
            *map(make.name, changed),
        )
        result = [at(make.assign(region, begin), node)]
        result.append(self._part(node, region, "then", changed, node.body))
        if node.orelse:
            result.append(self._part(node, region, "otherwise", changed, node.orelse))
        result.append(at(make.pass_on(region, "join", changed), node))
        return result

    def _part(
        self, node: N, region: str, begin: str, changed: list[str], body: list[ast.stmt]
    ) -> ast.stmt:
        inner = at(ast.With([ast.withitem(make.name(region), None)], self._statements(body)), node)
        after = (
            [] if begin == "else" else [at_end(make.pass_on(region, "after", changed), body[-1])]
        )
        test = make.call(make.attribute(region, "otherwise" if begin == "else" else begin))
        return at(ast.If(test, [inner, *after], []), node)

    def visit_While(self, node: ast.While) -> Any:  # noqa: D102
        scope = self._scopes[-1]
        changed = scope.changed(self._names.of([node.test, *node.body, *node.orelse]))
        used = scope.used(self._names.of([node.test, *node.body]), node)
        region = self._new()
        begin = at(make.assign(region, self._begin("while_", node, changed, used)), node)
        values = map(make.name, changed)
        test = make.call(make.attribute(region, "stops"), self.visit(node.test), *values)
        stop = ast.If(test, [ast.Break()], [])
        return [begin, *self._loop(node, region, changed, [at(stop, node)])]

    def visit_For(self, node: ast.For) -> Any:  # noqa: D102
        scope = self._scopes[-1]
        changed = scope.changed(self._names.of([node.target, *node.body, *node.orelse]))
        used = scope.used(self._names.of(node.body), node)
        region = self._new()
        items = self.visit(node.iter)
        begin = at(make.assign(region, self._begin("for_", node, changed, used, items)), node)
        item = at(ast.Assign([self.visit(node.target)], make.attribute(region, "item")), node)
        return [begin, *self._loop(node, region, changed, [item])]

    def _begin(
        self, what: str, node: Any, changed: list[str], used: list[str], *more: ast.expr
    ) -> ast.expr:
        return make.call(
            make.attribute("_lw_f", what),
            make.constant(next(_sites)),
            make.constant(tuple(changed)),
            make.constant(bool(node.orelse)),
            ast.Tuple([make.name(n) for n in changed], ast.Load()),
            ast.Tuple([make.name(n) for n in used], ast.Load()),
            *more,
        )

    def _loop(
        self, node: Any, region: str, changed: list[str], head: list[ast.stmt]
    ) -> list[ast.stmt]:
        scope = self._scopes[-1]
        scope.loops.append((region, changed))
        body = self._statements(node.body)
        scope.loops.pop()
        last = node.body[-1]
        step: list[ast.stmt] = [
            make.pass_on(region, "enter", changed),
            *head,
            ast.With([ast.withitem(make.name(region), None)], body),
            at_end(make.pass_on(region, "repeat", changed), last),
        ]
        result: list[ast.stmt] = [
            at(ast.While(make.call(make.attribute(region, "goes_on")), step, []), node),
            at(make.pass_on(region, "done", changed), node),
        ]
        if node.orelse:
            result.append(self._part(node, region, "else", changed, node.orelse))
        result.append(at(make.pass_on(region, "join", changed), node))
        return result

    def visit_Match(self, node: ast.Match) -> Any:  # noqa: D102
        tests = [_test_of(case.pattern) for case in node.cases]
        if None in tests:
            self.generic_visit(node)
            return node
        subject = self._new()
        rest: list[ast.stmt] = []
        for case, pattern in reversed(list(zip(node.cases, tests, strict=True))):
            assert pattern is not None
            test = _any_of(subject, pattern)
            if case.guard is not None:
                test = ast.BoolOp(ast.And(), [test, case.guard])
            rest = [at(ast.If(test, case.body, rest), case.body[0])]
        begin = at(make.assign(subject, self.visit(node.subject)), node)
        return [begin, *self.visit(rest[0])]

    def visit_Break(self, node: ast.Break) -> Any:  # noqa: D102
        region, changed = self._scopes[-1].loops[-1]
        return [at(ast.Expr(make.call_with(region, "break_", changed)), node), node]

    def visit_Continue(self, node: ast.Continue) -> Any:  # noqa: D102
        region, changed = self._scopes[-1].loops[-1]
        return at(ast.Expr(make.call_with(region, "continue_", changed)), node)

    def visit_Return(self, node: ast.Return) -> Any:  # noqa: D102
        value = self.visit(node.value) if node.value else make.constant(None)
        return [at(statement, node) for statement in self._return("return_", value)]

    def visit_Assert(self, node: ast.Assert) -> Any:  # noqa: D102
        test = self.visit(node.test)
        message = [self._thunk(node.msg)] if node.msg else []
        return at(ast.Expr(make.call(make.flow("assert_"), test, *message)), node)

    def visit_Raise(self, node: ast.Raise) -> Any:  # noqa: D102
        self.generic_visit(node)
        if node.exc is not None:
            is_tried = make.constant(self._scopes[-1].tries > 0)
            node.exc = at(make.call(make.attribute("_lw_f", "raise_"), node.exc, is_tried), node)
        return node

    def visit_Assign(self, node: ast.Assign) -> Any:  # noqa: D102
        self.generic_visit(node)
        return [*self._changes(node.targets), node]

    def visit_AnnAssign(self, node: ast.AnnAssign) -> Any:  # noqa: D102
        node.annotation = at(make.constant(None), node)
        self.generic_visit(node)
        return [*self._changes([node.target]), node]

    def _changes(self, targets: list[ast.expr]) -> list[ast.stmt]:
        """Tell of objects that are changed: not all elements may be there."""
        changed = [
            part.value
            for target in targets
            for part in ast.walk(target)
            if isinstance(part, (ast.Attribute, ast.Subscript)) and isinstance(part.ctx, ast.Store)
        ]
        return [
            at(ast.Expr(make.call(make.attribute("_lw_f", "changes"), copy.deepcopy(value))), value)
            for value in changed
            if not _has_call(value)
        ]

    def visit_Try(self, node: ast.Try) -> Any:  # noqa: D102
        depth = self._new()
        self._scopes[-1].tries += 1
        body = self._statements(node.body)
        self._scopes[-1].tries -= 1
        for handler in node.handlers:
            recover = ast.Expr(make.call(make.attribute("_lw_f", "recover"), make.name(depth)))
            handler.body = [at(recover, handler), *self._statements(handler.body)]
        ours = at(ast.ExceptHandler(make.flow("Control"), None, [ast.Raise()]), node)
        handlers = [ours, *node.handlers] if node.handlers else []
        orelse, final = self._statements(node.orelse), self._statements(node.finalbody)
        begin = at(make.assign(depth, make.call(make.attribute("_lw_f", "depth"))), node)
        return [begin, at(ast.Try(body, handlers, orelse, final), node)]

    def visit_Delete(self, node: ast.Delete) -> Any:  # noqa: D102
        checked = self._scopes[-1].checked
        result: list[ast.stmt] = []
        for target in node.targets:
            if isinstance(target, ast.Name) and target.id in checked:
                result.append(at(make.assign(target.id, make.flow("UNSET")), node))
            else:
                result.append(at(ast.Delete([self.visit(target)]), node))
        return result

    def visit_AugAssign(self, node: ast.AugAssign) -> Any:  # noqa: D102
        self.generic_visit(node)
        target = node.target
        if isinstance(target, ast.Name) and target.id in self._scopes[-1].checked:
            return [at(make.assign(target.id, self._load(target.id)), node), node]
        return [*self._changes([target]), node]

    # --- expressions ---

    def _thunk(self, node: ast.expr, changed: list[str] | None = None) -> ast.expr:
        """Return an operand as a function that evaluates it.

        With variables that it may assign, it takes them, and returns them after the operand.
        """
        body = self.visit(node)
        arguments = ast.arguments([], [], None, [], [], None, [])
        if changed:
            arguments.args = [ast.arg(variable) for variable in changed]
            body = ast.Tuple([body, *map(make.name, changed)], ast.Load())
        return at(ast.Lambda(arguments, body), node)

    def _choice(
        self, node: Any, what: str, first: ast.expr, later: list[ast.expr | None]
    ) -> ast.expr:
        """Call a function of operands that are evaluated later; None: an operator before one."""
        changed = list(self._names.of([operand for operand in later if operand]).assigned)
        operators = iter(getattr(node, "ops", ()))
        thunks = [
            make.flow(_OPERATORS[type(next(operators))])
            if operand is None
            else self._thunk(operand, changed)
            for operand in later
        ]
        if not changed:
            return at(make.call(make.flow(what), first, *thunks), node)
        # (_lw_1 := assigning(...), y := _lw_1[1], ..., _lw_1[0])[-1]
        result = self._new()
        values = ast.Tuple([make.name(n) for n in changed], ast.Load())
        names = make.constant(tuple(changed))
        call = make.call(make.flow("assigning"), make.flow(what), names, first, values, *thunks)

        def part(index: int) -> ast.expr:
            return ast.Subscript(make.name(result), make.constant(index), ast.Load())

        parts: list[ast.expr] = [ast.NamedExpr(ast.Name(result, ast.Store()), call)]
        parts += [
            ast.NamedExpr(ast.Name(n, ast.Store()), part(index))
            for index, n in enumerate(changed, 1)
        ]
        whole = ast.Tuple([*parts, part(0)], ast.Load())
        return at(ast.Subscript(whole, make.constant(-1), ast.Load()), node)

    def visit_BoolOp(self, node: ast.BoolOp) -> Any:  # noqa: D102
        what = "and_" if isinstance(node.op, ast.And) else "or_"
        first, *later = node.values
        return self._choice(node, what, self.visit(first), [*later])

    def visit_UnaryOp(self, node: ast.UnaryOp) -> Any:  # noqa: D102
        operand = self.visit(node.operand)
        if isinstance(node.op, ast.Not):
            return at(make.call(make.flow("not_"), operand), node)
        return at(ast.UnaryOp(node.op, operand), node)

    def visit_BinOp(self, node: ast.BinOp) -> Any:  # noqa: D102
        is_text = isinstance(node.left, ast.JoinedStr) or (
            isinstance(node.left, ast.Constant) and isinstance(node.left.value, str)
        )
        self.generic_visit(node)
        if not is_text or not isinstance(node.op, ast.Mod):
            return node
        return at(make.call(make.flow("percent"), node.left, node.right), node)

    def visit_FormattedValue(self, node: ast.FormattedValue) -> Any:  # noqa: D102
        self.generic_visit(node)
        form = node.format_spec or make.constant("")
        value = make.call(make.flow("formatted"), node.value, make.constant(node.conversion), form)
        return at(ast.FormattedValue(value, -1, None), node)

    def visit_IfExp(self, node: ast.IfExp) -> Any:  # noqa: D102
        return self._choice(node, "ternary", self.visit(node.test), [node.body, node.orelse])

    def visit_Compare(self, node: ast.Compare) -> Any:  # noqa: D102
        left = self.visit(node.left)
        if len(node.ops) == 1:
            right = self.visit(node.comparators[0])
            if isinstance(node.ops[0], (ast.In, ast.NotIn)):
                return at(make.call(make.flow(_OPERATORS[type(node.ops[0])]), left, right), node)
            return at(ast.Compare(left, node.ops, [right]), node)
        later = [part for operand in node.comparators for part in (None, operand)]
        return self._choice(node, "compare", left, later)

    def visit_Call(self, node: ast.Call) -> Any:  # noqa: D102
        if isinstance(node.func, ast.Name) and node.func.id in _PRIVATE:
            self.generic_visit(node)
            return node
        function = self.visit(node.func)
        arguments = [self.visit(a) for a in node.args]
        keywords = [at(ast.keyword(k.arg, self.visit(k.value)), k) for k in node.keywords]
        return at(ast.Call(make.flow("call"), [function, *arguments], keywords), node)

    def visit_Subscript(self, node: ast.Subscript) -> Any:  # noqa: D102
        self.generic_visit(node)
        parts = node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice]
        has_slice = any(isinstance(p, (ast.Slice, ast.Starred)) for p in parts)
        if not isinstance(node.ctx, ast.Load) or has_slice:
            return node
        return at(make.call(make.flow("item"), node.value, node.slice), node)

    def visit_List(self, node: ast.List) -> Any:  # noqa: D102
        self.generic_visit(node)
        return self._local_list(node) if isinstance(node.ctx, ast.Load) else node

    def visit_Dict(self, node: ast.Dict) -> Any:  # noqa: D102
        self.generic_visit(node)
        return at(make.call(make.flow("local_dict"), make.constant(next(_sites)), node), node)

    def visit_ListComp(self, node: ast.ListComp) -> Any:  # noqa: D102
        return self._local_list(self._comprehension(node))

    def visit_SetComp(self, node: ast.SetComp) -> Any:  # noqa: D102
        return self._comprehension(node)

    def visit_DictComp(self, node: ast.DictComp) -> Any:  # noqa: D102
        return self._comprehension(node)

    def visit_GeneratorExp(self, node: ast.GeneratorExp) -> Any:  # noqa: D102
        return self._comprehension(node)

    def _comprehension(self, node: Any) -> Any:
        scope = self._scopes[-1]
        hidden = scope.checked.intersection(targets(node.generators))
        scope.checked -= hidden
        self.generic_visit(node)
        scope.checked |= hidden
        return node

    def _local_list(self, node: ast.expr) -> ast.expr:
        return at(make.call(make.flow("local_list"), make.constant(next(_sites)), node), node)

    def visit_Name(self, node: ast.Name) -> Any:  # noqa: D102
        node.id = self._mangled(node.id)
        if isinstance(node.ctx, ast.Load) and node.id in self._scopes[-1].checked:
            return at(self._load(node.id), node)
        return node

    def visit_Attribute(self, node: ast.Attribute) -> Any:  # noqa: D102
        self.generic_visit(node)
        node.attr = self._mangled(node.attr)
        return node

    def _mangled(self, name: str) -> str:
        if self._private and name.startswith("__") and not name.endswith("__"):
            return f"_{self._private.lstrip('_')}{name}"
        return name

    def _load(self, name: str) -> ast.expr:
        return make.call(make.flow("load"), make.name(name), make.constant(name))


def _test_of(pattern: ast.pattern) -> list[ast.expr] | None:
    """Return the numbers that a pattern stands for, none for all; None for other patterns."""
    if isinstance(pattern, ast.MatchValue):
        return [pattern.value]
    if isinstance(pattern, ast.MatchAs) and pattern.pattern is None and pattern.name is None:
        return []
    if isinstance(pattern, ast.MatchOr):
        parts = [_test_of(part) for part in pattern.patterns]
        if all(part for part in parts):
            return [value for part in parts if part for value in part]
    return None


def _any_of(subject: str, values: list[ast.expr]) -> ast.expr:
    """Compare a variable with values; without any it is true."""
    tests: list[ast.expr] = [ast.Compare(make.name(subject), [ast.Eq()], [v]) for v in values]
    if len(tests) > 1:
        return ast.BoolOp(ast.Or(), tests)
    return tests[0] if tests else make.constant(True)


def _has_call(node: ast.expr) -> bool:
    """Say whether an expression has calls of the user's, which are not to be evaluated twice."""
    calls = (part.func for part in ast.walk(node) if isinstance(part, ast.Call))
    return any(not isinstance(f, ast.Attribute) or f.attr not in ("load", "item") for f in calls)
