#pragma once
// Faults in kernels are reported before the process ends.
#include "runtime/elf_code.h"
#include "tilery/guarded.h"

namespace tilery {
/// Installs the handler of SIGSEGV and SIGBUS once. It reports a fault in loaded code on stderr and leaves the rest to the
/// handler before it.
void watchCrashes();
/// The loaded code that holds `address`, or null; null, too, while code is being loaded or unloaded.
const ElfCode *codeAt(uint64_t address);
} // namespace tilery
