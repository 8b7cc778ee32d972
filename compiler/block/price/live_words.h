#pragma once
// How much of a block's registers the sums of products take that are there at once.
#include "compiler/ir/Tile.h"

namespace tilery::block {

/// 32-bit words of all threads, at the product of the block where they are most: sums are there until nothing is computed from them any
/// more (elementwise work is done where something takes it, and loads are taken piece by piece), and with them the product's first
/// factor, where it comes from registers.
unsigned mostLiveWords(mlir::Block &block, llvm::function_ref<bool(tile::DotOp)> takesRegisters);

} // namespace tilery::block
