"""The kinds of devices that kernels are compiled for and run on."""

from __future__ import annotations

from typing import NamedTuple

from .compiler import BaseBackend, CPUBackend, CUDABackend
from .driver import CPUDriver, CudaDriver, DriverBase


class Backend(NamedTuple):
    """A kind of device: its compiler and its driver."""

    compiler: type[BaseBackend]
    driver: type[DriverBase]


backends = {"nvidia": Backend(CUDABackend, CudaDriver), "cpu": Backend(CPUBackend, CPUDriver)}
