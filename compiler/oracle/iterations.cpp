#include "compiler/oracle/iterations.h"

namespace tilery::oracle {

std::string Iterations::textOf(int64_t iteration) const {
  std::string text;
  for (int64_t extent : llvm::reverse(extents)) {
    text = std::to_string(iteration % extent) + (text.empty() ? "" : ", ") + text;
    iteration /= extent;
  }
  return extents.size() == 1 ? text : "(" + text + ")";
}

std::string Iterations::meeting(int64_t other, const char *does) const {
  return other < 0 ? std::string() : "which iteration " + textOf(other) + " " + does;
}

std::string Iterations::read(uint64_t address, AccessKind kind) {
  Cell &cell = cells[address];
  int64_t writer = races.writerBesideRead(cell, now, kind);
  races.read(cell, now, kind);
  return meeting(writer, "writes: the result depends on which runs first");
}

std::string Iterations::write(uint64_t address, AccessKind kind, bool changes) {
  Cell &cell = cells[address];
  int64_t writer = races.writerBesideWrite(cell, now, kind, changes), reader = races.readerBesideWrite(cell, now, kind, changes);
  races.write(cell, now, kind, changes);
  return writer >= 0 ? meeting(writer, "also writes: the result depends on which runs last")
                     : meeting(reader, "reads: the result depends on which runs first");
}

} // namespace tilery::oracle
