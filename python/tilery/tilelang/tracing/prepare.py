"""What changes in a function's tree before the shared front end rewrites it."""

from __future__ import annotations

import ast


def prepare(definition: ast.FunctionDef) -> ast.FunctionDef:
    """`with T.While(condition): ...` is a `while` loop: its condition is computed each time; `with T.If(condition): ...` with its
    `with T.Then(): ...` and `with T.Else(): ...` is an `if`. `T.loop_break()` is `break`, `T.thread_return()` is `return`."""
    return _Statements().visit(definition)


class _Statements(ast.NodeTransformer):
    def visit_With(self, node: ast.With) -> ast.AST:
        call = node.items[0].context_expr
        if not isinstance(call, ast.Call) or _name(call) not in ("While", "If", "Then", "Else") or node.items[0].optional_vars:
            self.generic_visit(node)
            return node
        if len(node.items) > 1:  # `with T.If(condition), T.Then():` holds one in the other
            inner = ast.copy_location(ast.With(node.items[1:], node.body), node)
            node = ast.copy_location(ast.With(node.items[:1], [inner]), node)
        self.generic_visit(node)
        if _name(call) == "While":
            return ast.copy_location(ast.While(call, node.body, []), node)
        if _name(call) == "If" and len(call.args) == 1 and (sides := _sides(node.body)):
            return ast.copy_location(ast.If(call.args[0], sides["Then"], sides.get("Else", [])), node)
        return node

    def visit_Expr(self, node: ast.Expr) -> ast.AST:
        name = _name(node.value) if isinstance(node.value, ast.Call) else None
        jump = {"loop_break": ast.Break(), "thread_return": ast.Return(None)}.get(name or "")
        return ast.copy_location(jump, node) if jump else node


def _sides(body: list[ast.stmt]) -> dict[str, list[ast.stmt]] | None:
    """The statements under T.Then and T.Else; None where something else stands there."""
    sides = {}
    for part in body:
        call = part.items[0].context_expr if isinstance(part, ast.With) else None
        if not isinstance(part, ast.With) or not isinstance(call, ast.Call) or _name(call) not in ("Then", "Else"):
            return None
        sides[str(_name(call))] = part.body
    return sides if "Then" in sides else None


def _name(call: ast.Call) -> str | None:
    return call.func.attr if isinstance(call.func, ast.Attribute) else getattr(call.func, "id", None)
