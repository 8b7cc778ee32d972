#pragma once
// The plan of a kernel of the general path: the CPU's, how the block multiplies, which nests are written out element by element for each
// thread, and which stored tiles therefore stay in registers.
#include "compiler/lower/pull.h"
#include "compiler/targets/cuda/simt/fetch_ahead.h"
#include "compiler/targets/cuda/mma/mma_plan.h"
#include "compiler/targets/cuda/simt/thread_map.h"
#include <map>

namespace tilery::cuda {

struct SimtPlan {
  lower::Plan plan;
  uint64_t stagingBytes = 0; // behind the arena: for the stages of products that do not lie in their result's memory
  bool inResults = true;     // stages may lie there

  unsigned threads = 128; // of a block
  unsigned cluster = 1;   // blocks that share a program's elements: `maps` deal them to the threads of all
  /// By the extents other than 1: all nests over such tiles share their elements in the same way.
  std::map<llvm::SmallVector<int64_t, 2>, ThreadMap> maps;
  /// But for nests along another dimension than the last (extents, and which of them it is): what goes from one to the other lies in shared
  /// memory.
  std::map<std::pair<llvm::SmallVector<int64_t, 2>, unsigned>, ThreadMap> crossMaps;
  llvm::DenseMap<const lower::Nest *, const ThreadMap *> mapped; // nests of `plan`; the others are loops that all threads walk
  llvm::DenseMap<mlir::Operation *, const ThreadMap *> scans;    // whose elements threads hold; the others are loops, too
  llvm::DenseMap<int, const ThreadMap *> inRegisters;            // buffers that lie there, each thread's own elements in its own
  uint64_t exchangeBytes = 0;  // shared memory through which a mapped nest's reductions need to go
  unsigned residentBlocks = 1; // that a multiprocessor should have room for
  std::vector<FetchLoop> fetches;
  uint64_t fetchBytes = 0; // shared memory of these, behind everything else

  SimtPlan() = default;
  SimtPlan(SimtPlan &&) = default; // `mapped` points into `plan`
  SimtPlan &operator=(SimtPlan &&) = default;
  /// Of every dot and contraction.
  MmaPlan &product(mlir::Operation *op) const { return static_cast<MmaPlan &>(*plan.products.find(op)->second); }
  bool stagesInResult(const MmaPlan &product) const { return inResults && product.atOnce() && !product.wholeRows; }
  uint64_t stagingOffset() const { return (plan.arenaBytes + 63) / 64 * 64; }
  void print(llvm::raw_ostream &stream, mlir::Operation *kernel) const;
};

/// The longest row that is best a block's own.
constexpr int64_t longestOwnRow = 32768;

/// Chooses the threads (as the products want them where there are some), maps nests and finds what stays in registers. What else is stored
/// takes at most `tileBytes` of shared memory. A block has rows of `rowElements` for itself, or twice as many of which it waits less for
/// memory than it computes: what blocks wait for each other costs more than it saves there. The blocks of a cluster share longer ones.
/// 0: any row is a block's own, as where there are no clusters.
void shareElements(tile::KernelOp kernel, SimtPlan &block, uint64_t tileBytes, int64_t rowElements);

/// With as many stages in flight as `tileBytes` of shared memory hold beside the stored tiles. `rowElements`: as above.
SimtPlan planSimt(tile::KernelOp kernel, const lower::Options &lanes, uint64_t tileBytes, int64_t rowElements = 0);

} // namespace tilery::cuda
