#pragma once
// Packing: elements of an operand of `dot` into slivers, the layout the micro-kernel reads.
#include "compiler/targets/cpu/dot_kernel.h"

namespace tilery::cpu {

/// Rows that lie in memory as they are.
struct PackRows {
  llvm::Value *first, *bytes; // the row at one position, and how far it is to the next position's (i64)
  std::string elements;       // a name for what they are
  /// n elements from a pointer on, in the compute type: emitted into the function that packs such rows.
  std::function<llvm::Value *(llvm::Value *row, unsigned n)> load;
};

/// Where packed elements come from. `position` is along the sliver's dimension, `k` along the contracted one; both i64.
struct PackSource {
  /// Lanes [position, position + n) at k, in the compute type (n == 1: a scalar). `moves`: the innermost loop entered moves the position,
  /// the next one k.
  std::function<llvm::Value *(llvm::Value *position, llvm::Value *k, unsigned n, bool moves)> alongSliver;
  /// Lanes [k, k + n) at position. `moves` as above.
  std::function<llvm::Value *(llvm::Value *position, llvm::Value *k, unsigned n, bool moves)> alongK;
  /// Where the lanes [k, k + n) at `position` and the next ones lie, if that is all there is to them.
  std::function<std::optional<PackRows>(llvm::Value *position, llvm::Value *k, unsigned n)> rows;
  /// Memory for a square of `lanes` vectors, while it is packed.
  std::function<llvm::Value *()> square;
  /// Around a loop: called with the end of its preheader, and after its body.
  std::function<void(llvm::Instruction *)> enterLoop;
  std::function<void()> leaveLoop;
};

/// One sliver: `width` elements from `first` on, each k stored as `padded` elements (the rest zero) at dst + k * padded.
struct Sliver {
  llvm::Value *dst;   // at k = 0 of this call
  llvm::Value *first; // i64
  unsigned width, padded;
  llvm::Value *count = nullptr; // so many slivers of this width (i64), `pitch` elements apart, row by row; null: one
  llvm::Value *pitch = nullptr;
  unsigned rowDepth = 0; // not 0: at dst + (k / rowDepth) * rowDepth * width [width][rowDepth], nothing padded
};

/// Emits the packing of k in [0, count). `kMajor`: the source is contiguous along k, so blocks are transposed in registers.
void packSliver(llvm::IRBuilder<> &b, llvm::Type *compute, unsigned lanes, const Sliver &sliver, int64_t count, bool kMajor,
                const PackSource &source);

/// Calls `emit(offset, n)` for powers of two n <= lanes that add up to `width`: the vectors of a sliver.
void forChunks(unsigned width, unsigned lanes, llvm::function_ref<void(unsigned offset, unsigned n)> emit);

using LoopBody = llvm::function_ref<void(llvm::Value *)>;
/// for (i = from; i < to; i += step) body(i), one check before and one at the bottom. `enter` gets the end of the preheader, which runs
/// only if the body does.
void emitLoop(
    llvm::IRBuilder<> &b, llvm::Value *from, llvm::Value *to, int64_t step, LoopBody body,
    llvm::function_ref<void(llvm::Instruction *)> enter = [](llvm::Instruction *) {});

} // namespace tilery::cpu
