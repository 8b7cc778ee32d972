#pragma once
// What may stand around a kernel's one product: loops over tiles, branches, waits for other programs, stores and sums in memory.
#include "compiler/block/recognise/find_kernel.h"

namespace tilery::block {

/// What keeps the kernel from running as a role that loads and a role that multiplies; null: nothing. Finds its stores and its sums.
const char *otherWork(ProductKernel &found);

} // namespace tilery::block
