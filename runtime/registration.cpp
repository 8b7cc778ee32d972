#include "runtime/registration.h"
#include "runtime/crash.h"
#include "runtime/fork.h"
#include "tilery/environment.h"
#include <algorithm>
#include <cstdio>
#include <mutex>
#include <unistd.h>
#include <vector>

// gdb's JIT interface: it puts a breakpoint on the function and reads the descriptor. Names and layout are gdb's.
// Weak, because a program that links LLVM's own JIT has LLVM's definitions, which then serve both.
extern "C" {
struct jit_code_entry {
  jit_code_entry *next_entry, *prev_entry;
  const char *symfile_addr;
  uint64_t symfile_size;
};
struct jit_descriptor {
  uint32_t version;
  uint32_t action_flag; // 0 none, 1 register, 2 unregister
  jit_code_entry *relevant_entry, *first_entry;
};
__attribute__((visibility("protected"), weak, noinline, used)) void __jit_debug_register_code() { asm volatile("" ::: "memory"); }
__attribute__((visibility("protected"), weak, used)) jit_descriptor __jit_debug_descriptor = {1, 0, nullptr, nullptr};

// libgcc's, one object's .eh_frame at a time.
void __register_frame(const void *);
void __deregister_frame(const void *);
}

namespace tilery {
struct Registration::GdbEntry : jit_code_entry {};

namespace {
std::mutex registrationMutex;
[[maybe_unused]] const bool forkable = freeAcrossFork<registrationMutex>();
// Made before any signal handler can ask for it, and never destroyed: code may be loaded while the process exits.
[[clang::no_destroy]] constinit std::vector<const ElfCode *> loadedCode;

void tellGdb(uint32_t action, jit_code_entry *entry) {
  __jit_debug_descriptor.action_flag = action;
  __jit_debug_descriptor.relevant_entry = entry;
  __jit_debug_register_code();
  __jit_debug_descriptor.action_flag = 0;
  __jit_debug_descriptor.relevant_entry = nullptr;
}

void writePerfMap(const ElfCode &code) {
  if (!environmentSwitch("TILERY_PERF"))
    return;
  // The place and the format are perf's.
  std::string path = "/tmp/perf-" + std::to_string(getpid()) + ".map";
  if (FILE *file = std::fopen(path.c_str(), "ae")) {
    for (const CodeSymbol &function : code.functions())
      std::fprintf(file, "%llx %llx %s\n", (unsigned long long)function.address, (unsigned long long)function.size,
                   function.name.c_str());
    std::fclose(file);
  }
}
} // namespace

const ElfCode *codeAt(uint64_t address) {
  // Asked by a signal handler: the lock may be held for ever by the thread that stands below it.
  std::unique_lock lock(registrationMutex, std::defer_lock);
  for (int tries = 0; tries < 100 && !lock.try_lock(); ++tries)
    usleep(1000);
  if (lock)
    for (const ElfCode *code : loadedCode)
      if (code->holds(address))
        return code;
  return nullptr;
}

Registration::Registration(const ElfCode &code) : code(code), entry(std::make_unique<GdbEntry>()) {
  watchCrashes();
  std::lock_guard lock(registrationMutex);
  if (code.unwindTables())
    __register_frame(code.unwindTables());
  entry->symfile_addr = code.debugObject().data();
  entry->symfile_size = code.debugObject().size();
  entry->prev_entry = nullptr;
  entry->next_entry = __jit_debug_descriptor.first_entry;
  if (entry->next_entry)
    entry->next_entry->prev_entry = entry.get();
  __jit_debug_descriptor.first_entry = entry.get();
  tellGdb(1, entry.get());
  writePerfMap(code);
  loadedCode.push_back(&code);
  watchCrashes();
}

Registration::~Registration() {
  std::lock_guard lock(registrationMutex);
  (entry->prev_entry ? entry->prev_entry->next_entry : __jit_debug_descriptor.first_entry) = entry->next_entry;
  if (entry->next_entry)
    entry->next_entry->prev_entry = entry->prev_entry;
  tellGdb(2, entry.get());
  std::erase(loadedCode, &code);
  if (code.unwindTables())
    __deregister_frame(code.unwindTables());
}
} // namespace tilery
