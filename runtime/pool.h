#pragma once
// Threads that run the programs of launches.
#include "runtime/panels.h"
#include "tilery/diagnostic.h"
#include "tilery/runtime.h"
#include <atomic>
#include <mutex>
#include <optional>
#include <pthread.h>
#include <sched.h>
#include <vector>

namespace tilery {

struct Asker;

/// One launch while it runs. Lives on the launching thread's stack.
struct Job {
  Job(const Kernel &kernel, const int64_t grid[3], const uint64_t *args, const LaunchOptions &options);
  ~Job() { freePanels(launch.panels); }

  /// Takes the next contiguous run of programs; false when none are left or the launch was stopped.
  bool claim(int64_t &begin, int64_t &end);
  /// Keeps the first failure and halts the launch.
  void fail(Diagnostic diagnostic);
  /// No program starts any more, those that poll end.
  void halt();
  bool finished() const { return next.load(std::memory_order_relaxed) >= total || stop.load(std::memory_order_relaxed); }

  const Kernel &kernel;
  const LaunchOptions &options;
  TileryLaunch launch;
  int64_t total = 0;
  unsigned threads = 1;       ///< at most that many work on it
  int64_t share = INT64_MAX;  ///< a claim takes 1 / share of what is left,
  int64_t smallest = 1;       ///< but at least so many programs
  uint64_t floatingPointMode; ///< of the launching thread: rounding and denormals are the same on all
  Job *following = nullptr;   ///< in the pool's list
  alignas(64) std::atomic<int64_t> next{0};
  alignas(64) std::atomic<int> active{0}; ///< workers on it
  std::atomic<bool> stop{false};
  Asker *asker = nullptr; ///< the launching thread's
  std::mutex failureMutex;
  std::optional<Diagnostic> failure;
};

class Pool {
public:
  static Pool &instance();

  unsigned threads();
  void setThreads(unsigned count);
  /// Offers the job to the workers; at most `wanted` of them are woken.
  void post(Job &job, unsigned wanted);
  /// Withdraws the job from new workers; those on it go on.
  void withdraw(Job &job);
  /// Waits until no worker is on the job, at most `milliseconds`; true if so.
  bool wait(Job &job, int milliseconds);

private:
  Pool();
  static void prepareFork();
  static void parentAfterFork();
  static void childAfterFork();
  static void *workerMain(void *);
  void startWorkers(unsigned count);
  void keepOff(int cpu);
  void workerLoop();
  Job *join();
  void leave(Job &job);

  std::mutex mutex; ///< guards the list and `workers`
  Job *jobs = nullptr;
  std::vector<pthread_t> workers;
  cpu_set_t affinity; ///< of the process when the workers were started
  int spared = -1;    ///< the CPU that the workers keep off; -1: none
  unsigned configured = 0;
  std::atomic<unsigned> wantedThreads{0};
  alignas(64) std::atomic<uint32_t> posted{0}; ///< counts posts; workers sleep on it
  std::atomic<uint32_t> sleepers{0};
  alignas(64) std::atomic<uint32_t> finished{0}; ///< counts departures; launching threads sleep on it
  std::atomic<uint32_t> waiters{0};
};

/// Nanoseconds of the monotonic clock.
int64_t nowNanoseconds();
/// The number of this thread: from 1 for workers, in the order in which they were started; 0 for all others.
unsigned poolThread();
/// At least `bytes` of 64-byte aligned memory of the calling thread; contents undefined; valid until the thread's next call.
void *threadScratch(uint64_t bytes);
/// Asked by the launching thread between pieces of work; true stops the launch.
using Between = bool (*)(Job &job, void *context);
/// Runs one claim of the job on the calling thread, in pieces of some 20 ms so that a stopped launch ends soon. False: nothing
/// was left.
bool workOnce(Job &job, Between between = nullptr, void *context = nullptr);

} // namespace tilery
