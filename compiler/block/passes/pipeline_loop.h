#pragma once
#include "compiler/block/recognise/find_kernel.h"
#include "compiler/block/price/schedule.h"

namespace tilery::block {

/// What a loop's products read is brought by copies: each load of a factor becomes a ring, with as many slots as the schedule says where
/// the loop loads it, with one where it stays for the whole loop. Products start and end where they stood.
void pipelineLoop(const LoopKernel &found, const Schedule &schedule);

} // namespace tilery::block
