// A launch: its programs in contiguous runs, on the calling thread and the pool.
#include "runtime/cuda/launch.h"
#include "runtime/polynomial.h"
#include "runtime/pool.h"
#include "runtime/processor.h"
#include "runtime/updates.h"
#include "runtime/watch.h"
#include "tilery/spelling.h"
#include <algorithm>
#include <cstdlib>
#include <memory>
#include <sys/mman.h>
#include <utility>

namespace tilery {
namespace {
// A launch that is known to take less than this runs on the calling thread: waking a worker costs about as much.
constexpr double aloneNanoseconds = 10e3;
constexpr double claimNanoseconds = 2e3;
constexpr int64_t pieceNanoseconds = 20'000'000;
constexpr int64_t askNanoseconds = 50'000'000;

struct Freed {
  void operator()(char *memory) const { std::free(memory); }
};
struct Arena {
  std::unique_ptr<char, Freed> memory;
  uint64_t size = 0;
};
thread_local Arena arena;
} // namespace

/// Asks the caller of a launch whether to stop, now and then.
struct Asker {
  Asker(Job &job, const LaunchOptions &options) : job(job), options(options) {
    job.asker = this;
    if (options.interrupted)
      stretch.emplace(job);
  }

  /// Unless that was done lately.
  bool askAtTimes() { return options.interrupted && nowNanoseconds() - last >= askNanoseconds ? ask() : interrupted; }

  bool ask() {
    if (!options.interrupted || interrupted)
      return interrupted;
    stretch.reset();
    std::atomic_ref(job.launch.poll).store(0, std::memory_order_relaxed);
    Arena kept = std::exchange(arena, {}); // who is asked may launch (a signal's handler), in the midst of our program
    interrupted = options.interrupted(options.context);
    arena = std::move(kept);
    if (interrupted || job.stop)
      job.halt();
    stretch.emplace(job, interrupted);
    last = nowNanoseconds();
    return interrupted;
  }
  static bool between(Job &, void *self) { return static_cast<Asker *>(self)->askAtTimes(); }

  Job &job;
  const LaunchOptions &options;
  std::optional<WatchedStretch> stretch;
  int64_t last = nowNanoseconds();
  bool interrupted = false;
};

namespace {

void runPieces(Job &job, int64_t begin, int64_t end, Between between, void *context) {
  void *scratch = threadScratch(job.kernel.info().scratchBytes);
  TileryKernel entry = job.kernel.entry();
  const bool alone = job.launch.flags & TILERY_ALONE;
  double cost = job.kernel.cost(alone);
  int64_t piece = cost > 0 ? std::max<int64_t>(1, int64_t(std::min(pieceNanoseconds / cost, 1e15))) : 1;
  while (begin < end && !job.stop.load(std::memory_order_relaxed)) {
    int64_t stop = end - begin <= piece ? end : begin + piece;
    int64_t started = nowNanoseconds();
    entry(&job.launch, begin, stop, scratch);
    if (job.stop.load(std::memory_order_relaxed))
      return; // perhaps in the midst of a program: the time says nothing
    int64_t took = nowNanoseconds() - started;
    double one = double(took) / double(stop - begin);
    cost = cost > 0 ? 0.75 * cost + 0.25 * one : one;
    begin = stop;
    if (took < pieceNanoseconds / 4)
      piece *= 2;
    else if (took > pieceNanoseconds * 2)
      piece = std::max<int64_t>(1, piece / 2);
    if (between) {
      job.kernel.setCost(std::max(cost, 0.5), alone);
      if (between(job, context))
        return;
    }
  }
}
} // namespace

void *threadScratch(uint64_t bytes) {
  if (bytes > arena.size) {
    constexpr uint64_t huge = 2 << 20;
    uint64_t alignment = bytes >= huge ? huge : 64;
    arena = {};
    arena.size = (bytes + alignment - 1) / alignment * alignment;
    arena.memory.reset(static_cast<char *>(std::aligned_alloc(alignment, arena.size)));
    if (!arena.memory) {
      arena.size = 0;
      throw std::bad_alloc();
    }
    if (alignment == huge)
      madvise(arena.memory.get(), arena.size, MADV_HUGEPAGE);
  }
  return arena.memory.get();
}

Job::Job(const Kernel &kernel, const int64_t grid[3], const uint64_t *args, const LaunchOptions &options)
    : kernel(kernel), options(options), floatingPointMode(tilery::floatingPointMode()) {
  total = grid[0] * grid[1] * grid[2];
  launch = {args, {uint32_t(grid[0]), uint32_t(grid[1]), uint32_t(grid[2])}, options.flags, nullptr, this, 0};
}

bool Job::claim(int64_t &begin, int64_t &end) {
  int64_t at = next.load(std::memory_order_relaxed);
  do {
    if (at >= total || stop.load(std::memory_order_relaxed))
      return false;
    // Four or more claims a thread: long runs first, so that neighbours stay on one thread, short ones to end together.
    end = at + std::min(total - at, std::max((total - at) / share, smallest));
  } while (!next.compare_exchange_weak(at, end, std::memory_order_relaxed));
  begin = at;
  return true;
}

void Job::fail(Diagnostic diagnostic) {
  std::lock_guard lock(failureMutex);
  if (!failure)
    failure = std::move(diagnostic);
  halt();
}

void Job::halt() {
  stop = true;
  std::atomic_ref(launch.poll).store(1, std::memory_order_relaxed);
}

bool workOnce(Job &job, Between between, void *context) {
  int64_t begin, end;
  if (!job.claim(begin, end))
    return false;
  try {
    runPieces(job, begin, end, between, context);
  } catch (const std::bad_alloc &) {
    job.fail({Diagnostic::Kind::Runtime,
              "not enough memory for the " + std::to_string(job.kernel.info().scratchBytes) + " bytes that a program of " +
                  job.kernel.info().name + " works in",
              "use smaller tiles",
              {}});
  }
  return true;
}

namespace {
/// Spreads what is left of the job over the pool and waits for it.
void runShared(Job &job, unsigned threads) {
  Pool &pool = Pool::instance();
  job.threads = threads;
  job.share = 4 * int64_t(threads);
  double cost = job.kernel.cost();
  job.smallest = cost > 0 ? std::max<int64_t>(1, int64_t(std::min(claimNanoseconds / cost, 1e15))) : 1;
  pool.post(job, threads - 1);
  while (workOnce(job, Asker::between, job.asker)) {
  }
  pool.withdraw(job);
  while (!pool.wait(job, int(askNanoseconds / 1000000)))
    job.asker->askAtTimes();
}

} // namespace

uint64_t GpuInfo::programs(const int64_t grid[3]) const {
  uint64_t count = 1;
  for (unsigned axis = 0; axis < joined.size(); ++axis)
    count *= (uint64_t(grid[axis]) + joined[axis] - 1) / joined[axis];
  return count;
}

namespace {
/// How many blocks should share a program's steps: all programs run at once, and there are many steps.
unsigned blocksOfProgram(const Kernel &kernel, const LaunchValues &launch, int device) {
  constexpr int64_t leastSteps = 16; // of a block
  const SplitInfo &split = kernel.info().gpu.split;
  int64_t programs = int64_t(kernel.info().gpu.programs(launch.grid));
  if (programs > gpuProperties(device).multiprocessors / 2)
    return 1;
  std::optional<int64_t> extent = evaluate(kernel.info().gpu.maps[split.map].dimensions[split.dimension].extent, launch);
  int64_t steps = extent.value_or(0) / split.depth;
  std::array<unsigned, 3> clusters = cuda::clustersAtOnce(kernel.info(), *kernel.gpuCode(), device);
  unsigned blocks = 1;
  for (unsigned i = 0; i < clusters.size(); ++i)
    if (programs <= clusters[i] && (leastSteps << (i + 1)) <= steps)
      blocks = 2u << i;
  return blocks;
}

/// The GPU kernel whose conditions this launch keeps.
const Kernel &fittingKernel(const Kernel &kernel, const int64_t grid[3], const uint64_t *args, const LaunchOptions &options) {
  const std::vector<ConditionInfo> &conditions = kernel.info().gpu.conditions;
  LaunchValues launch{kernel.info(), args, grid};
  if (std::all_of(conditions.begin(), conditions.end(), [&](const ConditionInfo &c) { return holds(c, launch); })) {
    if (options.clustered && kernel.info().gpu.split.depth)
      if (unsigned blocks = blocksOfProgram(kernel, launch, options.device); blocks > 1)
        return options.clustered(options.context, kernel, blocks);
    return kernel;
  }
  if (!options.withoutBoxes)
    throw Error({Diagnostic::Kind::Value,
                 "the arguments of this launch break a condition of " + kernel.info().name + ", whose code takes it for granted",
                 "compile it with CompileOptions::boxes off",
                 {}});
  return options.withoutBoxes(options.context, kernel);
}

/// Threads that a launch of `total` programs is worth by what they cost lately.
unsigned worthThreads(const Job &job, double cost, unsigned available) {
  int64_t left = job.total - job.next.load(std::memory_order_relaxed);
  double worth = cost > 0 ? cost * double(left) / aloneNanoseconds : double(available);
  if (worth < 1)
    return 1;
  return unsigned(std::min<double>(std::min<int64_t>(available, left), std::max(2.0, worth)));
}
} // namespace

/// Whether one thread that updates memory alone is as fast as so many that do it by indivisible steps.
static bool isFasterAlone(const Kernel &kernel, unsigned threads) {
  double alone = kernel.cost(true), shared = kernel.cost();
  return threads == 1 || !alone || (shared && alone * threads <= shared);
}

/// Makes the mode that a launch did not take look a little better, for both hang on the data: so both are measured again. Once a launch: the
/// other one may cost ten times as much.
static void doubtOther(const Kernel &kernel, bool alone) {
  constexpr double forgotten = 0.99;
  if (double other = kernel.cost(!alone))
    kernel.setCost(other * forgotten, !alone);
}

LaunchResult launch(const Kernel &kernel, const int64_t grid[3], const uint64_t *args, const LaunchOptions &options) {
  for (int axis = 0; axis < 3; ++axis)
    if (grid[axis] < 1)
      return LaunchResult::Done;
  for (int axis = 0; axis < 3; ++axis)
    if (grid[axis] > INT32_MAX)
      throw Error(
          {Diagnostic::Kind::Value,
           "grid extent " + std::to_string(grid[axis]) + " of axis " + std::to_string(axis) + " is larger than 2147483647",
           "",
           {}});
  if (__int128(grid[0]) * grid[1] * grid[2] > INT64_MAX)
    throw Error({Diagnostic::Kind::Value, "the grid has more than 2^63 programs", "", {}});

  if (kernel.gpuCode()) {
    const Kernel &fitting = fittingKernel(kernel, grid, args, options);
    cuda::launch(fitting.info(), *fitting.gpuCode(), grid, args, options.device, options.stream);
    return LaunchResult::Done;
  }
  if (kernel.info().cooperative && grid[0] * grid[1] * grid[2] > 1)
    throw Error({Diagnostic::Kind::NotImplemented,
                 "programs that wait for each other (launch_cooperative_grid): those of " + kernel.info().name +
                     " run one after the other on a CPU",
                 spelling().serial,
                 {}});
  Job job(kernel, grid, args, options);
  Asker asker(job, options);
  unsigned available = job.total > 1 ? Pool::instance().threads() : 1;
  unsigned threads = worthThreads(job, kernel.cost(), available);
  std::optional<UpdateTurn> turn;
  if (kernel.info().updates != Updates::None)
    turn.emplace(kernel.info().updates == Updates::Alone && isFasterAlone(kernel, threads));
  const bool alone = turn && turn->alone();
  if (alone)
    job.launch.flags |= TILERY_ALONE;
  if (threads > 1 && !alone) {
    runShared(job, threads);
  } else {
    // Thought to be short, or faster on one thread. What its first part took says whether it is.
    constexpr int64_t parts = 8;
    job.smallest = available == 1 ? job.total : (job.total + parts - 1) / parts;
    int64_t started = nowNanoseconds();
    while (workOnce(job, Asker::between, &asker)) {
      if (job.finished() || available == 1)
        continue;
      double took = double(nowNanoseconds() - started);
      if (took <= aloneNanoseconds) {
        double part = aloneNanoseconds / parts * double(job.next) / std::max(took, 1.0);
        job.smallest = std::max(job.smallest, int64_t(std::min(part, double(job.total))));
        continue;
      }
      threads = worthThreads(job, kernel.cost(), available);
      if (threads == 1 || (alone && isFasterAlone(kernel, threads)))
        continue;
      if (alone) {
        turn.reset();
        job.launch.flags &= ~TILERY_ALONE;
        turn.emplace(false);
      }
      runShared(job, threads);
      break;
    }
  }
  if (kernel.info().updates == Updates::Alone && threads > 1)
    doubtOther(kernel, turn->alone());
  if (asker.interrupted)
    return LaunchResult::Interrupted;
  if (job.failure)
    throw Error(*job.failure);
  return LaunchResult::Done;
}
} // namespace tilery

uint32_t tilery_rt_poll(const TileryLaunch *launch) {
  auto &job = *static_cast<tilery::Job *>(launch->job);
  if (tilery::poolThread() == 0)
    job.asker->ask();
  return job.stop.load(std::memory_order_relaxed);
}
