"""Machines as a model of time sees them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from tilery import _native

from ....core import hopper
from ....errors import error
from ...tvm.target import Target
from . import driver

__all__ = ["CDNA", "CPU", "CUDA", "TileDevice", "auto_infer_current_arch", "driver", "get_arch", "is_cpu_arch", "is_cuda_arch"]


@dataclass
class TileDevice:
    """Bytes of fast memory for a block, blocks that run at once, sizes that hardware likes, and speeds: bandwidth in GB/s from
    memory and from the cache before it, products in TFLOP/s of 16-bit operands."""

    platform: str = ""
    smem_cap: int = 0
    compute_max_core: int = 1
    warp_size: int = 32
    reg_cap: int = hopper.REGISTERS
    max_smem_usage: int = 0
    transaction_size: tuple[int, int] = (32, 128)
    bandwidth: tuple[int, int] = (100, 400)
    tflops: float = 1.0
    l2_cache_size_bytes: int = 0

    def get_avaliable_tensorintrin_shapes(self) -> list[list[int]]:  # upstream's spelling
        return [[16, 16]]


class CUDA(TileDevice):
    """`CUDA("cuda")`: the first GPU, or without one a GPU like an H100."""

    def __init__(self, target: Any = "cuda") -> None:
        self.target = Target(target)
        cores = driver.get_num_sms() if _native.gpu_count() else hopper.MULTIPROCESSORS
        smem = driver.get_max_dynamic_shared_size_bytes()
        super().__init__("CUDA", smem, cores, max_smem_usage=smem, bandwidth=(3350, 8000), tflops=700.0)
        digits = "".join(c for c in (self.target.arch or "sm_90").rpartition("_")[2] if c.isdigit())
        self.sm_version = int(digits)


class CPU(TileDevice):
    """The cores of this machine."""

    def __init__(self, target: Any = "c") -> None:
        self.target = Target(target)
        super().__init__("CPU", 1 << 20, int(_native.num_threads()), max_smem_usage=1 << 20, warp_size=1)


class CDNA(TileDevice):
    """AMD's GPUs, which are no target."""

    def __init__(self, target: Any = "hip") -> None:
        raise error(NotImplementedError, "CDNA GPUs are no target of Tilery")


def auto_infer_current_arch() -> TileDevice:
    """The GPU, or without one the CPU."""
    return CUDA("cuda") if _native.gpu_count() else CPU()


def get_arch(target: Any = "cuda") -> TileDevice:
    return CUDA(target) if Target(target).kind.name == "cuda" else CPU(target)


def is_cuda_arch(arch: TileDevice) -> bool:
    return isinstance(arch, CUDA)


def is_cpu_arch(arch: TileDevice) -> bool:
    return isinstance(arch, CPU)
