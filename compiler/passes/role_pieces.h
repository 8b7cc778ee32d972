#pragma once
// Roles cut at their waits, and the pieces of all of them in one order.
#include "compiler/ir/Tile.h"

namespace tilery {

/// Replaces all roles of the kernel by their pieces in an order in which each wait is over when it is reached, as far as runs of the
/// kernel's integer code tell; loops over the same range are one, in each turn of which pieces come in the same order. Of roles that could
/// go on, the first in `first` does. False, with the kernel in any state: there is no such order. What is left of barriers stands behind
/// as it did: whether all waits are over for any number of turns is to be proven (wait_proof.h).
bool dealOutPieces(tile::KernelOp kernel, mlir::ArrayRef<unsigned> first);

/// The loops of a block that wait in their turns.
mlir::SmallVector<mlir::scf::ForOp> waitingLoops(mlir::Block &block);
/// Loops that can be executed turn by turn.
bool runAlike(mlir::ArrayRef<mlir::scf::ForOp> loops);
/// True if the op waits, or something inside it does.
bool holdsWait(mlir::Operation &op);

} // namespace tilery
