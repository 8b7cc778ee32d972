#include "compiler/oracle/unwritten.h"
#include <cstring>
#include <random>

namespace tilery::oracle {

const std::array<uint8_t, 16> &unwrittenPattern() {
  static const std::array<uint8_t, 16> pattern = [] {
    std::random_device random;
    std::array<uint8_t, 16> bytes;
    for (uint8_t &byte : bytes)
      byte = uint8_t(random() % 255 + 1); // no zeros, which memory holds more often than chance has it
    return bytes;
  }();
  return pattern;
}

void fillUnwritten(uint64_t address, uint64_t bytes) {
  const std::array<uint8_t, 16> &pattern = unwrittenPattern();
  auto *memory = reinterpret_cast<uint8_t *>(address);
  uint64_t i = 0;
  for (; i < bytes && (address + i) % 16; ++i)
    memory[i] = pattern[(address + i) % 16];
  for (; i + 16 <= bytes; i += 16)
    std::memcpy(memory + i, pattern.data(), 16);
  for (; i < bytes; ++i)
    memory[i] = pattern[(address + i) % 16];
}

} // namespace tilery::oracle
