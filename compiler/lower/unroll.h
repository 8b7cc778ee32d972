#pragma once
// What LLVM's passes are told of loops: how often to write out a body, what to leave in it.
#include "compiler/pch.h"

namespace tilery::lower {

/// Asks for so many rounds a turn. again: the branch that goes back.
void unrollBy(llvm::Instruction *again, int64_t rounds);
/// Leaves the loop as it is.
void neverUnroll(llvm::Instruction *again);
/// Each turn computes anew what all turns have in common: kept, that would take registers all the time.
void neverHoist(llvm::Instruction *again);

/// Loops of a module for which unrollBy has asked, and what LLVM's passes do about them.
class LoopsToUnroll {
public:
  /// Before the passes. A product of one round and a sum of the next stay two roundings.
  explicit LoopsToUnroll(llvm::Module &module);
  explicit operator bool() const { return count; }
  /// Behind them: the hint `unroll` is heeded where they unrolled a loop.
  void done() const;

private:
  llvm::Module &module;
  size_t count;
};

} // namespace tilery::lower
