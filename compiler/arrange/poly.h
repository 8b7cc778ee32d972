#pragma once
// Integer polynomials over names and opaque terms: the normal form in which index expressions are compared, split into lanes and bounded.
#include "tilery/arrange.h"

namespace tilery::arrange {

/// Known ranges of names, inclusive; a name without an entry is a size: at least 0.
struct Range {
  Symbol lower = 0;
  std::optional<Symbol> upper;
};
using Ranges = std::map<std::string, Range>;

class Poly {
public:
  /// Atoms by their text (equal atoms print equally), each as often as its exponent, in order.
  using Monomial = std::vector<std::string>;

  Poly(int64_t constant = 0);
  /// `ranges` let division and remainder by a larger divisor vanish.
  static Poly of(const Symbol &expr, const Ranges &ranges = {});

  Symbol symbol() const;
  std::optional<int64_t> constant() const;
  bool contains(const std::string &name) const;
  /// The factor of `name` if the polynomial is affine in it (and no opaque term hides it).
  std::optional<Poly> coefficient(const std::string &name) const;
  /// Without the monomials that hold `name`.
  Poly without(const std::string &name) const;
  /// Whether the value is at least 0 for every value the ranges allow. False: not known.
  bool isNonNegative(const Ranges &ranges) const;

  Poly operator+(const Poly &) const;
  Poly operator-(const Poly &) const;
  Poly operator*(const Poly &) const;
  bool operator==(const Poly &other) const { return terms == other.terms; }

private:
  static Poly atom(const Symbol &expr);
  static Poly divide(const Poly &numerator, const Poly &denominator, bool remainder, const Ranges &ranges);
  void add(const Monomial &monomial, int64_t factor);
  bool isNonNegative(const Ranges &ranges, int depth) const;

  std::map<Monomial, int64_t> terms;
  std::map<std::string, Symbol> atoms;
};

} // namespace tilery::arrange
