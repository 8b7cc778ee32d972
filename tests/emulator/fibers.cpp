#include "fibers.h"
#include <cstdint>
#include <utility>

namespace tilery::emulator {

static constexpr size_t stackBytes = 96 << 10;

Fibers::Fibers(unsigned count, std::function<void(unsigned)> body)
    : body(std::move(body)), fibers(count), stacks(new char[count * stackBytes]) {}

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
  context.uc_stack.ss_sp = stacks.get() + number * stackBytes;
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

void Fibers::wait(std::function<bool()> over, std::function<std::string()> what) {
  if (over())
    return;
  Fiber &fiber = fibers[current];
  fiber.over = std::move(over);
  fiber.what = std::move(what);
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

std::string Fibers::run(const std::function<bool()> &idle, const std::function<std::string()> &stuck) {
  for (bool backwards = false;; backwards = !backwards) { // in changing order, so that a missing wait shows
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
        return failure;
      all &= fiber.ended;
    }
    if (all)
      return "";
    if (!moved && !idle())
      return stuck();
  }
}

} // namespace tilery::emulator
