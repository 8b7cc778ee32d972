"""What a machine has."""

from __future__ import annotations

from typing import Any

from tilery import _native

from ....core import hopper
from ....errors import error

_UNITS = {"bytes": 1, "kb": 1024, "mb": 1 << 20}


def get_cuda_device_properties(device_id: int = 0) -> Any:
    """torch's properties of a GPU."""
    import torch

    if not _native.gpu_count():
        raise error(RuntimeError, "there is no GPU here to ask for its properties")
    return torch.cuda.get_device_properties(device_id)


def get_device_name(device_id: int = 0) -> str:
    return str(_native.gpu_properties(device_id)["name"]) if _native.gpu_count() else "cpu"


def get_num_sms(device_id: int = 0) -> int:
    """Multiprocessors of the GPU; without one the threads that run programs, which take their place."""
    return int(_native.gpu_properties(device_id)["multiprocessors"] if _native.gpu_count() else _native.num_threads())


def get_shared_memory_per_block(device_id: int = 0, format: str = "bytes") -> int:
    """Shared memory that a block may use without asking for more: 48 KB on every GPU."""
    return (48 << 10) // _UNITS[format]


def get_max_dynamic_shared_size_bytes(device_id: int = 0, format: str = "bytes") -> int:
    """Shared memory that a block may ask for."""
    size = _native.gpu_properties(device_id)["shared_bytes"] if _native.gpu_count() else hopper.SHARED_BYTES
    return int(size) // _UNITS[format]


def get_persisting_l2_cache_max_size(device_id: int = 0) -> int:
    """Bytes of the second-level cache that may be set aside."""
    return int(_native.gpu_properties(device_id)["cache_bytes"]) if _native.gpu_count() else 0


def get_registers_per_block(device_id: int = 0) -> int:
    return hopper.REGISTERS
