#pragma once
// Faults: in kernels they are reported before the process ends; code that is guarded they end alone.
#include "runtime/elf_code.h"
#include <functional>

namespace tilery {
/// Installs the handler of SIGSEGV and SIGBUS once. It reports a fault in loaded code on stderr and leaves the rest to the
/// handler before it.
void watchCrashes();
/// The loaded code that holds `address`, or null; null, too, while code is being loaded or unloaded.
const ElfCode *codeAt(uint64_t address);

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
