"""What programs ask of upstream's runtime."""

from typing import Any

from .autotuner import Autotuner, Config, Heuristics, autotune, heuristics
from .driver import driver
from .errors import InterpreterError, OutOfResources
from .jit import JITFunction, KernelInterface, MockTensor, TensorWrapper, reinterpret

__all__ = [
    "Autotuner",
    "Config",
    "Heuristics",
    "InterpreterError",
    "JITFunction",
    "KernelInterface",
    "MockTensor",
    "OutOfResources",
    "TensorWrapper",
    "autotune",
    "driver",
    "heuristics",
    "reinterpret",
    "set_allocator",
]


def __getattr__(name: str) -> Any:
    if name == "set_allocator":
        from ._allocation import set_allocator

        return set_allocator
    if name == "RedisRemoteCacheBackend":
        from .cache import RedisRemoteCacheBackend

        return RedisRemoteCacheBackend
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
