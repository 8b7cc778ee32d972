#pragma once
// At how many places a nest takes each tile for one of its elements: butterflies take the two halves of what the step before made.
#include "compiler/lower/pull.h"

namespace tilery::lower {

/// Counts stop here: what is taken so often is taken often.
constexpr unsigned mostTaken = 4;

/// For every tile the nest reaches, virtual or stored: how many of its elements one element of the nest takes, at most `mostTaken`. Paths
/// through the same changes of position lead to one element, whose value is there once it is computed.
llvm::DenseMap<mlir::Value, unsigned> takenElements(const Nest &nest, llvm::function_ref<bool(mlir::Value)> stored);

} // namespace tilery::lower
