"""The functions of TileLang kernels: `import tilelang.language as T`. They come from the tables of functions."""

from ...core.functions import ROWS as _ELEMENTWISE
from ...core.functions import Namespace as _Namespace
from ..dtypes import dtype  # noqa: F401
from ..functions import Macro, PrimFunc, Ref  # noqa: F401
from ..memory import Buffer, Tensor  # noqa: F401
from ..operations import call as _call
from ..table import REFUSED as _REFUSED
from ..table import ROWS as _ROWS
from ..tile import GemmWarpPolicy  # noqa: F401

Var = Ref
FragmentBuffer = SharedBuffer = LocalBuffer = Tensor

bool = dtype("bool")
int8, int16, int32, int64 = dtype("int8"), dtype("int16"), dtype("int32"), dtype("int64")
uint8, uint16, uint32, uint64 = dtype("uint8"), dtype("uint16"), dtype("uint32"), dtype("uint64")
float16, bfloat16, float32, float64 = dtype("float16"), dtype("bfloat16"), dtype("float32"), dtype("float64")
float8_e4m3fn, float8_e4m3, float8_e5m2 = dtype("float8_e4m3fn"), dtype("float8_e4m3"), dtype("float8_e5m2")
half, float, double = dtype("half"), dtype("float"), dtype("double")
short, int, uint, long = dtype("short"), dtype("int"), dtype("uint"), dtype("long")

__getattr__, __dir__, __all__ = _Namespace(__name__, "T", (*_ROWS, *_ELEMENTWISE), _call, "T", _REFUSED).hooks()
