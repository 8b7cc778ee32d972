#include "runtime/watch.h"
#include "runtime/fork.h"
#include "runtime/pool.h"
#include <algorithm>
#include <csignal>
#include <cstdio>
#include <linux/futex.h>
#include <pthread.h>
#include <sched.h>
#include <sys/syscall.h>
#include <unistd.h>
#include <utility>

namespace tilery {
namespace {
constexpr int64_t tickNanoseconds = 25'000'000;
constexpr int64_t patienceNanoseconds = 1'000'000'000; // for an answer to an interrupt
constexpr int idleTicks = 40;                          // without a launch, before the watching thread sleeps

std::mutex mutex; // of `threads`, and of the handler
std::vector<WatchedThread *> &threads() {
  static auto *all = new std::vector<WatchedThread *>; // threads may end while the process exits
  return *all;
}
std::atomic<bool> started{false};
std::atomic<uint32_t> asleep{0};

// -- interrupts on their way to the handler of the program
std::atomic<uint64_t> interrupts{0};
struct sigaction before;
unsigned counting = 0; // stretches that want them counted

void onInterrupt(int signal, siginfo_t *info, void *state) {
  interrupts.fetch_add(1, std::memory_order_relaxed);
  if (before.sa_flags & SA_SIGINFO)
    before.sa_sigaction(signal, info, state);
  else
    before.sa_handler(signal);
}
bool isOurs(const struct sigaction &action) { return (action.sa_flags & SA_SIGINFO) && action.sa_sigaction == onInterrupt; }

/// False: the program has no handler, the signal does what it does by default.
bool count() {
  if (counting == 0) {
    struct sigaction now;
    sigaction(SIGINT, nullptr, &now);
    if (!(now.sa_flags & SA_SIGINFO) && (now.sa_handler == SIG_DFL || now.sa_handler == SIG_IGN))
      return false;
    if (!isOurs(now)) {
      before = now;
      now.sa_flags |= SA_SIGINFO;
      now.sa_sigaction = onInterrupt;
      sigaction(SIGINT, &now, nullptr);
    }
  }
  ++counting;
  return true;
}
void countNoLonger() {
  struct sigaction now;
  if (--counting == 0 && sigaction(SIGINT, nullptr, &now) == 0 && isOurs(now)) // else the program has set another
    sigaction(SIGINT, &before, nullptr);
}

[[noreturn]] void endProcess() {
  signal(SIGINT, SIG_DFL);
  kill(getpid(), SIGINT);
  sleep(1); // unless all threads block it
  _exit(128 + SIGINT);
}

// -- the watching thread
void lookAfter(WatchedThread &thread, Job &job, int64_t now) {
  uint64_t stretch = thread.stretch.load(std::memory_order_relaxed);
  if (std::exchange(thread.lastStretch, stretch) != stretch)
    return; // it may end soon
  std::atomic_ref(job.launch.poll).store(1, std::memory_order_relaxed);
  if (!thread.counts)
    thread.counts = count();
  uint64_t waiting = interrupts.load(std::memory_order_relaxed) - thread.answered;
  if (waiting == 0)
    return;
  if (thread.waitingSince < 0)
    thread.waitingSince = now;
  if (now - thread.waitingSince < patienceNanoseconds)
    return;
  if (waiting > 1)
    endProcess();
  if (!std::exchange(thread.told, true)) {
    std::string text = "tilery: interrupted; a program of kernel " + job.kernel.info().name +
                       " must end first; interrupt again (Ctrl-C) to end the process\n";
    [[maybe_unused]] ssize_t written = write(STDERR_FILENO, text.data(), text.size());
  }
}

void futexWait(std::atomic<uint32_t> &word, uint32_t seen) {
  syscall(SYS_futex, &word, FUTEX_WAIT_PRIVATE, seen, nullptr, nullptr, 0);
}

void *watch(void *) {
  uint64_t lastSum = 0;
  for (int idle = 0;;) {
    uint64_t sum = 0;
    bool busy = false;
    auto look = [&] {
      std::lock_guard lock(mutex);
      for (WatchedThread *thread : threads()) {
        sum += thread->stretch.load(std::memory_order_relaxed);
        thread->seen = true;
        if (Job *job = thread->job) {
          busy = true;
          lookAfter(*thread, *job, nowNanoseconds());
        }
        thread->seen = false;
      }
    };
    look();
    idle = busy || sum != lastSum ? 0 : idle + 1;
    lastSum = sum;
    if (idle < idleTicks) {
      timespec tick{0, tickNanoseconds};
      nanosleep(&tick, nullptr);
      continue;
    }
    asleep = 1;
    sum = 0;
    look(); // a stretch that began before it could see that we sleep
    if (busy || sum != lastSum)
      asleep = 0;
    else
      while (asleep)
        futexWait(asleep, 1);
    idle = 0;
  }
}

void start() {
  sigset_t all, before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before); // signals belong to the program's own threads
  pthread_t thread;
  if (pthread_create(&thread, nullptr, watch, nullptr) == 0) { // else launches are asked between programs only
    pthread_setname_np(thread, "tilery-watch");
    pthread_detach(thread);
  }
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
}

/// This thread's entry of the list.
struct Listed : WatchedThread {
  Listed() {
    std::lock_guard lock(mutex);
    threads().push_back(this);
  }
  ~Listed() {
    std::lock_guard lock(mutex);
    std::erase(threads(), this);
  }
  /// In the child the forking thread lives alone.
  static void afterFork();
};
thread_local Listed own;
[[maybe_unused]] const bool forkable = freeAcrossFork<mutex>() && pthread_atfork(nullptr, nullptr, Listed::afterFork) == 0;

void Listed::afterFork() {
  for (WatchedThread *thread : threads())
    if (thread->counts) {
      thread->counts = false;
      countNoLonger();
    }
  bool listed = std::erase(threads(), &own) != 0;
  threads().clear();
  if (listed)
    threads().push_back(&own);
  own.seen = false;
  started = false;
  asleep = 0;
}
} // namespace

WatchedStretch::WatchedStretch(Job &job, bool interrupted) {
  own.answered = interrupts.load(std::memory_order_relaxed) - interrupted;
  own.told = false;
  own.waitingSince = -1;
  own.stretch.store(own.stretch.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
  own.job = &job;
  if (asleep && asleep.exchange(0))
    syscall(SYS_futex, &asleep, FUTEX_WAKE_PRIVATE, 1, nullptr, nullptr, 0);
  else if (!started.load(std::memory_order_relaxed) && !started.exchange(true))
    start();
}

WatchedStretch::~WatchedStretch() {
  own.job = nullptr;
  while (own.seen)
    sched_yield();
  if (own.counts) {
    std::lock_guard lock(mutex);
    own.counts = false;
    countNoLonger();
  }
}

} // namespace tilery
