#pragma once
// Cooperative threads: one runs at a time, and waits name the condition that ends them.
#include <functional>
#include <memory>
#include <vector>

namespace tilery::oracle {

class Scheduler {
public:
  Scheduler();
  ~Scheduler();

  /// Adds a fiber. It runs whenever someone waits.
  void spawn(std::function<void()> body);
  /// Lets others run until `condition` holds. Throws Deadlock if it never can. An exception that leaves a fiber is thrown from the
  /// wait of the code that is no fiber.
  void waitUntil(const std::function<bool()> &condition);
  /// Lets every other fiber that can run make a step.
  void yield();
  /// Calls `errand` on the stack of the code that is no fiber, where it may throw.
  void outside(const std::function<void()> &errand);

  struct Deadlock {};

private:
  struct Fiber;
  struct State;
  std::unique_ptr<State> state;
  static void enter(unsigned high, unsigned low);
  void runOthersUntil(const std::function<bool()> &condition);
};

} // namespace tilery::oracle
