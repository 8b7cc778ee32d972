// Where a scalar value of a parallel body sits in the loop box: a sum of constant multiples of the loop variables.
#pragma once
#include "compiler/ir/Tile.h"

namespace tilery {

/// value = sum of coefficients[d] * i_d + base + constant, in i64 without wrapping.
struct Affine {
  llvm::SmallVector<int64_t> coefficients; // one per loop variable
  mlir::Value base;                        // i64, the same for all iterations; null: 0
  int64_t constant = 0;

  bool isUniform() const;
  /// The only loop variable, if there is exactly one, with coefficient 1.
  std::optional<unsigned> walks() const;
  /// base + constant as an i64 value.
  mlir::Value start(mlir::OpBuilder &b, mlir::Location loc) const;
};

/// Decomposes integers of a body whose loop variables are `loopVars`, which run over 0 <= i_d < extents[d].
/// `uniform` gives the value outside the body for one that is the same in all iterations, else null.
class AffineReader {
public:
  AffineReader(mlir::OpBuilder &b, mlir::ValueRange loopVars, llvm::ArrayRef<int64_t> extents,
               std::function<mlir::Value(mlir::Value)> uniform)
      : b(b), loopVars(loopVars), extents(extents), uniform(std::move(uniform)) {}

  std::optional<Affine> read(mlir::Value value);

private:
  std::optional<Affine> combine(mlir::Value value);
  bool fits(const Affine &value, mlir::Type type) const;

  mlir::OpBuilder &b;
  mlir::ValueRange loopVars;
  llvm::ArrayRef<int64_t> extents;
  std::function<mlir::Value(mlir::Value)> uniform;
};

} // namespace tilery
