#include "runtime/updates.h"
#include "runtime/fork.h"
#include <condition_variable>
#include <new>

namespace tilery {
namespace {
std::mutex mutex;
std::condition_variable ended;
int64_t together = 0; // turns that are not alone
bool taken = false;   // by one that is
thread_local bool mine = false;

/// Threads do not outlive a fork, nor do their turns.
[[maybe_unused]] const bool forkable =
    freeAcrossFork<mutex>() && pthread_atfork(nullptr, nullptr, [] {
                                 together = 0;
                                 taken = mine;
                                 new (&ended) std::condition_variable; // nobody waits for the old one any more
                               }) == 0;
} // namespace

UpdateTurn::UpdateTurn(bool alone) : isAlone(alone), nested(mine) {
  if (nested)
    return;
  std::unique_lock lock(mutex);
  isAlone = alone && !taken && !together;
  if (isAlone) {
    taken = mine = true;
    return;
  }
  ended.wait(lock, [] { return !taken; });
  ++together;
}

UpdateTurn::~UpdateTurn() {
  if (nested)
    return;
  std::lock_guard lock(mutex);
  if (!isAlone) {
    --together;
    return;
  }
  taken = mine = false;
  ended.notify_all();
}

} // namespace tilery
