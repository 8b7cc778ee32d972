#pragma once
// Global memory as the oracle sees it: plain loads and stores, in debug mode with bounds, reads of unwritten bytes, and races.
#include "compiler/oracle/races.h"
#include "compiler/oracle/value.h"

namespace tilery::oracle {

class Memory {
public:
  explicit Memory(const Options &options);

  /// What debug mode has against an access, in the user's words; of nothing: nothing.
  struct Problem {
    std::string text, hint;
  };
  /// One element; `program`: the linear id of who reads.
  void load(Tile &to, int64_t lane, uint64_t address, mlir::Operation *op, AccessKind kind, int64_t program, Problem &problem);
  /// True in debug mode if the element has other bits now.
  bool store(uint64_t address, const Tile &value, int64_t lane, mlir::Operation *op, AccessKind kind, int64_t program,
             Problem &problem);
  /// "element 3 of 'x'"; of all arguments that the address belongs to, first the one that the op goes through.
  std::string nameOf(uint64_t address, mlir::Operation *op) const;
  std::string argumentAt(uint64_t address) const;

  void acquire(uint64_t address, int64_t program);
  void release(uint64_t address, int64_t program);
  Races races;

private:
  struct Block {
    Allocation allocation;
    unsigned step = 1;            // bytes of a cell
    std::vector<Cell> cells;      // empty: nothing was touched
    std::vector<uint8_t> written; // a flag a byte; empty: all written
  };
  const Options &options;
  std::vector<Block> blocks; // by address
  Block *last = nullptr;

  Block *find(uint64_t address, unsigned bytes);
  llvm::MutableArrayRef<Cell> cellsOf(Block &block, uint64_t first, unsigned bytes);
  std::string outside(uint64_t address, const char *what) const;
};

} // namespace tilery::oracle
