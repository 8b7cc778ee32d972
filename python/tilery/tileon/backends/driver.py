"""The devices that kernels run on, as programs ask for them."""

from __future__ import annotations

import os
from typing import Any

from tilery import _native

from .compiler import GPUTarget


class DriverBase:
    """What is asked of a kind of device."""

    @classmethod
    def is_active(cls) -> bool:
        """Whether there is such a device, and programs mean it."""
        raise NotImplementedError

    @staticmethod
    def get_benchmarker() -> Any:
        from ..testing import do_bench

        return do_bench


class CPUDriver(DriverBase):
    """This machine's processors."""

    @classmethod
    def is_active(cls) -> bool:
        return True

    @staticmethod
    def get_active_torch_device() -> Any:
        """The torch device of tensors that kernels take."""
        import torch

        return torch.device("cpu")

    @staticmethod
    def get_current_target() -> GPUTarget:
        return GPUTarget("cpu", os.uname().machine, 1)

    @staticmethod
    def get_current_device() -> int:
        return 0

    @staticmethod
    def set_current_device(device: int) -> None:
        """There is one."""

    @staticmethod
    def get_current_stream(device: int | None = None) -> int:
        return 0


class CudaDriver(DriverBase):
    """NVIDIA's GPUs."""

    @classmethod
    def is_active(cls) -> bool:
        return os.environ.get("TILERY_DEVICE") != "cpu" and _native.gpu_count() > 0

    @staticmethod
    def get_active_torch_device() -> Any:
        """The torch device of tensors that kernels take."""
        import torch

        return torch.device("cuda", torch.cuda.current_device())

    @staticmethod
    def get_current_device() -> int:
        import torch

        return int(torch.cuda.current_device())

    @staticmethod
    def set_current_device(device: int) -> None:
        import torch

        torch.cuda.set_device(device)

    @staticmethod
    def get_current_stream(device: int | None = None) -> int:
        import torch

        return int(torch.cuda.current_stream(device).cuda_stream)

    def get_current_target(self) -> GPUTarget:
        arch = _native.gpu_target(self.get_current_device()).split(":")[0].strip("sm_a")
        return GPUTarget("cuda", int(arch), 32)
