"""Upstream's name for what writes a kernel down: here a listing for people, since nothing is generated as text."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from .jit import jit
from .listing import CACHE_DIR, cache_source


class CodeGenerator:
    """``CodeGenerator()(func, ...)`` writes the listing of the kernel that `jit` makes of the function and returns its path."""

    def __call__(
        self,
        func: Callable[..., Any],
        caller: str = "torch",
        kernel_name: str | None = None,
        num_warps: int | Sequence[int] | None = None,
        num_stages: int | Sequence[int] | None = None,
        max_num_configs: int | None = None,
        prettify: bool = False,
    ) -> str:
        options: dict[str, Any] = {"num_warps": num_warps, "num_stages": num_stages, "max_num_configs": max_num_configs}
        return str(jit(func, kernel_name=kernel_name, **options)._source)


__all__ = ["CACHE_DIR", "CodeGenerator", "cache_source"]
