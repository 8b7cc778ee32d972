#pragma once
// From MLIR locations to the places a diagnostic names.
#include "compiler/pch.h"
#include "tilery/diagnostic.h"

namespace tilery {
/// Places named by `location`, innermost first. Front ends write `callsite(NameLoc("function")(file:line:col) at <caller>)`:
/// the name is the enclosing function, the caller's location the call of the helper that was traced inline.
std::vector<SourceLocation> sourceChain(mlir::Location location);
} // namespace tilery
