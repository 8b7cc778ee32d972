#include "runtime/pool.h"
#include "runtime/processor.h"
#include "tilery/environment.h"
#include <cerrno>
#include <climits>
#include <csignal>
#include <linux/futex.h>
#include <pthread.h>
#include <sched.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

namespace tilery {
namespace {
// Workers look for new work this long before they sleep: launches often follow each other closely, and waking a thread takes
// 50 to 100 us on a virtual machine.
constexpr int64_t spinNanoseconds = 100'000;

/// Waits without sleeping until `ready()`, for `spinNanoseconds` at most; true if it is.
template <class Ready> bool spinUntil(Ready ready) {
  for (int64_t end = nowNanoseconds() + spinNanoseconds; nowNanoseconds() < end;)
    for (int i = 0; i < 16; ++i) {
      if (ready())
        return true;
      pauseOnce();
    }
  return ready();
}

void futexWait(std::atomic<uint32_t> &word, uint32_t seen, int milliseconds) {
  timespec timeout{milliseconds / 1000, (milliseconds % 1000) * 1000000L};
  syscall(SYS_futex, &word, FUTEX_WAIT_PRIVATE, seen, milliseconds < 0 ? nullptr : &timeout, nullptr, 0);
}
void futexWake(std::atomic<uint32_t> &word, int count) {
  syscall(SYS_futex, &word, FUTEX_WAKE_PRIVATE, count, nullptr, nullptr, 0);
}

cpu_set_t processAffinity() {
  cpu_set_t set;
  CPU_ZERO(&set);
  if (sched_getaffinity(getpid(), sizeof set, &set) != 0 || CPU_COUNT(&set) == 0)
    CPU_SET(0, &set);
  return set;
}

unsigned configuredThreads() {
  if (auto wanted = environmentNumber("TILERY_NUM_THREADS"))
    return unsigned(*wanted);
  cpu_set_t set = processAffinity();
  return unsigned(CPU_COUNT(&set));
}

std::atomic<unsigned> workersStarted{0};
thread_local unsigned ownNumber = 0; // of a worker, from 1
} // namespace

int64_t nowNanoseconds() {
  timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return int64_t(now.tv_sec) * 1000000000 + now.tv_nsec;
}

Pool &Pool::instance() {
  static Pool *pool = new Pool; // never destroyed: workers may outlive the process's static objects
  return *pool;
}

Pool::Pool() { pthread_atfork(prepareFork, parentAfterFork, childAfterFork); }

void Pool::prepareFork() { instance().mutex.lock(); }
void Pool::parentAfterFork() { instance().mutex.unlock(); }
void Pool::childAfterFork() {
  // Only the forking thread lives here; the workers are started again by the next launch.
  Pool &pool = instance();
  pool.workers.clear();
  workersStarted = 0;
  pool.spared = -1;
  pool.sleepers = 0;
  pool.waiters = 0;
  for (Job *job = pool.jobs; job; job = job->following)
    job->active = 0;
  pool.jobs = nullptr; // launches of other threads went with them
  pool.mutex.unlock();
}

unsigned Pool::threads() {
  unsigned wanted = wantedThreads.load(std::memory_order_relaxed);
  if (wanted)
    return wanted;
  std::lock_guard lock(mutex);
  if (!configured)
    configured = configuredThreads();
  return configured;
}

void Pool::setThreads(unsigned count) { wantedThreads = count; }

void Pool::startWorkers(unsigned count) {
  if (workers.size() >= count)
    return;
  sigset_t all, before;
  sigfillset(&all);
  for (int fault : {SIGSEGV, SIGBUS, SIGFPE, SIGILL}) // a blocked fault ends the process before anybody can report it
    sigdelset(&all, fault);
  pthread_sigmask(SIG_SETMASK, &all, &before); // other signals belong to the program's own threads
  pthread_attr_t attributes;
  pthread_attr_init(&attributes);
  pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
  affinity = processAffinity();
  spared = -1;
  for (pthread_t worker : workers)
    pthread_setaffinity_np(worker, sizeof affinity, &affinity);
  pthread_attr_setaffinity_np(&attributes, sizeof affinity, &affinity);
  while (workers.size() < count) {
    pthread_t thread;
    if (pthread_create(&thread, &attributes, workerMain, this))
      break; // no more threads to be had: the launch runs on those there are
    pthread_setname_np(thread, "tilery");
    workers.push_back(thread);
  }
  pthread_attr_destroy(&attributes);
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
}

/// The kernel likes to wake a thread on the CPU of the thread that wakes it, which goes on working: measured, the worker then
/// starts up to 3 ms late although another CPU is idle (70 us where it must go elsewhere).
void Pool::keepOff(int cpu) {
  if (cpu == spared || cpu < 0 || !CPU_ISSET(cpu, &affinity) || unsigned(CPU_COUNT(&affinity)) <= workers.size())
    return;
  spared = cpu;
  cpu_set_t others = affinity;
  CPU_CLR(cpu, &others);
  for (pthread_t worker : workers)
    pthread_setaffinity_np(worker, sizeof others, &others);
}

unsigned poolThread() { return ownNumber; }

void *Pool::workerMain(void *pool) {
  ownNumber = ++workersStarted;
  static_cast<Pool *>(pool)->workerLoop();
  return nullptr;
}

Job *Pool::join() {
  std::lock_guard lock(mutex);
  for (Job *job = jobs; job; job = job->following)
    if (!job->finished() && unsigned(job->active.load(std::memory_order_relaxed)) + 1 < job->threads) {
      job->active.fetch_add(1, std::memory_order_relaxed);
      return job;
    }
  return nullptr;
}

void Pool::leave(Job &job) {
  // The job may be gone as soon as `active` is 0: from there on only the pool's own members are touched.
  if (job.active.fetch_sub(1, std::memory_order_acq_rel) != 1)
    return;
  finished.fetch_add(1);
  if (waiters.load())
    futexWake(finished, INT_MAX);
}

void Pool::workerLoop() {
  for (;;) {
    uint32_t seen = posted.load();
    if (Job *job = join()) {
      setFloatingPointMode(job->floatingPointMode);
      while (workOnce(*job)) {
      }
      leave(*job);
      continue;
    }
    if (spinUntil([&] { return posted.load(std::memory_order_relaxed) != seen; }))
      continue;
    sleepers.fetch_add(1);
    if (posted.load() == seen)
      futexWait(posted, seen, -1);
    sleepers.fetch_sub(1);
  }
}

void Pool::post(Job &job, unsigned wanted) {
  {
    std::lock_guard lock(mutex);
    startWorkers(job.threads - 1);
    if (sleepers.load(std::memory_order_relaxed))
      keepOff(sched_getcpu());
    job.following = jobs;
    jobs = &job;
  }
  posted.fetch_add(1);
  if (sleepers.load())
    futexWake(posted, int(wanted));
}

void Pool::withdraw(Job &job) {
  std::lock_guard lock(mutex);
  Job **link = &jobs;
  while (*link && *link != &job)
    link = &(*link)->following;
  if (*link) // else forgotten by a fork
    *link = job.following;
}

bool Pool::wait(Job &job, int milliseconds) {
  if (spinUntil([&] { return job.active.load(std::memory_order_acquire) == 0; }))
    return true;
  waiters.fetch_add(1);
  uint32_t seen = finished.load();
  if (job.active.load() != 0)
    futexWait(finished, seen, milliseconds);
  waiters.fetch_sub(1);
  return job.active.load(std::memory_order_acquire) == 0;
}

/// From the start: a thread that registered what is done around forks would wait for one in progress, and its child for that thread.
[[maybe_unused]] const Pool &made = Pool::instance();

unsigned numThreads() { return Pool::instance().threads(); }
void setNumThreads(unsigned count) { Pool::instance().setThreads(count); }
} // namespace tilery
