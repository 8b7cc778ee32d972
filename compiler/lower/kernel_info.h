#pragma once
// What a launch must know of a kernel, read off its IR.
#include "compiler/ir/Tile.h"
#include "tilery/runtime.h"

namespace tilery::lower {

/// Name and argument slots; a pointer is `written` if anything may store through it. Reports an argument that has no slot.
mlir::FailureOr<KernelInfo> describe(tile::KernelOp kernel);

} // namespace tilery::lower
