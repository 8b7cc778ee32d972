#pragma once
#include "compiler/arrange/choose.h"

namespace tilery::cpu {

/// Prices programs on that many cores: few programs and long rows, tiles that stay in a core's cache, all cores busy.
arrange::Cost blockCost(int64_t cores);

} // namespace tilery::cpu
