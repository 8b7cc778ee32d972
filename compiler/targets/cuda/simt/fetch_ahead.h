#pragma once
// Loops whose loads run some turns ahead: each thread copies its own elements of later turns into shared memory of its own (cp.async), so
// that nobody waits for anybody, and finds them there when their turn comes.
#include "compiler/targets/cuda/simt/thread_map.h"
#include "compiler/lower/plan.h"

namespace tilery::cuda {

struct SimtPlan;

struct FetchLoop {
  struct Load {
    tile::LoadOp op;
    const ThreadMap *map = nullptr;
    uint64_t offset = 0; // in a turn: 16 bytes a thread, chunk after chunk
  };
  mlir::Operation *home = nullptr; // scf.for, or the kernel, whose blocks then run one program after the other
  llvm::SmallVector<Load> loads;
  /// Of programs: tiles that are the same in every turn, copied once, behind the ring.
  llvm::SmallVector<Load> fixed;
  llvm::SmallVector<tile::LoadOp> numbers;     // loaded one turn ahead, into registers
  llvm::SmallVector<mlir::Operation *> places; // ops of the body that the loads' places need, in order
  /// A ring of so many places for the vectors of turns one after the other, a turn's in the order of the loads and their chunks; so many are under
  /// way. In bytes: what a turn takes, and where the first place lies among what all loops have.
  unsigned ring = 0, placeBytes = 0;
  uint64_t turnBytes = 0, fixedBytes = 0, offset = 0;
  /// The last vectors stay in their places at the loop's end; `keeper` is such a loop in front of this one, which loads the same: this one
  /// runs backwards, begins with what is there, and fetches the rest.
  bool keeps = false;
  mlir::scf::ForOp keeper;
  bool isMirrored = false; // it loads what its keeper does in the opposite order anyhow

  uint64_t bytes() const { return uint64_t(ring) * placeBytes; } // of the ring
  unsigned vectors() const { return turnBytes / placeBytes; }    // of a turn
  bool runsBackwards() const { return keeper && !isMirrored; }
  /// Null: its turns are programs.
  mlir::scf::ForOp loop() const { return llvm::dyn_cast<mlir::scf::ForOp>(home); }
};

/// What each turn of a loop adds to a number or pointer that the loop carries: the op, whose first operand is the carried value and whose
/// second is fixed. Null: something else.
mlir::Operation *stepOfCarried(mlir::scf::ForOp loop, mlir::BlockArgument carried);

/// Whether a loop may run in any order: it carries nothing, and no turn touches what another one stores.
bool mayRunBackwards(mlir::scf::ForOp loop, bool disjoint);

/// Whether two loops load the same in each turn (`isMirrored`: the second one in its last turn what the first one does in its first), and
/// nothing between their turns changes it: the loads of `second` that are those of `first`, in their order; empty: they do not.
llvm::SmallVector<tile::LoadOp> loadedAgain(const FetchLoop &first, const FetchLoop &second, bool isMirrored, bool disjoint);

/// Whether a program's elements take longer from memory than to compute: they have bytes enough, or no functions are computed of them.
bool waitsForMemory(tile::KernelOp kernel);

/// Finds the loops of a kernel without products and gives them shared memory: at most `freeBytes` of what a block may have, so that as many
/// blocks as its registers allow run side by side. Where that is one block, which reduces rows of small elements and has no loops, its turns
/// are programs if it computes longer than it waits for memory.
void planFetches(tile::KernelOp kernel, SimtPlan &block, bool disjoint, uint64_t freeBytes);

} // namespace tilery::cuda
