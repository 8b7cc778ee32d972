"""Hints: without effect on what a program computes. Those with numbers become attributes of the kernel, for targets."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ...errors import error
from ..tracing.context import current, kernel
from ..tracing.memory import Memory
from ..tracing.values import Var


def use_swizzle(panel_size: int = 10, order: str = "row", enable: bool = True) -> None:
    """The order in which blocks are visited; results do not depend on it."""
    if enable:
        kernel("T.use_swizzle").native.kernel_hints({"swizzle_panel": panel_size, "swizzle_order": order})


def annotate_min_blocks_per_sm(count: int) -> None:
    """How many blocks should fit on a multiprocessor."""
    kernel("T.annotate_min_blocks_per_sm").native.kernel_hints({"min_blocks_per_sm": count})


def annotate_layout(layout_map: Mapping[Any, Any]) -> None:
    """How buffers lie in GPU memory; a hint."""


def annotate_l2_hit_ratio(l2_hit_ratio_map: Mapping[Any, float]) -> None:
    """Which tensors to keep in the L2 cache; a hint."""


def annotate_safe_value(values: Mapping[Any, Any]) -> None:
    """What elements outside a tensor read as, instead of 0: {tensor: number}."""
    state = kernel("T.annotate_safe_value").open
    state.safe_values.update({id(memory): value for memory, value in values.items() if isinstance(memory, Memory)})


def annotate_restrict_buffers(*buffers: Any) -> None:
    """Tensors that overlap no other; a hint."""


def _note(name: str, value: Any) -> None:
    trace = current()
    if trace is not None:
        trace.notes[name] = value


def annotate_pass_configs(configs: Mapping[Any, Any]) -> None:
    """Switches of upstream's passes; a hint."""
    _note("tilelang_pass_configs", dict(configs))


def annotate_compile_flags(flags: Any) -> None:
    """Flags of upstream's compiler; a hint."""
    _note("tilelang_compile_flags", [flags] if isinstance(flags, str) else list(flags))


def annotate_producer_reg_dealloc(reg_count: int = 24) -> None:
    """Registers of a thread that copies; a hint."""


def annotate_consumer_reg_alloc(reg_count: int = 240) -> None:
    """Registers of a thread that multiplies; a hint."""


def let(var: Any, value: Any) -> None:
    """From here on the kernel's variable T.int32() stands for a value."""
    trace = kernel("T.let")
    if not isinstance(var, Var):
        raise error(TypeError, f"T.let takes a variable like T.int32(), got {var!r}")
    trace.open.variables[var.uid] = trace.native.cast(value, var.dtype.storage)


def func_attr(attrs: Mapping[str, Any]) -> None:
    """Attributes of upstream's IR; a hint."""
