#pragma once
// What NVIDIA's assembler says beside its machine code.
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace tilery::cuda {

/// A kernel that keeps values in memory for want of registers.
struct Spill {
  std::string kernel;
  uint32_t storeBytes = 0, loadBytes = 0; ///< of the instructions that a thread's code has for it
  bool operator==(const Spill &) const = default;
};

/// The first line of the log that carries a code of the C75xx family, "(C7510) ...": the assembler has serialised matrix instructions or
/// ignored one of ours. Such code is right, and slower than it should be. Empty: there is none.
std::string gaveUpOn(std::string_view log);
/// Throws Error, where TILERY_VERIFY=1, with such a line: it is a defect of the code generator.
void checkGivenUp(const std::string &line);
/// The kernels of a verbose log that spill.
std::vector<Spill> spillsOf(std::string_view log);

} // namespace tilery::cuda
