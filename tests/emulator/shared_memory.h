#pragma once
// A block's shared memory, and who accessed it.
#include "races.h"
#include <cstdint>
#include <cstdlib>
#include <map>
#include <memory>
#include <string>
#include <vector>

namespace tilery::emulator {

constexpr uint32_t firstAddress = 1024;    // of a block's shared memory, as i32
constexpr char undefinedByte = char(0xE7); // what memory holds that nobody has written

/// A barrier that counts arrivals and bytes.
struct CountingBarrier {
  uint32_t arrivals = 0, outstanding = 0; // of a phase
  int64_t bytes = 0;                      // to come
  uint64_t phase = 0;                     // how many are complete
  uint32_t maker = 0;
  bool shown = false; // to the copy engine
  Channel channel;    // of those that arrive
  Known known;        // whoever has waited
  uint32_t agent = 0; // what brings bytes; its time are phases
};

class SharedMemory {
public:
  void make(uint32_t bytes);
  /// What a thread wrote behind the end of the memory that it asked for: true.
  bool overrun() const;
  char *at(uint32_t place) { return memory.get() + place; }
  uint32_t bytes() const { return size; }

  std::map<uint32_t, CountingBarrier> barriers; // by place
  Shadow shadow;

private:
  std::unique_ptr<char, void (*)(void *)> memory{nullptr, std::free};
  uint32_t size = 0;
};

} // namespace tilery::emulator
