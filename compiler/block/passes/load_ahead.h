#pragma once
// Lines and numbers that a step of a loop computes a product's factor or sums with, and that its threads load.
#include "compiler/block/recognise/find_kernel.h"

namespace tilery::block {

/// Loads of the loops that the step before can make: their places follow from the number of the step and from what loops carry of numbers,
/// nothing is stored to their arguments, and no ring brings them.
llvm::SmallVector<tile::LoadOp> loadsOfFactors(const LoopKernel &found);
/// Registers, of 32 bits, that a thread holds of what is loaded; `isShown`: of factors that it puts into shared memory 16 bytes at a time.
unsigned wordsOf(tile::LoadOp load, bool isShown);

} // namespace tilery::block
