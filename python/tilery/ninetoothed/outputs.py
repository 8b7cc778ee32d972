"""Calls by name: a helper may assign the variables that it was called with.

Upstream pastes a helper's text into its caller, so `accumulate(a, b, acc)` changes the caller's `acc` when the helper assigns
its own third parameter. Here a call gives back what its parameters hold at the end, and the caller's names take it over."""

from __future__ import annotations

import ast

from ..frontend.names import assigned, parameters
from ..frontend.rewrite import HOOKS


def prepare(definition: ast.FunctionDef) -> ast.FunctionDef:
    """The same function, with calls that give back their arguments and with its own parameters made visible to its caller."""
    names, _ = assigned(definition.body)
    own = parameters(definition.args)
    definition = _Calls({*names, *own}).visit(definition)
    positional = [a.arg for a in definition.args.posonlyargs + definition.args.args]
    values = ast.Dict([ast.Constant(n) for n in positional], [ast.Name(n, ast.Load()) for n in positional])
    empty = ast.arguments([], [], None, [], [], None, [])
    watch = ast.Expr(_hook("watch", [ast.Lambda(empty, values)]))
    definition.body.insert(0, ast.copy_location(watch, definition.body[0]))

    return ast.fix_missing_locations(definition)


def _hook(name: str, arguments: list[ast.expr]) -> ast.Call:
    return ast.Call(ast.Attribute(ast.Name(HOOKS, ast.Load()), name, ast.Load()), arguments, [])


class _Calls(ast.NodeTransformer):
    """`f(a, k=b)` becomes `finished(f(a, k=b), a := output(a, 0), b := output(b, "k"))` for the function's own names a, b."""

    def __init__(self, names: set[str]) -> None:
        self.names = names

    def visit_Call(self, node: ast.Call) -> ast.Call:
        self.generic_visit(node)
        places = [(i, a) for i, a in enumerate(node.args)] + [(k.arg, k.value) for k in node.keywords]
        if any(isinstance(a, ast.Starred) for a in node.args):
            return node
        updates = []
        for place, value in places:
            if isinstance(value, ast.Name) and value.id in self.names and place is not None:
                output = _hook("output", [ast.Name(value.id, ast.Load()), ast.Constant(place)])
                updates.append(ast.NamedExpr(ast.Name(value.id, ast.Store()), output))
        if not updates:
            return node
        new = _hook("finished", [node, *updates])

        return ast.copy_location(new, node)

    def _alone(self, node: ast.AST) -> ast.AST:
        # These become functions of their own, in which an assignment would make a new local.
        return node

    visit_Lambda = visit_ListComp = visit_SetComp = visit_DictComp = visit_GeneratorExp = visit_BoolOp = visit_IfExp = _alone
    visit_Compare = _alone

    def visit_While(self, node: ast.While) -> ast.While:
        node.body = [self.visit(s) for s in node.body]

        return node

    def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.FunctionDef:
        # The definition itself; one nested in it is prepared when it is called.
        node.body = [self.visit(s) if not isinstance(s, ast.FunctionDef) else s for s in node.body]

        return node
