"""What stands around launches: functions that a program set, and the kernels that were compiled for them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any


class LazyDict:
    """What functions around launches are given: `get()` makes the dict, once, where somebody asks."""

    def __init__(self, data: dict[str, Any]) -> None:
        self.data = data
        self.extras: list[tuple[Callable[..., dict[str, Any]], tuple[Any, ...]]] = []

    def add(self, func: Callable[..., dict[str, Any]], args: tuple[Any, ...]) -> None:
        """func(*args) says more."""
        self.extras.append((func, args))

    def get(self) -> dict[str, Any]:
        for function, args in self.extras:
            self.data.update(function(*args))
        self.extras.clear()
        return self.data


def observed(kernel: Any, grid: Any, args: Sequence[Any], kwargs: Mapping[str, Any]) -> Any:
    """A launch of a JITFunction with its own functions before it, and those of knobs.runtime around it."""
    from .. import knobs

    for hook in kernel.pre_run_hooks:
        hook(*args, **kwargs)
    enter, leave = knobs.runtime.launch_enter_hook, knobs.runtime.launch_exit_hook
    if not (enter or leave):
        return kernel.launch_plainly(grid, *args, **kwargs)
    compiled = kernel.launch_plainly((0,), *args, **kwargs)
    bound = {**{p.name: p.default for p in kernel.params if p.has_default}, **dict(zip(kernel.arg_names, args)), **kwargs}
    extents = grid(dict(bound)) if callable(grid) else grid
    extents = tuple(extents) if isinstance(extents, (tuple, list)) else (extents,)
    metadata = launch_metadata(compiled, kernel.launch_metadata, extents, 0, {n: bound[n] for n in kernel.arg_names})
    enter(metadata)
    try:
        return kernel.launch_plainly(extents, *args, **kwargs)
    finally:
        leave(metadata)


def launch_metadata(compiled: Any, more: Callable[..., Any] | None, grid: Any, stream: Any, named: dict[str, Any]) -> LazyDict:
    """What functions around a launch are given."""
    extents = (*grid, 1, 1)[:3]
    about = {"name": compiled.name, "function": compiled.native, "stream": stream, "hash": compiled.hash, "grid": extents}
    found = LazyDict(about)
    if more is not None:
        found.add(more, (extents, compiled.metadata, named))
    return found


class DeviceCaches(Mapping[int, tuple[Any, ...]]):
    """A JITFunction's compiled kernels, device by device: (kernels by kind of call, keys, target, back end, binder)."""

    def __init__(self, function: Any) -> None:
        self.function = function

    def __getitem__(self, device: int) -> tuple[Any, ...]:
        from ..backends import make_backend
        from .driver import driver

        target = driver.active.get_current_target()
        return Kernels(self.function, device), {}, target, make_backend(target), None

    def _devices(self) -> list[int]:
        return sorted({max(kernel.device, 0) for kernel in self.function._kernels.values()})

    def __iter__(self) -> Iterator[int]:
        return iter(self._devices())

    def __len__(self) -> int:
        return len(self._devices())

    def clear(self) -> None:
        """Forgets all compiled kernels."""
        self.function.forget()
        self.function.__dict__.pop("launch_structured", None)
        self.function._kernels.clear()


class Kernels(Mapping[str, Any]):
    """The compiled kernels of a JITFunction on a device, by their kind of call."""

    def __init__(self, function: Any, device: int) -> None:
        self.function, self.device = function, device

    def _found(self) -> dict[str, Any]:
        return {key: kernel for key, kernel in self.function._kernels.items() if max(kernel.device, 0) == self.device}

    def __getitem__(self, key: str) -> Any:
        return self._found()[key]

    def __iter__(self) -> Iterator[str]:
        return iter(self._found())

    def __len__(self) -> int:
        return len(self._found())

    def clear(self) -> None:
        """Forgets them, and those on other devices, too."""
        DeviceCaches(self.function).clear()
