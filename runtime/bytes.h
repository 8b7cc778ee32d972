#pragma once
// Plain little-endian serialisation.
#include "tilery/diagnostic.h"
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>
#include <type_traits>

namespace tilery {
class ByteWriter {
public:
  template <typename T> void number(T value) {
    static_assert(std::is_trivially_copyable_v<T>);
    bytes.append(reinterpret_cast<const char *>(&value), sizeof value);
  }
  void text(std::string_view value) {
    number<uint64_t>(value.size());
    bytes.append(value);
  }
  std::string bytes;
};

/// Throws Error when the bytes end early.
class ByteReader {
public:
  explicit ByteReader(std::string_view bytes) : rest(bytes) {}
  template <typename T> T number() {
    T value;
    std::memcpy(&value, take(sizeof value).data(), sizeof value);
    return value;
  }
  std::string_view text() { return take(number<uint64_t>()); }
  /// A count of things that take at least one byte each: cannot be more than what is left.
  uint64_t count() {
    auto value = number<uint64_t>();
    if (value > rest.size())
      fail();
    return value;
  }
  bool atEnd() const { return rest.empty(); }
  [[noreturn]] static void fail() { throw Error({Diagnostic::Kind::Runtime, "the compiled code is damaged", "", {}}); }

private:
  std::string_view take(uint64_t size) {
    if (size > rest.size())
      fail();
    std::string_view taken = rest.substr(0, size);
    rest.remove_prefix(size);
    return taken;
  }
  std::string_view rest;
};
} // namespace tilery
