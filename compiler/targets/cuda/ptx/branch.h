#pragma once
// Branches that LLVM leaves as they are.
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/InlineAsm.h"

namespace tilery::cuda {

/// Keeps the current block behind its branch: LLVM takes the GPU's divisions for cheap and would always do both sides. An effect forbids it.
inline void keepBranch(llvm::IRBuilderBase &b) {
  b.CreateCall(llvm::InlineAsm::get(llvm::FunctionType::get(b.getVoidTy(), false), "", "", /*hasSideEffects=*/true));
}

} // namespace tilery::cuda
