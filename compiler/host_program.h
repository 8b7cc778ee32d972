#pragma once
// tile.host -> the runtime's host program.
#include "compiler/ir/Tile.h"
#include "tilery/runtime.h"

namespace tilery {
/// Bytes of the module's host function (HostProgram::parse reads them); empty if the module has none. `kernels` are the image's,
/// in its order. An op that host programs do not have is reported at its location and gives failure.
mlir::FailureOr<std::string> compileHost(mlir::ModuleOp module, llvm::ArrayRef<KernelInfo> kernels);
} // namespace tilery
