"""tl.math: the elementwise functions of tl, and softmax."""

from ...core.functions import Namespace as _Namespace
from ...core.functions import PropagateNan  # noqa: F401

__getattr__, __dir__ = _Namespace(
    __name__, "tl", ["core.tile.table:MATH", "core.functions.table:ROWS"], "core.tile.elementwise", "tl.math"
).hooks()
