#pragma once
// LLVM's code generation, pass by pass.
#include "llvm/IR/LegacyPassManager.h"

namespace tilery::lower {

/// Makes a step (compiler/progress.h) of each pass over functions.
class SteppedPasses : public llvm::legacy::PassManager {
public:
  void add(llvm::Pass *pass) override;
};

} // namespace tilery::lower
