#pragma once
// Integer index arithmetic as polynomials over what it cannot look into: where a tile starts as a row and a column of its tensor.
#include "compiler/ir/Tile.h"
#include <map>
#include <optional>
#include <vector>

namespace tilery::cuda {

/// A sum of products of IR values ("atoms": integers of any width, without wrapping) with i64 coefficients.
class Polynomial {
public:
  using Monomial = std::vector<const void *>; // sorted; opaque pointers of values, with repetition

  Polynomial() = default;
  explicit Polynomial(int64_t constant) {
    if (constant)
      terms[{}] = constant;
  }
  /// Looks through additions, subtractions and multiplications that do not wrap, and sign extensions.
  static Polynomial of(mlir::Value value);

  Polynomial operator+(const Polynomial &other) const { return combined(other, 1); }
  Polynomial operator-(const Polynomial &other) const { return combined(other, -1); }
  Polynomial operator*(const Polynomial &other) const;
  bool operator==(const Polynomial &other) const { return terms == other.terms; }

  bool isZero() const { return terms.empty(); }
  std::optional<int64_t> constant() const;
  /// The quotient q of terms divisible by `divisor` (one monomial) with *this == q * divisor + rest.
  Polynomial divided(const Polynomial &divisor, Polynomial &rest) const;
  /// *this == result * atom + rest, with no term of `rest` containing the atom.
  Polynomial coefficient(mlir::Value atom, Polynomial &rest) const;
  /// Every atom of every term satisfies the predicate.
  bool all(llvm::function_ref<bool(mlir::Value)> predicate) const;
  bool uses(mlir::Value atom) const {
    return !all([&](mlir::Value v) { return v != atom; });
  }

  std::map<Monomial, int64_t> terms;

private:
  Polynomial combined(const Polynomial &other, int64_t factor) const;
};

} // namespace tilery::cuda
