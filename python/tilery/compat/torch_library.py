"""Operators that programs register for CUDA, under the device rule: they are the CPU's."""

from __future__ import annotations

import functools
import weakref
from typing import Any

_CPU = {"CUDA": "CPU", "AutogradCUDA": "AutogradCPU", "AutocastCUDA": "AutocastCPU", "SparseCUDA": "SparseCPU"}


def apply(torch: Any) -> None:
    """What is registered for CUDA serves the CPU, before and after what is registered for the CPU itself."""
    library = torch.library.Library
    impl = library.impl
    # Operator and key: the library that registered it for CUDA, while that lives.
    taken: weakref.WeakValueDictionary[tuple[str, str, str], Any] = weakref.WeakValueDictionary()

    @functools.wraps(impl)
    def impl_for_cpu(self: Any, op_name: Any, fn: Any, dispatch_key: str = "", **options: Any) -> Any:
        key = dispatch_key or self.dispatch_key
        mapped = _CPU.get(key, key)
        name = (self.ns, str(getattr(op_name, "_name", op_name)).split("::")[-1], mapped)
        if mapped != key:
            module = getattr(fn, "__module__", None) or ""
            if module.startswith("torch.") and not module.startswith("torch._library."):
                return None  # torch's own, registered for each kind of device (_library wraps what programs define)
            taken[name] = self
        elif name in taken:
            return None
        return impl(self, op_name, fn, mapped if mapped != key else dispatch_key, **options)

    library.impl = impl_for_cpu
