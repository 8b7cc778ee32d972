#pragma once
// The pipeline with its list of targets: compile() and targetId() of include/tilery/compile.h use the product's.
#include "compiler/targets/backend.h"

namespace tilery {

using Backends = llvm::ArrayRef<const Backend *>;

/// The product's (backends.cpp).
Backends backends();

Compiled compileWith(Backends backends, Module &module, const CompileOptions &options);
/// The first one that claims the name; throws Error if none does.
const Backend &backendFor(Backends backends, const std::string &target);

} // namespace tilery
