#pragma once
// What arrangements ask about GPUs.
#include "tilery/arrange.h"

namespace tilery {
/// Multiprocessors of a GPU. Throws Error if there is no such device.
unsigned gpuProcessors(int device);
} // namespace tilery

namespace tilery::arrange {
/// As chooseBlockSizes, for the multiprocessors of a GPU: little to fetch for each program of a product, all multiprocessors busy.
Symbol::Values chooseGpuBlockSizes(const std::vector<Traffic> &arguments, const std::vector<Symbol> &metas,
                                   const Symbol::Values &sizes, int64_t multiprocessors);
} // namespace tilery::arrange
