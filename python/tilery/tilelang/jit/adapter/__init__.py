"""Upstream's ways to call a compiled kernel; here there is one, in JITKernel."""

from __future__ import annotations

from typing import Any

from ...refused import TEXT, hook

__getattr__ = hook("tilelang.jit.adapter", "a kernel is called through JITKernel, whatever execution_backend names")
_attribute = hook("a kernel's adapter", TEXT)


class KernelAdapter:
    """What programs ask a kernel's adapter for. Outputs are always allocated by the call, and run-time sizes bound by it."""

    dynamic_symbolic_map = None
    _ffi_callee_allocated_output_abi = True

    def __init__(self, kernel: Any) -> None:
        self.kernel = kernel

    @property
    def prim_func(self) -> Any:
        return _WithOutputs(self.kernel.prim_func, self.kernel.out_idx)

    @property
    def params(self) -> list[Any]:
        return list(self.kernel.params)

    @property
    def result_idx(self) -> list[int]:
        return list(self.kernel.out_idx)

    def get_kernel_source(self, kernel_only: bool = True) -> str:
        return str(self.kernel.get_kernel_source(kernel_only))

    def get_host_source(self) -> str:
        return str(self.kernel.get_host_source())

    @property
    def func(self) -> Any:
        return self.kernel

    def __call__(self, *arguments: Any) -> Any:
        return self.kernel(*arguments)

    def __getattr__(self, name: str) -> Any:
        return _attribute(name)


class _WithOutputs:
    """A function whose attributes name the outputs that a call allocates."""

    def __init__(self, function: Any, out_idx: list[int]) -> None:
        self._function, self._out_idx = function, out_idx

    @property
    def attrs(self) -> dict[str, Any]:
        own = dict(self._function.attrs)
        return {**own, "tilelang_out_idx": list(self._out_idx)} if self._out_idx else own

    def __getattr__(self, name: str) -> Any:
        return getattr(self._function, name)
