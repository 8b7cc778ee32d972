#pragma once
// Code whose faults end it alone: the compiler's.
#include <functional>

#pragma GCC visibility push(default) // what libtilery.so exports
namespace tilery {
/// Thrown through code that was asked to end.
struct Interrupted {};

/// Runs `work`. 0, or the signal of the fault that ended it: a bad access, an overflow of the stack, abort() and the like, on this thread. What
/// it had begun stays as it is, nothing of it is freed or unlocked. Exceptions of C++ go through. Faults elsewhere end the process as before.
int guarded(const std::function<void()> &work);

/// From its construction to its end this thread's code is not guarded: somebody else's, in the midst of ours.
class Unguarded {
public:
  Unguarded();
  ~Unguarded();
  Unguarded(const Unguarded &) = delete;

private:
  void *outer;
};
} // namespace tilery
#pragma GCC visibility pop
