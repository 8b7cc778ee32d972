#pragma once
#include "compiler/ir/Tile.h"

namespace tilery::tile {

/// The order in which lanes are combined makes no difference but in rounding: along other dimensions than the last, others are combined in
/// increasing index.
inline bool commutes(ReduceOp reduce) {
  auto ops = reduce.getCombine().front().without_terminator();
  return llvm::hasSingleElement(ops) && (*ops.begin()).hasTrait<mlir::OpTrait::IsCommutative>();
}

} // namespace tilery::tile
