"""Questions about buffers."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ..tracing.memory import Element, LocalVar, Memory, Region


def _scope(value: Any) -> str:
    memory = value if isinstance(value, Memory) else getattr(value, "memory", None)
    return str(memory.scope_name) if memory is not None else ""


def is_global(buffer: Any) -> bool:
    return _scope(buffer) == "global"


def is_shared(buffer: Any, allow_dynamic: bool = True) -> bool:
    return _scope(buffer) in (("shared", "shared.dyn") if allow_dynamic else ("shared",))


def is_shared_dynamic(buffer: Any) -> bool:
    return _scope(buffer) == "shared.dyn"


def is_fragment(buffer: Any) -> bool:
    return _scope(buffer).startswith("local.fragment")


def is_local(buffer: Any) -> bool:
    return _scope(buffer) == "local"


def is_local_var(buffer: Any) -> bool:
    return isinstance(buffer, LocalVar) or _scope(buffer) == "local.var"


def to_buffer_region(obj: Any, access_type: str = "rw", extents: Sequence[Any] | None = None) -> Region:
    """A buffer, an element or a region as a region."""
    if isinstance(obj, Region):
        return obj
    if isinstance(obj, Element):
        return Region(obj.memory, list(obj.indices), list(extents or [1] * len(obj.indices)))
    return Region(obj, [0] * obj.ndim, list(obj.shape))


def retrieve_shape(obj: Any) -> list[Any]:
    """The extents of a buffer or a region."""
    return list(obj.shape if isinstance(obj, Memory) else to_buffer_region(obj).extents)


retrive_shape = retrieve_shape  # upstream's spelling
