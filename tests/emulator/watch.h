#pragma once
// Ordinary accesses of memory in emitted code, which tell the emulator of themselves.
#include "races.h"
#include "llvm/IR/Module.h"

namespace tilery::emulator {

struct Thread;

/// Puts a call in front of each access of `function`, whose first argument is the thread, that is not of the thread's own variables.
void watchAccesses(llvm::Function &function);

/// `count` elements of `bytes` each from `pointer` on, as far as `mask` has their bits. `value`: what is stored; null: that is not known.
/// Called by emitted code.
void watch(Thread *thread, const char *pointer, const char *value, uint32_t bytes, uint32_t count, uint64_t mask, uint32_t act,
           uint32_t line);

} // namespace tilery::emulator
