#pragma once
// Index polynomials back as code.
#include "compiler/analysis/index_polynomial.h"

namespace tilery::block {

/// The polynomial's value as an i64, at the builder's place; or its lower `bits`, 32. `valueOf` gives each atom there, as an integer of any
/// width.
mlir::Value placePolynomial(mlir::OpBuilder &builder, mlir::Location location, const analysis::IndexPolynomial &polynomial,
                            llvm::function_ref<mlir::Value(mlir::Value)> valueOf, unsigned bits = 64);

} // namespace tilery::block
