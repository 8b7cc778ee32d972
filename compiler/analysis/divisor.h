#pragma once
// Powers of two that are known to divide scalars: what vector accesses need to know of addresses and bounds.
#include "compiler/analysis/index_polynomial.h"

namespace tilery::analysis {

/// The largest power of two (at most 256) that surely divides an integer, or the address in bytes of a pointer. Both are scalars; wrapping
/// arithmetic keeps such factors.
int64_t divisorOf(mlir::Value scalar);
/// As above, of every value that the polynomial takes.
int64_t divisorOf(const IndexPolynomial &polynomial);

} // namespace tilery::analysis
