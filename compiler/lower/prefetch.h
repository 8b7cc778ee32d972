#pragma once
#include "compiler/pch.h"

namespace tilery::lower {

/// Asks for the line at `place`, which need not exist, in the first-level cache or the second.
void emitPrefetch(llvm::IRBuilder<> &b, llvm::Value *place, bool write, bool near);

} // namespace tilery::lower
