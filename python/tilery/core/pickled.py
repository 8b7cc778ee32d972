"""Kernels in pickles: one that a module has under its name is pickled as that name, like a function; no other one is. Copies of a
kernel are the kernel itself, as those of functions are."""

from __future__ import annotations

import sys
from typing import Any

from ..errors import error


def by_name(kernel: Any, hint: str) -> str:
    """What `__reduce__` gives.

    :raises tilery.TypeError: its module has another thing under its name, or nothing."""
    module, name = getattr(kernel, "__module__", None), getattr(kernel, "__qualname__", "")
    found: Any = sys.modules.get(module or "")
    for part in name.split("."):
        found = getattr(found, part, None)
    if found is not kernel:
        raise not_pickled(f"the kernel `{name}`", hint)
    return str(name)


def not_pickled(what: str, hint: str) -> Exception:
    """The error for what holds code of this process."""
    return error(TypeError, f"{what} cannot be pickled: it holds code of this process", hint=hint)


class OwnCopy:
    """What is copied by being taken again: a model that holds a kernel can be copied."""

    def __copy__(self) -> Any:
        return self

    def __deepcopy__(self, memo: Any) -> Any:
        return self
