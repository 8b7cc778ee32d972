"""The active device, as programs ask for it."""

import platform
from types import SimpleNamespace
from typing import NamedTuple


class Target(NamedTuple):
    """What kernels are compiled for."""

    backend: str
    arch: str
    warp_size: int


class Driver:
    """The CPU."""

    @staticmethod
    def get_active_torch_device():
        """The torch device of tensors that kernels take."""
        import torch

        return torch.device("cpu")

    @staticmethod
    def get_current_target():
        return Target("cpu", platform.machine(), 1)

    @staticmethod
    def get_current_device():
        return 0

    @staticmethod
    def get_benchmarker():
        from ..testing import do_bench

        return do_bench


driver = SimpleNamespace(active=Driver())
