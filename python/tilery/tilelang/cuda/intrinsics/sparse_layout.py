"""How many elements of a matrix that T.gemm_sp takes a group has, and how many of them are kept."""

from __future__ import annotations

from typing import Any

from ...language.dtypes import dtype
from ...language.gemm_sp_op import group_of
from ...refused import hook
from ...utils.sparse import get_e_factor

__all__ = ["GROUP_CONFIG", "get_e_factor", "get_e_replicate_factor"]
__getattr__ = hook("tilelang.cuda.intrinsics.sparse_layout", "where metadata lies in registers is the compiler's choice")

_TYPES = ("float32", "float16", "bfloat16", "int8", "uint8", "float8_e4m3fn", "float8_e5m2")
GROUP_CONFIG = {kind: (group_of(kind.bits) // 2, group_of(kind.bits)) for kind in map(dtype, _TYPES)}


def get_e_replicate_factor(a_dtype: Any) -> int:
    """How many neighbouring threads of upstream's instructions hold the same metadata."""
    return 1 if dtype(a_dtype).bits <= 8 else 2
