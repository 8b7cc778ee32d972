#include "runtime/crash.h"
#include "runtime/fork.h"
#include "runtime/processor.h"
#include "tilery/crash_report.h"
#include "tilery/spelling.h"
#include <atomic>
#include <csetjmp>
#include <csignal>
#include <cstdio>
#include <memory>
#include <mutex>
#include <unistd.h>
#include <utility>

namespace tilery {
namespace {
constexpr int watched[] = {SIGSEGV, SIGBUS, SIGABRT, SIGFPE, SIGILL, SIGTRAP};
constexpr size_t ofKernels = 2; // the first ones; guarded code may meet them all
struct sigaction before[std::size(watched)];
std::atomic<size_t> installed{0};

std::atomic<SourceLineFinder> sourceLineFinder = nullptr;

/// Code of a thread that may crash.
struct Guard {
  sigjmp_buf place;
  volatile int signal = 0;
};
thread_local Guard *guard = nullptr;

/// What handlers of a thread run on, for its own stack may have overflowed.
class SignalStack {
public:
  void use() {
    if (sigaltstack(nullptr, &replaced) || !(replaced.ss_flags & SS_DISABLE))
      return;
    if (!memory)
      memory = std::make_unique<char[]>(bytes);
    stack_t own{};
    own.ss_sp = memory.get();
    own.ss_size = bytes;
    sigaltstack(&own, nullptr);
  }
  void giveBack() {
    if (replaced.ss_flags & SS_DISABLE)
      sigaltstack(&replaced, nullptr);
  }

private:
  static constexpr size_t bytes = 64 << 10;
  std::unique_ptr<char[]> memory;
  stack_t replaced{};
};
thread_local SignalStack signalStack;

/// The handler before ours meets the fault again when ours returns.
void handBack() {
  for (size_t i = 0; i < installed; ++i)
    sigaction(watched[i], &before[i], nullptr);
}

/// A fault of what this thread does, or one that it raised itself (abort, or a handler that passes a fault on).
bool isOwn(const siginfo_t *info) { return info->si_code > 0 || (info->si_code == SI_TKILL && info->si_pid == getpid()); }

/// May allocate: the fault is in generated code, which never holds the allocator's locks.
void report(const ElfCode *code, uint64_t address, const siginfo_t *info) {
  std::string name = "?";
  for (const CodeSymbol &function : code->functions())
    if (address >= function.address && address < function.address + function.size)
      name = function.name;
  char where[64] = "";
  if (info->si_code != SI_KERNEL) // an address that no memory can have is not told
    std::snprintf(where, sizeof where, " (address %p)", info->si_addr);
  std::string text = "tilery: kernel " + name + " touched memory that is not there" + where + "\n";
  SourceLineFinder find = sourceLineFinder;
  if (std::string line = find ? find(code->debugObject(), address) : ""; !line.empty())
    text += "  at " + line + "\n";
  text += std::string("  hint: ") + spelling().checked + "\n";
  [[maybe_unused]] ssize_t written = write(STDERR_FILENO, text.data(), text.size());
}

void onCrash(int signal, siginfo_t *info, void *state) {
  if (guard && isOwn(info)) {
    Guard *left = std::exchange(guard, nullptr);
    left->signal = signal;
    siglongjmp(left->place, 1);
  }
  const bool sent = info->si_code <= 0; // by kill or raise, whatever runs
  const bool badAccess = signal == SIGSEGV || signal == SIGBUS;
  uint64_t address = interruptedAt(state);
  static std::atomic<bool> reporting;
  if (const ElfCode *code = sent || !badAccess ? nullptr : codeAt(address)) {
    if (reporting.exchange(true))
      sleep(5); // another thread's report; the process ends with it
    else
      report(code, address, info);
  }
  handBack();
  if (sent) // no fault that comes again: the handler before ours meets it when ours returns
    raise(signal);
}

std::mutex watching;
[[maybe_unused]] const bool forkable = freeAcrossFork<watching>();

void watch(size_t count) {
  std::lock_guard lock(watching);
  struct sigaction action = {};
  action.sa_sigaction = onCrash;
  action.sa_flags = SA_SIGINFO | SA_ONSTACK;
  sigemptyset(&action.sa_mask);
  for (; installed < count; ++installed)
    sigaction(watched[installed], &action, &before[installed]);
}
} // namespace

void setSourceLineFinder(SourceLineFinder finder) { sourceLineFinder = finder; }

void watchCrashes() {
  if (installed < ofKernels)
    watch(ofKernels);
}

int guarded(const std::function<void()> &work) {
  if (installed < std::size(watched))
    watch(std::size(watched));
  struct Frame {
    Guard own;
    Guard *outer = guard;
    Frame() { signalStack.use(); }
    ~Frame() {
      guard = outer;
      if (!outer)
        signalStack.giveBack();
    }
  } frame;
  if (sigsetjmp(frame.own.place, /*savemask=*/1))
    return frame.own.signal;
  guard = &frame.own;
  work();
  return 0;
}

Unguarded::Unguarded() : outer(std::exchange(guard, nullptr)) {}
Unguarded::~Unguarded() { guard = static_cast<Guard *>(outer); }
} // namespace tilery
