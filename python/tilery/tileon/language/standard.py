"""The functions of tl that upstream writes in the language itself."""

from typing import Any as _Any

from ...core.functions import Namespace as _Namespace
from ...core.tile.types import unwrap as _unwrap

_NAMES = set(
    "argmax argmin bitonic_merge cdiv cumprod cumsum flip interleave max min ravel reduce_or sigmoid softmax sort squeeze "
    "sum swizzle2d topk unsqueeze xor_sum zeros zeros_like".split()
)


def _only(row: _Any) -> bool:
    return any(name in _NAMES for name, _ in row.spelled("tl"))


def _others(name: str) -> _Any:
    from . import combine

    return combine.find(name)


_names = _Namespace(
    __name__,
    "tl",
    ["core.tile.table:ROWS", "core.functions.table:ROWS"],
    "core.tile.elementwise",
    "tl.standard",
    only=_only,
    others=_others,
)
__getattr__, __dir__ = _names.hooks()


def _log2(i: int) -> int:
    """The logarithm of a power of two that is known at compile time."""
    return int(_unwrap(i)).bit_length() - 1
