#include "compiler/ir/dtype_of.h"
#include "mlir/IR/BuiltinTypes.h"

using namespace mlir;

namespace tilery {
std::optional<DType> dtypeOf(Type type, bool isSigned) {
  if (type.isF64())
    return DType::F64;
  if (type.isF32())
    return DType::F32;
  if (type.isF16())
    return DType::F16;
  if (type.isBF16())
    return DType::BF16;
  if (isa<Float8E4M3FNType>(type))
    return DType::F8E4M3;
  if (isa<Float8E5M2Type>(type))
    return DType::F8E5M2;
  switch (type.isInteger() ? type.getIntOrFloatBitWidth() : 0) {
  case 1:
    return DType::Bool;
  case 8:
    return isSigned ? DType::I8 : DType::U8;
  case 16:
    return isSigned ? DType::I16 : DType::U16;
  case 32:
    return isSigned ? DType::I32 : DType::U32;
  case 64:
    return isSigned ? DType::I64 : DType::U64;
  }
  return std::nullopt;
}
} // namespace tilery
