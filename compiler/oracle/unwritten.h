#pragma once
// Memory that nobody has written holds a pattern of 16 random bytes while programs are debugged, so that reads of it are found whoever
// writes it, and copies of it are known for what they are.
#include <array>
#include <cstdint>

namespace tilery::oracle {

/// Of this process; byte `address % 16` of it lies at an address.
const std::array<uint8_t, 16> &unwrittenPattern();
void fillUnwritten(uint64_t address, uint64_t bytes);

/// Calls visit(begin, end), offsets from `address`, for each piece of up to 16 bytes that holds the pattern. A piece that is cut by an end
/// of the memory has at least 4 bytes: fewer could be anything.
template <typename F> void eachUnwritten(uint64_t address, uint64_t bytes, F visit) {
  const std::array<uint8_t, 16> &pattern = unwrittenPattern();
  for (uint64_t at = 0; at < bytes;) {
    uint64_t phase = (address + at) % 16, size = bytes - at < 16 - phase ? bytes - at : 16 - phase;
    if (size >= 4 && !__builtin_memcmp(reinterpret_cast<const void *>(address + at), pattern.data() + phase, size))
      visit(at, at + size);
    at += size;
  }
}

} // namespace tilery::oracle
