#pragma once
// Threads that take turns on one processor. Each waits for a condition of its own; a condition that cannot come true is reported.
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

  /// Runs all to their ends. `idle` is asked when none can go on: false if that changes nothing. Gives what went wrong: what `fail` was
  /// told, or what `stuck` says of the fibers that wait for ever.
  std::string run(const std::function<bool()> &idle, const std::function<std::string()> &stuck);

  // -- by a fiber
  /// Lets others run until `over` holds. `what`, what it waits for, is asked in a deadlock only.
  void wait(std::function<bool()> over, std::function<std::string()> what);
  /// Ends the run.
  [[noreturn]] void fail(std::string message);

  // -- of a fiber that waits; empty: it has ended
  std::string waitsFor(unsigned fiber) const;

private:
  struct Fiber {
    std::function<bool()> over; // empty: ready
    std::function<std::string()> what;
    jmp_buf state;
    bool begun = false, ended = false;
  };
  void resume(unsigned number);
  void back();
  static void enter(unsigned high, unsigned low);

  std::function<void(unsigned)> body;
  std::vector<Fiber> fibers;
  std::unique_ptr<char[]> stacks;
  jmp_buf scheduler;
  ucontext_t beginning; // left once a fiber's first stop is reached
  unsigned current = 0;
  std::string failure;
};

} // namespace tilery::emulator
