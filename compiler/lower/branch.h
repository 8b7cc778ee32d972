#pragma once
// Branches of LLVM IR, and the values that come out of them.
#include "compiler/pch.h"

namespace tilery::lower {

using Values = llvm::SmallVector<llvm::Value *>;

/// if (condition) then() else otherwise().
void emitIf(
    llvm::IRBuilderBase &b, llvm::Value *condition, llvm::function_ref<void()> then,
    llvm::function_ref<void()> otherwise = [] {});
/// What yes() emits and gives where the condition holds, elsewhere what no() does: as many values of the same types.
Values emitEither(llvm::IRBuilderBase &b, llvm::Value *condition, llvm::function_ref<Values()> yes,
                  llvm::function_ref<Values()> no);
/// `usual` where `isUsual` holds; elsewhere what rare() emits and gives.
Values emitUnless(llvm::IRBuilderBase &b, llvm::Value *isUsual, llvm::ArrayRef<llvm::Value *> usual,
                  llvm::function_ref<Values()> rare);
/// The same, with what is known being where it is rare.
Values emitWhere(llvm::IRBuilderBase &b, llvm::Value *isRare, llvm::ArrayRef<llvm::Value *> usual,
                 llvm::function_ref<Values()> rare);

} // namespace tilery::lower
