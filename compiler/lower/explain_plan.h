#pragma once
// A plan in words, and what of it holds a kernel back: for users who ask for an explanation.
#include "compiler/lower/lane_index.h"
#include "compiler/lower/plan.h"

namespace tilery::lower {

/// Says which tiles a program keeps in memory. Notes as a finding that they take more than `bytes`, or that some lie in a workspace, at the
/// largest of them.
void explainStorage(const Plan &plan, tile::KernelOp kernel, uint64_t bytes);
/// Says where neighbouring threads move elements that are no neighbours; `access`: a load or store of the element at `point`.
void explainThreads(mlir::Operation *access, llvm::ArrayRef<Index> point);
/// Says what a nest does, in vectors of so many lanes (`how` else).
void explainNest(const Nest &nest, const llvm::Twine &how);
/// Notes which loads and stores of a nest have rows of `extent` elements, fewer than the `lanes` of vectors.
void explainNarrow(const Nest &nest, const Plan &plan, int64_t extent, int64_t lanes);

} // namespace tilery::lower
