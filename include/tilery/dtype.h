#pragma once
// Element types. Names are those users write: "float32", "int8", "bfloat16", ...
#include <cstdint>
#include <optional>
#include <string_view>

#pragma GCC visibility push(default) // what libtilery.so exports
namespace tilery {

enum class DType : uint8_t { Bool, I8, I16, I32, I64, U8, U16, U32, U64, F8E4M3, F8E5M2, F16, BF16, F32, F64 };

constexpr bool isBool(DType t) { return t == DType::Bool; }
constexpr bool isSigned(DType t) { return t >= DType::I8 && t <= DType::I64; }
constexpr bool isUnsigned(DType t) { return t >= DType::U8 && t <= DType::U64; }
/// Integers of either sign, not Bool.
constexpr bool isInteger(DType t) { return t >= DType::I8 && t <= DType::U64; }
constexpr bool isFloat(DType t) { return t >= DType::F8E4M3; }
constexpr bool isFloat8(DType t) { return t == DType::F8E4M3 || t == DType::F8E5M2; }
/// Width of a value in bits; Bool is 1 (one byte in memory).
unsigned bitWidth(DType t);
/// Bytes an element takes in memory.
unsigned byteWidth(DType t);
/// "float32", "int8", "bool", "float8_e4m3fn", ...
const char *dtypeName(DType t);
/// Accepts the names above, numpy's and Triton's short ones ("fp32", "i8", "f32", "bf16", "half", "int1", ...).
std::optional<DType> parseDType(std::string_view name);

} // namespace tilery
#pragma GCC visibility pop
