"""The kinds of devices that kernels are compiled for and run on."""

from __future__ import annotations

from typing import NamedTuple

from ...errors import error
from .compiler import BaseBackend, CPUBackend, CUDABackend, GPUTarget
from .driver import CPUDriver, CudaDriver, DriverBase


class Backend(NamedTuple):
    """A kind of device: its compiler and its driver."""

    compiler: type[BaseBackend]
    driver: type[DriverBase]


backends = {"nvidia": Backend(CUDABackend, CudaDriver), "cpu": Backend(CPUBackend, CPUDriver)}


def make_backend(target: GPUTarget) -> BaseBackend:
    """The compiler for a target."""
    for backend in backends.values():
        if backend.compiler.supports_target(target):
            return backend.compiler(target)
    raise error(RuntimeError, f"no compiler for {target}", hint="known are targets of 'cpu' and of 'cuda'")
