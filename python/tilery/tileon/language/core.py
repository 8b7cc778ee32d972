"""Types, values, and the functions of tl that are neither in `standard` nor in `math` nor in `random`."""

from typing import Any as _Any
from typing import NoReturn as _NoReturn

from ...core.functions import Namespace as _Namespace
from ...core.functions import PropagateNan  # noqa: F401
from ...core.tile.aggregate import aggregate as _aggregate  # noqa: F401
from ...core.tile.types import *  # noqa: F403
from ..compiler import errors as _errors
from . import math as _math
from . import random as _random
from . import standard as _standard

CONSTEXPR_0 = constexpr(0)  # noqa: F405

_OWN = set("add sub mul minimum maximum clamp".split())


def _only(row: _Any) -> bool:
    elsewhere = {name for module in (_math, _random, _standard) for name in module.__all__} - _OWN
    return any(name not in elsewhere for name, _ in row.spelled("tl"))


def _others(name: str) -> _Any:
    from . import builtins

    return builtins.find(name)


_names = _Namespace(
    __name__,
    "tl",
    ["core.tile.table:ROWS", "core.functions.table:ROWS"],
    "core.tile.elementwise",
    "tl.core",
    only=_only,
    others=_others,
    later={"tensor": "core.tile.methods:tensor"},
)
__getattr__, __dir__ = _names.hooks()


def _refuse(kind: type[Exception], message: str) -> _NoReturn:
    """Raises what a function of the language says on its own, without the kernel's lines: as upstream's, out of this file."""
    raise kind(message)


_errors.raise_of_function = _refuse
