#pragma once
// What every emitter of this folder shares: the IR builder, types, and small vector idioms.
#include "compiler/lower/options.h"

namespace tilery::lower {

class DebugInfo;

struct Emitter {
  llvm::Module &module;
  llvm::IRBuilder<> b;
  const Options &options;
  DebugInfo *debug = nullptr;

  Emitter(llvm::Module &module, const Options &options);
  llvm::LLVMContext &context() { return module.getContext(); }

  // -- types. Floats of 8 and 16 bits are carried as integers and computed in f32; booleans are i1 in values and i8 in memory.
  llvm::Type *valueType(mlir::Type element);
  llvm::Type *memoryType(mlir::Type element);
  llvm::Type *vectorOf(llvm::Type *type, unsigned lanes);

  // -- values
  llvm::ConstantInt *i64(int64_t value) { return b.getInt64(value); }
  llvm::Constant *constant(mlir::Attribute attr, mlir::Type element);
  Lanes splat(Lanes value, unsigned lanes);
  /// Brings scalars among `values` to vectors if any is one. Returns the lanes (1: all are scalars).
  unsigned unify(llvm::MutableArrayRef<Lanes> values);
  static unsigned lanesOf(Lanes value);
  /// <0, 1, 2, ...> of the integer type.
  llvm::Constant *iota(llvm::Type *integer, unsigned lanes);
  Lanes band(Lanes a, Lanes b); // of masks; null is "true everywhere"
  /// Lanes [from, from + count) of a vector.
  llvm::Value *slice(llvm::Value *vector, unsigned from, unsigned count);

  // -- conversions between a memory element and the value that is computed with
  Lanes toMemory(Lanes value, mlir::Type element);
  Lanes fromMemory(Lanes value, mlir::Type element);
  /// 8-bit or 16-bit float (as integer) <-> f32, vectors or scalars. Rounds to nearest even; NaNs stay NaNs; what is too large for e4m3fn,
  /// which has no infinities, becomes NaN. `keepsNaNSign`: somebody may tell it.
  Lanes widenFloat(Lanes value, mlir::Type element, bool keepsNaNSign = true);
  Lanes narrowFloat(Lanes value, mlir::Type element);
  /// The same of 8 bits, by arithmetic that any machine has.
  Lanes widenFloat8(Lanes value, mlir::Type element);
  Lanes narrowFloat8(Lanes value, mlir::Type element);

  llvm::CallInst *intrinsic(llvm::Intrinsic::ID id, llvm::ArrayRef<llvm::Value *> args, llvm::ArrayRef<llvm::Type *> types);
  /// Sets the source line of what is emitted next.
  void at(mlir::Location location);
};

/// One of those that are computed in f32.
inline bool isSmallFloat(mlir::Type element) {
  return mlir::isa<mlir::FloatType>(element) && element.getIntOrFloatBitWidth() <= 16;
}
using tile::elementBytes;
inline mlir::Type elementOf(mlir::Value value) { return mlir::getElementTypeOrSelf(value.getType()); }

/// True for ops that map lane i of their operands to lane i of their results with no effect: arith, math, tile arithmetic, pointers.
bool isElementwise(mlir::Operation *op);
/// One such op on scalars or on vectors of equal lanes (small floats as integers). Null after an error was reported for an unsupported op.
Lanes emitElementwise(Emitter &e, mlir::Operation *op, llvm::ArrayRef<Lanes> operands);
/// Same for ops of the math dialect; `operands` of small floats already widened to f32, the result not yet narrowed.
Lanes emitMath(Emitter &e, mlir::Operation *op, llvm::ArrayRef<Lanes> operands);
/// The block of plain arithmetic of a reduction or scan, on scalars or vectors. False after an error was reported.
bool emitCombine(Emitter &e, mlir::Region &region, llvm::ArrayRef<Lanes> left, llvm::ArrayRef<Lanes> right,
                 llvm::SmallVectorImpl<Lanes> &result, llvm::function_ref<Lanes(mlir::Value)> outside);

} // namespace tilery::lower
