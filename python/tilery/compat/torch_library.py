"""Operators that programs register for CUDA, under the device rule: they are the CPU's."""

import functools
import weakref

_CPU = {"CUDA": "CPU", "AutogradCUDA": "AutogradCPU", "AutocastCUDA": "AutocastCPU", "SparseCUDA": "SparseCPU"}


def apply(torch):
    """What is registered for CUDA serves the CPU, before and after what is registered for the CPU itself."""
    library = torch.library.Library
    impl = library.impl
    taken = weakref.WeakValueDictionary()  # operator and key -> the library that registered it for CUDA, while that lives

    @functools.wraps(impl)
    def impl_for_cpu(self, op_name, fn, dispatch_key="", **options):
        key = dispatch_key or self.dispatch_key
        mapped = _CPU.get(key, key)
        name = (self.ns, str(getattr(op_name, "_name", op_name)).split("::")[-1], mapped)
        if mapped != key:
            taken[name] = self
        elif name in taken:
            return None
        return impl(self, op_name, fn, mapped if mapped != key else dispatch_key, **options)

    library.impl = impl_for_cpu
