#include "compiler/progress.h"
#include "tilery/compilations.h"
#include "tilery/environment.h"
#include "tilery/spelling.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/IR/Function.h"
#include "llvm/IR/PassInstrumentation.h"
#include "llvm/Support/ErrorHandling.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/PrettyStackTrace.h"
#include "llvm/Support/raw_ostream.h"
#include "mlir/Pass/Pass.h"
#include "mlir/Pass/PassInstrumentation.h"
#include <chrono>
#include <ctime>

namespace tilery {
namespace {
constexpr int64_t oftenNanoseconds = 50'000'000;
constexpr int64_t longNanoseconds = 5'000'000'000;

thread_local Progress *running = nullptr;

/// Deeper than any stack; the compiler must not see through it.
__attribute__((noinline, optnone)) uint64_t overflow(uint64_t depth) {
  volatile uint64_t frame[64] = {depth};
  return depth ? overflow(depth - 1) + frame[depth % 64] : 0;
}

/// TILERY_CRASH="fault STEP" ("abort STEP", "exit STEP", "overflow STEP"): for tests of what comes after.
void crashWhereAsked(llvm::StringRef step) {
  static const std::string asked = environmentText("TILERY_CRASH").value_or("");
  if (asked.empty())
    return;
  auto [how, where] = llvm::StringRef(asked).split(' ');
  if (where != step)
    return;
  if (how == "abort")
    llvm::report_fatal_error("asked for");
  if (how == "exit")
    llvm::reportFatalUsageError("asked for");
  if (how == "overflow")
    overflow(~uint64_t(0));
  *reinterpret_cast<volatile int *>(uintptr_t(how.size())) = 1;
}

int64_t nowNanoseconds() { return std::chrono::steady_clock::now().time_since_epoch().count(); }

/// In which the calling thread ran.
int64_t ownNanoseconds() {
  timespec time{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return time.tv_sec * int64_t(1'000'000'000) + time.tv_nsec;
}

std::string seconds(int64_t nanoseconds) {
  std::string text;
  llvm::raw_string_ostream(text) << llvm::format("%.1f", double(nanoseconds) / 1e9) << " s";
  return text;
}
} // namespace

Progress::Progress(std::function<bool()> interrupted, std::string kernel)
    : interrupted(std::move(interrupted)), kernel(std::move(kernel)), outer(running), began(nowNanoseconds()),
      ownBegan(ownNanoseconds()), since(began), asked(began), stackOfPasses(llvm::SavePrettyStackState()) {
  running = this;
}

Progress::~Progress() {
  running = outer;
  llvm::RestorePrettyStackState(stackOfPasses); // after an exception it names frames that are gone
}

void Progress::step(llvm::StringRef name, const llvm::Function *function) {
  if (running)
    running->next(name, function);
}

void Progress::next(llvm::StringRef following, const llvm::Function *function) {
  int64_t now = nowNanoseconds();
  spent[name] += now - since;
  since = now;
  name = following.str();
  crashWhereAsked(following);
  Compiling::parkAtEnd();
  if (now - began > longNanoseconds && !std::exchange(told, true))
    tell(now - began, function);
  if (!interrupted || now - asked < oftenNanoseconds)
    return;
  bool ends;
  {
    Unguarded handlers;
    ends = interrupted();
  }
  asked = nowNanoseconds();
  if (ends)
    throw Interrupted();
}

std::string Progress::longText(const std::string &kernel, int64_t took, int64_t own, llvm::StringRef step, int64_t inStep,
                               unsigned instructions) {
  std::string text = "tilery: compiling " + kernel + " takes long: " + seconds(took) + " so far, ";
  if (own < took / 2)
    return text + "in which it had a processor for " + seconds(own) + ": the machine is busy\n";
  text += seconds(inStep) + " of it for \"" + step.str() + '"';
  if (instructions)
    text += "; LLVM is at a function of " + std::to_string(instructions) + " instructions";
  return text + "\n  hint: less of it where loops are unrolled (" + spelling().unrolled + ") or tiles unpacked into scalars\n";
}

void Progress::tell(int64_t took, const llvm::Function *function) {
  auto longest = std::max_element(spent.begin(), spent.end(), [](auto &a, auto &b) { return a.second < b.second; });
  llvm::errs() << longText(kernel, took, ownNanoseconds() - ownBegan, longest->first(), longest->second,
                           function ? function->getInstructionCount() : 0);
}

namespace {
struct PassSteps : mlir::PassInstrumentation {
  void runBeforePass(mlir::Pass *pass, mlir::Operation *) override {
    Progress::step(pass->getArgument().empty() ? pass->getName() : pass->getArgument());
  }
};
} // namespace

std::unique_ptr<mlir::PassInstrumentation> passSteps() { return std::make_unique<PassSteps>(); }

void addSteps(llvm::PassInstrumentationCallbacks &callbacks) {
  callbacks.registerBeforeNonSkippedPassCallback([](llvm::StringRef pass, llvm::Any ir) {
    const llvm::Function *const *function = llvm::any_cast<const llvm::Function *>(&ir);
    Progress::step(("LLVM: " + pass).str(), function ? *function : nullptr);
  });
}

} // namespace tilery
