#include "compiler/block/price/schedule.h"
#include "compiler/block/price/step_cycles.h"
#include "compiler/block/price/straight_schedules.h"
#include "compiler/block/price/sum_layouts.h"
#include "compiler/block/price/warp_schedules.h"
#include "tilery/environment.h"
#include <algorithm>
#include <cmath>
#include <numeric>

using namespace mlir;

namespace tilery::block {
namespace {
constexpr unsigned pieceBytes = 64 * 128, bytesOfBarriers = 1024;
constexpr unsigned mostSlots = 8;
constexpr unsigned mostCluster = 8;
constexpr unsigned skinny = 64, skinnySlots = 24;

/// A slot is as deep as a step.
bool isWhole(const ScheduleProblem &p) { return !p.loop && (p.fetch || p.unpack); }

/// Of the sums that blocks of a cluster show each other where the slots were.
int64_t sumBytes(const ScheduleProblem &p) { return int64_t(p.m) * p.n * 4; }

int64_t slotsThatFit(const ScheduleProblem &problem, Schedule schedule) {
  schedule.stages = 0;
  int64_t fixed = sharedBytes(problem, schedule), limit = problem.gpu.sharedOfBlock(schedule.resident);
  return fixed < limit ? (limit - fixed) / slotPitch(problem, schedule) : 0;
}

/// With one, what a step has read of it is loaded for the next one as soon as the last product of each tile has ended.
unsigned fewestSlots(const ScheduleProblem &p, const Schedule &s) {
  bool mayWait = p.loop && !p.fetch && !s.overlap && !s.delay && s.resident < 2;
  return mayWait ? 1 : 2;
}

/// Registers a thread that a launch gives a block of the schedule's size.
unsigned registersOfLaunch(const Schedule &s) {
  unsigned threads =
      groupThreads * (s.consumers * std::max(s.instances, 1u) + std::max(s.fetchers, 1u)) * std::max(s.resident, 1u);
  return Gpu::registersOfLaunch(threads);
}

/// Of a thread, where consumers share columns: as a step multiplies, or before that.
unsigned wordsAcross(const LoopWork &loop, unsigned words, unsigned consumers) {
  auto of = [&](unsigned all, unsigned dealt) {
    return (all - loop.sharedWords) / groupThreads + (loop.sharedWords + dealt) / (groupThreads * consumers);
  };
  return loop.dealtWords ? std::max(of(loop.acrossWords, 0), of(loop.besideDealt, loop.dealtWords)) : of(words, 0);
}

// Sums, and what addresses and the work on results take: 154 of 168 were used by 128 sums; loops with several products spill with 40, those
// without a late one do with 24 (measured).
unsigned registersOfMath(const ScheduleProblem &p, const Schedule &s) {
  bool late = p.loop && s.overlap;
  unsigned words = late ? p.loop->words : p.loop ? p.loop->fewerWords : p.m * p.n;
  unsigned each = s.splitColumns ? wordsAcross(*p.loop, words, s.consumers) : words / (groupThreads * s.consumers);
  each += s.partialColumns / 2 + (p.readsFirst ? p.m * s.k * p.elementBytes / (4 * groupThreads * s.consumers) : 0);
  return each + (late ? 56 + 8 * p.loop->masked : p.loop ? 24 : 40);
}

/// Registers of loaded tiles that find place, the largest first.
unsigned earlyWords(const ScheduleProblem &p, unsigned consumers, unsigned free) {
  unsigned taken = 0;
  for (const LoadedTile &tile : p.loads)
    if (unsigned words = tile.wordsOf(consumers); taken + words <= free)
      taken += words;
  return taken;
}

/// Where some of what is loaded for results finds place before they are there, with registers dealt anew where a launch's are too few.
void loadEarly(const ScheduleProblem &p, Schedule &s) {
  constexpr unsigned dealt = 232, left = 40; // of two roles that multiply, of one that starts copies
  unsigned needed = registersOfMath(p, s), given = registersOfLaunch(s);
  if (p.loop || s.cluster > 1 || s.mathRegisters || needed > given)
    return;
  s.early = earlyWords(p, s.consumers, given - needed);
  if (unsigned more = earlyWords(p, s.consumers, dealt - needed); more > s.early && s.consumers == 2 && !s.fetchers) {
    s.early = more;
    s.loadRegisters = left, s.mathRegisters = dealt;
  }
}

/// What the next step computes factors with finds registers beside what this one does.
bool loadsAhead(const ScheduleProblem &p, const Schedule &s) {
  unsigned given = s.mathRegisters ? s.mathRegisters : registersOfLaunch(s);
  return p.loop->aheadWords && registersOfMath(p, s) + p.loop->aheadWords <= given;
}

/// What the next step unpacks its factor with; four lanes have what a row of the sums needs.
void unpackAhead(const ScheduleProblem &p, Schedule &s) {
  unsigned needed = registersOfMath(p, s) + unsigned(4 * p.unpack->aheadElements / (groupThreads * s.consumers));
  if (s.consumers == 2 && !s.instances && !s.mathRegisters)
    s.loadRegisters = 40, s.mathRegisters = 232;
  s.ahead = needed <= std::max(s.mathRegisters, registersOfLaunch(s));
}

/// Steps whose loads find registers side by side; a slot more must be free. Of a piece: where it is and goes, whether it exists, what is
/// written of it (ptxas: none spill in the loop, and some outside of it where more are joined).
unsigned joinedSteps(const ScheduleProblem &p, const Schedule &s) {
  constexpr unsigned steps = 2, ofPiece = 8,
                     shared = 24; // what all roles have in the registers of a launch (ptxas: 64 of 80 spill)
  if (p.loop || !p.fetch || !p.fetch->words || !s.fetchers || s.stages <= steps)
    return 0;
  unsigned registers = s.loadRegisters ? s.loadRegisters : registersOfLaunch(s) - shared;
  unsigned needed = llvm::divideCeil(steps * p.fetch->words + ofPiece * p.fetch->pieces, s.fetchers);
  return needed <= registers ? steps : 0;
}

/// A loaded tile that finds registers comes through the ring.
bool bringsBox(const ScheduleProblem &p, const Schedule &s) {
  bool fits = p.boxBytes && p.m * p.n * p.boxBytes / (4 * groupThreads * s.consumers) <= s.early;
  return fits && s.cluster < 2 && piecesInSlots(p.m, p.n, p.boxBytes, slotPitch(p, s), s.stages);
}

/// Roles deal registers anew where a launch's equal shares are too few. False: there are not enough.
bool dealRegisters(const ScheduleProblem &p, Schedule &s) {
  unsigned needed = registersOfMath(p, s);
  // More is better, where places of what goes through shared memory and columns' numbers, by which lanes are selected, take some.
  unsigned places = !p.loop ? 0 : p.loop->shownBytes ? 16 : p.loop->masked && s.overlap ? 32 : 0;
  unsigned loaded = s.resident > 2 && p.loop && p.loop->loads ? 24 : 0; // places of a tile that is loaded
  if (needed + places + loaded <= registersOfLaunch(s)) {
    bool turns = p.fetch && p.fetch->turned;
    if (turns && s.consumers == 2) // 154 are enough for 128 sums, 168 are too few for the others (by ptxas)
      s.loadRegisters = 184, s.mathRegisters = 160;
    return !turns || s.fetchers == 1; // a tile has blocks for one warpgroup
  }
  if (s.resident) {
    unsigned loading = std::max(s.fetchers, 1u), given = registersOfLaunch(s);
    // With 72 for places, too few are left for sums of 64 x 256; who computes what it writes alone has more of it.
    s.loadRegisters = !s.fetchers ? 32 : !p.loop && s.fetchers == 1 ? 88 : 64;
    s.mathRegisters = ((s.consumers + loading) * given - loading * s.loadRegisters) / s.consumers / 8 * 8;
    constexpr unsigned more = 8; // of addresses of results that threads store, of functions
    return needed + loaded + more * (p.outputs.empty() + (p.loop && p.loop->functions)) <= s.mathRegisters;
  }
  // (Products of 256 columns in a block of four warpgroups: the assembler takes what the launch gives for all there is, C7602.)
  if (!(p.loop || p.readsFirst) || s.consumers < 2)
    return false;
  s.loadRegisters = s.fetchers ? 88 : s.consumers == 2 ? 40 : 32; // 24 spill
  s.mathRegisters = s.consumers == 2 ? (s.fetchers ? 208 : 232) : (s.fetchers ? 136 : 160);
  return needed <= s.mathRegisters;
}

/// The same of sums that threads add: of as many columns at a time as find registers.
bool dealForPartial(const ScheduleProblem &p, Schedule &s) {
  constexpr unsigned least = 32,
                     addresses = 16; // of several products one after the other, which the assembler moves over each other
  bool turns = p.fetch && p.fetch->turned, several = s.partial < s.k;
  unsigned given = registersOfLaunch(s), most = several ? least : 128;
  if (s.fetchers > 1)
    return false;
  if (s.consumers == 2) { // (of several products, ptxas keeps fewer in 232 than in 200)
    bool fewer = turns || (several && !p.readsFirst);
    s.mathRegisters = given = fewer ? 200 : s.fetchers ? 208 : 232;
    s.loadRegisters = fewer ? 104 : s.fetchers ? 88 : 40;
  }
  for (s.partialColumns = p.n; s.partialColumns > most && s.partialColumns % 16 == 0;)
    s.partialColumns /= 2;
  // What is added apart, and a factor that is read, are gone when work on results begins.
  unsigned ofResults = p.readsFirst ? 16 : 0;
  auto fits = [&] { return registersOfMath(p, s) + (several ? addresses : 0) <= given + ofResults; };
  while (!fits() && s.partialColumns % 16 == 0 && s.partialColumns / 2 >= least)
    s.partialColumns /= 2;
  return fits();
}

/// All products of the loop can be shared by so many.
bool canShare(const ScheduleProblem &p, unsigned consumers) {
  if (p.m / 64 % consumers)
    return false;
  return !p.loop || llvm::all_of(p.loop->others, [&](auto &shape) { return consumersAcross(shape, consumers) != 0; });
}

/// Overrides may ask for what there is no code for.
void check(const ScheduleProblem &p, const Schedule &s) {
  unsigned rows = p.m / 64;
  if (s.splitColumns && (!p.loop || rows != 1 || s.stageOutput))
    refuseSchedule("consumers share columns only in loops with products of 64 rows, and store them from registers", "");
  bool shared = s.consumers && (p.gpu.warpgroups ? s.consumers <= 3 && (s.splitColumns || canShare(p, s.consumers))
                                                 : canShareByWarps(p, s.consumers));
  if (!shared)
    refuseSchedule("a tile of " + std::to_string(p.m) + " rows cannot be shared by " + std::to_string(s.consumers) + " consumers",
                   "each takes a multiple of 64 rows");
  if (s.partial && (!p.partial || s.partial > s.k))
    refuseSchedule(
        "threads add sums of products of 8-bit floats that ask for it, of a slot's " + std::to_string(s.k) + " of k at most", "");
  if (s.partial && (s.partialColumns < 8 || s.partialColumns % 8 || p.n % s.partialColumns))
    refuseSchedule("sums that threads add are of a part of the " + std::to_string(p.n) + " columns, a multiple of 8", "");
  if (p.gpu.warpgroups && (bool(s.fetchers) != p.fetch.has_value() || s.fetchers > 2))
    refuseSchedule("one or two warpgroups fetch factors, where any are fetched", "");
  if (s.joined > 1 && (!p.fetch || p.loop || s.stages <= s.joined))
    refuseSchedule("steps of one product whose factors threads fetch can be joined, fewer than there are slots", "");
  if (isWhole(p) && s.k != p.k)
    refuseSchedule("slots are as deep as a step, " + std::to_string(p.k) + ", where threads fetch or compute factors", "");
  if (!p.loop && !isWhole(p) && (s.k < 32 / p.elementBytes || s.k > 128 / p.elementBytes || p.k % s.k || (s.k & (s.k - 1))))
    refuseSchedule("a stage cannot be " + std::to_string(s.k) + " deep where a step is " + std::to_string(p.k), "");
  if (s.stages < fewestSlots(p, s))
    refuseSchedule("a schedule needs two stages", "");
  if (p.loop && p.loop->shownBytes && !s.computedSlots)
    refuseSchedule("computed factors that go through shared memory need a slot", "");
  if (s.boxed && !bringsBox(p, s))
    refuseSchedule("no tile that is loaded for results is a box and finds registers, and all slots but one", "");
  if (s.instances > 1 && (!p.deals || s.cluster > 1 || s.partial))
    refuseSchedule(
        "instances take programs by turns where each multiplies one tile of boxes by itself, and loads nothing for its results",
        "");
  if (s.cluster > 1 && (p.fetch || p.unpack))
    refuseSchedule("blocks of a cluster cannot share steps in which threads fetch factors", "");
  if (s.cluster > 1 && s.stageOutput)
    refuseSchedule("what blocks of a cluster add up is stored from registers", "without stage_output");
  if (s.cluster > 1 && p.loop)
    refuseSchedule("several products have no steps that blocks of a cluster could share", "");
  if (s.cluster > mostCluster || s.cluster & (s.cluster - 1))
    refuseSchedule("a cluster has 2, 4 or 8 blocks, not " + std::to_string(s.cluster), "");
  for (unsigned bytes : p.outputs) {
    unsigned pieces = outputPieces(p, s, bytes), turn = s.stageOutput / 2, columns = p.n * bytes / 128;
    bool halves = s.stageOutput % 2 == 0 && turn && columns % turn == 0;
    if (s.stageOutput && s.stageOutput < pieces && !halves)
      refuseSchedule("the result has " + std::to_string(pieces) + " pieces, which " + std::to_string(s.stageOutput) +
                         " places cannot take",
                     "all of them, or an even number whose half divides the " + std::to_string(columns) + " across");
  }
}

/// From the sums to memory, while that warpgroup's products rest.
double outputCycles(const ScheduleProblem &p, const Schedule &s) {
  if (s.instances > 1) // another one multiplies
    return 0;
  constexpr double handOn = 100; // a wait for stores to have read, and two meetings
  double lanes = double(p.m) * p.n / (groupThreads * s.consumers), cycles = 0;
  for (unsigned bytes : p.outputs) {
    unsigned pieces = outputPieces(p, s, bytes);
    unsigned turns = !s.stageOutput ? 0 : s.stageOutput >= pieces ? 1 : pieces / (s.stageOutput / 2);
    cycles += 2 * lanes + (s.stageOutput ? turns * handOn : double(p.m) * p.n * bytes / 16);
  }
  return cycles + p.fromRegisters * 6 * lanes;
}

/// The results whole in shared memory, then by turns in ever smaller halves.
SmallVector<unsigned> outputChoices(const ScheduleProblem &p, const Schedule &s) {
  SmallVector<unsigned> choices;
  if (p.outputs.empty() || s.splitColumns)
    return {0};
  unsigned pieces = 0;
  for (unsigned bytes : p.outputs)
    pieces = std::max(pieces, outputPieces(p, s, bytes));
  choices.push_back(pieces);
  auto isTaken = [&](unsigned held) {
    return llvm::all_of(p.outputs,
                        [&](unsigned bytes) { return held >= outputPieces(p, s, bytes) || p.n * bytes / 128 % (held / 2) == 0; });
  };
  for (unsigned held = pieces / 2; held >= 2 && held % 2 == 0; held /= 2)
    if (isTaken(held))
      choices.push_back(held);
  if (pieces > 2 && choices.back() != 2) // of an odd number, one by one
    choices.push_back(2);
  if (p.loop) // from registers, where shared memory is full of factors
    choices.push_back(0);
  return choices;
}
} // namespace

unsigned consumersAcross(const OtherProduct &product, unsigned consumers) {
  auto [m, n, unit] = product;
  unsigned across = consumers / std::gcd(m / 64, consumers);
  bool shared = across == 1 || (n % across == 0 && pieceAcross(n / across, unit, across) != 0);
  return shared ? across : 0;
}

unsigned piecesInSlots(unsigned m, unsigned n, unsigned elementBytes, int64_t slotBytes, unsigned stages) {
  constexpr unsigned row = 128; // bytes, of a swizzle
  for (unsigned count = 1; count < stages; ++count)
    if (n % count == 0 && n / count * elementBytes % row == 0 && int64_t(m) * (n / count) * elementBytes <= slotBytes)
      return count;
  return 0;
}

unsigned outputPieces(const ScheduleProblem &p, const Schedule &s, unsigned outputBytes) {
  return p.m / 64 / s.consumers * (p.n * outputBytes / 128);
}

int64_t sharedBytes(const ScheduleProblem &p, const Schedule &s) {
  int64_t held = 0;
  for (unsigned bytes : p.outputs)
    held += std::min(s.stageOutput, outputPieces(p, s, bytes));
  for (unsigned bytes : p.taking)
    held -= std::min(s.stageOutput, outputPieces(p, s, bytes));
  return bytesOfBarriers + (p.loop ? p.loop->heldBytes + s.computedSlots * p.loop->shownBytes : 0) + s.stages * slotPitch(p, s) +
         s.consumers * std::max(s.instances, 1u) * held * pieceBytes;
}

/// How many slots are of use. What a program asks for is heeded where it keeps memory busy: upstream runs several small blocks side by
/// side, which one persistent block is instead of.
static unsigned slotsOfUse(const ScheduleProblem &p, const Schedule &s) {
  constexpr int64_t busy = 65536;             // bytes under way: 132 multiprocessors, 4.8 TB/s, 1.7 us
  if (!p.loop && std::min(p.m, p.n) < skinny) // slots are small, and memory is what such products wait for
    return skinnySlots;
  if (p.stagesHint <= 1)
    return mostSlots;
  return std::max(p.stagesHint, unsigned(std::min<int64_t>(mostSlots, llvm::divideCeil(busy, slotPitch(p, s)) + 1)));
}

namespace {
/// How the warps of a block are shared out; what else a schedule says follows.
struct Warpgroups {
  unsigned consumers;
  bool late; // the last product of a step runs under the next step
  unsigned fetchers, resident = 0, instances = 0;
};

/// Do steps hand tiles from threads to threads?
bool handsTilesOn(const ScheduleProblem &p) { return p.loop && !p.loop->showsFirst && (p.loop->shownBytes || p.loop->stores); }

std::vector<Warpgroups> warpgroupChoices(const ScheduleProblem &p) {
  std::vector<Warpgroups> choices;
  bool small = p.loop && !p.fetch && p.m == 64;
  if (p.loop && p.fetch && p.m == 64) // one warpgroup waits for another's numbers and copies
    for (bool late : {true, false})
      choices.push_back({1, late, 1, 2});
  if (small && handsTilesOn(p)) // such steps wait: another block multiplies meanwhile
    choices.push_back({1, false, 0, 2});
  else if (small && (p.loop->waits || p.loop->loads))
    for (unsigned resident = 2; resident <= (p.loop->loads ? 4u : 2u); ++resident)
      for (bool late : {true, false})
        choices.push_back({1, late, 0, resident});
  bool computes = p.fetch && p.fetch->computed > 0;
  for (unsigned consumers : {2u, 3u, 1u})
    for (bool late : {true, false}) {
      if (computes)
        choices.push_back({consumers, late, 2});
      choices.push_back({consumers, late, p.fetch ? 1u : 0u});
    }
  // Another block's threads work while one's wait; what is only loaded, at places that are computed, gains nothing (measured).
  if (computes && p.fetch->work > 0 && !p.loop && !p.fetch->turned && p.m == 64)
    for (auto [fetchers, resident] : {std::pair(1u, 2u), std::pair(2u, 2u), std::pair(1u, 3u)})
      choices.push_back({1, true, fetchers, resident});
  if (p.loop && !p.fetch)
    choices.push_back({2, false, 0, 2});
  if (p.deals && p.cluster == 0 && !p.partial)
    choices.push_back({1, true, 0, 0, 2});
  return choices;
}

/// Loops with so many products wait for one while others run.
bool spreadsProducts(const ScheduleProblem &p) {
  constexpr unsigned many = 3; // of two products, one needs the other's result
  return p.loop && p.loop->products >= many;
}

/// Are such warpgroups of no use? isFirst: nothing else has fitted so far.
bool isLeftOut(const ScheduleProblem &p, const Warpgroups &choice, bool isFirst) {
  bool shown = p.loop && p.loop->shownBytes, nested = p.loop && p.loop->nested;
  if (choice.late && (shown || nested || (p.loop && p.inTurn))) // serialised: C7513
    return true;
  if (choice.resident && shown && p.loop->showsFirst)
    return true;
  // Products that are not late: else only where a late one finds no registers.
  return !choice.late && !spreadsProducts(p) && !shown && !choice.resident && !nested && !isFirst;
}

/// The schedule but for what lies in shared memory; none: it does not fit.
std::optional<Schedule> scheduleOf(const ScheduleProblem &p, const Warpgroups &choice) {
  auto [consumers, late, fetchers, resident, instances] = choice;
  bool shown = p.loop && p.loop->shownBytes, nested = p.loop && p.loop->nested, handsOn = handsTilesOn(p);
  Schedule s;
  s.consumers = consumers;
  s.resident = resident;
  s.instances = instances;
  s.fetchers = fetchers;
  s.k = isWhole(p) || p.fetch ? p.k : std::min(p.k, 128 / p.elementBytes); // a swizzled row of shared memory
  s.group = p.reorder && p.cluster < 2 ? 8 : 1;                            // clusters run in one wave
  s.cluster = p.cluster;
  s.branch = s.longest = p.loop.has_value();
  s.overlap = late && p.loop;
  s.computedSlots = !shown ? 0 : handsOn && consumers == 1 ? 1 : 2; // consumers then wait for each other a step late
  // Where lanes are what takes time, warpgroups that start one product at a time get in each other's way less (measured).
  StepCycles step = stepCycles(p, s);
  if (instances && step.copies > step.tensorCores) // then results that go out under products are in the way (measured: 64 x 256)
    return std::nullopt;
  bool mostAreOthers = p.loop && 2 * p.loop->others.size() > p.loop->products;
  // C7517: also where threads update memory while a product of a shown factor is left to run into the next step.
  bool isSerialised = mostAreOthers || (p.loop && p.loop->stores && p.loop->addsToShown);
  s.spread = !nested && !handsOn && !isSerialised && !p.inTurn && (spreadsProducts(p) || shown) &&
             (shown || step.lanes < step.tensorCores);
  s.splitColumns = p.loop && p.m == 64 && consumers == 2 && p.loop->wide && p.loop->sharedWords;
  s.partial = std::min(p.partial, s.k);
  if ((!canShare(p, consumers) && !s.splitColumns) || !(s.partial ? dealForPartial(p, s) : dealRegisters(p, s)))
    return std::nullopt;
  loadEarly(p, s);
  s.ahead = !nested && handsOn && !late && !fetchers && loadsAhead(p, s);
  if (!p.loop && p.unpack && p.unpack->aheadElements)
    unpackAhead(p, s);
  if (s.computedSlots && !handsOn && !nested && !p.inTurn) {
    auto fit = [&](unsigned words) {
      return words / (groupThreads * consumers) + 24 <= std::max(s.mathRegisters, registersOfLaunch(s));
    };
    s.delay = fit(p.loop->allWords); // with fewer registers it is slower (measured)
    s.holdOperands = s.delay && fit(p.loop->allWords + p.loop->heldWords);
  }
  return s;
}

/// The schedule with each way to hold results that leaves enough slots.
void addCandidates(const ScheduleProblem &p, Schedule s, std::vector<Candidate> &candidates) {
  SmallVector<unsigned> heldPieces = outputChoices(p, s);
  if (s.instances > 1) // what goes out early is worth more than fewer meetings, under another's products (measured)
    std::reverse(heldPieces.begin(), heldPieces.end());
  for (unsigned held : heldPieces) {
    s.stageOutput = held;
    if (s.splitColumns && s.computedSlots && slotsThatFit(p, s) < 2) // then consumers wait for each other in each step
      s.computedSlots = 1;
    s.stages = unsigned(std::min<int64_t>(slotsThatFit(p, s), slotsOfUse(p, s)));
    if (!p.loop && s.stages > 2) // warpgroups drift apart: one waits for its loads under the other's products
      s.ahead = 0;
    s.joined = joinedSteps(p, s);
    s.boxed = bringsBox(p, s);
    unsigned fewest = p.loop && p.loop->oneSlot ? fewestSlots(p, s) : 2;
    if (s.stages >= fewest && (s.cluster < 2 || sumBytes(p) <= s.stages * slotPitch(p, s)))
      candidates.push_back({s, 64 * slotCycles(p, s) + outputCycles(p, s)});
  }
}

/// The same for less; none: there is nothing left to give up.
std::optional<ScheduleProblem> eased(ScheduleProblem p) {
  if (p.partial) // then the sums are as exact as the tensor cores make them
    p.partial = 0;
  else if (p.loop && p.loop->sharedWords && !p.loop->wide) // many products have many columns, too
    p.loop->wide = true;
  else if (p.loop && !p.loop->oneSlot)
    p.loop->oneSlot = true;
  else
    return std::nullopt;
  return p;
}
} // namespace

std::vector<Candidate> priceSchedules(const ScheduleProblem &problem) {
  if (!problem.gpu.warpgroups)
    return priceWarpSchedules(problem);
  if (problem.loop && problem.loop->once)
    return priceStraightSchedules(problem);
  std::vector<Candidate> candidates;
  for (const Warpgroups &choice : warpgroupChoices(problem))
    if (!isLeftOut(problem, choice, candidates.empty()))
      if (std::optional<Schedule> schedule = scheduleOf(problem, choice))
        addCandidates(problem, *schedule, candidates);
  if (candidates.empty())
    if (std::optional<ScheduleProblem> other = eased(problem))
      return priceSchedules(*other);
  for (size_t i = 0; i < candidates.size(); ++i)
    candidates[i].number = i;
  llvm::sort(candidates, [](auto &a, auto &b) { return std::pair(a.cycles, a.number) < std::pair(b.cycles, b.number); });
  return candidates;
}

double cyclesOfStep(const ScheduleProblem &problem, const Schedule &schedule) {
  if (!problem.gpu.warpgroups)
    return cyclesOfWarpStep(problem, schedule);
  return problem.loop && problem.loop->once ? cyclesOfProgram(problem, schedule) : slotCycles(problem, schedule);
}

// mma.sync has 0.63 of the rate; two warps of a scheduler do the rest one after the other (measured beside the products that fetch).
double generalCycles(const ScheduleProblem &p) {
  constexpr double meetings = 300;
  constexpr double operationsOfThreads = 256; // of multiplications and additions, a cycle
  FetchWork work = p.fetch.value_or(FetchWork());
  double rate = p.generalByThreads ? operationsOfThreads : 2. * p.gpu.operations / p.elementBytes * 0.63;
  return 2. * p.m * p.n * p.k / rate + meetings + 2 * (work.computed + work.copied + work.work);
}

std::string explain(const ScheduleProblem &problem, const Schedule &chosen) {
  bool warpgroups = problem.gpu.warpgroups, once = warpgroups && problem.loop && problem.loop->once;
  auto text = [&](const Schedule &schedule) {
    double step = cyclesOfStep(problem, schedule);
    double cycles = once ? step : 64 * step + (warpgroups ? outputCycles(problem, schedule) : 0);
    return schedule.print() + ": " + std::to_string(int64_t(cycles)) + " cycles";
  };
  const char *bound = once         ? boundOfProgram(problem, chosen)
                      : warpgroups ? stepCycles(problem, chosen).bound()
                                   : boundOfWarpStep(problem, chosen);
  std::string result = text(chosen) + (once ? " of a program, bound by " : " of 64 steps, bound by ") + bound;
  for (const Candidate &candidate : priceSchedules(problem))
    if (candidate.schedule.print() != chosen.print())
      return result + "; next " + text(candidate.schedule);
  return result;
}

std::optional<Schedule> chooseSchedule(const ScheduleProblem &given) {
  ScheduleProblem problem = given;
  const std::string text = environmentText("TILERY_SCHEDULE").value_or("");
  if (Schedule asked; !text.empty()) {
    asked.override(text);
    problem.cluster = asked.cluster && !problem.loop && !problem.fetch && !problem.unpack ? asked.cluster : problem.cluster;
  }
  if (problem.cluster > 1)
    problem.outputs.clear(), problem.taking.clear(); // what a block stores of a tile is stored from registers
  std::vector<Candidate> candidates = priceSchedules(problem);
  if (candidates.empty() && given.cluster > 1) { // then without
    problem = given;
    problem.cluster = 0;
    candidates = priceSchedules(problem);
  }
  if (candidates.empty() && (text.empty() || !problem.gpu.warpgroups))
    return std::nullopt;
  if (candidates.empty() && problem.cluster > given.cluster)
    refuseSchedule("the sums of a cluster's blocks do not fit where the slots were", "");
  if (text.empty())
    return candidates.front().schedule;
  for (const Candidate &candidate : candidates) // its other fields follow from those that are asked for
    if (Schedule same = candidate.schedule; same.override(text), same.print() == candidate.schedule.print()) {
      check(problem, same);
      return same;
    }
  Schedule schedule = candidates.empty() ? Schedule() : candidates.front().schedule;
  schedule.override(text);
  if (StringRef(text).find("joined") == StringRef::npos)
    schedule.joined = joinedSteps(problem, schedule);
  if (StringRef(text).find("boxed") == StringRef::npos)
    schedule.boxed = bringsBox(problem, schedule);
  check(problem, schedule);
  if (int64_t bytes = sharedBytes(problem, schedule); bytes > problem.gpu.sharedBytes)
    refuseSchedule("a matrix product of tiles " + std::to_string(problem.m) + "x" + std::to_string(problem.n) + " needs " +
                       std::to_string(bytes) + " bytes of shared memory, the device has " +
                       std::to_string(problem.gpu.sharedBytes),
                   "use a smaller tile or fewer stages");
  return schedule;
}

} // namespace tilery::block
