"""The functions of tl that upstream writes in the language itself."""

from typing import Any as _Any

from ...core.functions import ROWS as _ELEMENTWISE
from ...core.functions import Namespace as _Namespace
from ...core.tile.table import ROWS as _ROWS
from ...core.tile.types import unwrap as _unwrap

_NAMES = set(
    "argmax argmin cdiv cumprod cumsum flip interleave max min ravel reduce_or sigmoid softmax sort squeeze sum swizzle2d topk "
    "unsqueeze xor_sum zeros zeros_like".split()
)
_rows = [row for row in (*_ROWS, *_ELEMENTWISE) if any(name in _NAMES for name, _ in row.spelled("tl"))]


def _others(name: str) -> _Any:
    from . import combine

    return combine.find(name)


__getattr__, __dir__, __all__ = _Namespace(
    __name__, "tl", _rows, "core.tile.elementwise", "tl.standard", others=_others
).hooks()


def _log2(i: int) -> int:
    """The logarithm of a power of two that is known at compile time."""
    return int(_unwrap(i)).bit_length() - 1
