#pragma once
// A plan in words, and what of it holds a kernel back: for users who ask for an explanation.
#include "compiler/lower/plan.h"

namespace tilery::lower {

/// Says which tiles a program keeps in memory. Notes as a finding that they take more than `bytes`, or that some lie in a workspace, at the
/// largest of them.
void explainStorage(const Plan &plan, tile::KernelOp kernel, uint64_t bytes);
/// Says what a nest does, in vectors of so many lanes (`how` else).
void explainNest(const Nest &nest, const llvm::Twine &how);

} // namespace tilery::lower
