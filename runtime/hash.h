#pragma once
// Hashes of bytes on disk. Not for secrets: nobody who can write the cache folder needs a collision.
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace tilery {
/// XXH3, 64 bits: finds damage.
uint64_t checksum(std::string_view bytes);
constexpr size_t digestDigits = 32;
/// XXH3, 128 bits, as so many hex digits: a name.
std::string digest(std::string_view bytes);
} // namespace tilery
