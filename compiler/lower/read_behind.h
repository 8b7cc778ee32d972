#pragma once
#include <cstdint>

namespace tilery::lower {

/// Bytes behind the scratch arena of a CPU's program that code may read and drop.
constexpr uint64_t readBehind = 64;

} // namespace tilery::lower
