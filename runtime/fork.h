#pragma once
// Locks that survive fork().
#include <mutex>
#include <pthread.h>

namespace tilery {
/// Nobody else holds M at the moment of a fork, so that it is free in the child. To be called once, where a constant beside M is made: a
/// thread that registers this later waits for a fork in progress, whose child would then wait for that thread.
template <std::mutex &M> bool freeAcrossFork() {
  return pthread_atfork([] { M.lock(); }, [] { M.unlock(); }, [] { M.unlock(); }) == 0;
}
} // namespace tilery
