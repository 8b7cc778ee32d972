#pragma once
// Numbers that loops count go on through what stands around them.
#include "mlir/Dialect/SCF/IR/SCF.h"

namespace tilery::block {

/// Result `number` of the loop, which starts with a constant of the kernel's own block, starts with what it was at its end the last time
/// instead: all loops and branches around it carry it, from that constant on.
void carryOn(mlir::scf::ForOp loop, unsigned number);

} // namespace tilery::block
