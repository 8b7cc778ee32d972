#pragma once
// Descriptions of tensors for the GPU's copy engine.
#include "runtime/cuda/driver.h"
#include "tilery/runtime.h"

namespace tilery::cuda {

/// The map of an argument at this launch (`args`: one slot an argument). Equal tensors are described once a thread.
/// Throws Error for a tensor that the copy engine cannot address.
TensorMap tensorMap(const TensorMapInfo &map, const KernelInfo &info, const uint64_t *args);

} // namespace tilery::cuda
