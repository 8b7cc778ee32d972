#pragma once
#include "compiler/ir/Tile.h"

namespace tilery::oracle {

/// The name of the kernel's argument through whose address a load, a store or an atomic goes; empty where its pointers come from elsewhere
/// or from several.
llvm::StringRef argumentOf(mlir::Operation *access);

} // namespace tilery::oracle
