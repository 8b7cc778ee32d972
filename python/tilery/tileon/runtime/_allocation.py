"""Memory that kernels ask the host for. Ours ask for none: descriptors are arguments, scratch belongs to the runtime. An
allocator is kept so that programs can set one and read it back."""

from __future__ import annotations

from typing import Any, Protocol


class Buffer(Protocol):
    """What an allocator gives."""

    def data_ptr(self) -> int: ...


class Allocator(Protocol):
    """allocator(size, alignment, stream) -> Buffer"""

    def __call__(self, size: int, alignment: int, stream: int | None) -> Buffer: ...


class NullAllocator:
    """What is there before `set_allocator`."""

    def __call__(self, size: int, alignment: int, stream: int | None) -> Buffer:
        raise RuntimeError(
            "a kernel asks for memory on the device, and no allocator was set: call triton.set_allocator(function of size, "
            "alignment and stream)"
        )


class _Holder:
    """The allocator that was set last."""

    def __init__(self) -> None:
        self.allocator: Any = NullAllocator()

    def get(self) -> Any:
        return self.allocator

    def set(self, allocator: Any) -> None:
        self.allocator = allocator

    def __call__(self, size: int, alignment: int, stream: int | None) -> Buffer:
        return self.allocator(size, alignment, stream)


_allocator, _profile_allocator = _Holder(), _Holder()


def set_allocator(allocator: Allocator) -> None:
    """The function that gives kernels memory on the device: allocator(bytes, alignment, stream)."""
    _allocator.set(allocator)


def set_profile_allocator(allocator: Allocator | None) -> None:
    """The function that gives profilers memory on the device; None: there is none."""
    _profile_allocator.set(NullAllocator() if allocator is None else allocator)
