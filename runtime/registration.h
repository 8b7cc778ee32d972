#pragma once
// Makes loaded code known to gdb, perf and the unwinder.
#include "runtime/elf_code.h"
#include <memory>

namespace tilery {
/// Registered from construction to destruction. `code` must outlive it.
class Registration {
public:
  explicit Registration(const ElfCode &code);
  ~Registration();
  Registration(const Registration &) = delete;

private:
  struct GdbEntry;
  const ElfCode &code;
  std::unique_ptr<GdbEntry> entry;
};
} // namespace tilery
