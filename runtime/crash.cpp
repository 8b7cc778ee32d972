#include "runtime/crash.h"
#include "tilery/crash_report.h"
#include <atomic>
#include <csignal>
#include <cstdio>
#include <mutex>
#include <ucontext.h>
#include <unistd.h>

namespace tilery {
namespace {
struct sigaction before[2];
constexpr int watched[2] = {SIGSEGV, SIGBUS};

std::atomic<SourceLineFinder> sourceLineFinder = nullptr;

/// The handler before ours meets the fault again when ours returns.
void handBack() {
  for (int i = 0; i < 2; ++i)
    sigaction(watched[i], &before[i], nullptr);
}

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
  text += "  hint: launch it with debug=True, which checks every access\n";
  [[maybe_unused]] ssize_t written = write(STDERR_FILENO, text.data(), text.size());
}

void onCrash(int signal, siginfo_t *info, void *state) {
  const bool sent = info->si_code <= 0; // by kill or raise, whatever runs
  uint64_t address = uint64_t(static_cast<ucontext_t *>(state)->uc_mcontext.gregs[REG_RIP]);
  static std::atomic<bool> reporting;
  if (const ElfCode *code = sent ? nullptr : codeAt(address)) {
    if (reporting.exchange(true))
      sleep(5); // another thread's report; the process ends with it
    else
      report(code, address, info);
  }
  handBack();
  if (sent) // no fault that comes again: the handler before ours meets it when ours returns
    raise(signal);
}
} // namespace

void setSourceLineFinder(SourceLineFinder finder) { sourceLineFinder = finder; }

void watchCrashes() {
  static std::once_flag once;
  std::call_once(once, [] {
    struct sigaction action = {};
    action.sa_sigaction = onCrash;
    action.sa_flags = SA_SIGINFO | SA_ONSTACK;
    sigemptyset(&action.sa_mask);
    for (int i = 0; i < 2; ++i)
      sigaction(watched[i], &action, &before[i]);
  });
}
} // namespace tilery
