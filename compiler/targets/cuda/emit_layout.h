#pragma once
// Layouts in generated code.
#include "compiler/layout/layout.h"
#include "llvm/IR/IRBuilder.h"

namespace tilery::cuda {

/// The coordinates (one integer an output, of the numbers' type) of the place with these numbers; axes that are not named are at 0.
llvm::SmallVector<llvm::Value *, 2> emitLayout(llvm::IRBuilder<> &b, const layout::Layout &layout,
                                               llvm::ArrayRef<std::pair<layout::Axis, llvm::Value *>> place);
/// The one of this output.
llvm::Value *emitCoordinate(llvm::IRBuilder<> &b, const layout::Layout &layout, unsigned output,
                            llvm::ArrayRef<std::pair<layout::Axis, llvm::Value *>> place);

} // namespace tilery::cuda
