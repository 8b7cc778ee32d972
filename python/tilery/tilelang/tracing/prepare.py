"""What changes in a function's tree before the shared front end rewrites it."""

from __future__ import annotations

import ast


def prepare(definition: ast.FunctionDef) -> ast.FunctionDef:
    """`with T.While(condition): ...` is a `while` loop: its condition is computed each time. `T.loop_break()` is `break`."""
    return _Whiles().visit(definition)


class _Whiles(ast.NodeTransformer):
    def visit_With(self, node: ast.With) -> ast.AST:
        self.generic_visit(node)
        call = node.items[0].context_expr
        if len(node.items) > 1 or node.items[0].optional_vars is not None or not isinstance(call, ast.Call):
            return node
        return ast.copy_location(ast.While(call, node.body, []), node) if _name(call) == "While" else node

    def visit_Expr(self, node: ast.Expr) -> ast.AST:
        is_break = isinstance(node.value, ast.Call) and _name(node.value) == "loop_break"
        return ast.copy_location(ast.Break(), node) if is_break else node


def _name(call: ast.Call) -> str | None:
    return call.func.attr if isinstance(call.func, ast.Attribute) else getattr(call.func, "id", None)
