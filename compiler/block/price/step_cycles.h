#pragma once
// The price of a step: cycles of one multiprocessor.
#include "compiler/block/price/schedule.h"
#include <algorithm>

namespace tilery::block {

/// Slots ahead that hide a copy's time.
inline constexpr unsigned wantedSlots = 4;

/// What a step waits for, in cycles.
struct StepCycles {
  double tensorCores, sharedMemory, copies, lanes, fetches = 0;
  const char *bound() const {
    double most = std::max({tensorCores, sharedMemory, copies, lanes, fetches});
    return most == fetches        ? "the threads that fetch factors"
           : most == tensorCores  ? "the tensor cores"
           : most == sharedMemory ? "shared memory"
           : most == copies       ? "copies from L2"
                                  : "the lanes between products";
  }
};

/// Bytes of shared memory from a slot to the next one.
int64_t slotPitch(const ScheduleProblem &p, const Schedule &s);
StepCycles stepCycles(const ScheduleProblem &p, const Schedule &s);
/// Of a step in turn with others: what hides behind what, and what of it waits.
double slotCycles(const ScheduleProblem &p, const Schedule &s);

} // namespace tilery::block
