"""Element types by their upstream spelling. They matter ahead of time; a launch takes them from its tensors."""

int8, int16, int32, int64 = "i8", "i16", "i32", "i64"
uint8, uint16, uint32, uint64 = "u8", "u16", "u32", "u64"
float16, bfloat16, float32, float64 = "fp16", "bf16", "fp32", "fp64"

NAMES = {spelling: name for name, spelling in globals().items() if name[:1] != "_"}  # {"i8": "int8", ...}: the tile IR's
