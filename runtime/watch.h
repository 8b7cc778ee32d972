#pragma once
// A thread that looks after launches which may be interrupted, once they take long.
#include <atomic>
#include <cstdint>

namespace tilery {
struct Job;

/// What the watching thread sees of one thread: the launch that it runs at the moment.
struct WatchedThread {
  std::atomic<Job *> job{nullptr};
  std::atomic<uint64_t> stretch{0}; ///< counts the stretches of native code that this thread was in
  std::atomic<bool> seen{false};    ///< the watching thread holds `job`
  // The watching thread's own while it holds `job`, this thread's else.
  bool counts = false;       ///< interrupts of this stretch are counted
  bool told = false;         ///< that no program looks for interrupts
  uint64_t answered = 0;     ///< interrupts that do not wait for this stretch
  uint64_t lastStretch = 0;  ///< seen before
  int64_t waitingSince = -1; ///< for an answer to an interrupt
};

/// A stretch of native code of a launch on the calling thread, from its construction to its end; code of the user's (a signal's handler) runs
/// between two. Costs some nanoseconds while it is short. Within 50 ms its launch is asked to poll (TileryLaunch::poll), and again as long as
/// the stretch lasts. From then on interrupts (SIGINT) are counted on their way to the handler that was there: to the second that gets no
/// answer within a second the process ends, as it does by default. Without a handler, nothing is changed.
class WatchedStretch {
public:
  /// `interrupted`: an interrupt came before this stretch, which ends the launch.
  explicit WatchedStretch(Job &job, bool interrupted = false);
  ~WatchedStretch();
  WatchedStretch(const WatchedStretch &) = delete;
};

} // namespace tilery
