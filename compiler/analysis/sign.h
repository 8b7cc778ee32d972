#pragma once
// Which integers are never negative, and what a kernel's launch must keep for that.
#include "compiler/analysis/index_polynomial.h"

namespace tilery::analysis {

/// Whether the host can compute the polynomial at a launch: its atoms are arguments of a kernel and extents of the grid.
bool hostKnows(const IndexPolynomial &polynomial);
bool hostKnows(const IndexPolynomial::Monomial &monomial);

/// Answers from the ranges of program ids, counters and arithmetic. Where an answer hangs on arguments it is yes, and what they must keep is
/// among the assumptions.
class SignAnalysis {
public:
  /// True if no value of the scalar is negative. A quotient counts as such if its dividend does, whatever is known of the divisor: a program
  /// that divides by a negative number of tiles has no tiles there. What loops carry does not wrap, as addresses do not.
  bool notNegative(mlir::Value scalar);
  bool notNegative(const IndexPolynomial &polynomial);
  /// Polynomials that the host knows, and that must not be negative.
  const llvm::SmallVector<IndexPolynomial> &assumptions() const { return assumed; }

private:
  bool atom(mlir::Value scalar);
  bool assume(const IndexPolynomial &value);
  bool byTerms(const IndexPolynomial &polynomial);
  bool carried(mlir::BlockArgument argument);
  /// By what the smaller of two numbers, a remainder, or the number of a loop's turn is at least, or at most.
  bool byBounds(const IndexPolynomial &polynomial);

  llvm::SmallVector<IndexPolynomial> assumed;
  llvm::SmallDenseSet<mlir::Value, 4> believed; // carried, while what a loop's turn makes of them is looked at
  Wrapping wrapping = Wrapping::none;
  unsigned depth = 0, bounded = 0;
};

} // namespace tilery::analysis
