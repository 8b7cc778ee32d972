"""What programs say beside what they compute: promises, hints, and switches of the compiler."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from ...core.ignored import ignore
from ...errors import Error, error
from ...frontend.wording import shown
from ..layout.fragment import Fragment
from ..layout.layout import Layout
from ..tracing.arithmetic import Arithmetic
from ..tracing.context import NeedsArithmetic, current, kernel
from ..tracing.layouts import check_injective, lay_out
from ..tracing.memory import Memory
from ..tracing.values import Var
from ..transform.compile_flags import CompileFlags
from ..transform.pass_config import PassConfigs


def use_swizzle(panel_size: int = 10, order: str = "row", enable: bool = True) -> None:
    """The order in which blocks are visited; results do not depend on it."""
    if enable:
        if isinstance(panel_size, bool) or not isinstance(panel_size, int) or panel_size < 1:
            raise error(ValueError, f"the panel of T.use_swizzle is a positive number of blocks, got {panel_size!r}")
        if order not in ("row", "column", "mlx"):
            raise error(ValueError, f"T.use_swizzle has no order {order!r}", hint="known: row, column, mlx")
        kernel("T.use_swizzle")
        ignore("T.use_swizzle", panel_size=panel_size, order=order)


def annotate_min_blocks_per_sm(count: int) -> None:
    """How many blocks should fit on a multiprocessor."""
    kernel("T.annotate_min_blocks_per_sm")
    ignore("T.annotate_min_blocks_per_sm", count=count)


def annotate_layout(layout_map: Mapping[Any, Any]) -> None:
    """Where elements lie, {buffer: layout or function of the indices}: of a buffer of the kernel a hint; of a tensor the
    elements are found at these places of its memory. No two elements may share a place."""
    trace = kernel("T.annotate_layout")
    if not isinstance(layout_map, Mapping):
        got = getattr(layout_map, "__tile_word__", None) or shown(layout_map)
        raise error(TypeError, f"T.annotate_layout takes a dict {{buffer: layout}}, got {got}")
    for buffer, layout in layout_map.items():
        if not isinstance(buffer, Memory):
            raise error(TypeError, f"T.annotate_layout takes buffers and tensors, got {buffer!r}")
        if trace.roles or trace.parallel:
            raise error(ValueError, "T.annotate_layout stands at the beginning of a kernel, not in a loop or role")
        if not isinstance(layout, Layout):
            if not callable(layout):
                raise error(TypeError, f"the layout of `{buffer.label()}` is {layout!r}", hint="give a T.Layout or a function")
            layout = Layout(buffer.shape, layout)
        if not buffer.is_global:
            ignore("T.annotate_layout", layout_map=buffer.label())
        if buffer.scope_name == "local.fragment" and not isinstance(layout, Fragment):
            raise error(AssertionError, f"the layout of the fragment `{buffer.label()}` must be a T.Fragment")
        if isinstance(layout, Fragment):
            continue
        check_injective(buffer, layout)
        if buffer.is_global:
            lay_out(buffer, layout)


def annotate_l2_hit_ratio(l2_hit_ratio_map: Mapping[Any, float]) -> None:
    """Which tensors to keep in the L2 cache; a hint."""
    ignore("T.annotate_l2_hit_ratio", l2_hit_ratio_map=l2_hit_ratio_map)


def annotate_safe_value(values: Mapping[Any, Any]) -> None:
    """What elements outside a tensor read as, instead of 0: {tensor: number}."""
    state = kernel("T.annotate_safe_value").open
    state.safe_values.update({id(memory): value for memory, value in values.items() if isinstance(memory, Memory)})


def annotate_restrict_buffers(*buffers: Any) -> None:
    """Tensors that may overlap others; each call finds which do."""
    ignore("T.annotate_restrict_buffers", buffers=[getattr(buffer, "name", buffer) for buffer in buffers] or None)


def _note(name: str, value: Any) -> None:
    trace = current()
    if trace is not None:
        trace.notes[name] = value


def annotate_pass_configs(configs: Mapping[Any, Any]) -> None:
    """Switches of the compiler for this function; those of tilelang.jit and tilelang.compile go before."""
    given = _asked(PassConfigs, configs)
    _note("tilelang_pass_configs", dict(configs))
    _want(given.arithmetic)
    ignore("tilelang.PassConfigKey", **given.ignored)


def annotate_compile_flags(flags: Any) -> None:
    """Flags of CUDA's compiler for this function: `--use_fast_math` is TL_ENABLE_FAST_MATH, with `--fmad=false` products and sums
    round each."""
    given = _asked(CompileFlags, flags)
    _note("tilelang_compile_flags", [flags] if isinstance(flags, str) else list(flags))
    _want(given.arithmetic)
    ignore("T.annotate_compile_flags", flags=given.ignored)


def _asked(kind: Callable[[Any], Any], given: Any) -> Any:
    """What a body asks of the compiler. What it may not ask is refused when the function is compiled, not where it is defined."""
    try:
        return kind(given)
    except Error as refused:
        refused.when_compiled = True
        raise


def _want(said: Arithmetic) -> None:
    """The function is traced again with the arithmetic it asks for, but for what its caller has said."""
    trace = current()
    wanted = Arithmetic(True if said.fast else None, False if said.fused is False else None)
    if trace is not None and trace.arithmetic.or_else(wanted) != trace.arithmetic:
        raise NeedsArithmetic(wanted)


def annotate_producer_reg_dealloc(reg_count: int = 24) -> None:
    """Registers of a thread that copies; a hint."""
    ignore("T.annotate_producer_reg_dealloc", reg_count=reg_count)


def annotate_consumer_reg_alloc(reg_count: int = 240) -> None:
    """Registers of a thread that multiplies; a hint."""
    ignore("T.annotate_consumer_reg_alloc", reg_count=reg_count)


def let(var: Any, value: Any) -> None:
    """From here on the kernel's variable T.int32() stands for a value."""
    trace = kernel("T.let")
    if not isinstance(var, Var):
        raise error(TypeError, f"T.let takes a variable like T.int32(), got {var!r}")
    trace.open.variables[var.uid] = trace.native.cast(value, var.dtype.storage)


def func_attr(attrs: Mapping[str, Any]) -> None:
    """Attributes of the function, which its `attrs` then has."""
    for name, value in attrs.items():
        _note(name, value)


class sblock:
    """`with T.sblock("name"):` a part of a program; what T.annotate_safe_value says in it ends with it."""

    def __init__(self, name: str = "", no_realize: bool = False) -> None:
        self.state = kernel("T.sblock").open
        ignore("T.sblock", name=name, no_realize=no_realize)

    def __enter__(self) -> None:
        self.safe_values = dict(self.state.safe_values)

    def __exit__(self, *failure: object) -> None:
        self.state.safe_values = self.safe_values


def reads(*regions: Any) -> None:
    """What a part of a program reads, which is seen from its statements."""
    ignore("T.reads", regions=regions or None)


def writes(*regions: Any) -> None:
    """What a part of a program writes, which is seen from its statements."""
    ignore("T.writes", regions=regions or None)


def sblock_attr(attrs: Mapping[str, Any]) -> None:
    """Attributes of a part of a program, which passes of another compiler read."""
    kernel("T.sblock_attr")
    ignore("T.sblock_attr", attrs=dict(attrs) or None)
