#pragma once
// Loops whose loads run some turns ahead: each thread copies its own elements of later turns into shared memory of its own (cp.async), so
// that nobody waits for anybody, and finds them there when their turn comes.
#include "compiler/targets/cuda/thread_map.h"
#include "compiler/lower/plan.h"

namespace tilery::cuda {

struct BlockPlan;

struct FetchLoop {
  struct Load {
    tile::LoadOp op;
    const ThreadMap *map = nullptr;
    uint64_t offset = 0; // in a slot: 16 bytes a thread, chunk after chunk
  };
  mlir::Operation *home = nullptr; // scf.for, or the kernel, whose blocks then run one program after the other
  llvm::SmallVector<Load> loads;
  llvm::SmallVector<tile::LoadOp> numbers;     // loaded one turn ahead, into registers
  llvm::SmallVector<mlir::Operation *> places; // ops of the body that the loads' places need, in order
  unsigned slots = 0;                          // turns that are under way
  uint64_t slotBytes = 0, offset = 0;          // of shared memory; of the first slot, among what all loops have

  uint64_t bytes() const { return slots * slotBytes; }
  /// Null: its turns are programs.
  mlir::scf::ForOp loop() const { return llvm::dyn_cast<mlir::scf::ForOp>(home); }
};

/// What each turn of a loop adds to a number or pointer that the loop carries: the op, whose first operand is the carried value and whose
/// second is fixed. Null: something else.
mlir::Operation *stepOfCarried(mlir::scf::ForOp loop, mlir::BlockArgument carried);

/// Finds the loops of a kernel without products and gives them shared memory: at most `freeBytes` of what a block may have, so that as many
/// blocks as its registers allow run side by side. Where that is one block, which
/// reduces rows, has no loops and waits for memory most of its time, its turns are programs.
void planFetches(tile::KernelOp kernel, BlockPlan &block, bool disjoint, uint64_t freeBytes);

} // namespace tilery::cuda
