"""The device rule: without a GPU, or with TILERY_DEVICE=cpu, "cuda" means the CPU in this process."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Sequence
from importlib.machinery import ModuleSpec
from types import ModuleType

from . import told

_active = False


def active() -> bool:
    """Whether "cuda" means the CPU in this process."""
    return _active


def _has_gpu() -> bool:
    if os.environ.get("CUDA_VISIBLE_DEVICES", "0") in ("", "-1"):
        return False
    return os.path.exists("/dev/nvidiactl") or os.path.exists("/dev/dxg")


def _choice() -> str:
    """What TILERY_DEVICE says. Only where it is set: the native module takes milliseconds, and not every program needs it."""
    from tilery import _native

    try:
        return str(_native.environment_text("TILERY_DEVICE"))
    except ValueError as wrong:
        raise SystemExit(f"tilery: {wrong}") from None


def _emulated() -> str:
    """The GPU that this process emulates; empty: none, whatever TILERY_EMULATE says."""
    asked = os.environ.get("TILERY_EMULATE", "")
    if not asked:
        return ""
    from tilery import _native

    return asked if _native.gpu_count() else ""


def install() -> None:
    """Applies the rule if it holds here; torch itself is changed when, and only when, the program imports it."""
    global _active
    choice = os.environ.get("TILERY_DEVICE", "") and _choice()
    if _active or choice == "cuda" or (not choice and _has_gpu()):
        return
    _active = True
    if os.environ.get("TILERY_COMPAT") != "told":  # children of a process that has said it stay silent
        emulated = _emulated()
        reason = f"TILERY_EMULATE={emulated}" if emulated else "TILERY_DEVICE=cpu" if choice else "no GPU here"
        rest = ", whose launches an emulated GPU runs" if emulated else ""
        told.later(f'tilery: {reason}: the device "cuda" means the CPU in this process{rest}')
    _after("torch", _apply)


def _apply(torch: ModuleType) -> None:
    from . import torch_cuda, torch_device, torch_library, torch_triton

    torch_device.apply(torch)
    torch_cuda.apply(torch)
    torch_library.apply(torch)
    _after("torch._dynamo", torch_device.allow_in_graphs)
    _after("torch.utils._triton", torch_triton.allow_descriptors)


def _after(name: str, change: Callable[[ModuleType], None]) -> None:
    """Changes a module, now or when, and only when, the program imports it."""
    if name in sys.modules:
        change(sys.modules[name])
    else:
        sys.meta_path.insert(1, _After(name, change))


class _After:
    """Finds one module as the others would, and changes it when it has been executed."""

    def __init__(self, name: str, change: Callable[[ModuleType], None]) -> None:
        self.name, self.change = name, change

    def find_spec(self, fullname: str, path: Sequence[str] | None = None, target: ModuleType | None = None) -> ModuleSpec | None:
        if fullname != self.name:
            return None
        spec = None
        for finder in sys.meta_path:
            if finder is not self and (spec := finder.find_spec(fullname, path, target)) is not None:
                break
        if spec is not None and spec.loader is not None:
            execute = spec.loader.exec_module

            def exec_module(module: ModuleType) -> None:
                execute(module)
                self.change(module)
                sys.meta_path.remove(self)

            setattr(spec.loader, "exec_module", exec_module)  # on this object: its type and other methods stay as they are
        return spec
