#include "fibers.h"
#include <cstdint>
#include <utility>

namespace tilery::emulator {

// Not of whole pages: what fibers have at the same depth would share the same few lines of the caches.
static constexpr size_t stackBytes = (96 << 10) + 17 * 64;

/// The memory of those that ran before on this thread, which the kernel need not make again.
static thread_local Fibers::Stacks kept;

Fibers::Fibers(unsigned count, std::function<void(unsigned)> body)
    : body(std::move(body)), fibers(count), stacks(std::exchange(kept, {})) {
  if (size_t bytes = count * stackBytes; stacks.bytes < bytes)
    stacks = {std::unique_ptr<char[]>(new char[bytes]), bytes}; // as it is: most of it is never touched
}

Fibers::~Fibers() {
  if (kept.bytes < stacks.bytes)
    kept = std::move(stacks);
}

void Fibers::enter(unsigned high, unsigned low) {
  auto *self = reinterpret_cast<Fibers *>(uint64_t(high) << 32 | low);
  self->body(self->current);
  self->fibers[self->current].ended = true;
  _longjmp(self->scheduler, 1);
}

// A context switch by swapcontext asks the kernel each time; only a fiber's first one does here.
void Fibers::resume(unsigned number) {
  current = number;
  if (_setjmp(scheduler))
    return;
  Fiber &fiber = fibers[number];
  if (fiber.begun)
    _longjmp(fiber.state, 1);
  fiber.begun = true;
  ucontext_t context;
  getcontext(&context);
  context.uc_stack.ss_sp = stacks.memory.get() + number * stackBytes;
  context.uc_stack.ss_size = stackBytes;
  context.uc_link = nullptr;
  uint64_t self = reinterpret_cast<uint64_t>(this);
  makecontext(&context, reinterpret_cast<void (*)()>(&Fibers::enter), 2, unsigned(self >> 32), unsigned(self));
  swapcontext(&beginning, &context);
}

void Fibers::back() {
  if (!_setjmp(fibers[current].state))
    _longjmp(scheduler, 1);
}

void Fibers::wait(llvm::function_ref<bool()> over, llvm::function_ref<std::string()> what) {
  if (over())
    return;
  Fiber &fiber = fibers[current];
  fiber.over = over;
  fiber.what = what;
  back();
}

void Fibers::fail(std::string message) {
  failure = std::move(message);
  back();
  __builtin_unreachable();
}

std::string Fibers::waitsFor(unsigned fiber) const {
  return fibers[fiber].ended || !fibers[fiber].what ? "" : fibers[fiber].what();
}

bool Fibers::run(unsigned turns, llvm::function_ref<bool()> idle, llvm::function_ref<std::string()> stuck) {
  for (; turns > 0; --turns, backwards = !backwards) { // in changing order, so that a missing wait shows
    bool moved = false, all = true;
    for (size_t i = 0; i < fibers.size(); ++i) {
      unsigned number = backwards ? fibers.size() - 1 - i : i;
      Fiber &fiber = fibers[number];
      if (fiber.ended || (fiber.over && !fiber.over())) {
        all &= fiber.ended;
        continue;
      }
      fiber.over = nullptr, fiber.what = nullptr;
      moved = true;
      resume(number);
      if (!failure.empty())
        return true;
      all &= fiber.ended;
    }
    if (all)
      return true;
    if (!moved && !idle()) {
      failure = stuck();
      return true;
    }
  }
  return false;
}

} // namespace tilery::emulator
