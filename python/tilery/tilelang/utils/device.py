"""Where programs run."""

from __future__ import annotations

from typing import Any

from tilery import _native

IS_CUDA, IS_MPS, IS_ROCM = bool(_native.gpu_count()), False, False


def _chosen(torch: Any) -> Any:
    """The device of torch.set_default_device or of a `with torch.device(...)`; None if the program has chosen none."""
    modes = torch.overrides._get_current_function_mode_stack()
    chosen = [mode.device for mode in modes if isinstance(mode, torch.utils._device.DeviceContext)]
    return chosen[-1] if chosen else None


def get_current_device() -> Any:
    """Where tensors are made that no argument places: torch's default device if the program has chosen one, else the current
    GPU, else the CPU. TILERY_DEVICE=cpu is a choice, too."""
    import torch

    chosen = _chosen(torch)
    if chosen is not None:
        return chosen
    if not IS_CUDA or _native.environment_text("TILERY_DEVICE") == "cpu" or not torch.cuda.is_available():
        return torch.device("cpu")
    return torch.device("cuda", torch.cuda.current_device())
