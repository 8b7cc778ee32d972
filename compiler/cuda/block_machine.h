#pragma once
// What a block of threads is to generated code. One implementation writes PTX; tests have another, whose threads are fibers of the CPU.
#include "compiler/cpu/emitter.h"
#include "compiler/cuda/ptx.h"

namespace tilery::cuda {

/// What a kernel asks of its launch.
struct BlockNeeds {
  unsigned threads = 0;
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

class BlockMachine {
public:
  virtual ~BlockMachine() = default;
  /// Makes the kernel's function and leaves the builder in its first block.
  virtual BlockEntry begin(cpu::Emitter &e, tile::KernelOp kernel, const BlockNeeds &needs) = 0;
  /// Waits for all threads of the block; memory written before is seen after.
  virtual void barrier(cpu::Emitter &e) = 0;
  /// The i32 of the thread `distance` further on in the warp of 32 (the own one past its end). All threads of the warp take part.
  virtual llvm::Value *shuffleDown(cpu::Emitter &e, llvm::Value *value, unsigned distance) = 0;
  /// The i32 of the warp's thread number `lane` (i32, below 32). The threads of the set bits of `mask` (i32) take part.
  virtual llvm::Value *shuffleFrom(cpu::Emitter &e, llvm::Value *value, llvm::Value *lane, llvm::Value *mask) = 0;
};

class PtxMachine : public BlockMachine {
public:
  BlockEntry begin(cpu::Emitter &e, tile::KernelOp kernel, const BlockNeeds &needs) override;
  void barrier(cpu::Emitter &e) override { Ptx(e.b).blockBarrier(); }
  llvm::Value *shuffleDown(cpu::Emitter &e, llvm::Value *value, unsigned distance) override;
  llvm::Value *shuffleFrom(cpu::Emitter &e, llvm::Value *value, llvm::Value *lane, llvm::Value *mask) override;
};

} // namespace tilery::cuda
