#pragma once
#include "compiler/ir/Tile.h"

namespace tilery::tile {

/// The order in which lanes are combined makes no difference but in rounding: along other dimensions than the last, others are combined in
/// increasing index.
inline bool commutes(ReduceOp reduce) {
  auto ops = reduce.getCombine().front().without_terminator();
  return llvm::hasSingleElement(ops) && (*ops.begin()).hasTrait<mlir::OpTrait::IsCommutative>();
}

/// It picks one of the two by a strict order of the first operand, of equals by one of the second (argmax, argmin): in whatever order pairs are
/// combined, the same one is left. (NaNs are in no order; builders order them before they are combined.)
bool picksOne(ReduceOp reduce);

} // namespace tilery::tile
