"""The functions of TileLang kernels: `import tilelang.language as T`."""

from .. import dtypes as _dtypes
from .. import mathematics as _mathematics
from ..annotate import (
    annotate_compile_flags,
    annotate_consumer_reg_alloc,
    annotate_l2_hit_ratio,
    annotate_layout,
    annotate_min_blocks_per_sm,
    annotate_pass_configs,
    annotate_producer_reg_dealloc,
    annotate_restrict_buffers,
    annotate_safe_value,
    dec_max_nreg,
    disable_warp_group_reg_alloc,
    fence_proxy_async,
    func_attr,
    inc_max_nreg,
    no_set_max_nreg,
    set_max_nreg,
    sync_global,
    sync_threads,
    sync_warp,
    use_swizzle,
)
from ..debug import assume, device_assert
from ..debug import print_value as print
from ..dtypes import dtype
from ..eager import const
from ..functions import Macro, PrimFunc, Ref, dynamic, macro, prim_func
from ..launch import (
    Kernel,
    get_block_binding,
    get_block_bindings,
    get_block_extent,
    get_block_extents,
    get_num_threads,
    get_thread_binding,
    get_thread_bindings,
    get_thread_extent,
    get_thread_extents,
)
from ..loops import Grid as grid
from ..loops import Parallel, Persistent, Pipelined, serial, unroll, vectorized
from ..memory import Buffer, StridedTensor, Tensor, alloc_fragment, alloc_global, alloc_local, alloc_shared, alloc_var, empty
from ..tile import (
    GemmWarpPolicy,
    async_copy,
    atomic_add,
    atomic_max,
    atomic_min,
    atomic_or,
    clear,
    copy,
    cummax,
    cumsum,
    fill,
    gemm,
    reduce,
    reduce_absmax,
    reduce_abssum,
    reduce_bitand,
    reduce_bitor,
    reduce_bitxor,
    reduce_max,
    reduce_min,
    reduce_sum,
    reshape,
    transpose,
    view,
)
from ..values import cast

Serial, Unroll, Vectorized = serial, unroll, vectorized
inline = macro
symbolic = dynamic
Var = Ref
FragmentBuffer = SharedBuffer = LocalBuffer = Tensor
vars().update(_dtypes.ALL)
vars().update(_dtypes.OTHERS)
vars().update(
    {
        name: value
        for name, value in vars(_mathematics).items()
        if not name.startswith("_") and callable(value) and getattr(value, "__module__", None) == _mathematics.__name__
    }
)
vars().update(_mathematics.fast)


def __getattr__(name):
    from ...errors import error

    if name.startswith("__") and name.endswith("__"):
        raise AttributeError(name)
    hint = "barriers, warp roles and PTX need a GPU target; tile code is written with T.copy, T.gemm, T.Parallel and T.reduce_*"
    raise error(AttributeError, f"T.{name} is not supported", hint=hint)
