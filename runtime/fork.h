#pragma once
// Locks that survive fork().
#include <mutex>
#include <pthread.h>

namespace tilery {
/// Nobody else holds M at the moment of a fork, so that it is free in the child. Call before M is first locked; more calls do
/// nothing.
template <std::mutex &M> void freeAcrossFork() {
  static std::once_flag once;
  std::call_once(once, [] { pthread_atfork([] { M.lock(); }, [] { M.unlock(); }, [] { M.unlock(); }); });
}
} // namespace tilery
