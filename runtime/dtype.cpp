#include "tilery/dtype.h"
#include <array>
#include <utility>

namespace tilery {

unsigned bitWidth(DType t) {
  switch (t) {
  case DType::Bool:
    return 1;
  case DType::I8:
  case DType::U8:
  case DType::F8E4M3:
  case DType::F8E5M2:
    return 8;
  case DType::I16:
  case DType::U16:
  case DType::F16:
  case DType::BF16:
    return 16;
  case DType::I32:
  case DType::U32:
  case DType::F32:
    return 32;
  case DType::I64:
  case DType::U64:
  case DType::F64:
    return 64;
  }
  return 0;
}

unsigned byteWidth(DType t) { return t == DType::Bool ? 1 : bitWidth(t) / 8; }

const char *dtypeName(DType t) {
  static constexpr std::array names = {"bool",        "int8",    "int16",    "int32",   "int64",
                                       "uint8",       "uint16",  "uint32",   "uint64",  "float8_e4m3fn",
                                       "float8_e5m2", "float16", "bfloat16", "float32", "float64"};
  return names[static_cast<unsigned>(t)];
}

std::optional<DType> parseDType(std::string_view name) {
  static constexpr std::pair<std::string_view, DType> table[] = {{"bool", DType::Bool},
                                                                 {"int1", DType::Bool},
                                                                 {"i1", DType::Bool},
                                                                 {"u1", DType::Bool},
                                                                 {"int8", DType::I8},
                                                                 {"i8", DType::I8},
                                                                 {"int16", DType::I16},
                                                                 {"i16", DType::I16},
                                                                 {"short", DType::I16},
                                                                 {"int32", DType::I32},
                                                                 {"i32", DType::I32},
                                                                 {"int", DType::I32},
                                                                 {"int64", DType::I64},
                                                                 {"i64", DType::I64},
                                                                 {"long", DType::I64},
                                                                 {"uint8", DType::U8},
                                                                 {"u8", DType::U8},
                                                                 {"uint16", DType::U16},
                                                                 {"u16", DType::U16},
                                                                 {"uint32", DType::U32},
                                                                 {"u32", DType::U32},
                                                                 {"uint", DType::U32},
                                                                 {"uint64", DType::U64},
                                                                 {"u64", DType::U64},
                                                                 {"float8_e4m3fn", DType::F8E4M3},
                                                                 {"float8_e4m3", DType::F8E4M3},
                                                                 {"float8e4nv", DType::F8E4M3},
                                                                 {"fp8e4nv", DType::F8E4M3},
                                                                 {"float8_e5m2", DType::F8E5M2},
                                                                 {"float8e5", DType::F8E5M2},
                                                                 {"fp8e5", DType::F8E5M2},
                                                                 {"float16", DType::F16},
                                                                 {"fp16", DType::F16},
                                                                 {"f16", DType::F16},
                                                                 {"half", DType::F16},
                                                                 {"bfloat16", DType::BF16},
                                                                 {"bf16", DType::BF16},
                                                                 {"float32", DType::F32},
                                                                 {"fp32", DType::F32},
                                                                 {"f32", DType::F32},
                                                                 {"float", DType::F32},
                                                                 {"float64", DType::F64},
                                                                 {"fp64", DType::F64},
                                                                 {"f64", DType::F64},
                                                                 {"double", DType::F64}};
  for (auto &[text, type] : table)
    if (text == name)
      return type;
  return std::nullopt;
}

} // namespace tilery
