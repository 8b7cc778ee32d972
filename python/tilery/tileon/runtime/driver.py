"""The active device, as programs ask for it."""

from __future__ import annotations

import os
from types import SimpleNamespace
from typing import Any, NamedTuple

from tilery import _native


class Target(NamedTuple):
    """What kernels are compiled for."""

    backend: str
    arch: int | str
    warp_size: int


def _gpu() -> bool:
    """Whether programs mean a GPU: there is one, and they were not told to stay on the CPU."""
    return os.environ.get("TILERY_DEVICE") != "cpu" and _native.gpu_count() > 0


class Driver:
    """The first GPU, or the CPU where there is none."""

    @staticmethod
    def get_active_torch_device() -> Any:
        """The torch device of tensors that kernels take."""
        import torch

        return torch.device("cuda", torch.cuda.current_device()) if _gpu() else torch.device("cpu")

    @staticmethod
    def get_current_target() -> Target:
        if not _gpu():
            import platform  # two milliseconds

            return Target("cpu", platform.machine(), 1)
        arch = _native.gpu_target(0).split(":")[0].strip("sm_a")
        return Target("cuda", int(arch), 32)

    @staticmethod
    def get_current_device() -> int:
        return 0

    @staticmethod
    def get_benchmarker() -> Any:
        from ..testing import do_bench

        return do_bench


driver = SimpleNamespace(active=Driver())
