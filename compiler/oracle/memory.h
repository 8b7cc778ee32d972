#pragma once
// Global memory as the oracle sees it: plain loads and stores, in debug mode with bounds, reads of unwritten bytes, and races.
#include "compiler/oracle/value.h"

namespace tilery::oracle {

class Memory {
public:
  explicit Memory(const Options &options);

  /// One element. `problem` receives what debug mode has against it, in the user's words; empty: nothing.
  void load(Tile &to, int64_t lane, uint64_t address, mlir::Operation *op, std::string &problem);
  enum class Kind { Plain, Atomic };
  /// `program`: the linear id of the program that writes.
  void store(uint64_t address, const Tile &value, int64_t lane, Kind kind, int64_t program, std::string &problem);

private:
  struct Block {
    Allocation allocation;
    std::vector<int32_t> writer;  // program id + 1 of the last plain write of each byte
    std::vector<uint8_t> written; // a flag a byte; empty: all written
  };
  const Options &options;
  std::vector<Block> blocks; // by address
  Block *last = nullptr;

  Block *find(uint64_t address, unsigned bytes);
  std::string outside(uint64_t address, const char *what) const;
};

} // namespace tilery::oracle
