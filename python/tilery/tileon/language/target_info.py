"""Which device a kernel is compiled for, as a compile-time value in kernels and on the host."""

from __future__ import annotations

from typing import Any

from ..backends.active import driver
from ..runtime.jit import constexpr_function


def current_target() -> Any:
    """The active device's GPUTarget."""
    return driver.active.get_current_target()


def _backend(name: str) -> bool:
    return current_target().backend == name


@constexpr_function
def is_cuda() -> bool:
    """Is it a GPU of NVIDIA's?"""
    return _backend("cuda")


@constexpr_function
def is_cpu() -> bool:
    """Is it a processor?"""
    return _backend("cpu")


@constexpr_function
def is_hip() -> bool:
    """Is it a GPU of AMD's?"""
    return _backend("hip")


is_hip_cdna3 = is_hip_cdna4 = is_hip


@constexpr_function
def cuda_capability_geq(major: int, minor: int = 0) -> bool:
    """Is it a GPU of NVIDIA's of at least this compute capability?"""
    return _backend("cuda") and int(current_target().arch) >= major * 10 + minor
