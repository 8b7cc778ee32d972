"""Copies of a launch's arguments, on which it is made again."""

from __future__ import annotations

import copy
import ctypes
from collections.abc import Callable, Mapping
from typing import Any

from tilery import _native

from ..errors import with_article
from . import compile
from .arrays import span
from .present import present

_PLAIN = (bool, int, float, str, type(None))
_LINE = 64  # bytes: copies lie as their tensors do beside multiples of it


class NotRepeated(Exception):
    """A launch cannot be made again; why."""


class _Storage:
    """Memory of torch's. address, size: where it lies, in bytes."""

    def __init__(self, storage: Any) -> None:
        self.storage, self.kept = storage.clone(), None
        self.address, self.size = self.storage.data_ptr(), self.storage.nbytes()

    def keep(self) -> None:
        """Remembers what it holds, to be put back by `restore`."""
        self.kept = self.storage.clone()

    def restore(self) -> None:
        if self.kept is None:
            return
        if self.storage.device.type == "cpu":  # torch's threads would still spin while the launch is timed
            ctypes.memmove(self.address, self.kept.data_ptr(), self.size)
        else:
            self.storage.copy_(self.kept)

    def view(self, tensor: Any) -> Any:
        empty = tensor.detach().new_empty(0)
        return empty.set_(self.storage, tensor.storage_offset(), tensor.shape, tensor.stride())


class _Bytes:
    """Memory from the first to the last byte of a NumPy array."""

    def __init__(self, first: int, size: int) -> None:
        import numpy

        self.first, self.size, self.kept = first, size, None
        whole = numpy.empty(size + _LINE, numpy.uint8)
        begin = (first - whole.ctypes.data) % _LINE
        self.bytes = whole[begin : begin + size]
        self.address = self.bytes.ctypes.data
        ctypes.memmove(self.address, first, size)

    def keep(self) -> None:
        self.kept = self.bytes.copy()

    def restore(self) -> None:
        if self.kept is not None:
            self.bytes[:] = self.kept

    def view(self, array: Any) -> Any:
        import numpy

        offset = array.__array_interface__["data"][0] - self.first
        return numpy.ndarray(array.shape, array.dtype, self.bytes, offset, array.strides)


class Copies:
    """Arguments with tensors in memory of their own, which lie in it as they lay: what shared memory shares it, and what lies
    around a view, for kernels that take it for a pointer, is there, too."""

    def __init__(self) -> None:
        self._made: dict[int, tuple[Any, Any]] = {}  # by id: the value, which keeps it alive, and its copy
        self._memories: dict[tuple[Any, int], Any] = {}  # by whose, and the address of what they are copies of

    def of(self, value: Any) -> Any:
        """The value's copy; the same tensor stays the same one.

        :raises NotRepeated: it has none."""
        if isinstance(value, _PLAIN) or callable(value):
            return value
        if isinstance(value, (tuple, list)):
            parts = [self.of(part) for part in value]
            return type(value)(*parts) if hasattr(value, "_fields") else type(value)(parts)
        if id(value) not in self._made:
            self._made[id(value)] = value, self._copy(value)
        return self._made[id(value)][1]

    def keep(self, use: _native.MemoryUse, values: Mapping[str, Any]) -> None:
        """Remembers what a launch of these copies, by the names of a kernel's arguments, both reads and writes."""
        known = {pointer.name: pointer for pointer in use.pointers}
        read: set[tuple[Any, int]] = set()
        written: set[tuple[Any, int]] = set()
        for name, value in values.items():
            pointer, memories = known.get(name), self._of(value)
            if pointer is None or pointer.is_read:
                read |= memories
            if pointer is None or pointer.is_written:
                written |= memories
        for each in read & written:
            self._memories[each].keep()

    def restore(self) -> None:
        """Puts back what was remembered."""
        for memory in self._memories.values():
            memory.restore()

    def _of(self, value: Any) -> set[tuple[Any, int]]:
        """The memories that a copy lies in."""
        if isinstance(value, (tuple, list)):
            return set().union(*map(self._of, value))
        if hasattr(value, "block_shape"):  # a descriptor
            value = value.base
        if hasattr(value, "data_ptr"):
            address = value.data_ptr()
        elif hasattr(value, "__array_interface__"):
            address = value.__array_interface__["data"][0]
        else:
            return set()
        return {at for at, memory in self._memories.items() if memory.address <= address < memory.address + memory.size}

    def _copy(self, value: Any) -> Any:
        torch = present("torch")
        try:
            if torch is not None and isinstance(value, torch.Tensor):
                storage = value.untyped_storage()
                return self._memory(_Storage, storage.data_ptr(), storage).view(value)
            if hasattr(value, "base") and not hasattr(value, "__array_interface__"):  # a descriptor, or seen as another type
                made = copy.copy(value)
                made.base = self.of(value.base)
                return made
            numpy = present("numpy")
            root = _root(value) if numpy is not None and isinstance(value, numpy.ndarray) else None
            if root is not None and root.size:
                _, first, size = span(root, root.itemsize)
                return self._memory(_Bytes, first, first, size).view(value)
        except (RuntimeError, MemoryError, TypeError, ValueError) as wrong:  # of torch and NumPy, in their words
            raise NotRepeated(f"{with_article(type(value).__name__)} has no copy: {_line(wrong)}") from None
        if hasattr(value, "__array_interface__") and hasattr(value, "copy"):
            return value.copy()
        if hasattr(value, "dtype") and not value.shape:  # a number
            return value
        raise NotRepeated(f"{with_article(type(value).__name__)} has no copy")

    def _memory(self, kind: Callable[..., Any], address: int, *given: Any) -> Any:
        if (kind, address) not in self._memories:
            self._memories[kind, address] = kind(*given)
        return self._memories[kind, address]


def _root(array: Any) -> Any:
    """The NumPy array that the array's memory is part of."""
    import numpy

    root, parent = array, array.base
    while parent is not None:
        if isinstance(parent, numpy.ndarray):
            root = parent
        parent = getattr(parent, "base", None)
    return root


def keep_what_changes(launch: Callable[[], Any], copies: Copies) -> None:
    """Remembers of the copies that `launch` would run on, and does not, what must be put back in front of each repetition.

    :raises NotRepeated: it must not be made again."""

    def ask(compile_callback: Callable[..., Any], signature: Any, values: Mapping[str, Any], grid: Any) -> None:
        kernel = compile.asked(lambda: compile_callback(signature, values))
        if kernel is None:
            return
        use = _native.memory_use(kernel.module)
        if use.prints:
            raise NotRepeated("the kernel prints")
        if use.writes_by_number:
            raise NotRepeated("the kernel writes to addresses that it reads or computes")
        if use.signals:
            raise NotRepeated("others may wait for the kernel's updates")
        copies.keep(use, values)

    try:
        _native.ask_launches(ask, launch)
    except NotRepeated:
        raise
    except Exception as wrong:  # the launch itself was made: the program goes on
        raise NotRepeated(_line(wrong)) from None


def _line(wrong: Exception) -> str:
    return str(wrong).partition("\n")[0] or type(wrong).__name__
