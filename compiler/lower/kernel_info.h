#pragma once
// What a launch must know of a kernel, read off its IR.
#include "compiler/ir/Tile.h"
#include "tilery/runtime.h"

namespace tilery::lower {

/// Name and argument slots; a pointer is `written` if anything may store through it. Reports an argument that has no slot.
mlir::FailureOr<KernelInfo> describe(tile::KernelOp kernel);

/// The pointers that the kernel may store through.
llvm::SmallVector<mlir::BlockArgument> writtenArguments(tile::KernelOp kernel);

/// No kernel of the module stores through an argument of these names, and each is an argument's.
bool writesNone(mlir::ModuleOp module, llvm::ArrayRef<std::pair<std::string, std::string>> pairs);

} // namespace tilery::lower
