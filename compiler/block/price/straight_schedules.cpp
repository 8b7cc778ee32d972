#include "compiler/block/price/straight_schedules.h"
#include <algorithm>

using namespace mlir;

namespace tilery::block {
namespace {
constexpr unsigned mostRegisters = registersOfThread / 8 * 8, mostResident = 4;
constexpr std::array warpgroups = {1u, 2u, 3u}; // that multiply
constexpr unsigned loadRegisters = 32;          // of one thread that starts copies; 24 spill
/// Of addresses, and of what the assembler moves over each other.
constexpr unsigned otherRegisters = 30, wantedRegisters = 24;

unsigned registersFor(unsigned words, unsigned consumers) { return words / (groupThreads * consumers) + otherRegisters; }

unsigned threadsOf(const Schedule &s) { return groupThreads * (s.consumers + std::max(s.fetchers, 1u)); }

unsigned registersOfLaunch(const Schedule &s) {
  return std::min(Gpu::registersOfLaunch(threadsOf(s) * std::max(s.resident, 1u)), mostRegisters);
}

/// Deals registers anew where a launch's equal shares are too few. False: there are not enough.
bool dealRegisters(const ScheduleProblem &p, Schedule &s) {
  unsigned needed = registersFor(p.loop->fewerWords, s.consumers), given = registersOfLaunch(s);
  unsigned ofProduct = p.loop->productWords / (groupThreads * s.consumers) + 32;
  if (ofProduct > given) // the assembler takes what a launch gives for all that one instruction has: C7602
    return false;
  if (needed + wantedRegisters <= given)
    return true;
  if (s.fetchers || given <= loadRegisters)
    return needed <= given;
  s.loadRegisters = loadRegisters;
  s.mathRegisters = std::min(((s.consumers + 1) * given - loadRegisters) / s.consumers / 8 * 8, mostRegisters);
  return needed <= s.mathRegisters;
}

/// Of a multiprocessor, for a program.
struct ProgramCycles {
  double tensorCores, lanes, copies, alone; // alone: from the program's first load to its last store

  double total(unsigned resident) const { return std::max({tensorCores, lanes, copies, alone / resident}); }
};

ProgramCycles programCycles(const ScheduleProblem &p, const Schedule &s) {
  constexpr double latency = 1500;     // of the first load, and of the last store
  constexpr double meeting = 150;      // from the lanes to a product and back
  constexpr double lanesOfCycle = 128; // of four schedulers
  constexpr double loneWarp = 3;       // a scheduler with one warp waits for its results
  constexpr double bytesOfCycle = 64;  // from L2
  double tensorCores = p.loop->operations / (2. * p.gpu.operations / p.elementBytes), lanes = p.loop->lanes / lanesOfCycle;
  double copies = double(p.loop->heldBytes) / bytesOfCycle;
  double alone = latency + copies + tensorCores + p.loop->products * meeting + lanes * std::max(loneWarp / s.consumers, 1.);
  return {tensorCores, lanes, copies, alone};
}

bool fits(const ScheduleProblem &p, const Schedule &s) {
  int64_t limit = p.gpu.sharedOfBlock(s.resident);
  return sharedBytes(p, s) <= limit;
}
} // namespace

bool holdsWords(unsigned words, unsigned rows) {
  return llvm::any_of(warpgroups,
                      [&](unsigned each) { return rows / 64 % each == 0 && registersFor(words, each) <= mostRegisters; });
}

double cyclesOfProgram(const ScheduleProblem &problem, const Schedule &schedule) {
  return programCycles(problem, schedule).total(std::max(schedule.resident, 1u));
}

const char *boundOfProgram(const ScheduleProblem &problem, const Schedule &schedule) {
  ProgramCycles cycles = programCycles(problem, schedule);
  double total = cycles.total(std::max(schedule.resident, 1u));
  return total == cycles.tensorCores ? "the tensor cores"
         : total == cycles.copies    ? "copies from L2"
         : total == cycles.lanes     ? "the lanes between products"
                                     : "waits, which few programs side by side hide";
}

std::vector<Candidate> priceStraightSchedules(const ScheduleProblem &problem) {
  std::vector<Candidate> candidates;
  for (unsigned consumers : warpgroups)
    for (unsigned resident = 1; resident <= mostResident; ++resident) {
      Schedule schedule;
      schedule.consumers = consumers;
      schedule.resident = resident > 1 ? resident : 0;
      schedule.fetchers = problem.fetch ? 1 : 0;
      schedule.k = problem.k;
      schedule.group = 1;
      schedule.stages = 2; // of rings that nothing goes through
      schedule.branch = 1;
      schedule.computedSlots = problem.loop->shownBytes ? 1 : 0;
      bool shared = problem.m / 64 % consumers == 0 &&
                    llvm::all_of(problem.loop->others, [&](auto &shape) { return consumersAcross(shape, consumers) != 0; });
      if (!shared || !dealRegisters(problem, schedule))
        continue;
      for (unsigned staged : {1u, 0u}) { // results whole in shared memory, or from registers
        schedule.stageOutput = 0;
        for (unsigned bytes : problem.outputs)
          schedule.stageOutput = std::max(schedule.stageOutput, staged * outputPieces(problem, schedule, bytes));
        if ((schedule.stageOutput || !staged || problem.outputs.empty()) && fits(problem, schedule))
          candidates.push_back({schedule, cyclesOfProgram(problem, schedule), candidates.size()});
      }
    }
  llvm::sort(candidates, [](auto &a, auto &b) { return std::pair(a.cycles, a.number) < std::pair(b.cycles, b.number); });
  return candidates;
}

} // namespace tilery::block
