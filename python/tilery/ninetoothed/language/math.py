"""ntl.math: the elementwise functions of ntl, and softmax."""

from ...core.functions import ROWS as _ELEMENTWISE
from ...core.functions import Namespace as _Namespace
from ...core.functions import PropagateNan  # noqa: F401
from ...core.tile.table import MATH as _MATH

__getattr__, __dir__, __all__ = _Namespace(
    __name__, "tl", (*_MATH, *_ELEMENTWISE), "core.tile.elementwise", "ntl.math"
).hooks()
