"""The devices that kernels run on, as programs ask for them."""

from __future__ import annotations

import contextlib
import functools
import os
from typing import Any

from tilery import _native

from .compiler import GPUTarget


def target_of(device: int) -> GPUTarget:
    """What code is for on the GPU of this number, or on this machine's processors: -1."""
    if device < 0:
        return GPUTarget("cpu", os.uname().machine, 1)
    arch = _native.gpu_target(device).split(":")[0].strip("sm_a")
    return GPUTarget("cuda", int(arch), 32)


class DriverBase:
    """What is asked of a kind of device."""

    @classmethod
    def is_active(cls) -> bool:
        """Whether there is such a device, and programs mean it."""
        raise NotImplementedError

    backend = ""

    @staticmethod
    def get_active_torch_device() -> Any:
        """The torch device of tensors that kernels take."""
        raise NotImplementedError

    @functools.cached_property
    def utils(self) -> Utils:
        return Utils(self)

    @staticmethod
    def get_benchmarker() -> Any:
        """How a call is timed here."""
        from .bench import do_bench

        return do_bench

    def get_device_capability(self, device: int = 0) -> tuple[int, int]:
        """Of NVIDIA's GPUs; (0, 0): it is none."""
        return 0, 0

    def get_device_interface(self) -> Any:
        """torch's module of the device."""
        import torch

        return torch.cuda if self.backend != "cpu" and torch.cuda.is_available() else torch.cpu

    def get_empty_cache_for_benchmark(self) -> Any:
        """A tensor larger than the device's caches."""
        import torch

        return torch.empty(1 << 26, dtype=torch.int32, device=self.get_active_torch_device())

    def clear_cache(self, cache: Any) -> None:
        """Writes such a tensor."""
        cache.zero_()

    def map_python_to_cpp_type(self, ty: str) -> str:
        """The C type of an argument of a signature."""
        if ty.startswith("*"):
            return "void *" if self.backend == "cpu" else "CUdeviceptr"
        if ty in ("fp16", "bf16", "fp32", "f32", "fp64"):
            return "double"
        return {"i1": "int8_t", "u1": "uint8_t"}.get(ty) or f"{'u' if ty[0] == 'u' else ''}int{ty[1:]}_t"


class CPUDriver(DriverBase):
    """This machine's processors."""

    backend = "cpu"

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
        return target_of(-1)

    @staticmethod
    def get_current_device() -> int:
        return 0

    @staticmethod
    def set_current_device(device: int) -> None:
        """There is one."""

    @staticmethod
    def get_current_stream(device: int | None = None) -> int:
        return 0


class GPUDriver(DriverBase):
    """A kind of GPU."""


class CudaDriver(GPUDriver):
    """NVIDIA's GPUs. Where the driver sees one that torch does not, it is the first, and tensors are the host's."""

    backend = "cuda"

    @classmethod
    def is_active(cls) -> bool:
        return _native.environment_text("TILERY_DEVICE") != "cpu" and _native.gpu_count() > 0

    @staticmethod
    def get_active_torch_device() -> Any:
        """The torch device of tensors that kernels take."""
        import torch

        return torch.device("cuda", torch.cuda.current_device()) if torch.cuda.is_available() else torch.device("cpu")

    @staticmethod
    def get_current_device() -> int:
        import torch

        return int(torch.cuda.current_device()) if torch.cuda.is_available() else 0

    @staticmethod
    def set_current_device(device: int) -> None:
        import torch

        if torch.cuda.is_available():
            torch.cuda.set_device(device)

    @staticmethod
    def get_current_stream(device: int | None = None) -> int:
        import torch

        return int(torch.cuda.current_stream(device).cuda_stream) if torch.cuda.is_available() else 0

    def get_current_target(self) -> GPUTarget:
        return target_of(self.get_current_device())

    def get_device_capability(self, device: int = 0) -> tuple[int, int]:
        major, minor = _native.gpu_properties(device)["capability"]
        return major, minor


class Utils:
    """What a driver tells of its devices."""

    def __init__(self, driver: DriverBase) -> None:
        self.driver = driver

    def get_device_properties(self, device: int = 0) -> dict[str, Any]:
        """max_shared_mem (bytes a block; of a CPU its second cache), max_num_regs, multiprocessor_count, warpSize, and clocks
        (kHz) and the width (bits) of the memory, where they are known."""
        if self.driver.backend == "cpu":
            return _of_cpu()
        found = _native.gpu_properties(device)
        return {
            "max_shared_mem": found["shared_bytes"],
            "max_num_regs": found["registers"],
            "multiprocessor_count": found["multiprocessors"],
            "warpSize": 32,
            "sm_clock_rate": found["clock_khz"],
            "mem_clock_rate": found["memory_clock_khz"],
            "mem_bus_width": found["memory_bits"],
        }

    def load_binary(self, name: str, kernel: Any, shared: int, device: int) -> tuple[Any, Any, int, int, int]:
        """(module, function, registers, spills, threads) of a compiled kernel's image, put into executable memory."""
        function = next(k for k in _native.load(kernel) if k.name == name)
        return function, function, 0, function.spill_bytes, function.threads

    def unload_module(self, module: Any) -> None:
        """A module is unloaded when nobody holds it."""


def _of_cpu() -> dict[str, Any]:
    return {
        "max_shared_mem": _cache_bytes(2) or 1 << 20,
        "max_num_regs": 32,
        "multiprocessor_count": _native.num_threads(),
        "warpSize": 1,
        "sm_clock_rate": _clock_khz(),
        "mem_clock_rate": 0,
        "mem_bus_width": 0,
    }


def _cache_bytes(level: int) -> int:
    """Of a cache of the first processor; 0: the system does not say."""
    folder = "/sys/devices/system/cpu/cpu0/cache"
    with contextlib.suppress(OSError):
        for entry in os.listdir(folder):
            with contextlib.suppress(OSError, ValueError):
                with open(f"{folder}/{entry}/level", encoding="ascii") as file:
                    if int(file.read()) != level:
                        continue
                with open(f"{folder}/{entry}/size", encoding="ascii") as file:
                    text = file.read().strip()
                return int(text[:-1]) << {"K": 10, "M": 20}[text[-1]]
    return 0


def _clock_khz() -> int:
    with contextlib.suppress(OSError, ValueError), open("/proc/cpuinfo", encoding="ascii") as file:
        for line in file:
            if line.startswith("cpu MHz"):
                return int(float(line.partition(":")[2]) * 1e3)
    return 0
