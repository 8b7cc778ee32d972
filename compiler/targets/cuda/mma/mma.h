#pragma once
// Emits one dot or contraction for a block of threads: operands staged in shared memory, accumulators in registers.
#include "compiler/lower/codegen.h"
#include "compiler/targets/cuda/ptx/thread_machine.h"
#include "compiler/targets/cuda/mma/mma_plan.h"

namespace tilery::cuda {

/// Lanes of a factor as the plan's instruction takes them.
lower::Lanes convertedFactor(lower::Emitter &e, const MmaPlan &plan, const MmaOperand &operand, lower::Lanes value);

class MmaEmitter {
public:
  MmaEmitter(lower::KernelEmitter &kernel, ThreadMachine &machine, llvm::Value *thread, unsigned threads, const MmaPlan &plan,
             llvm::Value *staging, mlir::Operation *op);
  /// `staging`: shared memory for the stages, which may be that of the result if the plan computes it at once.
  /// The op's result into its buffer. Initial values of the accumulators are there if the op does not start at zero. False after an error
  /// was reported.
  bool emit();

  /// The first factor's elements where the plan leaves them in registers: two neighbours of a row each, by rows (ThreadMap).
  llvm::SmallVector<llvm::Value *> factor;
  /// The result's variables where it lies in registers, in the same order.
  llvm::ArrayRef<llvm::AllocaInst *> result;

private:
  /// Which part of the result is computed: i64, null where there is only one.
  struct Pass {
    llvm::Value *batch = nullptr, *row = nullptr, *column = nullptr; // row, column: of its first element
  };
  using Carried = llvm::SmallVector<llvm::Value *>;

  // mma.cpp
  void pass(const Pass &pass);
  Carried products(const Pass &pass, Carried accumulators);
  void placeLanes();
  /// The instructions of a stage; `first`: the number of its first one in the whole of k, where the first factor is in registers.
  Carried multiplyStage(llvm::Value *stage, Carried accumulators, int64_t first = 0);
  /// for (i = from; i < to; ++i), with values carried. Nothing is emitted ahead of the loop.
  Carried repeat(llvm::Value *from, llvm::Value *to, Carried init,
                 llvm::function_ref<Carried(llvm::Value *, llvm::ArrayRef<llvm::Value *>)> body);
  void transferResult(const Pass &pass, Carried &accumulators, bool store);
  void transfer(llvm::Value *pointer, llvm::MutableArrayRef<llvm::Value *> own, bool isHeld, bool store);
  void barrier() { machine.barrier(e); }

  // mma_stage.cpp
  /// What step `iteration` / chunks of the operands has from its chunk `iteration` % chunks on.
  void fill(const Pass &pass, llvm::Value *stage, llvm::Value *iteration);

  lower::KernelEmitter &kernel;
  lower::Emitter &e;
  llvm::IRBuilder<> &b;
  lower::Evaluator &evaluator;
  ThreadMachine &machine;
  llvm::Value *thread;
  unsigned threads;
  const MmaPlan &plan;
  mlir::Operation *op;
  mlir::Block *region = nullptr; // of a contraction
  llvm::Type *sum = nullptr;     // of an accumulator
  int buffer;                    // of the result
  llvm::Value *staging;
  llvm::Value *lane = nullptr, *warp = nullptr, *warpRow = nullptr, *warpColumn = nullptr;
  llvm::Value *works = nullptr; // this warp's part is nobody else's, too; null: all warps'
};

} // namespace tilery::cuda
