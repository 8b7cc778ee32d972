#include "shared_memory.h"
#include <cstring>

namespace tilery::emulator {

static constexpr uint32_t guardBytes = 256;

void SharedMemory::make(uint32_t bytes) {
  size = bytes;
  uint32_t all = (bytes + guardBytes + 1023) / 1024 * 1024;
  memory.reset(static_cast<char *>(std::aligned_alloc(1024, all)));
  std::memset(memory.get(), undefinedByte, all);
  barriers.clear();
  shadow = {};
}

bool SharedMemory::overrun() const {
  for (uint32_t i = size; i < size + guardBytes; ++i)
    if (memory.get()[i] != undefinedByte)
      return true;
  return false;
}

} // namespace tilery::emulator
