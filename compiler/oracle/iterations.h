#pragma once
// Which iterations of a tile.parallel meet at an element: they have no order, so that one may not read or change what another writes.
#include "compiler/oracle/races.h"
#include "compiler/oracle/value.h"

namespace tilery::oracle {

class Iterations {
public:
  explicit Iterations(Shape extents) : extents(std::move(extents)) {}
  /// Goes on as the next one.
  void next() { races.end(now++); }

  /// Notes an access of the element at `address`, in arguments or in a buffer; returns what another iteration does there that makes the
  /// result depend on their order, in the user's words; of nothing: nothing. Accesses of one element begin at one address.
  std::string read(uint64_t address, AccessKind kind);
  std::string write(uint64_t address, AccessKind kind, bool changes);
  /// "2", or in a nest "(0, 2)".
  std::string numberText() const { return textOf(now); }

private:
  Shape extents;
  int64_t now = -1;
  Races races; // a program there is an iteration here
  std::unordered_map<uint64_t, Cell> cells;

  std::string textOf(int64_t iteration) const;
  std::string meeting(int64_t other, const char *does) const;
};

} // namespace tilery::oracle
