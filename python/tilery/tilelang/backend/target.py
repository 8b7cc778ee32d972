"""The choice of a target."""

from __future__ import annotations

from typing import Any

from tilery import _native

from ..tvm.target import Target

__all__ = ["determine_target"]


def determine_target(target: Any = "auto", return_object: bool = False) -> Any:
    """The target that "auto" means: the one of the innermost `with Target(...)`, else the first GPU, else the CPU ("c").
    A launch runs where its tensors are, so that this is a name and no choice."""
    if isinstance(target, str) and target == "auto":
        found = Target.current() or Target(f"cuda -arch={_native.gpu_target(0)}" if _native.gpu_count() else "c")
    else:
        found = Target(target)
    if return_object or not isinstance(target, str):
        return found
    return str(found)
