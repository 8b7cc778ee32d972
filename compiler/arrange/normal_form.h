#pragma once
// Integer expressions as polynomials over names and opaque terms: the normal form in which they are compared, split into lanes and bounded.
#include "compiler/analysis/polynomial.h"
#include "tilery/arrange.h"

namespace tilery::arrange {

/// Known ranges of names, inclusive; a name without an entry is a size: at least 0.
struct Range {
  Symbol lower = 0;
  std::optional<Symbol> upper;
};
using Ranges = std::map<std::string, Range>;

/// A name, or an expression that is no polynomial. Compared by text: equal terms print equally.
struct Term {
  explicit Term(const Symbol &expr) : text(expr.str()), expr(expr) {}
  bool operator<(const Term &other) const { return text < other.text; }

  std::string text;
  Symbol expr;
};
using Poly = analysis::Polynomial<Term>;

/// `ranges` let division and remainder by a larger divisor vanish.
Poly polyOf(const Symbol &expr, const Ranges &ranges = {});
Symbol symbolOf(const Poly &poly);

/// Does the name stand anywhere in it, inside opaque terms, too?
bool contains(const Poly &poly, const Symbol &name);
/// The factor of `name` if `poly` is affine in it (and no opaque term hides it).
std::optional<Poly> factorOf(const Poly &poly, const Symbol &name);
/// Without the monomials that have `name` as a factor.
Poly without(const Poly &poly, const Symbol &name);
/// Whether the value is at least 0 for every value the ranges allow. False: not known.
bool isNonNegative(const Poly &poly, const Ranges &ranges);

} // namespace tilery::arrange
