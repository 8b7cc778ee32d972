#pragma once
// Where a compilation is: its steps, which it may be interrupted between, and what they cost.
#include "tilery/guarded.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/ADT/StringRef.h"
#include <functional>
#include <memory>
#include <string>

namespace mlir {
class PassInstrumentation;
}
namespace llvm {
class Function;
class PassInstrumentationCallbacks;
} // namespace llvm

namespace tilery {

/// One compilation on the calling thread, from its construction to its end.
class Progress {
public:
  /// interrupted: whether to end, asked every 50 ms or so; may be empty.
  Progress(std::function<bool()> interrupted, std::string kernel);
  ~Progress();
  Progress(const Progress &) = delete;

  /// The calling thread's compilation, if there is one, comes to the next step, for `function` where LLVM has one. Asks whether to go on, and
  /// says once on stderr what a long one spends its time on. Throws Interrupted, through frames of MLIR and LLVM: they own nothing but memory
  /// between two passes.
  static void step(llvm::StringRef name, const llvm::Function *function = nullptr);
  const std::string &current() const { return name; }
  /// What is said of one that takes long: nanoseconds so far, and those of them in which the thread ran. Where it ran for less than half,
  /// the machine is to blame, not the program.
  static std::string longText(const std::string &kernel, int64_t took, int64_t own, llvm::StringRef step, int64_t inStep,
                              unsigned instructions);

private:
  void next(llvm::StringRef name, const llvm::Function *function);
  void tell(int64_t took, const llvm::Function *function);

  std::function<bool()> interrupted;
  std::string kernel, name = "reading it";
  Progress *outer; ///< a signal's handler may compile between two steps
  const int64_t began, ownBegan;
  int64_t since, asked;
  bool told = false;
  llvm::StringMap<int64_t> spent; ///< nanoseconds, by step
  const void *stackOfPasses;      ///< LLVM's: what it names in its own reports
};

/// Makes a step of each pass of an MLIR pass manager.
std::unique_ptr<mlir::PassInstrumentation> passSteps();
/// Makes a step of each pass of LLVM's new pass managers.
void addSteps(llvm::PassInstrumentationCallbacks &callbacks);

} // namespace tilery
