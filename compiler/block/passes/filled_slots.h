#pragma once
// What fills the slots of rings.
#include "compiler/block/ir/Block.h"

namespace tilery::block {

/// True if such an op fills a part of the slot.
template <typename Filler> bool isFilledBy(mlir::Value slot) {
  return llvm::any_of(slot.getUsers(), [](mlir::Operation *part) {
    return mlir::isa<PartOp>(part) &&
           llvm::any_of(part->getUsers(), [](mlir::Operation *user) { return mlir::isa<Filler>(user); });
  });
}

} // namespace tilery::block
