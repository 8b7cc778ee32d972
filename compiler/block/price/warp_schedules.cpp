#include "compiler/block/price/warp_schedules.h"
#include <algorithm>

using namespace mlir;

namespace tilery::block {
namespace {
constexpr unsigned mostSlots = 8, mostResident = 4;
/// Of addresses, and of what a loop with several products carries of its rows.
constexpr unsigned otherRegisters = 40;
/// Of blocks of 16 x 16 bytes that a thread turns.
constexpr unsigned turningRegisters = 168;

unsigned threadsOf(const Schedule &s) { return groupThreads * (s.consumers + s.fetchers); }

unsigned registersOfLaunch(const Schedule &s) { return Gpu::registersOfLaunch(threadsOf(s) * std::max(s.resident, 1u)); }

/// Copies of a step: places in memory that a thread keeps from step to step.
unsigned registersOfCopies(const ScheduleProblem &p, const Schedule &s) {
  constexpr unsigned piece = 16, each = 2;
  int64_t bytes = p.loop ? p.loop->slotBytes : int64_t(p.m + p.n) * s.k * p.elementBytes;
  return unsigned(bytes / piece / threadsOf(s)) * each;
}

/// Sums, and what of the factors an instruction takes: a warp's rows of the first, 16 columns of the second one.
unsigned registersOf(const ScheduleProblem &p, const Schedule &s) {
  unsigned threads = groupThreads * s.consumers;
  if (p.loop)
    return (s.overlap ? p.loop->words : p.loop->fewerWords) / threads + registersOfCopies(p, s) + otherRegisters;
  auto [rows, columns] = warpGrid(p.m, p.n, warpsOfGroup * s.consumers);
  unsigned fragments = p.m / rows / 4 + p.n / columns / 4;
  unsigned turned = p.fetch && p.fetch->turned ? turningRegisters : 0; // of a role of its own, which has as many
  return std::max(p.m * p.n / threads + fragments + registersOfCopies(p, s) + otherRegisters, turned);
}

unsigned slotsThatFit(const ScheduleProblem &problem, Schedule schedule) {
  unsigned most = problem.stagesHint > 1 ? problem.stagesHint : mostSlots;
  for (schedule.stages = most; schedule.stages > 1; --schedule.stages)
    if (sharedBytes(problem, schedule) <= problem.gpu.sharedOfBlock(schedule.resident))
      return schedule.stages;
  return 0;
}
} // namespace

bool canShareByWarps(const ScheduleProblem &p, unsigned consumers) {
  if (!p.loop)
    return warpGrid(p.m, p.n, warpsOfGroup * consumers)[0] != 0;
  return p.m / 64 % consumers == 0 &&
         llvm::all_of(p.loop->others, [&](auto &shape) { return consumersAcross(shape, consumers) != 0; });
}

std::array<unsigned, 2> warpGrid(unsigned m, unsigned n, unsigned warps) {
  std::array<unsigned, 2> best{0, 0};
  for (unsigned rows = 1; rows <= warps; ++rows) {
    unsigned columns = warps / rows;
    if (warps % rows || m % (16 * rows) || n % (8 * columns))
      continue;
    if (!best[0] || m / rows + n / columns < m / best[0] + n / best[1])
      best = {rows, columns};
  }
  return best;
}

namespace {
/// Cycles of a step of all blocks that a multiprocessor runs side by side, for one of them.
struct WarpCycles {
  double products, reads, lanes, copies, waits, fetches, alone;

  double total() const {
    constexpr double reading = 0.6;  // of the cycles in which factors are read, those in which nothing is multiplied
    constexpr double meetings = 100; // of a step
    return std::max({(products + reading * reads + lanes + meetings) * alone, copies, waits, fetches});
  }
  const char *bound() const {
    double most = std::max({copies, waits, fetches});
    if (total() <= most)
      return most == copies  ? "copies from L2"
             : most == waits ? "memory, for few slots are ahead"
                             : "the threads that fetch factors";
    return std::max(reads, lanes) < products ? "the tensor cores"
           : reads > lanes                   ? "shared memory"
                                             : "the lanes between products";
  }
};

// Measured beside each other on an H200 that runs code for sm_80: matrix products in tiles of 128 x 128 and 128 x 256, attention.
WarpCycles warpCycles(const ScheduleProblem &p, const Schedule &s) {
  constexpr double sharedBytesOfCycle = 128, bytesOfCycle = 64, lanesOfCycle = 128;
  constexpr double alone = 1.2;       // no other block works while threads wait, or store
  constexpr double copyLatency = 800; // which slots ahead hide
  double rate = 2. * double(p.gpu.operations) / p.elementBytes, blocks = std::max(s.resident, 1u);
  unsigned warps = warpsOfGroup * s.consumers;
  double read, copied, operations, lanes = 0;
  if (p.loop) { // each warp reads all of the second factors
    read = double(p.loop->slotBytes) * warps, copied = double(p.loop->slotBytes);
    operations = p.loop->operations, lanes = p.loop->lanes / lanesOfCycle;
  } else {
    auto [rows, columns] = warpGrid(p.m, p.n, warps);
    double bytes = double(s.k) * p.elementBytes;
    read = double(warps) * (p.m / rows + p.n / columns) * bytes, copied = (p.m + p.n) * bytes;
    operations = 2. * p.m * p.n * s.k;
  }
  double fetches = p.fetch ? p.fetch->computed : 0; // copies are instructions between products
  return {operations / rate, read / sharedBytesOfCycle, lanes, copied / bytesOfCycle, copyLatency / ((s.stages - 1) * blocks),
          fetches,           blocks == 1 ? alone : 1};
}
} // namespace

double cyclesOfWarpStep(const ScheduleProblem &problem, const Schedule &schedule) {
  return warpCycles(problem, schedule).total();
}
const char *boundOfWarpStep(const ScheduleProblem &problem, const Schedule &schedule) {
  return warpCycles(problem, schedule).bound();
}

std::vector<Candidate> priceWarpSchedules(const ScheduleProblem &problem) {
  std::vector<Candidate> candidates;
  bool computes = problem.fetch && problem.fetch->computed > 0; // threads of their own wait for what they load
  for (unsigned consumers : {1u, 2u, 3u, 4u})
    for (unsigned resident = 1; resident <= mostResident; ++resident) {
      Schedule schedule;
      schedule.consumers = consumers;
      schedule.resident = resident > 1 ? resident : 0;
      schedule.fetchers = computes ? 1 : 0;
      schedule.k = problem.k;
      schedule.group = 1;
      schedule.stageOutput = 0;
      schedule.branch = schedule.longest = problem.loop.has_value();
      schedule.computedSlots = problem.loop && problem.loop->shownBytes ? 2 : 0;
      if (!canShareByWarps(problem, consumers) || registersOf(problem, schedule) > registersOfLaunch(schedule))
        continue;
      schedule.stages = slotsThatFit(problem, schedule);
      if (schedule.stages >= 2)
        candidates.push_back({schedule, 64 * cyclesOfWarpStep(problem, schedule), candidates.size()});
    }
  llvm::sort(candidates, [](auto &a, auto &b) { return std::pair(a.cycles, a.number) < std::pair(b.cycles, b.number); });
  return candidates;
}

} // namespace tilery::block
