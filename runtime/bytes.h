#pragma once
// Plain little-endian serialisation.
#include "tilery/diagnostic.h"
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

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
  /// write(element) for each, behind their number.
  template <typename Values, typename Write> void list(const Values &values, Write write) {
    number<uint64_t>(values.size());
    for (const auto &value : values)
      write(value);
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
  /// What ByteWriter::list wrote: read(element) fills each in. Each takes at least one byte, so there are no more than what is left.
  template <typename Value, typename Read> void list(std::vector<Value> &values, Read read) {
    auto count = number<uint64_t>();
    if (count > rest.size())
      fail();
    values.resize(count);
    for (Value &value : values)
      read(value);
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
