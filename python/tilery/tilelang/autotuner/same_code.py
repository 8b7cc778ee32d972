"""Configurations that differ in what their code does not depend on."""

from __future__ import annotations

from collections.abc import Hashable, Sequence

from tilery import _native

from ...core import cache
from ...errors import Error
from ..jit.kernel import JITKernel
from ..tracing.program import usual_layouts


def first_of_same_code(kernels: Sequence[JITKernel]) -> list[int]:
    """For each kernel the position of the first one that has its code."""
    firsts: dict[Hashable, int] = {}
    return [firsts.setdefault(_code(kernel), position) for position, kernel in enumerate(kernels)]


def _code(kernel: JITKernel) -> Hashable:
    """What code is made of: the IR for tensors as libraries allocate them, without places in the program; of CPUs without hints,
    too."""
    layouts = usual_layouts(kernel.prim_func.params, kernel.out_idx)
    try:
        text = kernel.traced(layouts).module.text(hints=_native.hints_of(cache.target_of(0 if _native.gpu_count() else -1)))
    except Error:  # which its first call raises
        return id(kernel)
    return text, tuple(kernel.out_idx)
