#pragma once
// Threads that take turns on one processor. Each waits for a condition of its own; a condition that cannot come true is reported.
#include "llvm/ADT/STLFunctionalExtras.h"
#include <csetjmp>
#include <functional>
#include <memory>
#include <string>
#include <ucontext.h>
#include <vector>

namespace tilery::emulator {

class Fibers {
public:
  /// `body` is run by each of `count` fibers, which get their numbers. It must not throw.
  Fibers(unsigned count, std::function<void(unsigned)> body);
  ~Fibers();
  Fibers(const Fibers &) = delete;

  /// Lets each take its turn, at most `turns` times. `idle` is asked when none can go on: false if that changes nothing. True: all have
  /// ended, or something went wrong.
  bool run(unsigned turns, llvm::function_ref<bool()> idle, llvm::function_ref<std::string()> stuck);
  /// What went wrong: what `fail` was told, or what `stuck` says of the fibers that wait for ever. Empty: nothing.
  const std::string &wrong() const { return failure; }

  // -- by a fiber
  /// Lets others run until `over` holds. `what`, what it waits for, is asked in a deadlock only.
  void wait(llvm::function_ref<bool()> over, llvm::function_ref<std::string()> what);
  /// Ends the run.
  [[noreturn]] void fail(std::string message);

  // -- of a fiber that waits; empty: it has ended
  std::string waitsFor(unsigned fiber) const;

  struct Stacks {
    std::unique_ptr<char[]> memory;
    size_t bytes = 0;
  };

private:
  struct Fiber {
    llvm::function_ref<bool()> over; // empty: ready; both are on the fiber's own stack
    llvm::function_ref<std::string()> what;
    jmp_buf state;
    bool begun = false, ended = false;
  };
  void resume(unsigned number);
  void back();
  static void enter(unsigned high, unsigned low);

  std::function<void(unsigned)> body;
  std::vector<Fiber> fibers;
  Stacks stacks;
  bool backwards = false;
  jmp_buf scheduler;
  ucontext_t beginning; // left once a fiber's first stop is reached
  unsigned current = 0;
  std::string failure;
};

} // namespace tilery::emulator
