#pragma once
// Runs the blocks of a launch, whatever has made their code and their arguments.
#include "block.h"
#include "runtime/elf_code.h"

namespace tilery::emulator {

/// What the machine's code says of a kernel, beside what its launch needs to know anyway.
struct CodeFacts {
  uint32_t maps, arguments, registers; // registers: of a thread, as the launch gives them
  uint32_t reports;                    // whether it has some
  uint64_t workspaceBytes;             // of a block
};
/// The function that tells them has this behind the kernel's name.
constexpr char factsSuffix[] = ".facts";
CodeFacts factsOf(const ElfCode &code, const std::string &kernel);

/// The emulator's functions that code calls are found by how far they are from this one.
inline const char *firstFunction() { return reinterpret_cast<const char *>(&barrier); }

struct Launch {
  void (*entry)(Thread *) = nullptr;
  unsigned threads = 0, sharedBytes = 0, cluster = 1, registers = 0;
  uint64_t workspaceBytes = 0;
  Timing timing = Timing::CopiesAtOnce;
  bool watches = false; // for races; the code must have been made so (watchAccesses)
  Thread like{};        // arguments, grid, number of blocks, and the first block's workspace, as each thread has them
};
/// Runs the clusters one after the other, and together where one does not end alone. Gives what went wrong, "" if nothing.
std::string run(const Launch &launch);

} // namespace tilery::emulator
