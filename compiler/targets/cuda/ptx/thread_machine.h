#pragma once
// What the threads of a block are to the general path.
#include "compiler/ir/hints.h"
#include "compiler/lower/thread_model.h"
#include "compiler/targets/cuda/ptx/mma_form.h"

namespace tilery::cuda {

/// What a kernel asks of its launch.
struct BlockNeeds {
  unsigned threads = 0;
  unsigned residentBlocks = 0; // blocks that a multiprocessor should have registers for; 0: as many as it happens
  uint64_t workspaceBytes = 0; // of a block
  unsigned registers = 0;      // that a thread may have, whatever fits a multiprocessor then; 0: as many as the assembler likes
  bool reports = false;
  unsigned maps = 0;    // tensor maps that the launch makes
  unsigned cluster = 1; // blocks that see each other's shared memory
  unsigned sharedAlignment = 64;
};

/// BlockNeeds::registers as the program asks for them. An instruction names no more than `most`.
inline unsigned registersOf(tile::KernelOp kernel) {
  constexpr int64_t most = 255;
  return std::clamp<int64_t>(tile::hint(kernel, "maxnreg").value_or(0), 0, most);
}

/// The values that a kernel starts from.
struct BlockEntry {
  llvm::Function *function = nullptr;
  llvm::SmallVector<llvm::Value *> arguments; // as memory holds them (booleans: i8)
  llvm::Value *grid[3] = {};                  // i32
  llvm::Value *programs = nullptr;            // i32: of the grid
  llvm::Value *number = nullptr;              // i32: of the block, which is that of its first program
  llvm::Value *blocks = nullptr;              // i32: how many run; a block's programs are so far apart
  llvm::Value *thread = nullptr;              // i64
  llvm::Value *shared = nullptr;              // generic pointer, aligned as needed
  llvm::Value *sharedAddress = nullptr;       // i32: the same place as an address of shared memory
  llvm::SmallVector<llvm::Value *> maps;      // for the copy engine
  llvm::Value *workspace = nullptr;           // of this block, if it needs one
  llvm::Value *reports = nullptr;             // TileryReports, if it needs them
};

/// Addresses that are i32 are of shared memory: of this block's, or, as `peerAddress` gives them, of another's of the cluster.
class ThreadMachine : public lower::MemoryPort {
public:
  using Value = llvm::Value;
  using Values = llvm::ArrayRef<llvm::Value *>;
  using Tied = llvm::MutableArrayRef<llvm::Value *>; // what the instruction delivers replaces what was given

  /// Makes the kernel's function and leaves the builder in its first block.
  virtual BlockEntry begin(lower::Emitter &e, tile::KernelOp kernel, const BlockNeeds &needs) = 0;

  // -- threads
  /// Waits for all threads of the block; memory written before is seen after.
  virtual void barrier(lower::Emitter &e) = 0;
  /// The same for `threads` threads (whole warps) that meet at barrier `id` (i32, 1 to 15).
  virtual void namedBarrier(lower::Emitter &e, Value *id, unsigned threads) = 0;
  /// The same for the lanes of a warp that `mask` (i32) names; this thread is one of them.
  virtual void warpBarrier(lower::Emitter &e, Value *mask) = 0;
  /// The i32 of the thread `distance` further on in the warp of 32 (the own one past its end). All threads of the warp take part.
  virtual Value *shuffleDown(lower::Emitter &e, Value *value, unsigned distance) = 0;
  /// The i32 of the warp's thread number `lane` (i32, below 32). The threads of the set bits of `mask` (i32) take part.
  virtual Value *shuffleFrom(lower::Emitter &e, Value *value, Value *lane, Value *mask) = 0;
  /// Nanoseconds of the GPU's clock (i64), read here and now.
  virtual Value *clock(lower::Emitter &e) = 0;
  /// The number of the multiprocessor (i32).
  virtual Value *processor(lower::Emitter &e) = 0;

  // -- clusters and launches
  virtual Value *clusterRank(lower::Emitter &e) = 0; // i32
  /// Waits for all threads of the cluster's blocks; shared memory written before is seen after.
  virtual void clusterBarrier(lower::Emitter &e) = 0;
  /// The place `address` of block `rank` (i32) of the cluster, for the functions that say so.
  virtual Value *peerAddress(lower::Emitter &e, Value *address, Value *rank) = 0;
  /// Waits for the end of the launch before this one, whose results are seen after (griddepcontrol).
  virtual void waitForLaunch(lower::Emitter &e) = 0;
  /// Lets the launch after this one begin.
  virtual void letLaunchFollow(lower::Emitter &e) = 0;

  /// A value or vector of 1 to 16 bytes at an address, aligned to its size. `peer`: that is of another block.
  virtual Value *loadShared(lower::Emitter &e, llvm::Type *type, Value *address, bool peer) = 0;
  virtual void storeShared(lower::Emitter &e, Value *address, Value *value, bool peer) = 0;

  // -- matrices of 8 x 8. All threads of a warp take part.
  /// `count` (1, 2 or 4) matrices of 8 rows of 16 bytes, row r of matrix i where thread 8 * i + r points (generic pointers into shared
  /// memory, or addresses): bytes 4 * (lane % 4) to + 3 of row lane / 4 as an i32 each; `transposed`: of the matrix of 16-bit elements
  /// transposed. The rows begin `offset` bytes further on.
  virtual llvm::SmallVector<Value *, 4> loadMatrices(lower::Emitter &e, Value *row, unsigned count, bool transposed,
                                                     unsigned offset = 0) = 0;

  /// Four of the eight bytes of `low` and `high` (i32): byte i of the result is that which bits 4i to 4i + 2 of `which` (i32) number.
  virtual Value *permuteBytes(lower::Emitter &e, Value *low, Value *high, Value *which) = 0;

  // -- products of a warp
  /// accumulators += a * b for 16 x 8 elements and the form's depth, which is none of the fused ones. a: 4 i32 (F64: 2 doubles), b: 2 (1).
  virtual void multiply(lower::Emitter &e, const MmaForm &form, Tied accumulators, Values a, Values b) = 0;
  /// The bits of an f32 rounded to tf32.
  virtual Value *roundTF32(lower::Emitter &e, Value *bits) = 0;

  // -- copies by threads (cp.async)
  /// Copies 16 bytes from global to shared memory (generic pointers, aligned): the first `bytes` (i32), zeros after them. Done when
  /// waited for.
  virtual void copyAsync(lower::Emitter &e, Value *to, Value *from, Value *bytes) = 0;
  virtual void commitCopies(lower::Emitter &e) = 0;
  /// Waits for all copies of this thread but the last `pending` groups committed.
  virtual void waitCopies(lower::Emitter &e, unsigned pending) = 0;
};

} // namespace tilery::cuda
