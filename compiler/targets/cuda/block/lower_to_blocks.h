#pragma once
// From tile IR to lowered block IR.
#include "compiler/block/ir/gpu.h"
#include "mlir/IR/OwningOpRef.h"
#include <string>

namespace tilery::cuda {

/// A module with the kernel in block IR, with roles; the kernel itself, if that is what it is. Null where no pass takes it: `why` then says
/// what stands in the way (empty: it has no product). Failure, after an error was reported, where what the passes make is wrong.
/// disjoint: no argument that is stored overlaps another one. boxes: as in CompileOptions; without them threads fetch all factors. cluster: blocks that are to share the steps of each program, if the
/// kernel lets them. plan: where to add what a person is told of it. inTurn: as in CompileOptions.
mlir::FailureOr<mlir::OwningOpRef<mlir::ModuleOp>> lowerToBlocks(tile::KernelOp kernel, std::string &why, bool disjoint,
                                                                 bool boxes = true, unsigned cluster = 1,
                                                                 const block::Gpu &gpu = {}, std::string *plan = nullptr,
                                                                 bool inTurn = false);

} // namespace tilery::cuda
