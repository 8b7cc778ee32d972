"""Kernels that were compiled before: each JITKernel keeps its own, and the disk cache serves later processes."""

from __future__ import annotations

from typing import Any

from ..env import disable_cache, enable_cache, is_cache_enabled
from ..jit import compile
from ..jit.kernel import JITKernel
from ..language.eager.builder import PrimFunc

__all__ = ["cached", "clear_cache", "disable_cache", "enable_cache", "is_cache_enabled"]
_kernels: dict[Any, JITKernel] = {}


def cached(func: PrimFunc, out_idx: Any = None, *arguments: Any, **options: Any) -> JITKernel:
    """tilelang.compile(func, out_idx, **options), the same kernel for the same function and options; `arguments` are those that
    the function was made for, and tell kernels apart, too."""
    key = id(func), repr(out_idx), repr(arguments), repr(sorted(options.items(), key=str))
    found = _kernels.get(key)
    if found is None or found.prim_func is not func:
        found = _kernels[key] = compile(func, out_idx, **options)
    return found


def clear_cache() -> None:
    """Forgets the kernels of `cached`; code on disk is kept, its keys name all that it depends on."""
    _kernels.clear()
