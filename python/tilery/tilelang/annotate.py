"""Hints: without effect on what a program computes. Those with numbers become attributes of the kernel, for targets."""

from .context import kernel
from .memory import Memory


def use_swizzle(panel_size=10, order="row", enable=True):
    """The order in which blocks are visited; results do not depend on it."""
    if enable:
        kernel("T.use_swizzle").native.kernel_hints({"swizzle_panel": panel_size, "swizzle_order": order})


def annotate_min_blocks_per_sm(count):
    """How many blocks should fit on a multiprocessor."""
    kernel("T.annotate_min_blocks_per_sm").native.kernel_hints({"min_blocks_per_sm": count})


def annotate_layout(layout_map, **_):
    """How buffers lie in GPU memory."""


def annotate_l2_hit_ratio(ratios):
    """Which tensors to keep in the L2 cache."""


def annotate_safe_value(values):
    """What elements outside a tensor read as, instead of 0: {tensor: number}."""
    state = kernel("T.annotate_safe_value").open
    state.safe_values.update({id(memory): value for memory, value in values.items() if isinstance(memory, Memory)})


def _accept(name):
    def function(*args, **kwargs):
        return None

    function.__name__ = function.__qualname__ = name
    function.__doc__ = "A hint for GPUs."
    return function


annotate_restrict_buffers = _accept("annotate_restrict_buffers")
annotate_pass_configs, annotate_compile_flags = _accept("annotate_pass_configs"), _accept("annotate_compile_flags")
disable_warp_group_reg_alloc, no_set_max_nreg = _accept("disable_warp_group_reg_alloc"), _accept("no_set_max_nreg")
annotate_producer_reg_dealloc, annotate_consumer_reg_alloc = (
    _accept("annotate_producer_reg_dealloc"),
    _accept("annotate_consumer_reg_alloc"),
)
set_max_nreg, inc_max_nreg, dec_max_nreg = _accept("set_max_nreg"), _accept("inc_max_nreg"), _accept("dec_max_nreg")
# Tile programs have no threads to bring together: statements take effect in order.
sync_threads, sync_warp, sync_global, fence_proxy_async = (
    _accept("sync_threads"),
    _accept("sync_warp"),
    _accept("sync_global"),
    _accept("fence_proxy_async"),
)
func_attr = _accept("func_attr")
