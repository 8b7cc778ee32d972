#pragma once
// The dimensions of a separable access one by one: steps, bounds and conditions as polynomials.
#include "compiler/analysis/sign.h"

namespace tilery::block {
using analysis::IndexPolynomial;

/// One tile dimension: lane i adds i * step to the offset.
struct AccessLine {
  unsigned tile = 0; // the dimension's number
  int64_t size = 0;
  IndexPolynomial step;
  /// Lane i exists for lower <= i < upper; nothing: no such bound, as far as the tile reaches.
  std::optional<IndexPolynomial> lower, upper;
  /// Lane i is number (wrapped + i) of so many rows, of which those behind the last may hold anything.
  std::optional<IndexPolynomial> wrapped, rows;
};

struct AccessLines {
  llvm::SmallVector<AccessLine, 4> lines;      // of the tile dimensions that have more than one lane
  llvm::SmallVector<IndexPolynomial> notBelow; // no lane exists where one of these is negative
  /// What the host knows, and what must divide it, or lanes are others.
  llvm::SmallVector<std::pair<IndexPolynomial, int64_t>> multiples;
};

/// Nothing where bounds are of another form; `why` says which. `live` as for findBox.
std::optional<AccessLines> linesOf(tile::AccessOp access, llvm::ArrayRef<mlir::Value> live, std::string &why);

} // namespace tilery::block
