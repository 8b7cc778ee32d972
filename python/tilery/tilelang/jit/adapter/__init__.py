"""Upstream's ways to call a compiled kernel; here there is one, in JITKernel."""

from ...refused import hook

__getattr__ = hook("tilelang.jit.adapter", "a kernel is called through JITKernel, whatever execution_backend names")
