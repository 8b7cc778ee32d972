#pragma once
// The products that a warpgroup of Hopper's can start: 64 x n sums of factors whose k extends over 32 bytes.
#include "mlir/IR/BuiltinTypes.h"
#include <optional>

namespace tilery::cuda {

struct WgmmaForm {
  enum Type : uint8_t { F16, BF16, TF32, E4M3, E5M2, S8, U8 };
  unsigned n;                          // columns: a multiple of 8 up to 256, of integers 8, 24 or a multiple of 16
  Type a, b;                           // the same, but for E4M3 beside E5M2 and (from PTX 8.4 on) S8 beside U8
  bool transA = false, transB = false; // the operand's m or n is contiguous in shared memory rather than k: of F16 and BF16 only

  bool integer() const { return a == S8 || a == U8; } // sums are i32; otherwise f32
  unsigned elementBytes() const { return a == TF32 ? 4 : a == F16 || a == BF16 ? 2 : 1; }
  unsigned k() const { return 32 / elementBytes(); }
  unsigned sums() const { return n / 2; } // of a thread
  static const char *name(Type type) {
    static constexpr const char *names[] = {"f16", "bf16", "tf32", "e4m3", "e5m2", "s8", "u8"};
    return names[type];
  }
  /// Nothing for types that are no factors.
  static std::optional<Type> typeOf(mlir::Type type, bool isUnsigned = false) {
    if (type.isF16() || type.isBF16())
      return type.isF16() ? F16 : BF16;
    if (type.isF32())
      return TF32;
    if (llvm::isa<mlir::Float8E4M3FNType, mlir::Float8E5M2Type>(type))
      return llvm::isa<mlir::Float8E5M2Type>(type) ? E5M2 : E4M3;
    if (type.isInteger(8))
      return isUnsigned ? U8 : S8;
    return std::nullopt;
  }
};

} // namespace tilery::cuda
