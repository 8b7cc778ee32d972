#include "compiler/block/price/step_cycles.h"
#include <cmath>

namespace tilery::block {

int64_t slotPitch(const ScheduleProblem &p, const Schedule &s) {
  if (p.loop)
    return p.loop->slotBytes;
  int64_t bytes = int64_t(s.k) * p.elementBytes;
  int64_t first = p.unpack ? p.unpack->bytes : p.m * bytes;
  return llvm::alignTo(first, slotAlignment) + llvm::alignTo(p.n * bytes, slotAlignment);
}

namespace {
/// From the first load of a step to the arrival at its slot's barrier, which one warpgroup does not hide.
constexpr double fetchLatency = 600;

constexpr double loadLatency = 800; // from a load of threads in a step of products to what is computed of it

/// A scheduler with one warp waits for most results of its instructions (measured: int4 weights, silu).
constexpr double loneWarp = 6;

/// What threads write takes the SM's instructions and accesses, and each warpgroup waits for what it loads, and for operands of its own. Nobody
/// works while those of all blocks wait at once (measured: bytes as bf16, of 1 to 4 blocks; states of Mamba).
double fetchCycles(const FetchWork &fetch, const Schedule &s) {
  if (fetch.computed <= 0)
    return fetch.copied;
  double busy = fetch.copied + fetch.computed + fetch.work;
  double waits = fetchLatency / std::max(s.joined, 1u) + (loneWarp - 1) * fetch.work / std::max(s.fetchers, 1u);
  return busy / (1 - std::pow(waits / (busy + waits), std::max(s.resident, 1u)));
}

} // namespace

/// The tensor cores' operations, 128 bytes a cycle of shared memory, 64 from L2, 128 lanes.
StepCycles stepCycles(const ScheduleProblem &p, const Schedule &s) {
  double rate = 2. * p.gpu.operations / p.elementBytes;
  if (p.loop) {
    double operations = p.loop->operations + (s.splitColumns ? (s.consumers - 1) * p.loop->repeated : 0);
    double lanes = p.loop->lanes * (s.splitColumns ? s.consumers : 1);
    return {operations / rate, 0, double(p.loop->slotBytes) / 64, lanes / 128, p.fetch ? p.fetch->copied : 0};
  }
  double bytes = double(s.k) * p.elementBytes;
  double fetches = p.fetch ? fetchCycles(*p.fetch, s) : 0;
  double first = p.unpack ? double(p.unpack->bytes) : p.m * bytes, lanes = p.unpack ? p.unpack->cycles : 0;
  return {2. * p.m * p.n * s.k / rate, p.m / 64 * (64. + p.n) * bytes / 128, (first + p.n * bytes) / 64, lanes, fetches};
}

double slotCycles(const ScheduleProblem &p, const Schedule &s) {
  StepCycles step = stepCycles(p, s);
  if (p.loop) { // the tensor cores work under the lanes of another warpgroup
    // (Of two blocks, nearly: four warps of a scheduler hide each other's waits.)
    double apart = s.resident ? 0.1 : s.overlap ? 0.5 : 0.75;
    double together = std::max(step.tensorCores, step.lanes) + std::min(step.tensorCores, step.lanes) * apart;
    // A slot that a late product still reads is not filled under it.
    if (s.splitColumns && s.overlap && s.stages < 3)
      together = step.tensorCores + step.lanes;
    double busy = step.tensorCores + step.lanes, alone = busy / (s.consumers == 1 && s.resident ? 1.5 : 1);
    alone = std::max(alone, p.loop->loads ? (busy + loadLatency) / std::max(s.resident, 1u) : 0); // while other blocks work
    double copied = s.stages == 1 ? step.copies : 0;                                              // while nobody multiplies
    return std::max({copied + (s.consumers == 1 ? alone : together), step.copies, step.fetches});
  }
  // (A warpgroup unpacks while another one multiplies.)
  double products = s.consumers == 1 ? step.tensorCores + step.lanes : std::max(step.tensorCores, step.lanes);
  double most = std::max({products, step.sharedMemory, step.copies});
  if (s.partial) // another warpgroup multiplies while one adds
    most += double(p.m) * p.n / 128 * s.k / s.partial * (s.consumers == 1 ? 1 : 0.25);
  if (s.consumers == 1 && !s.instances && !s.resident) // nobody multiplies while a lone warpgroup waits or writes results
    most *= 1.1;
  // 32 KB have to be under way; a copy that comes late shows where few slots are ahead.
  double underWay = (s.stages - 1.) * slotPitch(p, s) * std::max(s.resident, 1u);
  double late = 0.05 * (std::max(int(std::min(p.stagesHint > 1 ? p.stagesHint : wantedSlots, wantedSlots)) - int(s.stages), 0));
  return std::max(most, step.fetches) * std::max(1., 32768. / underWay) * (1 + late);
}

} // namespace tilery::block
