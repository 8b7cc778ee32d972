"""Element types."""

from typing import Any as _Any

from ..tracing import dtypes as _types
from ..tracing.dtypes import dtype

bool = dtype("bool")
int4, int8, int16, int32, int64 = map(dtype, ("int4", "int8", "int16", "int32", "int64"))
uint4, uint8, uint16, uint32, uint64 = map(dtype, ("uint4", "uint8", "uint16", "uint32", "uint64"))
float16, bfloat16, tfloat32, float32, float64 = map(dtype, ("float16", "bfloat16", "tfloat32", "float32", "float64"))
float8_e4m3fn, float8_e4m3, float8_e5m2 = dtype("float8_e4m3fn"), dtype("float8_e4m3"), dtype("float8_e5m2")
float8_e4m3fnuz, float8_e5m2fnuz, float8_e8m0fnu = map(dtype, ("float8_e4m3fnuz", "float8_e5m2fnuz", "float8_e8m0fnu"))
float8_e3m4, float8_e4m3b11fnuz = dtype("float8_e3m4"), dtype("float8_e4m3b11fnuz")
float6_e2m3fn, float6_e3m2fn = dtype("float6_e2m3fn"), dtype("float6_e3m2fn")
float4_e2m1fn, float4_e2m1_unpacked = dtype("float4_e2m1fn"), dtype("float4_e2m1_unpacked")
ptr = handle = dtype("handle")
half, float, double = dtype("half"), dtype("float"), dtype("double")
short, int, uint, long = dtype("short"), dtype("int"), dtype("uint"), dtype("long")

_all_dtypes = _types.NAMES


def vector_type(name: str) -> dtype | None:
    """The type of several lanes of that name, `float32x2`."""
    return dtype(name) if _types.is_vector(name) else None


_TABLES = {f"_{library.upper()}_DTYPE_TO_STR": library for library in ("python", "numpy", "torch")}


def __getattr__(name: str) -> _Any:
    """Upstream's tables from the types of libraries to names, and from names to torch's types."""
    if name == "_STR_TO_TORCH_DTYPE":
        return {text: kind for kind, text in _types.names_of("torch").items()}
    if name not in _TABLES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return _types.names_of(_TABLES[name])
