#pragma once
// Integer and pointer tiles as sums of one-dimensional terms: what raise-accesses looks for in address arithmetic.
#include "compiler/analysis/integer_op.h"

namespace tilery {

/// lane (i_0, ..) = base + offset + sum_d (i_d * steps[d] + vectors[d][i_d]). Null values stand for 0 (base: no pointer).
struct Separable {
  mlir::Value base;                          ///< scalar pointer
  mlir::Value offset;                        ///< i64
  llvm::SmallVector<mlir::Value, 3> steps;   ///< i64, one a dimension
  llvm::SmallVector<mlir::Value, 3> vectors; ///< tensor<N_d x i64>, one a dimension
  llvm::SmallVector<int64_t, 3> shape;

  bool dependsOn(unsigned dim) const { return steps[dim] || vectors[dim]; }
  /// True if all lanes are equal.
  bool isUniform() const;
};

/// Finds separable forms and makes the i64 values they consist of at the builder's insertion point, which every analysed value must dominate.
class SeparableAnalysis {
public:
  explicit SeparableAnalysis(mlir::OpBuilder &builder, mlir::Location loc) : b(builder), loc(loc) {}

  /// The separable form of an integer or pointer (tile), computed without wrapping where the ops say so; nullopt: there is none.
  std::optional<Separable> analyse(mlir::Value value);
  std::optional<Separable> subtract(const Separable &lhs, const Separable &rhs);

  // i64 arithmetic; null is 0; constants fold.
  mlir::Value constant(int64_t value);
  mlir::Value materialise(mlir::Value value);
  mlir::Value add(mlir::Value lhs, mlir::Value rhs);
  mlir::Value sub(mlir::Value lhs, mlir::Value rhs);
  mlir::Value mul(mlir::Value lhs, mlir::Value rhs);
  mlir::Value min(mlir::Value lhs, mlir::Value rhs);
  mlir::Value max(mlir::Value lhs, mlir::Value rhs);
  /// ceil(lhs / rhs) for a constant rhs > 0.
  mlir::Value ceilDiv(mlir::Value lhs, int64_t rhs);
  /// A scalar integer as i64 (signed), through chains that do not wrap.
  mlir::Value scalar(mlir::Value value);
  /// step * i + vector + offset along `dim` as tensor<N x i64>.
  mlir::Value lanes(const Separable &form, unsigned dim);
  /// A value of one dimension larger than 1 as a tile of rank 1.
  mlir::Value flatten(mlir::Value value);

private:
  std::optional<Separable> build(mlir::Value value);
  std::optional<Separable> reindexed(mlir::Operation *op, llvm::ArrayRef<int64_t> shape);
  std::optional<Separable> combine(const Separable &lhs, const Separable &rhs, bool negate);
  std::optional<Separable> scale(const Separable &form, mlir::Value factor);
  std::optional<Separable> carried(mlir::BlockArgument argument);
  std::optional<Separable> loopResult(mlir::OpResult result);
  std::optional<Separable> opaque(mlir::Value value);
  /// What one iteration adds to a carried value; nullopt: not a loop-invariant separable amount.
  std::optional<Separable> increment(mlir::scf::ForOp loop, unsigned index);
  /// The form with every part divided by a positive number; nullopt: some part is not known to divide by it.
  std::optional<Separable> dividedBy(const Separable &form, int64_t divisor);
  Separable uniform(mlir::Value value);
  Separable zero(llvm::ArrayRef<int64_t> shape);

  mlir::OpBuilder &b;
  mlir::Location loc;
  llvm::DenseMap<mlir::Value, std::optional<Separable>> known;
  unsigned depth = 0;
};

/// The constant that an i64 value holds in every lane; null is 0.
inline std::optional<int64_t> constantOf(mlir::Value value) { return value ? analysis::constantOf(value) : 0; }

} // namespace tilery
