#pragma once
// One relocatable ELF object, placed in memory and linked.
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace tilery {

struct CodeSymbol {
  std::string name;
  uint64_t address = 0;
  uint64_t size = 0;
};

/// Owns the pages: code is executable and never writable, constants are read-only.
class ElfCode {
public:
  /// Throws Error if the object cannot be linked (a symbol that does not exist, a relocation kind that code of ours never has).
  explicit ElfCode(std::string_view object);
  ~ElfCode();
  ElfCode(const ElfCode &) = delete;
  ElfCode &operator=(const ElfCode &) = delete;

  /// Address of a defined global symbol, 0 if there is none.
  uint64_t find(std::string_view name) const;
  bool holds(uint64_t address) const { return address - reinterpret_cast<uint64_t>(memory) < size; }
  const std::vector<CodeSymbol> &functions() const { return functions_; }
  /// The unwind tables, ended by a zero length; null if there are none.
  const void *unwindTables() const { return unwind; }
  /// The object with the address of each section filled in, as debuggers want it.
  const std::string &debugObject() const { return placed; }

private:
  void *memory = nullptr;
  uint64_t size = 0;
  const void *unwind = nullptr;
  std::vector<CodeSymbol> functions_;
  std::string placed;
};

} // namespace tilery
