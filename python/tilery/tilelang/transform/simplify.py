"""Simplification of upstream's IR: it happens when a function is compiled, asked for or not."""

from __future__ import annotations

from typing import Any


def apply_simplify(stmt: Any, inline_let: bool = False) -> Any:
    """The function or module itself."""
    return stmt


def simplify_prim_func(func: Any = None, inline_let: bool = False) -> Any:
    """Decorator of a function that returns a prim_func: the function itself."""
    return func if func is not None else lambda f: f
