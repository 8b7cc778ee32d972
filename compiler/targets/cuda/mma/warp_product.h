#pragma once
// Products of a block's warps: each multiplies tiles of 16 x 8 of the sum (MmaForm), with factors that it reads from shared memory on the way.
#include "compiler/layout/layout.h"
#include "compiler/targets/cuda/ptx/thread_machine.h"
#include <functional>

namespace tilery::cuda {

class WarpProduct {
public:
  using Value = llvm::Value;
  /// `tiles`: Register, Warp -> which tiles of the sum a warp has; `lane`, `warp`: i32.
  WarpProduct(lower::Emitter &e, ThreadMachine &machine, const MmaForm &form, const layout::Layout &tiles, Value *lane,
              Value *warp)
      : e(e), machine(machine), form(form), tiles(tiles), lane(lane), warp(warp) {}

  /// A factor that begins at this place of shared memory (a generic pointer, or an address). `memory`: (rows of a or columns of b, k) ->
  /// Offset in elements. False where no load takes what lies so.
  bool read(bool isA, const layout::Layout &memory, Value *address);
  /// Of a first factor in registers: what the instruction takes of the tile of 16 rows and of the step of k; nothing if other warps have it.
  std::function<llvm::ArrayRef<Value *>(int64_t rows, unsigned step)> held;

  /// The four sums of each tile, one tile after the other, += a * b, whose k are so many of the form's depth. False where `held` had nothing.
  bool emit(unsigned steps, ThreadMachine::Tied sums);

private:
  struct Factor;
  using Words = llvm::SmallVector<llvm::SmallVector<Value *, 8>>; // of the loads of one step
  Words load(const Factor &factor, unsigned step);
  llvm::ArrayRef<Value *> wordsOf(const Factor &factor, const Words &words, int64_t tile);
  void multiply(ThreadMachine::Tied sums, llvm::ArrayRef<Value *> a, llvm::ArrayRef<Value *> b, unsigned k);

  lower::Emitter &e;
  ThreadMachine &machine;
  const MmaForm &form;
  const layout::Layout &tiles;
  Value *lane, *warp;
  std::shared_ptr<const Factor> a, b;
};

} // namespace tilery::cuda
