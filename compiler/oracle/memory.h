#pragma once
// Global memory as the oracle sees it: plain loads and stores, in debug mode with bounds, reads of unwritten bytes, and races.
#include "compiler/oracle/value.h"

namespace tilery::oracle {

class Memory {
public:
  explicit Memory(const Options &options);

  /// A program made a pointer of this integer. What lies outside every argument may be its own from then on: no error.
  void made(uint64_t address);
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
  bool hasOwn = false; // has the program pointers to memory that is no argument's?

  Block *find(uint64_t address, unsigned bytes);
  void noteStore(Block &block, uint64_t address, unsigned bytes, Kind kind, int64_t program, std::string &problem);
  std::string outside(uint64_t address, const char *what) const;
};

} // namespace tilery::oracle
