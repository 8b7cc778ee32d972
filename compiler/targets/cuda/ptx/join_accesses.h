#pragma once
// Accesses of global memory that a thread makes of neighbours one by one.
#include "llvm/IR/PassManager.h"

namespace tilery::cuda {

/// Predicated accesses (PtxMachine's assembly) of two or four neighbours under one condition become one instruction, where nothing between
/// them touches memory and their place is aligned for it; plain ones learn their alignment, for LLVM's vectorizer. Alignments follow from
/// those of pointer parameters.
class JoinAccessesPass : public llvm::PassInfoMixin<JoinAccessesPass> {
public:
  llvm::PreservedAnalyses run(llvm::Function &function, llvm::FunctionAnalysisManager &analyses);
};

} // namespace tilery::cuda
