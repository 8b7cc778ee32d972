"""What devices and tensors say of where they are, under the device rule.

There is one device, torch's CPU. A program that asked for "cuda" is told that its tensors lie there; one that asked for "cpu"
that those lie on the CPU: they are marked. torch's own code and ours always gets the truth.
"""

from __future__ import annotations

import sys
from types import FrameType
from typing import Any

from .mapping import importer

_MARK = "_tilery_host"


def caller_is_torch(frame: FrameType) -> bool:
    """Whether torch's own code asks, or ours: it gets the true answer, since it goes on to call what only a GPU has."""
    return importer(frame.f_globals) in ("torch", "tilery")


class Places:
    """The places of a process. `host` is the object that `torch.device("cpu")` gives; all other objects of that device are what
    programs call "cuda"."""

    def __init__(self, torch: Any, host: Any) -> None:
        self.torch, self.host = torch, host

    def is_host(self, device: Any) -> bool:
        """Does a program mean the CPU by this?"""
        return device is self.host or isinstance(device, str) and device == "cpu"

    def mark(self, value: Any) -> Any:
        if isinstance(value, self.torch.Tensor):
            setattr(value, _MARK, True)
        return value

    def beside(self, source: Any, result: Any) -> None:
        """`result` was made like `source`, and lies where that does."""
        if _MARK in getattr(source, "__dict__", ()) and type(result) is self.torch.Tensor:
            self.mark(result)

    def brought_to_host(self, source: Any, result: Any) -> Any:
        """What `source.to("cpu")` is, of `result`, what torch gave: a copy where it was on the other device."""
        if _MARK in source.__dict__:
            return result
        return self.mark(result.clone() if result is source else result)

    def brought_to_gpu(self, source: Any, result: Any) -> Any:
        return result.clone() if result is source and _MARK in source.__dict__ else result

    def change_device(self, cls: Any) -> None:
        """What devices say: their type, index and text."""
        host, kind, number, text = self.host, cls.type, cls.index, cls.__repr__

        def lies(self: Any, frame: FrameType) -> bool:
            return self is not host and kind.__get__(self) == "cpu" and not caller_is_torch(frame)

        def type_(self: Any) -> str:
            return "cuda" if lies(self, sys._getframe(1)) else kind.__get__(self)

        def index(self: Any) -> Any:
            return 0 if lies(self, sys._getframe(1)) else number.__get__(self)

        def __repr__(self: Any) -> str:
            return "device(type='cuda', index=0)" if lies(self, sys._getframe(1)) else text(self)

        as_text = cls.__str__

        def __str__(self: Any) -> str:
            return "cuda:0" if lies(self, sys._getframe(1)) else as_text(self)

        cls.type, cls.index, cls.__repr__, cls.__str__ = property(type_), property(index), __repr__, __str__

    def change_tensor(self, cls: Any) -> None:
        """What tensors say: device, is_cuda, get_device()."""
        host, device, is_cuda, get_device = self.host, cls.device, cls.is_cuda, cls.get_device

        def lies(self: Any, frame: FrameType) -> bool:
            return _MARK not in self.__dict__ and device.__get__(self) == host and not caller_is_torch(frame)

        cls.device = property(lambda self: host if _MARK in self.__dict__ else device.__get__(self))
        cls.is_cuda = property(lambda self: lies(self, sys._getframe(1)) or is_cuda.__get__(self))
        cls.get_device = lambda self: 0 if lies(self, sys._getframe(1)) else get_device(self)
