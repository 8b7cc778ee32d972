"""Types, values, and the functions of tl that are neither in `standard` nor in `math` nor in `random`."""

from typing import Any as _Any

from ...core.functions import ROWS as _ELEMENTWISE
from ...core.functions import Namespace as _Namespace
from ...core.functions import PropagateNan  # noqa: F401
from ...core.tile.aggregate import aggregate as _aggregate  # noqa: F401
from ...core.tile.table import ROWS as _ROWS
from ...core.tile.types import *  # noqa: F403
from ...core.tile.value import tensor  # noqa: F401
from . import math as _math
from . import random as _random
from . import standard as _standard

_OWN = set("add sub mul minimum maximum clamp".split())
_elsewhere = {*_math.__all__, *_random.__all__, *_standard.__all__} - _OWN
_rows = [row for row in (*_ROWS, *_ELEMENTWISE) if any(name not in _elsewhere for name, _ in row.spelled("tl"))]


def _others(name: str) -> _Any:
    from . import builtins

    return builtins.find(name)


__getattr__, __dir__, __all__ = _Namespace(
    __name__, "tl", _rows, "core.tile.elementwise", "tl.core", others=_others
).hooks()
