#include "tilery/compilations.h"
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <mutex>
#include <new>
#include <pthread.h>
#include <unistd.h>

namespace tilery {
namespace {
struct State {
  std::mutex mutex;
  std::condition_variable changed;
  int threads = 0; // that compile
  int holders = 0;
  bool amid = false;
};
thread_local int depth = 0; // of the calling thread's stretches
std::atomic<bool> ended{false};

/// Never destroyed: threads wait here when the process has ended.
State &state() {
  static State *made = [] {
    pthread_atfork([] { state().mutex.lock(); }, [] { state().mutex.unlock(); },
                   [] {
                     State &copied = state();
                     int own = depth > 0;
                     bool amid = copied.amid || copied.threads > own;
                     State *fresh = new (&copied) State; // nobody waits here any more
                     fresh->threads = own;
                     fresh->amid = amid;
                   });
    return new State;
  }();
  return *made;
}

void waitForOthers(std::unique_lock<std::mutex> &lock, int milliseconds) {
  state().changed.wait_for(lock, std::chrono::milliseconds(milliseconds), [] { return state().threads <= (depth > 0); });
}
[[maybe_unused]] const State &made = state(); // a fork may come while a thread is first here
} // namespace

Compiling::Compiling() {
  if (depth++)
    return;
  std::unique_lock lock(state().mutex);
  state().changed.wait(lock, [] { return state().holders == 0; });
  ++state().threads;
}

Compiling::~Compiling() {
  if (--depth)
    return;
  std::lock_guard lock(state().mutex);
  --state().threads;
  state().changed.notify_all();
}

void Compiling::parkAtEnd() {
  if (ended.load(std::memory_order_relaxed))
    park();
}

void Compiling::park() {
  if (depth) {
    std::lock_guard lock(state().mutex);
    --state().threads;
    state().changed.notify_all();
  }
  for (;;)
    pause();
}

void holdCompilations(int milliseconds) {
  std::unique_lock lock(state().mutex);
  ++state().holders;
  waitForOthers(lock, milliseconds);
}

void releaseCompilations() {
  std::lock_guard lock(state().mutex);
  --state().holders;
  state().changed.notify_all();
}

bool forkedAmidCompilations() {
  std::lock_guard lock(state().mutex);
  return state().amid;
}

void endCompilations(int milliseconds) {
  ended = true;
  std::unique_lock lock(state().mutex);
  ++state().holders; // for ever
  waitForOthers(lock, milliseconds);
}

} // namespace tilery
