"""The functions of TileLang kernels: `import tilelang.language as T`. They come from the tables of functions."""

from ...core.functions import Namespace as _Namespace
from ..layout.fragment import Fragment  # noqa: F401
from ..layout.layout import Layout  # noqa: F401
from ..tracing.dtypes import dtype  # noqa: F401
from ..tracing.dtypes import dtype as DataType  # noqa: F401
from ..tracing.values import Expr as PrimExpr  # noqa: F401
from ..tracing.values import Var  # noqa: F401
from .dtypes import *  # noqa: F403
from .dtypes import vector_type as _vector_type
from .eager import Macro, PrimFunc, Ref  # noqa: F401
from .gemm_op import GemmWarpPolicy  # noqa: F401
from .proxy import Buffer, Tensor  # noqa: F401
from .schedule_id import WSID  # noqa: F401

FragmentBuffer = SharedBuffer = LocalBuffer = Tensor

_names = _Namespace(
    __name__,
    "T",
    ["tilelang.language.table:ROWS", "core.functions.table:ROWS"],
    "tilelang.tracing.operations:call",
    "T",
    "tilelang.language.table:REFUSED",
    others=_vector_type,
)
__getattr__, __dir__ = _names.hooks()
