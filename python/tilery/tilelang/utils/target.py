"""The choice of a target, and whether there is a GPU."""

from __future__ import annotations

from tilery import _native

from ..backend.target import determine_target
from ..tvm.target import KINDS, Target

__all__ = ["AVALIABLE_TARGETS", "check_cuda_availability", "check_hip_availability", "determine_target"]
__all__ += ["check_metal_availability"]
AVALIABLE_TARGETS = set(KINDS)  # upstream's spelling


def check_cuda_availability() -> bool:
    """Is there an NVIDIA GPU?"""
    return bool(_native.gpu_count())


def check_hip_availability() -> bool:
    """No AMD GPU is a target."""
    return False


def check_metal_availability() -> bool:
    """No GPU of Apple is a target."""
    return False


def target_is_cuda(target: Target) -> bool:
    return Target(target).kind.name == "cuda"


def target_is_cpu(target: Target) -> bool:
    return Target(target).kind.name in ("c", "llvm", "cpu")


def target_is_hip(target: Target) -> bool:
    return Target(target).kind.name == "hip"


def target_get_warp_size(target: Target) -> int:
    return 32
