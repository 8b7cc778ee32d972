#pragma once
// Meetings of a block's threads between which none of them touches memory.
#include "llvm/IR/PassManager.h"

namespace tilery::cuda {

/// Of two barriers of the whole block (`bar.sync 0`) with no access of memory on any way from one to the other, the second goes where it
/// always comes behind one, or the first where one always follows: that of the inner loop.
class DropBarriersPass : public llvm::PassInfoMixin<DropBarriersPass> {
public:
  llvm::PreservedAnalyses run(llvm::Function &function, llvm::FunctionAnalysisManager &analyses);
};

} // namespace tilery::cuda
