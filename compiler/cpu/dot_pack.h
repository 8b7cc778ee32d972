#pragma once
// Packing: elements of an operand of `dot` into slivers, the layout the micro-kernel reads.
#include "compiler/cpu/dot_kernel.h"

namespace tilery::cpu {

/// Lanes [inner, inner + n) at `outer` of a source whose inner dimension is the fast one, in the compute type (n == 1: a scalar).
using Fetch = llvm::function_ref<llvm::Value *(llvm::Value *outer, llvm::Value *inner, unsigned n)>;

/// One sliver: `width` elements from `first` on, each k stored as `padded` elements (the rest zero) at dst + k * padded.
struct Sliver {
  llvm::Value *dst;   // at k = 0 of this call
  llvm::Value *first; // i64
  unsigned width, padded;
};

/// Emits the packing of k in [0, count). Along: the sliver's dimension is the source's inner one (outer is k). Across: k is the inner one,
/// blocks are transposed in registers.
void packAlong(llvm::IRBuilder<> &b, llvm::Type *compute, unsigned lanes, const Sliver &sliver, int64_t count, Fetch fetch);
void packAcross(llvm::IRBuilder<> &b, llvm::Type *compute, unsigned lanes, const Sliver &sliver, int64_t count, Fetch fetch);

/// for (i = from; i < to; i += step) body(i), bottom-tested after one check; nothing is emitted after the loop's exit block is entered.
void emitLoop(llvm::IRBuilder<> &b, llvm::Value *from, llvm::Value *to, int64_t step, llvm::function_ref<void(llvm::Value *)> body);

} // namespace tilery::cpu
