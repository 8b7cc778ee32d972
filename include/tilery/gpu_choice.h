#pragma once
// Sizes of blocks on GPUs.
#include "tilery/arrange.h"

namespace tilery::arrange {
/// As chooseBlockSizes, for the multiprocessors of a GPU: little to fetch for each program of a product, all multiprocessors busy.
Symbol::Values chooseGpuBlockSizes(const std::vector<Traffic> &arguments, const std::vector<Symbol> &metas,
                                   const Symbol::Values &sizes, int64_t multiprocessors);
} // namespace tilery::arrange
