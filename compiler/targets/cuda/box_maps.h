#pragma once
// From boxes to what the host tells the copy engine of their tensors.
#include "compiler/block/find_boxes.h"
#include "compiler/block/ir/Block.h"
#include "tilery/runtime.h"

namespace tilery::cuda {
using analysis::IndexPolynomial;
using block::Box;

/// Adds the tensor of `box` to the kernel's maps, and what a launch must keep for it to the conditions: boxes of sizes[d] elements along
/// dimension d (innermost first; 1 where there is no size), whose rows are of 32, 64 or 128 bytes and swizzled so.
void describeBox(const Box &box, llvm::ArrayRef<unsigned> sizes, DType dtype, GpuInfo &kernel);

/// Adds a map of block IR.
void describeMap(block::MapOp map, GpuInfo &kernel);
void describeCondition(block::RequireOp require, GpuInfo &kernel);

} // namespace tilery::cuda
