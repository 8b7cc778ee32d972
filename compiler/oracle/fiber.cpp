#include "compiler/oracle/fiber.h"
#include <cstdint>
#include <exception>
#include <sys/mman.h>
#include <ucontext.h>

namespace tilery::oracle {

static constexpr size_t stackBytes = 512 * 1024; // of address space: pages are taken when touched

struct Scheduler::Fiber {
  std::function<void()> body;
  std::function<bool()> condition; // empty: ready
  ucontext_t context;
  void *stack = nullptr;
  Scheduler *owner = nullptr;
  bool done = false;
  ~Fiber() {
    if (stack)
      munmap(stack, stackBytes);
  }
};

struct Scheduler::State {
  std::vector<std::unique_ptr<Fiber>> fibers;
  Fiber *current = nullptr; // null: the code that made the scheduler
  ucontext_t outside;
  std::exception_ptr failure;
};

Scheduler::Scheduler() : state(std::make_unique<State>()) {}
Scheduler::~Scheduler() = default; // fibers that never finished (after a failure) are dropped with their stacks

void Scheduler::enter(unsigned high, unsigned low) {
  auto *fiber = reinterpret_cast<Fiber *>((uintptr_t(high) << 32) | low);
  try {
    fiber->body();
  } catch (...) {
    fiber->owner->state->failure = std::current_exception();
  }
  fiber->done = true;
  swapcontext(&fiber->context, &fiber->owner->state->outside);
}

void Scheduler::spawn(std::function<void()> body) {
  auto fiber = std::make_unique<Fiber>();
  fiber->body = std::move(body);
  fiber->owner = this;
  fiber->stack = mmap(nullptr, stackBytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (fiber->stack == MAP_FAILED) {
    fiber->stack = nullptr;
    throw std::bad_alloc();
  }
  getcontext(&fiber->context);
  fiber->context.uc_stack.ss_sp = fiber->stack;
  fiber->context.uc_stack.ss_size = stackBytes;
  fiber->context.uc_link = nullptr;
  auto address = reinterpret_cast<uintptr_t>(fiber.get());
  makecontext(&fiber->context, reinterpret_cast<void (*)()>(&Scheduler::enter), 2, unsigned(address >> 32), unsigned(address));
  state->fibers.push_back(std::move(fiber));
}

void Scheduler::waitUntil(const std::function<bool()> &condition) {
  if (condition())
    return;
  Fiber *self = state->current;
  if (!self)
    return runOthersUntil(condition);
  self->condition = condition;
  swapcontext(&self->context, &state->outside);
}

void Scheduler::yield() {
  if (!state->current)
    return;
  bool first = true;
  waitUntil([first]() mutable { return !std::exchange(first, false); });
}

void Scheduler::outside(const std::function<void()> &errand) {
  if (!state->current)
    return errand();
  bool first = true; // a wait's condition is asked outside from the second time on
  waitUntil([first, &errand]() mutable {
    if (std::exchange(first, false))
      return false;
    errand();
    return true;
  });
}

void Scheduler::runOthersUntil(const std::function<bool()> &condition) {
  while (!condition()) {
    bool progress = false;
    for (size_t i = 0; i < state->fibers.size(); ++i) { // fibers may spawn fibers
      Fiber *fiber = state->fibers[i].get();
      if (fiber->done || (fiber->condition && !fiber->condition()))
        continue;
      progress = true;
      fiber->condition = nullptr;
      state->current = fiber;
      swapcontext(&state->outside, &fiber->context);
      state->current = nullptr;
      if (state->failure)
        std::rethrow_exception(std::exchange(state->failure, nullptr));
    }
    std::erase_if(state->fibers, [](auto &fiber) { return fiber->done; });
    if (!progress && !condition())
      throw Deadlock();
  }
}

} // namespace tilery::oracle
