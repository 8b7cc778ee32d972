#pragma once
#include "compiler/arrange/choose.h"

namespace tilery::cuda {

/// Prices programs on a GPU's multiprocessors: little to fetch for each program of a product, all multiprocessors busy.
arrange::Cost blockCost(int64_t multiprocessors);

} // namespace tilery::cuda
