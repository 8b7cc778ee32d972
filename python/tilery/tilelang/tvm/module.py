"""Modules as upstream's compiler passes them around: names and functions, nothing to look into."""

from __future__ import annotations

from typing import Any


class IRModule:
    """Functions by name."""

    def __init__(self, functions: dict[str, Any] | None = None) -> None:
        self.functions = dict(functions or {})

    @staticmethod
    def from_expr(expr: Any) -> IRModule:
        """The module of one function, under the name it was defined with."""
        return IRModule({expr.attrs["global_symbol"]: expr})

    def __getitem__(self, name: str) -> Any:
        return self.functions[name]

    def __len__(self) -> int:
        return len(self.functions)
