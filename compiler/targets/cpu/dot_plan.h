#pragma once
// What is decided about one `tile.dot` or `tile.contract` before code is emitted.
#include "compiler/targets/cpu/dot_kernel.h"
#include "compiler/lower/plan.h"

namespace tilery::cpu {
using namespace lower;

struct DotOperand {
  mlir::Value tile; // (B x) M x K or (B x) K x N
  bool isA = true, isUnsigned = false;
  bool across = false;                // contiguous along K: packing transposes
  bool shared = false;                // packed once per launch, in the panel table
  llvm::SmallVector<mlir::Value> key; // shared: the scalars that tell one panel from another
};

struct DotPlan {
  int64_t batch = 1, m = 0, n = 0, k = 0; // k: of one step
  int64_t stepsPerBlock = 1;              // K block, in steps: what one panel holds
  mlir::Type compute;                     // f32, f64 or an integer
  int64_t pack = 1;                       // values of K in one element of a panel: 2 for pairs of bf16
  bool startsAtZero = false;              // acc is zero: not read, the result buffer need not be initialised
  DotBlocking blocking;
  DotOperand a, b;
  llvm::SmallVector<mlir::Value> live; // rows and columns that are used, i64; empty: all
  tile::StoreOp directStore; // null, or the store that alone uses the result: whole tiles may be written to its place at once

  const DotOperand &operand(bool isA) const { return isA ? a : b; }
  /// Elements of K that a panel holds for one step; the last one of an odd number of bf16 values is half zero.
  int64_t packedK() const { return (k + pack - 1) / pack; }
  /// Elements of a private panel of one K block.
  int64_t panelElements(bool isA) const;
};

llvm::raw_ostream &operator<<(llvm::raw_ostream &stream, const DotPlan &plan);

/// `stored`: the plan's choice for tiles outside the op.
DotPlan planDot(mlir::Operation *op, const Options &options, llvm::function_ref<bool(mlir::Value)> stored);

/// Moves the scalars that place a result's store before its dot, so that the dot can write there.
void hoistStorePlaces(tile::KernelOp kernel);

mlir::Value dotAccumulator(mlir::Operation *op);
/// The extents of the rows and columns that are used, or nothing.
llvm::SmallVector<mlir::Value> dotLive(mlir::Operation *op);
/// True if the accumulator of a dot or contract is known to be zero.
bool dotStartsAtZero(mlir::Operation *op);
/// Index tiles below the operands that are worth computing once: those that divide.
llvm::SmallVector<mlir::Value> dotIndexTiles(mlir::Operation *op);

} // namespace tilery::cpu
