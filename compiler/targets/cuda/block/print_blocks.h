#pragma once
// What a person is told of a kernel in block IR.
#include "compiler/block/ir/Block.h"
#include <string>

namespace tilery::cuda {

/// "matmul: blocks consumers=2 k=64 ...", a line for each tensor that is copied in boxes (or why it is not), and what a launch must keep
/// for that. `opened`: as findAnyKernel finds it; `lowered`: after the passes.
std::string printPlan(tile::KernelOp opened, tile::KernelOp lowered);

} // namespace tilery::cuda
