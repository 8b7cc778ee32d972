#pragma once
// What a block of threads is to generated code. One implementation writes PTX; tests have another, whose threads are fibers of the CPU.
#include "compiler/lower/evaluator.h"
#include "compiler/targets/cuda/mma_plan.h"
#include "compiler/targets/cuda/ptx.h"

namespace tilery::cuda {

/// What a kernel asks of its launch.
struct BlockNeeds {
  unsigned threads = 0;
  unsigned residentBlocks = 1; // blocks that a multiprocessor should have registers for
  uint64_t workspaceBytes = 0; // of a block
  bool reports = false;
};

/// The values that a kernel starts from.
struct BlockEntry {
  llvm::Function *function = nullptr;
  llvm::SmallVector<llvm::Value *> arguments; // as memory holds them (booleans: i8)
  llvm::Value *grid[3] = {};                  // i32
  llvm::Value *number = nullptr;              // i32: of the block, which is that of its first program
  llvm::Value *blocks = nullptr;              // i32: how many run; a block's programs are so far apart
  llvm::Value *thread = nullptr;              // i64
  llvm::Value *shared = nullptr;              // generic pointer, 64-byte aligned
  llvm::Value *workspace = nullptr;           // of this block, if it needs one
  llvm::Value *reports = nullptr;             // TileryReports, if it needs them
};

class BlockMachine : public lower::MemoryPort {
public:
  /// Makes the kernel's function and leaves the builder in its first block.
  virtual BlockEntry begin(lower::Emitter &e, tile::KernelOp kernel, const BlockNeeds &needs) = 0;
  /// Waits for all threads of the block; memory written before is seen after.
  virtual void barrier(lower::Emitter &e) = 0;
  /// The i32 of the thread `distance` further on in the warp of 32 (the own one past its end). All threads of the warp take part.
  virtual llvm::Value *shuffleDown(lower::Emitter &e, llvm::Value *value, unsigned distance) = 0;
  /// The i32 of the warp's thread number `lane` (i32, below 32). The threads of the set bits of `mask` (i32) take part.
  virtual llvm::Value *shuffleFrom(lower::Emitter &e, llvm::Value *value, llvm::Value *lane, llvm::Value *mask) = 0;

  // -- matrix products. All threads of a warp take part.
  /// `count` (2 or 4) matrices of 8 rows of 16 bytes, row r of matrix i where thread 8 * i + r points (generic pointers into shared
  /// memory): bytes 4 * (lane % 4) to + 3 of row lane / 4 as an i32 each; `transposed`: of the matrix of 16-bit elements transposed.
  virtual llvm::SmallVector<llvm::Value *, 4> loadMatrices(lower::Emitter &e, llvm::Value *row, unsigned count,
                                                           bool transposed) = 0;
  /// accumulators += a * b for 16 x 8 elements and the form's depth, which is none of the fused ones. a: 4 i32 (F64: 2 doubles), b: 2 (1).
  virtual void multiply(lower::Emitter &e, const MmaForm &form, llvm::MutableArrayRef<llvm::Value *> accumulators,
                        llvm::ArrayRef<llvm::Value *> a, llvm::ArrayRef<llvm::Value *> b) = 0;
  /// The bits of an f32 rounded to tf32.
  virtual llvm::Value *roundTF32(lower::Emitter &e, llvm::Value *bits) = 0;
  /// Copies 16 bytes from global to shared memory (generic pointers, aligned): the first `bytes` (i32), zeros after them. Done when
  /// waited for.
  virtual void copyAsync(lower::Emitter &e, llvm::Value *to, llvm::Value *from, llvm::Value *bytes) = 0;
  virtual void commitCopies(lower::Emitter &e) = 0;
  /// Waits for all copies of this thread but the last `pending` groups committed.
  virtual void waitCopies(lower::Emitter &e, unsigned pending) = 0;
};

class PtxMachine : public BlockMachine {
public:
  BlockEntry begin(lower::Emitter &e, tile::KernelOp kernel, const BlockNeeds &needs) override;
  void barrier(lower::Emitter &e) override { Ptx(e.b).blockBarrier(); }
  llvm::Value *shuffleDown(lower::Emitter &e, llvm::Value *value, unsigned distance) override;
  llvm::Value *shuffleFrom(lower::Emitter &e, llvm::Value *value, llvm::Value *lane, llvm::Value *mask) override;
  llvm::SmallVector<llvm::Value *, 4> loadMatrices(lower::Emitter &e, llvm::Value *row, unsigned count, bool transposed) override;
  void multiply(lower::Emitter &e, const MmaForm &form, llvm::MutableArrayRef<llvm::Value *> accumulators,
                llvm::ArrayRef<llvm::Value *> a, llvm::ArrayRef<llvm::Value *> b) override;
  llvm::Value *roundTF32(lower::Emitter &e, llvm::Value *bits) override;
  void copyAsync(lower::Emitter &e, llvm::Value *to, llvm::Value *from, llvm::Value *bytes) override;
  void commitCopies(lower::Emitter &e) override;
  void waitCopies(lower::Emitter &e, unsigned pending) override;
  llvm::Value *load(lower::Emitter &e, const lower::Address &where, llvm::Type *type, llvm::Value *exists,
                    llvm::Value *other) override;
  void store(lower::Emitter &e, const lower::Address &where, llvm::Value *bits, llvm::Value *exists) override;
};

} // namespace tilery::cuda
