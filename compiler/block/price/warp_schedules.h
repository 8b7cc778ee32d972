#pragma once
// Schedules of kernels whose products are of warps (mma.sync), which copy what they multiply (cp.async).
#include "compiler/block/price/schedule.h"

namespace tilery::block {

/// How warps share sums of m x n, each 16 x 8 elements at a time: rows and columns of warps, so that they read the fewest bytes of factors. 0 x 0: they cannot.
std::array<unsigned, 2> warpGrid(unsigned m, unsigned n, unsigned warps);

/// All products can be shared by the warps of so many consumers.
bool canShareByWarps(const ScheduleProblem &problem, unsigned consumers);
/// As priceSchedules, for such a GPU.
std::vector<Candidate> priceWarpSchedules(const ScheduleProblem &problem);
/// Cycles of a step on a multiprocessor, how the model has it.
double cyclesOfWarpStep(const ScheduleProblem &problem, const Schedule &schedule);
/// What takes most of them.
const char *boundOfWarpStep(const ScheduleProblem &problem, const Schedule &schedule);

} // namespace tilery::block
