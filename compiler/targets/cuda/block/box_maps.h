#pragma once
// What the host is told of a block kernel's tensor maps, and of what it takes for granted of a launch.
#include "compiler/block/ir/Block.h"
#include "tilery/runtime.h"

namespace tilery::cuda {

/// Adds the map to those of the kernel's launch.
void describeMap(block::MapOp map, GpuInfo &kernel);
/// Adds the condition to the launch's, once.
void describeCondition(block::RequireOp require, GpuInfo &kernel);

} // namespace tilery::cuda
