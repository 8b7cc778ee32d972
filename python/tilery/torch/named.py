"""Launches as ranges of torch's profilers."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Sequence
from typing import Any

import torch
from torch.profiler import record_function

from tilery import _native

# What Inductor marks its kernels by takes a tenth of record_function's time; an older torch does not have it.
_range_of: Any = getattr(torch._C._profiler, "_RecordFunctionFast", record_function)


class _Names:
    """A recorder of launches (`_native.record_launches`); `outer`: the one that was there before, or None."""

    def __init__(self, outer: Any) -> None:
        self.outer = outer
        self.while_timing = self  # tuners' launches take time as well

    def __call__(self, launcher: Any, grid: Any, args: Sequence[Any], kwargs: dict[str, Any]) -> Any:
        with _range_of(launcher.kernel_name):
            if self.outer is not None:
                return self.outer(launcher, grid, args, kwargs)
            return launcher.launch_plainly(grid, *args, **kwargs)


@contextlib.contextmanager
def named_launches() -> Iterator[None]:
    """Within it each launch of this thread, of a kernel of any language, is a range under the kernel's name: for
    `torch.profiler.profile`, and for NVIDIA's profilers under `torch.autograd.profiler.emit_nvtx`. On a CPU the range takes as
    long as the kernel; on a GPU as long as the call, and the kernel is a line of its own.

    A launch takes a microsecond more in there. Those of other threads, among them autograd's for GPUs, have no range:
    each thread enters it by itself.
    """
    before = _native.record_launches(None)
    _native.record_launches(_Names(before))
    try:
        yield
    finally:
        _native.record_launches(before)
