#pragma once
// Integer index arithmetic of the IR as polynomials over the values that it cannot look into.
#include "compiler/analysis/integer_op.h"
#include "compiler/analysis/polynomial.h"

namespace tilery::analysis {

/// Order of definition in the program's text, so that what is emitted term by term is the same in every run.
struct DefinedBefore {
  bool operator()(mlir::Value a, mlir::Value b) const;
};
/// Atoms are integers of any width, signed.
using IndexPolynomial = Polynomial<mlir::Value, DefinedBefore>;

/// A scalar, or what each lane of a tile holds (its atoms are then scalars and tiles of the same shape).
IndexPolynomial polynomialOf(mlir::Value value, Wrapping wrapping = Wrapping::none);

} // namespace tilery::analysis
