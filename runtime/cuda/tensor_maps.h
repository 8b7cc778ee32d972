#pragma once
// Descriptions of tensors for the GPU's copy engine.
#include "runtime/cuda/driver.h"
#include "runtime/polynomial.h"

namespace tilery::cuda {

/// The map of an argument at this launch. Equal tensors are described once a thread. Throws Error for a tensor that the copy engine cannot
/// address.
TensorMap tensorMap(const TensorMapInfo &map, const LaunchValues &launch);

} // namespace tilery::cuda
