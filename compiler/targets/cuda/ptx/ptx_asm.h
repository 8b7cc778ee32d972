#pragma once
// PTX instructions as inline assembly.
#include "llvm/ADT/ArrayRef.h"
#include "llvm/IR/IRBuilder.h"
#include <string>

namespace tilery::cuda {

/// An instruction of all threads that nothing moves over: `text` with operands $0.., whose constraints are as LLVM's inline assembly has
/// them. `result`: null for none.
llvm::CallInst *assembly(llvm::IRBuilder<> &b, const std::string &text, const std::string &constraints,
                         llvm::ArrayRef<llvm::Value *> args, llvm::Type *result = nullptr);

} // namespace tilery::cuda
