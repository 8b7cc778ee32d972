#pragma once
// Counts in messages.
#include <cstdint>
#include <string>

namespace tilery {

/// "1 argument", "2 arguments".
inline std::string counted(uint64_t number, const std::string &noun) {
  return std::to_string(number) + " " + noun + (number == 1 ? "" : "s");
}

} // namespace tilery
