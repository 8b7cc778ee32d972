#pragma once
// What a block of threads is to generated code. One implementation writes PTX; tests have another, whose threads are fibers of the CPU.
#include "compiler/ir/hints.h"
#include "compiler/lower/evaluator.h"
#include "compiler/targets/cuda/ptx/mma_form.h"
#include "compiler/targets/cuda/ptx/wgmma_form.h"

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

/// Addresses that are i32 are of this block's shared memory; `peerAddress` gives those of other blocks of the cluster. A barrier is eight
/// bytes of shared memory, at a multiple of eight.
class BlockMachine : public lower::MemoryPort {
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
  /// Counts as one of those threads without waiting.
  virtual void arriveNamed(lower::Emitter &e, Value *id, unsigned threads) = 0;
  /// The i32 of the thread `distance` further on in the warp of 32 (the own one past its end). All threads of the warp take part.
  virtual Value *shuffleDown(lower::Emitter &e, Value *value, unsigned distance) = 0;
  /// The i32 of the warp's thread number `lane` (i32, below 32). The threads of the set bits of `mask` (i32) take part.
  virtual Value *shuffleFrom(lower::Emitter &e, Value *value, Value *lane, Value *mask) = 0;
  /// An i1 that holds in one thread of the warp, all of whose threads take part.
  virtual Value *elect(lower::Emitter &e) = 0;
  /// The thread's number (i32), read here and now: what depends on it is not computed ahead.
  virtual Value *threadNow(lower::Emitter &e) = 0;
  /// Nanoseconds of the GPU's clock (i64), read here and now.
  virtual Value *clock(lower::Emitter &e) = 0;
  /// The number of the multiprocessor (i32).
  virtual Value *processor(lower::Emitter &e) = 0;
  /// The same i32, computed before what follows here.
  virtual Value *here(lower::Emitter &e, Value *value) = 0;
  /// From here on the thread's warpgroup has `count` registers a thread (a multiple of 8, 24 to 256): waits until there are so many.
  virtual void setRegisters(lower::Emitter &e, unsigned count, bool more) = 0;
  /// What this thread is from here on, in the words of reports.
  virtual void role(lower::Emitter &e, llvm::StringRef name) = 0;

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

  // -- barriers in shared memory that count arrivals and bytes (mbarrier)
  virtual void initBarrier(lower::Emitter &e, Value *barrier, unsigned arrivals) = 0;
  /// Shows barriers that this thread made to the copy engine and to other blocks.
  virtual void fenceBarrierInit(lower::Emitter &e) = 0;
  virtual void arrive(lower::Emitter &e, Value *barrier) = 0;
  /// The same at a peer's.
  virtual void arrivePeer(lower::Emitter &e, Value *barrier) = 0;
  /// Arrives; the phase then waits for `bytes` (i32) more.
  virtual void arriveExpect(lower::Emitter &e, Value *barrier, Value *bytes) = 0;
  virtual void expectBytes(lower::Emitter &e, Value *barrier, Value *bytes) = 0;
  /// Waits until the phase of that parity (i32, 0 or 1; the first phase has 0) is complete.
  virtual void waitBarrier(lower::Emitter &e, Value *barrier, Value *parity) = 0;

  // -- the copy engine. Addresses of shared memory are multiples of 128, those of swizzled boxes of eight of their rows.
  virtual void prefetchMap(lower::Emitter &e, Value *map) = 0;
  /// Makes a map in 128 bytes of global memory (a multiple of 128): that of the launch, over another tensor. `base`: a generic pointer, a
  /// multiple of 16; extents (i64, the innermost first) and strides (i64, bytes, those of all others). This thread's copies may use it at once.
  virtual void makeMap(lower::Emitter &e, Value *place, Value *map, Value *base, Values extents, Values strides) = 0;
  /// Copies the box at these coordinates (i32, the innermost dimension first) into shared memory; `barrier` counts the bytes.
  virtual void loadBox(lower::Emitter &e, Value *shared, Value *map, Values coordinates, Value *barrier) = 0;
  /// Copies `bytes` (i32, a multiple of 16) from a generic pointer to global memory (a multiple of 16).
  virtual void loadBytes(lower::Emitter &e, Value *shared, Value *global, Value *bytes, Value *barrier) = 0;
  /// Stores a box, or adds it to what is there (f32). Done when waited for.
  virtual void storeBox(lower::Emitter &e, Value *map, Values coordinates, Value *shared, bool add) = 0;
  virtual void storeBytes(lower::Emitter &e, Value *global, Value *shared, Value *bytes) = 0;
  /// The thread's stores since the last commit are a group.
  virtual void commitStores(lower::Emitter &e) = 0;
  /// Waits until all but the last `pending` groups of this thread's stores have read their shared memory (`read`) or are complete.
  virtual void waitStores(lower::Emitter &e, bool read, unsigned pending) = 0;
  /// Makes this thread's ordinary writes to shared memory visible to the copy engine and the tensor cores.
  virtual void fenceProxy(lower::Emitter &e) = 0;

  // -- shared memory by address
  /// A value or vector of 1 to 16 bytes, aligned to its size. `peer`: the address is of another block.
  virtual Value *loadShared(lower::Emitter &e, llvm::Type *type, Value *address, bool peer) = 0;
  virtual void storeShared(lower::Emitter &e, Value *address, Value *value, bool peer) = 0;

  // -- matrices of 8 x 8. All threads of a warp take part.
  /// `count` (1, 2 or 4) matrices of 8 rows of 16 bytes, row r of matrix i where thread 8 * i + r points (generic pointers into shared
  /// memory, or addresses): bytes 4 * (lane % 4) to + 3 of row lane / 4 as an i32 each; `transposed`: of the matrix of 16-bit elements
  /// transposed. The rows begin `offset` bytes further on.
  virtual llvm::SmallVector<Value *, 4> loadMatrices(lower::Emitter &e, Value *row, unsigned count, bool transposed,
                                                     unsigned offset = 0) = 0;
  /// The way back: 1, 2 or 4 matrices, an i32 of each, to the rows at these addresses.
  virtual void storeMatrices(lower::Emitter &e, Value *row, Values matrices, bool transposed) = 0;

  /// Four of the eight bytes of `low` and `high` (i32): byte i of the result is that which bits 4i to 4i + 2 of `which` (i32) number.
  virtual Value *permuteBytes(lower::Emitter &e, Value *low, Value *high, Value *which) = 0;

  // -- products of a warp
  /// accumulators += a * b for 16 x 8 elements and the form's depth, which is none of the fused ones. a: 4 i32 (F64: 2 doubles), b: 2 (1).
  virtual void multiply(lower::Emitter &e, const MmaForm &form, Tied accumulators, Values a, Values b) = 0;
  /// The bits of an f32 rounded to tf32.
  virtual Value *roundTF32(lower::Emitter &e, Value *bits) = 0;

  // -- products of a warpgroup, all of whose threads take part
  /// Before the first product, and whenever registers were written that the next one takes: its sums and the registers of its factor are there
  /// when the fence is passed, so that nothing is moved between it and the product.
  virtual void wgmmaFence(lower::Emitter &e, Tied sums, Values a) = 0;
  /// The factors of a product of 64 x n x k. a: one i64, the descriptor of shared memory (layout::MatrixDescriptor with the address / 16 in its
  /// low 14 bits), or four i32 (layout::wgmmaOperandA); b: a descriptor. sums: the first of those that it adds to.
  struct WgmmaStep {
    llvm::SmallVector<Value *, 4> a;
    Value *b;
    unsigned sums = 0;
  };
  /// For one step after the other: form.sums() of the sums = themselves + A * B; layout::wgmmaAccumulator says who has which. The first step
  /// that adds to a sum takes it for 0 where `scale` (i32) is. Sums and registers of A belong to the tensor cores until a wait has named them.
  virtual void wgmma(lower::Emitter &e, const WgmmaForm &form, Tied sums, llvm::ArrayRef<WgmmaStep> steps, Value *scale) = 0;
  /// The products since the last commit are a group.
  virtual void wgmmaCommit(lower::Emitter &e) = 0;
  /// Waits until at most `pending` groups run and delivers `sums` of products that are done; nothing takes the registers of their factors `a`
  /// before.
  virtual void wgmmaWait(lower::Emitter &e, unsigned pending, Tied sums, Values a) = 0;

  /// Copies i32 values: none lies in the register of what it comes of, nor is one made before this.
  virtual void copyRegisters(lower::Emitter &e, Tied values) = 0;

  // -- copies by threads (cp.async)
  /// Copies 16 bytes from global to shared memory (generic pointers, aligned): the first `bytes` (i32), zeros after them. Done when
  /// waited for.
  virtual void copyAsync(lower::Emitter &e, Value *to, Value *from, Value *bytes) = 0;
  virtual void commitCopies(lower::Emitter &e) = 0;
  /// This thread's copies so far arrive at a barrier, once, when they are done: one of the arrivals that it was made for.
  virtual void arriveCopies(lower::Emitter &e, Value *barrier) = 0;
  /// Waits for all copies of this thread but the last `pending` groups committed.
  virtual void waitCopies(lower::Emitter &e, unsigned pending) = 0;
};

} // namespace tilery::cuda
