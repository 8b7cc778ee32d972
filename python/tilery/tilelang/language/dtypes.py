"""Element types."""

from ..tracing.dtypes import dtype

bool = dtype("bool")
int8, int16, int32, int64 = dtype("int8"), dtype("int16"), dtype("int32"), dtype("int64")
uint8, uint16, uint32, uint64 = dtype("uint8"), dtype("uint16"), dtype("uint32"), dtype("uint64")
float16, bfloat16, float32, float64 = dtype("float16"), dtype("bfloat16"), dtype("float32"), dtype("float64")
float8_e4m3fn, float8_e4m3, float8_e5m2 = dtype("float8_e4m3fn"), dtype("float8_e4m3"), dtype("float8_e5m2")
half, float, double = dtype("half"), dtype("float"), dtype("double")
short, int, uint, long = dtype("short"), dtype("int"), dtype("uint"), dtype("long")
