// Where a scalar value of a parallel body sits in the loop box: a sum of constant multiples of the loop variables.
#pragma once
#include "compiler/ir/Tile.h"
#include <map>

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

/// A value that is a quotient or a rest by a constant: `i // 8`, `i % 8`, `i >> 3`, `i & 7`. Of numbers that are not negative, rounding
/// and signs make no difference.
struct Division {
  mlir::Value number;
  int64_t by;
  bool quotient;
};
std::optional<Division> divisionOf(mlir::Value value);

/// Decomposes integers of a body that runs over the box 0 <= i_d < extents[d].
/// `uniform` gives the value outside the body for one that is the same at all points, else null.
class AffineReader {
public:
  AffineReader(mlir::OpBuilder &b, llvm::ArrayRef<int64_t> extents, std::function<mlir::Value(mlir::Value)> uniform)
      : b(b), extents(extents), uniform(std::move(uniform)) {}

  /// Says what a value of the body is.
  void know(mlir::Value value, Affine form) { known[value] = std::move(form); }
  void forget(mlir::Value value) { known.erase(value); }
  /// The position along a dimension.
  Affine position(unsigned d) const;
  /// Only points with this position along a dimension are meant, until `release`.
  void fix(unsigned d, int64_t position) { fixed[d] = position; }
  void release(unsigned d) { fixed.erase(d); }
  std::optional<int64_t> fixedAt(unsigned d) const {
    auto found = fixed.find(d);
    return found == fixed.end() ? std::nullopt : std::optional(found->second);
  }
  bool hasFixed() const { return !fixed.empty(); }
  /// One dimension more, and less.
  void grow(int64_t extent) { extents.push_back(extent); }
  void shrink() { extents.pop_back(); }

  std::optional<Affine> read(mlir::Value value);

private:
  std::optional<Affine> combine(mlir::Value value);
  std::optional<Affine> divide(mlir::Value value);
  bool fits(const Affine &value, mlir::Type type) const;
  Affine withFixed(Affine value) const;

  mlir::OpBuilder &b;
  llvm::SmallVector<int64_t> extents;
  std::function<mlir::Value(mlir::Value)> uniform;
  llvm::DenseMap<mlir::Value, Affine> known;
  std::map<unsigned, int64_t> fixed;
};

} // namespace tilery
